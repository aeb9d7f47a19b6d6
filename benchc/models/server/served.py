"""A model on a server as a scorer: is it the right model, and what does the server return?

As :mod:`benchc.models.predict` for models in the process, this module and what it imports are the code that
decides a number. It imports no torch, and no client.
"""

import hashlib
import importlib
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from benchc.models.protocol import ModelError, Scorer
from benchc.models.question import letter_prompt
from benchc.models.server.chat import Answered, Client, ServedChat
from benchc.models.server.modules import SGLANG, VLLM
from benchc.models.server.probe import PROBE
from benchc.models.server.sglang import SERVER_INFO, SglangChat


class OtherModelError(ModelError):
    """A server serves other models than the one called ``name``; ``fix`` says what to do."""

    def __init__(self, name: str, served: Iterable[str], fix: str) -> None:
        super().__init__(f"{name}: the server serves another model, {' and '.join(served)}; {fix}")
        self.name, self.served = name, served


class AskedClient(Client, Protocol):
    """A client that can ask what is served."""

    def get(self, path: str) -> Answered:
        """Return the answer to a request."""


def served_scorer(
    client: AskedClient, names: set[str], facts: Mapping[str, str], scoring: str, top: int
) -> Scorer:
    """Return a scorer of the model that a server serves.

    Args:
        client: sends the requests.
        names: those that the server may give the model.
        facts: what decides a prediction and the server does not tell.
        scoring: letter, text or text_mean.
        top: number of most probable tokens to ask for, where the server refuses to return given ones.

    Raises ModelError where the server serves another model, or cannot score.
    """
    model, found = served_model(client, names)
    kind, modules = (SglangChat, SGLANG) if found["server"] == "sglang" else (ServedChat, VLLM)
    bare = kind(client, model, facts)
    template = bare.tokens(letter_prompt(PROBE))
    bare.require_system_prompt(letter_prompt(PROBE))
    chat = kind(
        client,
        model,
        {
            **facts,
            **found,
            "chat_template": template_digest(template),
        },
    )
    scorer: Scorer = importlib.import_module(modules[scoring]).probe_scorer(chat, scoring, top)
    return scorer


def template_digest(tokens: list[int]) -> str:
    """Return a hash of the tokens of a chat prompt, which another tokenizer or chat template changes."""
    return hashlib.blake2b(str(tokens).encode(), digest_size=16).hexdigest()


def served_model(client: AskedClient, names: set[str]) -> tuple[str, dict[str, str]]:
    """Return the server's name of the model that is called one of ``names``, and what the server is.

    Raises ModelError where it serves another model.
    """
    entry = _entry(client, names)
    server = str(entry.get("owned_by", "unknown"))
    answer = client.get(SERVER_INFO if server == "sglang" else "/version")
    version = answer.content().get("version") if answer.ok and isinstance(answer.content(), dict) else None
    return str(entry["id"]), {"server": server, "version": str(version or "unknown")}


def _entry(client: AskedClient, names: set[str]) -> Mapping[str, Any]:
    """Return what the server says about the model with one of ``names``."""
    answer = client.get("/v1/models")
    try:
        entries = answer.content()["data"] if answer.ok else None
        served = {str(entry["id"]): entry for entry in entries or ()}
    except (ValueError, LookupError, TypeError):
        served = {}
    if not served:
        raise ModelError(
            f"{sorted(names)[0]}: the server does not list its models at /v1/models ({answer.shown()}); give "
            "the address of a vLLM or SGLang server, without /v1"
        )
    for id_, entry in served.items():
        if any(name in (id_, entry.get("root")) for name in names):
            return dict(entry)
    raise OtherModelError(
        sorted(names)[0],
        served,
        "start it with this model, or correct its name (`repo` or `server.model`) or `server.url` in the "
        "model catalogue",
    )
