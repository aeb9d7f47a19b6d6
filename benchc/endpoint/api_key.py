"""An endpoint's key, read from the environment."""

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchc.errors import InputError
from benchc.redaction import SHORTEST, remember

# The letters of a bearer token (RFC 6750).
KEY = re.compile(rf"[A-Za-z0-9._~+/:=-]{{{SHORTEST},}}")


@dataclass(frozen=True)
class ApiKey:
    """A key, which no representation shows, and which is removed from all texts.

    Args:
        value: None for a server that needs none.
        if_refused: what to do where the server refuses access.
    """

    value: str | None = field(default=None, repr=False)
    if_refused: str = "set `api_key_env`"

    def __post_init__(self) -> None:
        remember(self.value)

    def header(self) -> dict[str, str]:
        """Return the header that sends the key."""
        return {} if self.value is None else {"Authorization": f"Bearer {self.value}"}


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
    return ApiKey(secrets.token_hex(), "another server has its port; run snakemake again")
