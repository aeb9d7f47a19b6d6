"""A model on a server as a scorer: is it the right model, and what does the server return?

As :mod:`benchc.models.predict` for models in the process, this module and what it imports are the code that
decides a number. It imports no torch, and no client.
"""

import hashlib
import importlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from benchc.models.protocol import ModelError, Scorer
from benchc.models.question import letter_prompt
from benchc.models.server.chat import Answered, Body, Client, ServedChat
from benchc.models.server.modules import SGLANG, VLLM
from benchc.models.server.probe import PROBE
from benchc.models.server.sglang import SERVER_INFO, SglangChat

UNKNOWN = "unknown"  # a fact that a server does not tell
SGLANG_OWNER = "sglang"  # of the models of an SGLang server (``owned_by``)


class OtherModelError(ModelError):
    """A server serves other models than the one called ``name``; ``fix`` says what to do."""

    def __init__(self, name: str, served: Iterable[str], fix: str) -> None:
        super().__init__(f"{name}: the server serves another model, {' and '.join(served)}; {fix}")
        self.name, self.served = name, served


class AskedClient(Client, Protocol):
    """A client that can ask what is served."""

    def get(self, path: str) -> Answered:
        """Return the answer to a request."""

    def optional(self, path: str, body: Body | None = None) -> Answered | None:
        """Return the answer to a request that a job can do without; None where it fails."""


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
    kind, modules = (SglangChat, SGLANG) if found["server"] == SGLANG_OWNER else (ServedChat, VLLM)
    text = letter_prompt(PROBE)
    bare = kind(client, model, facts)
    bare.require_system_prompt(text)
    chat = bare.with_special_tokens(text)
    template = template_digest(chat.prompt_tokens(text))
    chat = replace(chat, facts={**facts, **found, "chat_template": template})
    chat.require_special_tokens()
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
    server = str(entry.get("owned_by", UNKNOWN))
    found = optional_object(client, SERVER_INFO if server == SGLANG_OWNER else "/version")
    return str(entry["id"]), {"server": server, "version": str(found.get("version") or UNKNOWN)}


def optional_object(client: AskedClient, path: str, body: Body | None = None) -> Mapping[str, Any]:
    """Return the object that a server answers to a request, empty where it answers none."""
    answer = client.optional(path, body)
    content = None if answer is None else answer.content()
    return content if isinstance(content, dict) else {}


def _entry(client: AskedClient, names: set[str]) -> Mapping[str, Any]:
    """Return what the server says about the model with one of ``names``."""
    served = served_models(client, sorted(names)[0])
    for id_, entry in served.items():
        if any(name in (id_, entry.get("root")) for name in names):
            return dict(entry)
    raise OtherModelError(
        sorted(names)[0],
        served,
        "start it with this model, or correct its name (`repo` or `server.model`) or `server.url` in the "
        "model catalogue",
    )


def served_models(client: AskedClient, name: str) -> Mapping[str, Mapping[str, Any]]:
    """Return what the server says about its models, by id. ``name`` is the model's in errors.

    Raises ModelError where it lists none.
    """
    answer = client.get("/v1/models")
    try:
        entries = answer.content()["data"] if answer.ok else None
        served = {str(entry["id"]): entry for entry in entries or ()}
    except (ValueError, LookupError, TypeError):
        served = {}
    if not served:
        raise ModelError(
            f"{name}: the server does not list its models ({answer.shown()}); give "
            "the address of a vLLM or SGLang server, without /v1, or of a service with its `api_path`"
        )
    return served
