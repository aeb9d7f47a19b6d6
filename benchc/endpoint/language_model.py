"""Requests to a language model, and the texts of its replies."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from benchc.endpoint.answer import Answer
from benchc.endpoint.api_key import read_key
from benchc.endpoint.client import Endpoint, EndpointError, EndpointSettings
from benchc.endpoint.service import Service
from benchc.errors import InputError
from benchc.progress import track

CHAT = "/chat/completions"
QUESTION = "Reply with the word yes."

Key = TypeVar("Key")
Asked = TypeVar("Asked")
Read = TypeVar("Read")
# Codes of a server that refuses one request for what its texts say; any other refusal is of all requests.
REFUSED_CONTENT = ("content_filter", "content_policy_violation", "invalid_prompt")


class UnusableError(ValueError):
    """A reply, or a part of it, cannot be used; the message says why."""


def opened(service: Service) -> Endpoint:
    """Return the endpoint of a language model, for a ``with`` block.

    In the mode record, a killed job continues with the replies that it has. Raises InputError where the
    folder of replies does not fit the mode, or the key is missing.
    """
    if (service.mode == "live") != (service.recordings is None):
        raise InputError("--service.recordings is given with --service.mode=record and replay, and only then")
    key = read_key(None if service.mode == "replay" else service.api_key_env)
    settings = EndpointSettings(service.url, service.concurrency, service.timeout_s)
    return Endpoint(settings, key, service.mode, service.recordings, resume=True)


def ask_once(service: Service, model: str) -> None:
    """Ask a language model for a short reply, once, to see that it answers.

    Raises InputError where no server answers, or where it refuses key, model or request.
    """
    body = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
    settings = EndpointSettings(service.url, timeout_s=service.timeout_s, attempts=1)
    with Endpoint(settings, read_key(service.api_key_env)) as endpoint:
        answer = endpoint.post(CHAT, body)
    if not answer.ok:
        raise EndpointError(
            f"{service.url}: the server refuses a request ({answer.shown()}); correct `model` or `url`"
        )


def chat_request(
    model: str, prompt: str, temperature: float, seed: int, system: str | None = None
) -> dict[str, object]:
    """Return the request for a reply to a prompt, after a system message if there is one."""
    before = [] if system is None else [{"role": "system", "content": system}]
    return {
        "model": model,
        "messages": [*before, {"role": "user", "content": prompt}],
        "temperature": temperature,
        "seed": seed,
    }


def usable_replies(
    wanted: Mapping[Key, Asked],
    request: Callable[[Asked, int], Mapping[str, object]],
    read: Callable[[Asked, Answer], Read],
    *,
    attempts: int,
    endpoint: Endpoint,
    label: str,
) -> tuple[dict[Key, Read], dict[Key, str]]:
    """Return what was read from the reply to each request, and the last reason of those without any.

    A reply that is not usable is asked for again.

    Args:
        wanted: what is asked about
        request: returns the request about one of these in an attempt, from 0 on
        read: returns what a reply says; raises UnusableError where it cannot be used
        attempts: requests about one of these
        endpoint: of the language model
        label: of the progress

    Raises EndpointError, and what ``read`` raises but for UnusableError.
    """
    found: dict[Key, Read] = {}
    reasons: dict[Key, str] = {}
    for attempt in range(attempts):
        open_ = {key: asked for key, asked in wanted.items() if key not in found}
        if not open_:
            break
        bodies = [request(asked, attempt) for asked in open_.values()]
        answers = track(
            zip(open_.items(), endpoint.post_each(CHAT, bodies), strict=True),
            label=f"{label}, attempt {attempt + 1}",
            unit="replies",
            total=len(bodies),
        )
        for (key, asked), answer in answers:
            try:
                found[key] = read(asked, answer)
            except UnusableError as error:
                reasons[key] = str(error)
    return found, {key: reason for key, reason in reasons.items() if key not in found}


def reply_text(answer: Answer, model: str) -> str:
    """Return the text of a reply.

    Raises UnusableError where there is none, which another request may have, and InputError where the server
    refuses all requests or is not OpenAI-compatible.
    """
    if not answer.ok:
        if _code(answer) in REFUSED_CONTENT:
            raise UnusableError(f"the server refuses the request: {answer.shown()}")
        raise InputError(
            f"{model}: the server refuses a request ({answer.shown()}); correct `model`, `url` or "
            "`temperature` in the configuration"
        )
    try:
        choice = answer.content()["choices"][0]
        text, finish = choice["message"].get("content"), choice.get("finish_reason")
    except (LookupError, TypeError, AttributeError) as error:
        raise InputError(
            f"{model}: the server's answer has no message; give the address of an OpenAI-compatible server"
        ) from error
    if finish == "length":
        raise UnusableError("the reply is cut off")
    if not isinstance(text, str) or not text.strip():
        raise UnusableError("the reply is empty")
    return text.encode(errors="replace").decode()  # half of a surrogate pair cannot be stored


def _code(answer: Answer) -> object:
    try:
        return answer.content()["error"]["code"]
    except (ValueError, LookupError, TypeError):
        return None
