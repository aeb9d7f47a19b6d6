"""Requests to an HTTP endpoint: bounded concurrency, retries, and answers that can be recorded and replayed.

It knows no model and no benchmark.
"""

import ssl
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import httpx2 as httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type
from tenacity.wait import wait_exponential_jitter

from benchc.endpoint.answer import Answer
from benchc.endpoint.api_key import ApiKey
from benchc.endpoint.recording import Recording
from benchc.endpoint.time_limit import TRACE, Window, limited
from benchc.errors import InputError
from benchc.printable import printable
from benchc.redaction import redacted, remember_url

Mode = Literal["live", "record", "replay"]

# Statuses that may pass: time-out, rate limit, and all of a server that is overloaded or restarts (5xx).
TRANSIENT = (408, 429)
REFUSED_KEY = (401, 403)
CONNECT_TIMEOUT = 5.0  # seconds; an answer may take longer
LARGEST_ANSWER = 64 * 2**20  # bytes
MAX_WAIT = 300.0  # seconds between two attempts, whatever Retry-After asks for
# A proxy of the environment cannot reach the servers of this machine.
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
OPTIONAL_ATTEMPTS = 3  # a job can do without the answer
OTHER_ADDRESS = "check that the address is that of the server"
VERSION_PATH = "/v1"  # the beginning of the paths of OpenAI's interface


class EndpointError(InputError):
    """A server does not answer, or answers with an error that does not pass."""


