"""A server as a chat model: vLLM's requests, and the tokens of an answer after its chat prompt."""

import base64
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from typing import Any, Protocol, Self

from PIL import Image

from benchc.models.protocol import ModelError
from benchc.models.question import letter_prompt, system_messages
from benchc.models.server.probe import PROBE, PROBE_IMAGE
from benchc.models.special_tokens import SpecialTokens, times_at_end, times_at_start
from benchc.pixels import Pixels

CHAT = "/v1/chat/completions"
TOKENIZE = "/tokenize"
DETOKENIZE = "/detokenize"
# A server's defaults are those of the checkpoint's generation_config.json. vLLM's first engine, and a newer
# one with --logprobs-mode processed_logprobs, return log-probabilities after the penalties.
NO_PENALTIES = {"frequency_penalty": 0, "presence_penalty": 0, "repetition_penalty": 1}
# vLLM writes it in place of minus infinity.
FLOOR = -9999.0
# The rounding of a probability of 1.
TOLERANCE = 1e-3
# In the messages of vLLM, SGLang and OpenAI.
TOO_LONG = re.compile(r"context length|maximum (model|allowed) length|max_model_len", re.IGNORECASE)
IF_TOO_LONG = (
    ": the item is longer than the model's context; let the server make images smaller (vLLM's "
    "--mm-processor-kwargs) or allow more (--max-model-len), or remove the item"
)

Body = Mapping[str, object]


class Answered(Protocol):
    """What a server answered."""

    @property
    def ok(self) -> bool:
        """Whether the server did not refuse the request."""

    def content(self) -> Any:
        """Return the parsed JSON."""

    def shown(self) -> str:
        """Return status and reason of a refusal."""


class Client(Protocol):
    """What sends requests: :class:`benchc.endpoint.client.Endpoint`, whose edits change no prediction."""

    def post(self, path: str, body: Body) -> Answered:
        """Return the answer to a request."""

    def post_all(self, path: str, bodies: Sequence[Body]) -> Sequence[Answered]:
        """Return the answers to several requests."""


