"""Score options by the log-likelihood of their texts as the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch

from benchc.hugging_face import transformers
from benchc.models.chat import ChatInterface
from benchc.models.chat_template import apply_template
from benchc.models.encoding import Encoded
from benchc.models.local import Numbers
from benchc.models.protocol import ModelError, OptionScores, require_options
from benchc.models.question import Question, text_prompt
from benchc.models.registry import VQASCORE
from benchc.pixels import Pixels


@dataclass
class TextScorer(ChatInterface):
    """A :class:`benchc.models.protocol.Scorer` whose logits are log-likelihoods of the options' texts.

    They are summed over a text's tokens, or averaged if ``length_normalised``; of these tokens is the one
    that ends the answer, if ``ended``. Averaged with it, exp of a logit is the VQAScore of
    linzhiqiu/t2v_metrics for LLaVA-1.5 and CLIP-FlanT5. Each variant's prompt passes through the model once;
    the options share its keys and values.
    """

    length_normalised: bool = False
    ended: bool = False
    _tokens: dict[tuple[str, tuple[str, ...]], list[list[int]]] = field(default_factory=dict)

    def identity(self) -> dict[str, str]:
        scoring = VQASCORE if self.ended else "text_mean" if self.length_normalised else "text"
        return {**self.chat.facts(), "scoring": scoring}

    def prompt(self, question: Question, images: int) -> str:
        require_options(question)
        return self.chat.render(text_prompt(question), images)

    def score(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> OptionScores:
        return self.ask(question, self.encode(question, variants))

    def numbers(self, question: Question, encoded: Encoded) -> Numbers:
        return self.ask(question, encoded).logits

    @torch.inference_mode()
    def ask(self, question: Question, encoded: Encoded) -> OptionScores:
        tokens = self._option_tokens(encoded.prompt, question.texts)
        inputs = self.chat.on_device(encoded.inputs)
        total = self._shared(inputs, tokens) if self.chat.shares_prompt else self._whole(inputs, tokens)
        mass = total.exp().sum(dim=-1).clamp(max=1.0)
        lengths = torch.tensor([len(option) for option in tokens], device=total.device)
        logits = total / lengths if self.length_normalised else total
        return OptionScores(logits.float().cpu().numpy(), mass.float().cpu().numpy())

    def _shared(self, inputs: dict[str, torch.Tensor], tokens: list[list[int]]) -> torch.Tensor:
        """Return the log-likelihood [V, K] of each option; all share the keys and values of the prompt."""
        longest = max(len(option) for option in tokens)
        self.chat.require_context(inputs["input_ids"].shape[1] + longest - 1)
        first = torch.tensor([option[0] for option in tokens], device=self.chat.model.device)
        self.chat.forget_images()
        with self.chat.head() as head:
            head.tokens = first
            # Given as `generate` does, since some classes make none.
            cache = {"past_key_values": self._cache()} if longest > 1 else {}
            output = self.chat.forward({**inputs, **cache, "use_cache": longest > 1}, last_only=True)
        total: torch.Tensor = output.logits[:, -1].float().log_softmax(dim=-1)[:, first]  # [V, K]
        if longest > 1:
            total = total + self._continuations(output.past_key_values, inputs, tokens, longest)
        return total

    def _cache(self) -> object:
        """Return an empty cache of keys and values."""
        return transformers.DynamicCache(config=self.chat.model.config.get_text_config(decoder=True))

    def _whole(self, inputs: dict[str, torch.Tensor], tokens: list[list[int]]) -> torch.Tensor:
        """Return the log-likelihood [V, K] of each option, by one forward pass of prompt and option."""
        totals = []
        for option in tokens:
            targets = torch.tensor([option], device=self.chat.model.device)
            with self.chat.head() as head:
                head.tokens = targets
                output = self.chat.forward(self.chat.extended(inputs, option[:-1]), last_only=False)
            logs = output.logits[:, -len(option) :].float().log_softmax(dim=-1)  # [V, n, vocabulary]
            totals.append(logs.gather(-1, targets.expand(len(logs), -1)[..., None]).sum(dim=(1, 2)))
        return torch.stack(totals, dim=-1)

    def _continuations(
        self, cache: object, inputs: dict[str, torch.Tensor], tokens: list[list[int]], longest: int
    ) -> torch.Tensor:
        """Return the log-likelihood [V, K] of each option's tokens after its first."""
        variants, options = inputs["input_ids"].shape[0], len(tokens)
        device = inputs["input_ids"].device
        # Shorter options are padded on the right, where causal attention hides the padding.
        padded = torch.tensor([option + option[-1:] * (longest - len(option)) for option in tokens])
        counts = torch.tensor([[k + 1 < len(option) for k in range(longest - 1)] for option in tokens])
        # Each variant's row once per option. Caches of linear attention cannot repeat their rows otherwise.
        chosen = torch.arange(variants, device=device).repeat_interleave(options)
        cache.reorder_cache(chosen)  # type: ignore[attr-defined]
        rows = padded.to(device).repeat(variants, 1)  # [V * K, longest]
        targets = rows[:, 1:]
        with self.chat.head() as head:
            head.tokens = targets
            # Padding is only at the end, so no mask is needed; some classes misinterpret one here.
            output = self.chat.forward({"input_ids": rows[:, :-1], "past_key_values": cache}, last_only=False)
        logits = output.logits.float()
        likelihood = logits.gather(-1, targets[..., None])[..., 0] - logits.logsumexp(dim=-1)
        kept = likelihood * counts.to(device).repeat(variants, 1)
        summed: torch.Tensor = kept.sum(dim=-1)
        return summed.view(variants, options)

    def _option_tokens(self, rendered: str, options: tuple[str, ...]) -> list[list[int]]:
        key = (rendered[-40:], options)
        if key not in self._tokens:
            separator = self.chat.separator(rendered)
            end = [self._end_token] if self.ended else []
            self._tokens[key] = [self.chat.tokens_after(rendered, separator + text) + end for text in options]
        return self._tokens[key]

    @cached_property
    def _end_token(self) -> int:
        """The token that ends an answer: of several, the first that the chat template writes after one."""
        ends = [end for end in self.chat.end_tokens if end is not None] if self.chat.generates else []
        if len(ends) == 1:
            return int(ends[0])
        after = self._after_an_answer() if ends else ""
        places = {after.find(self.chat.tokenizer.convert_ids_to_tokens(end)): end for end in ends}
        places.pop(-1, None)
        if not places:
            raise ModelError(
                f"{self.chat.name}: the token that ends an answer is not known, which `scoring: {VQASCORE}` "
                "needs; set `scoring: text` in the model catalogue"
            )
        return int(places[min(places)])

    def _after_an_answer(self) -> str:
        said = "An answer."
        turns = [
            {"role": role, "content": [{"type": "text", "text": text}]}
            for role, text in (("user", "A question."), ("assistant", said))
        ]
        return apply_template(self.chat.name, self.chat.processor, turns).rpartition(said)[2]