class _TransientError(Exception):
    """A failure that may pass. ``retry_after``: seconds that the server asks to wait."""

    attempts: int  # that were made; set after the last

    def __init__(self, reason: str, fix: str, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.fix = fix
        self.retry_after = retry_after


class _NoServerError(_TransientError):
    """Nothing listens at the address, or there is no such host."""


@dataclass(frozen=True)
class EndpointSettings:
    """Where an endpoint is, and how it is used.

    Args:
        url: its address, without a path that a request adds.
        concurrency: requests at once.
        timeout_s: seconds to wait for an answer, until its last byte.
        attempts: of a request.
        first_wait_s: seconds between the first two attempts, which double from one to the next; to each, up
            to as many are added at random.
        api_path: what a request's path has in place of ``/v1``.
    """

    url: str
    concurrency: int = 16
    timeout_s: float = 300.0
    attempts: int = 7
    first_wait_s: float = 1.0
    api_path: str = VERSION_PATH


@cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """Return the context of all endpoints, since reading the machine's certificates takes 50 ms."""
    return httpx.create_ssl_context(trust_env=trust_env)


class Endpoint:
    """An HTTP endpoint that takes and returns JSON; use it in a ``with`` block. Threads may share it.

    ``mode``: ``live`` asks the server; ``record`` does too, and keeps each answer in ``folder``; ``replay``
    answers from ``folder`` alone. With ``resume``, ``record`` does not ask again for what ``folder`` has,
    except where the server had refused the request. Once a request has failed for good, all others fail at
    once. Before the first answer, an address at which nothing listens is wrong, and not tried again.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        key: ApiKey | None = None,
        mode: Mode = "live",
        folder: Path | None = None,
        *,
        resume: bool = False,
    ) -> None:
        if (mode == "live") != (folder is None):
            raise ValueError(f"the mode {mode} {'has no' if mode == 'live' else 'needs a'} folder")
        remember_url(settings.url)
        self.settings = settings
        self._key = key or ApiKey()
        self._mode = mode
        self._resume = resume
        self._recording = None if folder is None else Recording(folder)
        self._failure: EndpointError | None = None
        self._answered = False
        self._failed = threading.Event()
        try:
            address = urlsplit(settings.url)
            _ = address.port  # raises ValueError where it is none
            trust_env = address.hostname not in LOCAL_HOSTS
            self._client = httpx.Client(
                base_url=settings.url,
                # So that the limit of an answer is that of its text.
                headers={**self._key.header(), "Accept-Encoding": "identity"},
                timeout=httpx.Timeout(settings.timeout_s, connect=CONNECT_TIMEOUT),
                # Another host must not get the key.
                follow_redirects=False,
                limits=httpx.Limits(max_connections=settings.concurrency),
                trust_env=trust_env,
                verify=_certificates(trust_env),
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise EndpointError(
                f"{settings.url}: is no address of a server ({error}); correct `url`"
            ) from error
        # Waiting for a free connection is no failure of the server.
        self._free = threading.Semaphore(settings.concurrency)
        self._workers = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="endpoint")
        first = settings.first_wait_s
        self._backoff = wait_exponential_jitter(multiplier=first, max=MAX_WAIT, jitter=first)

    def __enter__(self) -> "Endpoint":
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.shutdown(cancel_futures=True)
        self._client.close()

    def get(self, path: str) -> Answer:
        """Return the answer to a GET request; see :meth:`post`."""
        return self._request("GET", path, None)

    def optional(self, path: str, body: Mapping[str, object] | None = None) -> Answer | None:
        """Return the answer to a request (POST with a body) that a job can do without; None where it fails.

        Gateways answer with 401, 403, 5xx or a page of HTML for paths that they do not have.
        """
        method = "GET" if body is None else "POST"
        try:
            answer = self._answer(method, path, body, min(OPTIONAL_ATTEMPTS, self.settings.attempts))
        except _TransientError:
            return None
        return answer if answer.ok else None

    def post(self, path: str, body: Mapping[str, object]) -> Answer:
        """Return the answer to a POST request of JSON.

        An answer has a status of success, whose text is then JSON, or of a request that the server refuses
        (4xx). Raises EndpointError where all attempts failed or the server refuses the key, and InputError
        where a replayed answer was not recorded.
        """
        return self._request("POST", path, body)

    def post_all(self, path: str, bodies: Sequence[Mapping[str, object]]) -> list[Answer]:
        """Return the answers to several requests at once, in order; raises as :meth:`post` does."""
        return list(self.post_each(path, bodies))

    def post_each(self, path: str, bodies: Sequence[Mapping[str, object]]) -> Iterator[Answer]:
        """Yield the answers to several requests at once, in order; raises as :meth:`post` does."""
        futures = [self._workers.submit(self.post, path, body) for body in bodies]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    def _request(self, method: str, path: str, body: object) -> Answer:
        try:
            answer = self._answer(method, path, body, self.settings.attempts)
        except _TransientError as error:
            times = "" if error.attempts == 1 else f" after {error.attempts} attempts"
            raise self._fail(f"{self._at(path)}: {error}{times}; {error.fix}") from None
        if answer.is_redirect:
            raise self._fail(
                f"{self._at(path)}: the server redirects ({answer.status}), and another one must not get the "
                "key; give the address of the last one as `url`"
            )
        if answer.status in REFUSED_KEY:
            refusal = f"the server refuses access ({answer.shown()}); {self._key.if_refused}"
            raise self._fail(f"{self._at(path)}: {refusal}")
        return answer

    def _answer(self, method: str, path: str, body: object, attempts: int) -> Answer:
        """Return the answer of the server or the recording; raises _TransientError after the last attempt."""
        if self._recording is not None and self._mode == "replay":
            return self._recording.read(method, path, body)
        if self._recording is not None and self._resume and self._recording.has(method, path, body):
            kept = self._recording.read(method, path, body)
            if kept.ok:
                return kept
        retrying = Retrying(
            retry=retry_if_exception_type(_TransientError),
            stop=lambda state: self._is_wrong_address(state) or state.attempt_number >= attempts,
            wait=self._wait,
            sleep=self._sleep,
            before_sleep=lambda state: self._report(state, attempts),
            reraise=True,
        )
        try:
            answer = retrying(self._attempt, method, path, body)
        except _TransientError as error:
            error.attempts = retrying.statistics["attempt_number"]
            raise
        if self._recording is not None and answer.status not in REFUSED_KEY:
            self._recording.write(method, path, body, answer)
        return answer

    def _attempt(self, method: str, path: str, body: object) -> Answer:
        if self._failure is not None:
            raise self._failure
        with (
            self._transient_failures(),
            self._free,
            limited(Window(self.settings.timeout_s)),
            self._client.stream(method, self._sent(path), json=body, extensions=TRACE) as response,
        ):
            text = _text_of(response)
        self._answered = True
        answer = Answer(response.status_code, redacted(text))
        if answer.status in TRANSIENT or answer.status >= 500:
            raise _TransientError(
                f"the server answers {answer.shown()}", "look at its log", _retry_after(response)
            )
        if answer.ok:
            try:
                answer.content()
            except ValueError:
                reason = f"the answer is not JSON: {' '.join(answer.text.split())[:60]!r}"
                raise _TransientError(reason, OTHER_ADDRESS) from None
        return answer

    @contextmanager
    def _transient_failures(self) -> Iterator[None]:
        # Without the cause, whose text or traceback might show the key.
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            reason = f"no server answers ({redacted(str(error)) or 'time-out'})"
            raise _NoServerError(reason, "start it, or correct `url`") from None
        except httpx.TimeoutException:
            seconds = f"{self.settings.timeout_s:g} s"
            fix = "raise `timeout_s` or lower `concurrency`"
            raise _TransientError(f"no answer within {seconds}", fix) from None
        except httpx.RequestError as error:
            text = redacted(str(error)) or type(error).__name__
            raise _TransientError(f"the connection broke ({text})", "look at the server's log") from None

    def _is_wrong_address(self, state: RetryCallState) -> bool:
        return isinstance(_error_of(state), _NoServerError) and not self._answered

    def _wait(self, state: RetryCallState) -> float:
        error = _error_of(state)
        return min(MAX_WAIT, max(float(self._backoff(state)), error.retry_after))

    def _sleep(self, seconds: float) -> None:
        self._failed.wait(seconds)  # a failure of another request is raised by the next attempt

    def _report(self, state: RetryCallState, attempts: int) -> None:
        line = (
            f"{self._at('')}: {_error_of(state)}; attempt {state.attempt_number + 1} of "
            f"{attempts} in {state.upcoming_sleep:.1f} s"
        )
        print(printable(line), file=sys.stderr)

    def _fail(self, message: str) -> EndpointError:
        self._failure = self._failure or EndpointError(message)
        self._failed.set()
        return self._failure

    def _at(self, path: str) -> str:
        return self.settings.url.rstrip("/") + self._sent(path)

    def _sent(self, path: str) -> str:
        """Return the path of a request as the server has it."""
        rest = path.removeprefix(VERSION_PATH + "/")
        return path if rest == path else f"{self.settings.api_path}/{rest}"


def _text_of(response: httpx.Response) -> str:
    """Return the text of a response; raises _TransientError where it is too long, or compressed."""
    if (encoding := response.headers.get("Content-Encoding", "identity")) != "identity":
        raise _TransientError(f"the answer is compressed ({encoding}), which it must not be", OTHER_ADDRESS)
    content = bytearray()
    for piece in response.iter_raw():
        content += piece
        if len(content) > LARGEST_ANSWER:
            raise _TransientError(f"the answer has more than {LARGEST_ANSWER >> 20} MiB", OTHER_ADDRESS)
    return content.decode(errors="replace")


def _error_of(state: RetryCallState) -> _TransientError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, _TransientError)
    return error


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds that a response asks to wait, as a number or as a date; 0 without."""
    text = response.headers.get("Retry-After", "")
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0
