"""A model on a server that answers in its own words: chat completions, greedy where the server allows it.

The requests are those of OpenAI's interface, which vLLM and most providers have. This module and what it
imports are the code that decides an answer; it imports no torch, and no client.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchc.finish import FINISHES
from benchc.models.generation import Generation
from benchc.models.protocol import ModelError, Reply
from benchc.models.question import Question, letter_prompt
from benchc.models.server.chat import (
    CHAT,
    TOKENIZE,
    Answered,
    ServedChat,
    continuing,
    data_url,
)
from benchc.models.server.probe import PROBE, PROBE_IMAGE
from benchc.models.server.served import (
    SGLANG_OWNER,
    UNKNOWN,
    AskedClient,
    optional_object,
    served_model,
    template_digest,
)
from benchc.pixels import Pixels

# OpenAI's reasoning models refuse a request whose limit is too small for their reasoning: "Could not finish
# the message because max_tokens or model output limit was reached."
UNFINISHED = re.compile(r"could not finish the message", re.IGNORECASE)
# The first that the server accepts is used. OpenAI's newer models refuse max_tokens, and its reasoning models
# a temperature: their answers are sampled.
SETTINGS: tuple[Mapping[str, object], ...] = (
    {"temperature": 0, "max_tokens": None},
    {"temperature": 0, "max_completion_tokens": None},
    {"max_completion_tokens": None},
)


@dataclass
class ServedGenerator:
    """A :class:`benchc.models.protocol.Generative` model behind a server.

    Args:
        chat: the model.
        generation: its settings; the tokens of an answer include those of its reasoning.
        settings: of a request, one of ``SETTINGS``.
    """

    chat: ServedChat
    generation: Generation
    settings: Mapping[str, object]

    def identity(self) -> dict[str, str]:
        return {
            **self.chat.facts,
            "scoring": "generate",
            "max_new_tokens": str(self.generation.max_new_tokens),
            "asked": ", ".join(self.settings) + ("" if "temperature" in self.settings else " (sampled)"),
        }

    def prompt(self, question: Question, images: int) -> str:
        return self.chat.prompt_text(self.generation.prompt(question), images)

    def replies(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> list[Reply]:
        """Return the answer under each variant of the question's images, one request each.

        Raises ModelError where the server refuses a request, or its answer has no text or end.
        """
        bodies = [self.request(question, images) for images in variants]
        return [self._reply(answer) for answer in self.chat.client.post_all(CHAT, bodies)]

    def request(self, question: Question, images: Sequence[Pixels]) -> dict[str, object]:
        """Return the request for an answer."""
        content = self.chat.messages(self.generation.prompt(question), [data_url(image) for image in images])
        limit = self.generation.max_new_tokens
        settings = {name: limit if value is None else value for name, value in self.settings.items()}
        return {"model": self.chat.model, "messages": content, **settings, **self.chat.adding}

    def _reply(self, answer: Answered) -> Reply:
        if is_unfinished(answer):
            return Reply("", "length", self.generation.max_new_tokens)
        content = self.chat.content(answer, "the request")
        try:
            choice = content["choices"][0]
            text, finish = choice["message"].get("content"), choice["finish_reason"]
            tokens = content["usage"]["completion_tokens"]
            if not (text is None or isinstance(text, str)) or type(tokens) is not int:
                raise TypeError
        except (LookupError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{self.chat.model}: the server's answer has no message, finish_reason or usage; give the "
                "address of an OpenAI-compatible server"
            ) from error
        if not 0 <= tokens < 2**31:
            raise ModelError(
                f"{self.chat.model}: the server counts {tokens:,} tokens in an answer "
                "(usage.completion_tokens), which cannot be; start another server, or another version of it"
            )
        if finish not in FINISHES:
            raise ModelError(
                f"{self.chat.model}: an answer ended with the finish_reason {finish!r}, which should be one "
                f"of {', '.join(FINISHES)}; start the server without tools"
            )
        # None where only reasoning was generated, which servers return apart.
        whole = (text or "").encode(errors="replace").decode()  # half of a surrogate pair cannot be stored
        return Reply(whole.strip(), finish, tokens)


def served_generator(
    client: AskedClient, names: set[str], facts: Mapping[str, str], generation: Generation
) -> ServedGenerator:
    """Return a model on a server that answers in its own words.

    Args:
        client: sends the requests.
        names: those that the server may give the model.
        facts: what decides an answer and the server does not tell.
        generation: the settings of its answers.

    Raises ModelError where the server serves another model, or refuses a first question.
    """
    model, found = served_model(client, names)
    chat = _served_chat(client, model, found["server"], {**facts, **found})
    refusals = []
    for settings in SETTINGS:
        generator = ServedGenerator(chat, generation, settings)
        answer = client.post(CHAT, generator.request(PROBE, [PROBE_IMAGE]))
        if answer.ok or is_unfinished(answer):
            return generator
        refusals.append(answer)
    raise ModelError(chat.refused_image(refusals[0]))


def is_unfinished(answer: Answered) -> bool:
    """Return whether a server refuses a request because its limit of tokens ended the reasoning."""
    return not answer.ok and UNFINISHED.search(answer.shown()) is not None


def _served_chat(client: AskedClient, model: str, server: str, facts: Mapping[str, str]) -> ServedChat:
    """Return the model with the special tokens of its prompts and a hash of a prompt's tokens.

    Providers of closed models tell no tokens. SGLang adds special tokens by itself. Raises ModelError where
    the server tells tokens, and they lack the system prompt.
    """
    text = letter_prompt(PROBE)
    chat = ServedChat(client, model, facts)
    body = {"model": model, "messages": chat.messages(text, []), **continuing(None)}
    tokens = optional_object(client, TOKENIZE, body).get("tokens")
    if tokens:
        chat.require_system_prompt(text)
    if tokens and server != SGLANG_OWNER:
        chat = chat.with_special_tokens(text)
        chat.require_special_tokens()
        tokens = chat.prompt_tokens(text)
    return replace(chat, facts={**facts, "chat_template": template_digest(tokens) if tokens else UNKNOWN})
