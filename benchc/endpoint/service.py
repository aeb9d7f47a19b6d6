"""How a job reaches the language model that it asks. Rules use it: it imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from benchc.command_line import PositiveInt

ReplyMode = Literal["live", "record", "replay"]


@dataclass(frozen=True, kw_only=True)
class Service:
    """How a job reaches its language model. None of these changes a reply.

    Attributes:
        mode: ask, ask and keep the replies, or take kept replies alone
        url: address of the endpoint
        api_key_env: environment variable with the server's key; default: no key
        recordings: folder of the kept replies; not of the mode live
        concurrency: requests at once
        timeout_s: seconds to wait for a reply
    """

    mode: ReplyMode = "record"
    url: str = "https://api.openai.com/v1"
    api_key_env: str | None = None
    recordings: Path | None = None
    concurrency: PositiveInt = 8
    timeout_s: float = 120.0

    @property
    def asked_at(self) -> str | None:
        """The address without what may be secret; None in a replay, which asks nobody."""
        return None if self.mode == "replay" else public_address(self.url)


def public_address(url: str) -> str:
    """Return a URL without what may be secret: a user with a password, and a query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
