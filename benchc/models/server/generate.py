"""A model on a server that answers in its own words: chat completions, greedy where the server allows it.

The requests are those of OpenAI's interface, which vLLM and most providers have. This module and what it
imports are the code that decides an answer; it imports no torch, and no client.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from benchc.models.server.served import AskedClient, served_model, template_digest
from benchc.pixels import Pixels

PROBE_TOKENS = 16
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

    def request(
        self, question: Question, images: Sequence[Pixels], most: int | None = None
    ) -> dict[str, object]:
        """Return the request for an answer of ``most`` tokens; None allows as many as its settings."""
        content = self.chat.messages(self.generation.prompt(question), [data_url(image) for image in images])
        limit = self.generation.max_new_tokens if most is None else most
        settings = {name: limit if value is None else value for name, value in self.settings.items()}
        return {"model": self.chat.model, "messages": content, **settings}

    def _reply(self, answer: Answered) -> Reply:
        content = self.chat.content(answer, "the request")
        try:
            choice = content["choices"][0]
            text, finish = choice["message"].get("content"), choice["finish_reason"]
            tokens = content["usage"]["completion_tokens"]
        except (LookupError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{self.chat.model}: the server's answer has no message, finish_reason or usage; give the "
                "address of an OpenAI-compatible server"
            ) from error
        if finish not in FINISHES:
            raise ModelError(
                f"{self.chat.model}: an answer ended with the finish_reason {finish!r}, which should be one "
                f"of {', '.join(FINISHES)}; start the server without tools"
            )
        # None where only reasoning was generated, which servers return apart.
        whole = (text or "").encode(errors="replace").decode()  # half of a surrogate pair cannot be stored
        return Reply(whole.strip(), finish, int(tokens))


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
    facts = {**facts, **found}
    chat = ServedChat(client, model, {**facts, "chat_template": _template(ServedChat(client, model, facts))})
    refusals = []
    for settings in SETTINGS:
        generator = ServedGenerator(chat, generation, settings)
        body = generator.request(PROBE, [PROBE_IMAGE], min(generation.max_new_tokens, PROBE_TOKENS))
        answer = client.post(CHAT, body)
        if answer.ok:
            return generator
        refusals.append(answer)
    raise ModelError(chat.refused_image(refusals[0]))


def _template(chat: ServedChat) -> str:
    """Return a hash of the tokens of a chat prompt; providers of closed models do not tell them.

    Raises ModelError where the server tells them, and they lack the system prompt.
    """
    body = {"model": chat.model, "messages": chat.messages(letter_prompt(PROBE), []), **continuing(None)}
    answer = chat.client.post(TOKENIZE, body)
    content = answer.content() if answer.ok else None
    tokens = content.get("tokens") if isinstance(content, dict) else None
    if not tokens:
        return "unknown"
    chat.require_system_prompt(letter_prompt(PROBE))
    return template_digest(tokens)
