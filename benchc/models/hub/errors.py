"""Errors of the Hub's client as one sentence that says what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2 as httpx
from huggingface_hub import constants, get_token, is_offline_mode, set_client_factory
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    RevisionResolutionError,
)
from huggingface_hub.utils._http import default_client_factory

from benchc.endpoint.time_limit import TRACE, Window, begin
from benchc.models.hub.cached import not_here
from benchc.models.protocol import ModelError
from benchc.redaction import remember

HUB = "https://huggingface.co"
# As of a source: seconds, and bytes a second.
SLOW_S, LEAST_RATE = 120.0, 1000.0
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _client() -> httpx.Client:
    """Return the client of the Hub, whose requests end where a server sends too little."""

    def limit(request: httpx.Request) -> None:
        request.extensions |= TRACE
        begin(Window(SLOW_S, LEAST_RATE))

    client = default_client_factory()
    client.event_hooks["request"].append(limit)
    return client


set_client_factory(_client)


@contextmanager
def hub_errors(repo: str, revision: str | None = None) -> Iterator[None]:
    """Turn any error of the block, which asks the Hub for a revision of ``repo``, into a ModelError.

    Also a ModelError that an error of the Hub's client caused.
    """
    remember(get_token())
    try:
        yield
    except Exception as error:  # the client and its HTTP library raise many types
        causes = list(_causes(error))
        sentence = next(filter(None, (_sentence(repo, revision, each) for each in reversed(causes))), None)
        if sentence is None and isinstance(error, ModelError):
            raise
        if sentence is None:
            sentence = f"cannot be fetched ({type(error).__name__}: {_line(error)}); run it again"
        raise ModelError(f"{repo}: {sentence}") from error


def gated(repo: str) -> str:
    """Return what to do about a gated model."""
    page = f"{HUB}/{repo}"
    if get_token() is None:
        return f"is gated: accept its licence on {page}, then set HF_TOKEN to a token of your account"
    return f"is gated, and the account of your token (HF_TOKEN) has no access: accept its licence on {page}"


def _sentence(repo: str, revision: str | None, error: BaseException) -> str | None:
    if isinstance(error, GatedRepoError):
        return gated(repo)
    if isinstance(error, RevisionNotFoundError):
        return (
            f"has no revision {revision!r}; correct `revision` in the model catalogue ({HUB}/{repo}/commits)"
        )
    if isinstance(error, HfHubHTTPError):
        return _answer(repo, error)
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        return (
            f"the disk of {constants.HF_HUB_CACHE} is full; free space, or set HF_HOME to a folder on "
            "another disk, and run it again: what is complete is not downloaded again"
        )
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"{constants.HF_HUB_CACHE} cannot be written; correct its permissions, or set HF_HOME"
    if isinstance(error, httpx.TransportError):
        return (
            f"the Hub cannot be reached ({type(error).__name__}: {_line(error)}); check the network or "
            "HTTPS_PROXY and run it again: what is complete is not downloaded again"
        )
    if isinstance(error, LocalEntryNotFoundError | RevisionResolutionError) and is_offline_mode():
        return not_here(repo, revision).removeprefix(f"{repo}: ")
    return None


def _answer(repo: str, error: HfHubHTTPError) -> str:
    """Return what to do about an answer of the Hub."""
    status, token = error.response.status_code, get_token()
    if status == httpx.codes.UNAUTHORIZED and token is not None:
        return f"the Hub refuses your token (HF_TOKEN); correct or unset it ({HUB}/settings/tokens)"
    if isinstance(error, RepositoryNotFoundError):
        private = "set HF_TOKEN if it is private" if token is None else "check that your token has access"
        return f"there is no such model on the Hub; check the id, and {private}"
    if status == httpx.codes.FORBIDDEN:
        return f"the Hub denies access; check the permissions of your token ({HUB}/settings/tokens)"
    said = error.server_message or error.response.reason_phrase
    return f"the Hub answers {status} ({said}); run it again later"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
