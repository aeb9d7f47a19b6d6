"""A model on an SGLang server: the log-probabilities of given tokens, and of the prompt, by /generate.

Chat completions of SGLang return neither of them, so this sends what they would compute. In SGLang 0.5.23
(package ``sglang`` on PyPI, below ``sglang/srt``):

- ``entrypoints/openai/serving_tokenize.py``: /tokenize renders ``messages`` as a chat completion does, and
  returns their tokens, with placeholders of images; with ``prompt``, it returns the tokens of a text.
- ``entrypoints/openai/serving_chat.py``, ``_apply_jinja_template`` and ``_engine_prompt``: for a model with
  images, a chat completion decodes these tokens, and passes on the text with ``image_data``, as /generate
  does (``managers/io_struct.py``, ``GenerateReqInput``).
- ``multimodal/processors/base_processor.py``, ``process_mm_data``: the processor of transformers adds special
  tokens to the text, unless it begins with BOS.
- ``managers/tokenizer_manager.py``, ``add_logprob_to_meta_info``: a log-probability is returned as
  [value, token id, text]; ``token_ids_logprob`` chooses the tokens at each position of the answer.
- ``managers/scheduler_components/logprob_result_processor.py``: with ``logprob_start_len`` 0, those of all
  tokens of the prompt are returned. Images have been expanded, so positions count from the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from benchc.models.protocol import ModelError
from benchc.models.question import answer_separator, letter_prompt
from benchc.models.server.chat import NO_PENALTIES, Answered, ServedChat, data_url
from benchc.models.server.probe import PROBE, PROBE_IMAGE
from benchc.models.special_tokens import SpecialTokens

GENERATE = "/generate"
SERVER_INFO = "/server_info"
# A server may have other defaults (--preferred-sampling-params), and penalties change log-probabilities.
GREEDY = {"temperature": 0, "max_new_tokens": 1, **NO_PENALTIES}
# Any image has the same placeholder in the chat prompt.
PLACEHOLDER = data_url(PROBE_IMAGE)


@dataclass(frozen=True)
class SglangChat(ServedChat):
    """A model behind an SGLang server."""

    _prompts: dict[tuple[str, int], str] = field(default_factory=dict)

    def prompt(self, text: str, images: int) -> str:
        """Return the chat prompt of one user message of ``images`` images, then ``text``.

        Raises ModelError where tokens and text of the prompt do not determine each other: the server would
        compute another prompt than the one that its chat template defines.
        """
        key = (text, images)
        if key not in self._prompts:
            content = self.messages(text, [PLACEHOLDER] * images)
            tokens = self.token_ids({"model": self.model, "messages": content})
            prompt = self.text_of(tokens)
            if self._tokens_of(prompt) != tokens:
                raise ModelError(
                    f"{self.model}: the server's /detokenize does not return the text of its chat prompt, "
                    "which /generate needs; serve this model by vLLM"
                )
            self._prompts[key] = prompt
        return self._prompts[key]

    def tokens(self, text: str, answer: str | None = None, *, special: bool = False) -> list[int]:
        """Return the tokens of the chat prompt of ``text``, or of the prompt with the answer's beginning.

        ``special``: whether the tokenizer adds its special tokens.
        """
        return self._tokens_of(self._written(text, 0, answer), special=special)

    def with_special_tokens(self, text: str) -> Self:
        """Return the model; /generate adds special tokens to a text without BOS, as transformers does."""
        return replace(self, special=SpecialTokens.of(self.tokens(text, special=True), self.tokens(text)))

    def first_tokens(self) -> list[object]:
        """Return the tokens of the first question's prompt in the server, empty where it does not tell."""
        urls = [data_url(PROBE_IMAGE)]
        answer = self.client.post(
            GENERATE, self.generate(letter_prompt(PROBE), urls, None, logprob_start_len=0)
        )
        found = self.returned(answer, "input_token_logprobs") if answer.ok else None
        return [token for token, _ in entries(found)]

    def text_of(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, also of special ones."""
        body = {"model": self.model, "tokens": list(tokens), "skip_special_tokens": False}
        return self.detokenized(body, "text")

    def generate(
        self, text: str, images: Sequence[str], answer: str | None, **settings: object
    ) -> dict[str, object]:
        """Return a request for one greedy token after the chat prompt, or after the answer so far.

        ``images``: data URLs, which come before ``text`` in the prompt.
        """
        written = {"text": self._written(text, len(images), answer), "image_data": list(images)}
        return {**written, "sampling_params": GREEDY, "return_logprob": True, **settings}

    def returned(self, answer: Answered, name: str) -> object:
        """Return what the server says under ``name`` about a request; raises ModelError where it refuses."""
        facts = self.content(answer, "the request").get("meta_info")
        return facts.get(name) if isinstance(facts, dict) else None

    def require_place_for_image(self) -> None:
        """Raise ModelError where the chat prompt has no placeholder of an image."""
        text = letter_prompt(PROBE)
        if self.prompt(text, 1) == self.prompt(text, 0):
            raise ModelError(
                f"{self.model}: the server's chat prompt has no place for an image; start SGLang with a chat "
                "template that has one (--chat-template)"
            )

    def _written(self, text: str, images: int, answer: str | None) -> str:
        prompt = self.prompt(text, images)
        return prompt if answer is None else prompt + answer_separator(prompt) + answer

    def _tokens_of(self, prompt: str, *, special: bool = False) -> list[int]:
        return self.token_ids({"model": self.model, "prompt": prompt, "add_special_tokens": special})


def entries(position: object) -> list[tuple[int, object]]:
    """Return the tokens and log-probabilities of one position; empty where there are none."""
    try:
        return [(int(token), value) for value, token, _ in position]  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        return []
