"""An endpoint's key: read from the environment, and removed from every text that comes from the server."""

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchc.errors import InputError

REMOVED = "***"
# The letters of a bearer token (RFC 6750). A shorter text may be part of any answer, from which it would be
# removed.
KEY = re.compile(r"[A-Za-z0-9._~+/:=-]{8,}")


@dataclass(frozen=True)
class ApiKey:
    """A key, which no representation shows.

    Args:
        value: None for a server that needs none.
        if_refused: what to do where the server refuses access.
    """

    value: str | None = field(default=None, repr=False)
    if_refused: str = "set `api_key_env`"

    def header(self) -> dict[str, str]:
        """Return the header that sends the key."""
        return {} if self.value is None else {"Authorization": f"Bearer {self.value}"}

    def removed_from(self, text: str) -> str:
        """Return ``text`` without the key: a server or a library may repeat it in an error."""
        if self.value is None:
            return text
        return re.sub("".join(map(_written, self.value)), REMOVED, text)


def _written(letter: str) -> str:
    """Return a pattern of a letter: itself, or escaped in JSON, also twice, or in an address."""
    code = f"{ord(letter):02x}"
    slash = r"|\\+/" if letter == "/" else ""
    return rf"(?:{re.escape(letter)}|\\+u00(?i:{code})|%(?i:{code}){slash})"


def read_key(variable: str | None, environment: Mapping[str, str] = os.environ) -> ApiKey:
    """Return the key in an environment variable; no key where ``variable`` is None.

    Raises InputError, without the key, where the variable is not set or cannot be sent in a header.
    """
    if variable is None:
        return ApiKey()
    value = environment.get(variable, "")
    if not value:
        raise InputError(
            f"the environment variable {variable}, which should have the server's key, is not set; set it, "
            "or give no `api_key_env` if the server needs no key"
        )
    if not KEY.fullmatch(value):
        raise InputError(
            f"the environment variable {variable} is no key: it has fewer than 8 characters, or others than "
            "letters, digits and ._~+/:=-; set it to the key alone"
        )
    return ApiKey(value, "correct the variable in `api_key_env`")


def random_key() -> ApiKey:
    """Return a key for a server that a job starts, which no server of another job has."""
    return ApiKey(secrets.token_hex(16), "another server has its port; run snakemake again")
