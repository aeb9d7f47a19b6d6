"""Ask the writer one question, to see that it answers."""

from benchc.benchmarks.naturalbench.curation.questions import CHAT
from benchc.endpoint.api_key import read_key
from benchc.endpoint.client import Endpoint, EndpointError, EndpointSettings

QUESTION = "Reply with the word yes."


def ask_writer(url: str, api_key_env: str | None, model: str, timeout_s: float) -> None:
    """Ask the writer for a short reply, once.

    Raises InputError where no server answers, or where it refuses key, model or request.
    """
    body = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
    settings = EndpointSettings(url, concurrency=1, timeout_s=timeout_s, attempts=1)
    with Endpoint(settings, read_key(api_key_env)) as endpoint:
        answer = endpoint.post(CHAT, body)
    if not answer.ok:
        raise EndpointError(f"{url}: the server refuses a request ({answer.shown()}); correct the writer")