@dataclass(frozen=True)
class ServedChat:
    """A model behind a server.

    Args:
        client: sends the requests.
        model: the name that the server gives the model.
        facts: all that decides a prediction besides prompt, pixels and scoring; ``system_prompt``, too.
        special: the tokens that the tokenizer adds to a chat prompt; None where the server does not tell.
    """

    client: Client
    model: str
    facts: Mapping[str, str]
    special: SpecialTokens | None = None
    _added: dict[tuple[str, tuple[str, ...]], list[list[int]]] = field(default_factory=dict)

    @property
    def system_prompt(self) -> str | None:
        """The text of the system message before each question; None: no such message."""
        return self.facts.get("system_prompt") or None

    def messages(
        self, text: str, images: Sequence[str], answer: str | None = None
    ) -> list[dict[str, object]]:
        """Return the messages of a question: system prompt, ``images`` (data URLs) and ``text``, answer.

        ``answer``: whole, or its beginning; None where it is asked for.
        """
        content: list[dict[str, object]] = [
            {"type": "image_url", "image_url": {"url": url}} for url in images
        ]
        user: dict[str, object] = {"role": "user", "content": [*content, {"type": "text", "text": text}]}
        asked = [*system_messages(self.system_prompt), user]
        return asked if answer is None else [*asked, {"role": "assistant", "content": answer}]

    def prompt_text(self, text: str, images: int) -> str:
        """Return a prompt for its hash: the server renders it by a chat template that is among the facts."""
        return json.dumps(self.messages(text, ["image"] * images), ensure_ascii=False)

    def require_system_prompt(self, text: str) -> None:
        """Raise ModelError where the prompt of ``text`` has the same tokens without the system prompt."""
        without = type(self)(self.client, self.model, {**self.facts, "system_prompt": ""})
        if self.system_prompt is not None and self.tokens(text) == without.tokens(text):
            raise ModelError(
                f"{self.model}: the server's chat template has no place for a system prompt; remove "
                "`system_prompt` of the model in the catalogue, or start the server with another template "
                "(--chat-template)"
            )

    def request(self, messages: Sequence[object], **settings: object) -> dict[str, object]:
        """Return a request for one greedy token after ``messages``."""
        greedy = {"temperature": 0, "max_tokens": 1, **NO_PENALTIES}
        return {"model": self.model, "messages": messages, **greedy, **self.adding, **settings}

    @property
    def adding(self) -> dict[str, object]:
        """The setting of a chat completion by which it has the special tokens that transformers adds."""
        return {} if self.special is None else _adding(self.special.are_added)

    def with_special_tokens(self, text: str) -> Self:
        """Return the model with the special tokens that transformers adds to the chat prompt of ``text``.

        By default, vLLM adds none (``add_special_tokens`` in ``entrypoints/serve/tokenize/protocol.py`` and
        ``entrypoints/openai/chat_completion/protocol.py``). Raises ModelError where /tokenize does not say
        whether transformers adds them: of a tokenizer that adds some at the end alone, BOS is unknown.
        """
        special = SpecialTokens.of(self.tokens(text, special=True), self.tokens(text))
        if special.after and not special.before:
            raise ModelError(
                f"{self.model}: the server's tokenizer adds the tokens {special.after} at the end of a chat "
                "prompt alone; whether a prompt should have them depends on its `bos_token`, which the "
                "server does not tell; load this model in the job"
            )
        return replace(self, special=special)

    def prompt_tokens(self, text: str) -> list[int]:
        """Return the tokens of the chat prompt of ``text`` with the special tokens that transformers adds."""
        return self.tokens(text, special=self.special is not None and self.special.are_added)

    def require_special_tokens(self) -> None:
        """Raise ModelError where the first question's prompt in the server has others at its ends."""
        if self.special is None or not self.special.before:
            return
        before, after, expected = self.special.before, self.special.after, self.special.prompt
        found = self.first_tokens()
        # Some prompts begin with an image.
        text = list(dropwhile(lambda token: token not in {*expected, *before}, found))
        ends = {"begins": (times_at_start, text, before), "ends": (times_at_end, found, after)}
        for verb, (times, tokens, added) in ends.items():
            if found and added and times(tokens, added) != times(expected, added):
                raise ModelError(
                    f"{self.model}: of its tokenizer's special tokens {added}, a prompt in the server {verb} "
                    f"with {times(tokens, added)}, and one of transformers with {times(expected, added)}; "
                    "update the server, or serve this model by another"
                )

    def require_answer_after_prompt(self) -> None:
        """Raise ModelError where the tokenizer adds special tokens between prompt and answer."""
        if self.special is not None and self.special.before_answer:
            raise ModelError(
                f"{self.model}: its tokenizer adds the tokens {self.special.before_answer} between prompt "
                "and answer, where a server cannot have them in the log-probabilities of a text; use "
                "`scoring: letter`, or load this model in the job"
            )

    def first_tokens(self) -> list[object]:
        """Return the tokens of the first question's prompt in the server, empty where it does not tell."""
        content = self.messages(letter_prompt(PROBE), [data_url(PROBE_IMAGE)])
        request = self.request(content, return_token_ids=True, **continuing(None))
        answer = self.client.post(CHAT, request)
        found = self.content(answer, "the request").get("prompt_token_ids") if answer.ok else None
        tokens = found if isinstance(found, list) else []
        return tokens if all(isinstance(token, int) for token in tokens) else []

    def tokens_after(self, text: str, answers: Sequence[str]) -> list[list[int]]:
        """Return the tokens that each answer adds to the chat prompt of one user message with ``text``.

        Images are left out, since what is before the text does not change the tokens after it. Raises
        ModelError where answer and prompt merge, or the server cannot say.
        """
        key = (text, tuple(answers))
        if key not in self._added:
            prompt = self.tokens(text)
            self._added[key] = [self._added_to(prompt, text, answer) for answer in answers]
        return self._added[key]

    def tokens(self, text: str, answer: str | None = None, *, special: bool = False) -> list[int]:
        """Return the tokens of the chat prompt of ``text``, or of the prompt with the answer's beginning.

        ``special``: whether the tokenizer adds its special tokens.
        """
        content = self.messages(text, [], answer)
        return self.token_ids(
            {"model": self.model, "messages": content, **_adding(special), **continuing(answer)}
        )

    def token_ids(self, body: Body) -> list[int]:
        """Return what /tokenize answers to a request; raises ModelError where it is no list of token ids."""
        answer = self.client.post(TOKENIZE, body)
        if not answer.ok:
            raise ModelError(
                f"{self.model}: the server refuses /tokenize ({answer.shown()}), without which options "
                "cannot be scored; check that it is vLLM or SGLang (else `scoring: generate`)"
                f"{self._or_system_prompt}"
            )
        tokens = self.content(answer, TOKENIZE).get("tokens")
        # llama.cpp answers an empty list, as it reads no messages.
        if not (isinstance(tokens, list) and tokens and all(isinstance(token, int) for token in tokens)):
            raise ModelError(f"{self.model}: the server's /tokenize returns no token ids; use vLLM or SGLang")
        return tokens

    def _added_to(self, prompt: list[int], text: str, answer: str) -> list[int]:
        whole = self.tokens(text, answer)
        if whole[: len(prompt)] != prompt or len(whole) == len(prompt):
            raise ModelError(
                f"{self.model}: the answer {answer!r} changes the tokens of the server's chat prompt; start "
                "the server with a chat template (--chat-template) whose answer begins where its prompt ends"
            )
        added = whole[len(prompt) :]
        found = self.text_of(added)
        if _letters(found) != _letters(answer):
            raise ModelError(
                f"{self.model}: the server's chat template turns the answer {answer!r} into {found!r}; start "
                "the server with one that writes the answer alone (--chat-template), or turn off reasoning "
                "(vLLM's --default-chat-template-kwargs)"
            )
        return added

    def text_of(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, also of special ones."""
        return self.detokenized({"model": self.model, "tokens": list(tokens)}, "prompt")

    def detokenized(self, body: Body, name: str) -> str:
        """Return what /detokenize answers under ``name``; raises ModelError where it is no text."""
        text = self.content(self.client.post(DETOKENIZE, body), DETOKENIZE).get(name)
        if not isinstance(text, str):
            raise ModelError(f"{self.model}: the server's /detokenize returns no text; use vLLM or SGLang")
        return text

    def content(self, answer: Answered, what: str) -> dict[str, Any]:
        """Return the object that the server answered; raises ModelError where it refuses ``what``."""
        if not answer.ok:
            fix = IF_TOO_LONG if TOO_LONG.search(answer.shown()) else "; look at its log"
            raise ModelError(f"{self.model}: the server refuses {what} ({answer.shown()}){fix}")
        content = answer.content()
        if not isinstance(content, dict):
            raise ModelError(
                f"{self.model}: the server's answer to {what} is not a JSON object; use vLLM or SGLang"
            )
        return content

    def refused_image(self, answer: Answered) -> str:
        """Return the message about a refusal of a first question."""
        return (
            f"{self.model}: the server refuses a question with an image ({answer.shown()}); check that the "
            f"model reads images{self._or_system_prompt}, and the server's log"
        )

    @property
    def _or_system_prompt(self) -> str:
        """What else a server may refuse: some chat templates raise an error at a system message."""
        return "" if self.system_prompt is None else ", that its chat template takes a `system_prompt`"

    def log_probability(self, value: object, what: str) -> float:
        """Return a log-probability of the server; raises ModelError where it is none, or minus infinity."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ModelError(f"{self.model}: the server's log-probability of {what} is {value}, no number")
        if not FLOOR < value <= TOLERANCE:
            raise ModelError(
                f"{self.model}: the server's log-probability of {what} is {value}, which should be finite "
                "and not above 0; start vLLM without --logprobs-mode, and check the server's dtype"
            )
        return min(0.0, float(value))

    def by_token(self, entries: Iterable[tuple[int, object]]) -> dict[int, object]:
        """Return the log-probabilities of a position by token id; raises ModelError where a token has two."""
        found: dict[int, object] = {}
        for token, value in entries:
            before = found.setdefault(token, value)
            numbers = isinstance(before, int | float) and isinstance(value, int | float)
            if numbers and abs(before - value) > TOLERANCE:  # type: ignore[operator]
                raise ModelError(
                    f"{self.model}: the server returns two log-probabilities of the token {token}, {before} "
                    f"and {value}; start it without options that change them, and check its log"
                )
        return found


def _adding(special: bool) -> dict[str, object]:
    """Return the setting that adds special tokens to a chat prompt, or adds none."""
    return {"add_special_tokens": special}


def _letters(text: str) -> str:
    """Return a text without what tokenizers change: normal forms, and spaces."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def continuing(answer: str | None) -> dict[str, object]:
    """Return the settings with which a chat template ends after the prompt, or after the answer so far."""
    return {"add_generation_prompt": answer is None, "continue_final_message": answer is not None}


def data_url(pixels: Pixels) -> str:
    """Return ``pixels`` as a data URL of a PNG, which loses nothing."""
    buffer = io.BytesIO()
    Image.fromarray(pixels, "RGB").save(buffer, "PNG", compress_level=1)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
