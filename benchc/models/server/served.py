"""A model on a server as a scorer: is it the right model, and what does the server return?

As :mod:`benchc.models.predict` for models in the process, this module and what it imports are the code that
decides a number. It imports no torch, and no client.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from benchc.models.protocol import ModelError, Scorer
from benchc.models.question import Question, letter_prompt
from benchc.models.server.chat import CHAT, Answered, Client, ServedChat
from benchc.models.server.letter import ServedLetterScorer
from benchc.models.server.sglang import SERVER_INFO, SglangChat, SglangLetterScorer, SglangTextScorer
from benchc.models.server.text import ServedTextScorer

PROBE = Question("Which of the two is it?", ("this", "that"))
PROBE_IMAGE = np.full((224, 224, 3), 128, dtype=np.uint8)


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
    kind = SglangChat if found["server"] == "sglang" else ServedChat
    # Another tokenizer or chat template gives another prompt.
    template = kind(client, model, {}).tokens(letter_prompt(PROBE))
    chat = kind(
        client,
        model,
        {
            **facts,
            **found,
            "chat_template": hashlib.blake2b(str(template).encode(), digest_size=16).hexdigest(),
        },
    )
    if isinstance(chat, SglangChat):
        return _sglang_scorer(chat, scoring)
    if scoring == "letter":
        return _letter_scorer(chat, top)
    return ServedTextScorer(chat, length_normalised=scoring == "text_mean")


def served_model(client: AskedClient, names: set[str]) -> tuple[str, dict[str, str]]:
    """Return the server's name of the model that is called one of ``names``, and what the server is.

    Raises ModelError where it serves another model.
    """
    entry = _entry(client, names)
    server = str(entry.get("owned_by", "unknown"))
    answer = client.get(SERVER_INFO if server == "sglang" else "/version")
    version = answer.content().get("version") if answer.ok and isinstance(answer.content(), dict) else None
    return str(entry["id"]), {"server": server, "version": str(version or "unknown")}


def _sglang_scorer(chat: SglangChat, scoring: str) -> Scorer:
    """Return the scorer once the server has answered it."""
    text = letter_prompt(PROBE)
    if chat.prompt(text, 1) == chat.prompt(text, 0):
        raise ModelError(
            f"{chat.model}: the server's chat prompt has no place for an image; start SGLang with a "
            "chat template that has one (--chat-template)"
        )
    mean = scoring == "text_mean"
    scorer = SglangLetterScorer(chat) if scoring == "letter" else SglangTextScorer(chat, mean)
    scorer.score(PROBE, [[PROBE_IMAGE]])
    return scorer


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
        if {id_, entry.get("root")} & names:
            return dict(entry)
    raise OtherModelError(
        sorted(names)[0],
        served,
        "start it with this model, or correct its name (`repo` or `server.model`) or `server.url` in the "
        "model catalogue",
    )


def _letter_scorer(chat: ServedChat, top: int) -> ServedLetterScorer:
    """Return the scorer by what the server returns to a request of each kind."""
    scorer = ServedLetterScorer(chat)
    tokens = scorer.letter_tokens(PROBE)
    answer = chat.client.post(CHAT, scorer.request(PROBE, [PROBE_IMAGE], tokens))
    # Servers ignore settings that they do not know.
    if answer.ok and set(tokens) <= scorer.returned(answer).keys():
        return scorer
    fallback = ServedLetterScorer(chat, top)
    other = chat.client.post(CHAT, fallback.request(PROBE, [PROBE_IMAGE], tokens))
    if not other.ok:
        reason = "" if answer.ok else f", nor logprob_token_ids ({answer.shown()})"
        raise ModelError(
            f"{chat.model}: the server does not return the {top} largest log-probabilities ({other.shown()})"
            f"{reason}; start vLLM with --max-logprobs {top} or more, or lower `top_logprobs`"
        )
    fallback.returned(other)
    return fallback
