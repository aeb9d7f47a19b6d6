"""Let a model answer from its closed list: the label with the highest logit."""

import hashlib
import json
from collections.abc import Sequence

import torch

from benchc.models.chat import ChatInterface
from benchc.models.encoding import Encoded
from benchc.models.local import Numbers
from benchc.models.protocol import ModelError, Reply
from benchc.models.question import Question, bare_prompt
from benchc.models.vqa import ClosedListModel
from benchc.pixels import Pixels

# A label is one choice.
LABEL_TOKENS = 1


class Classifier(ChatInterface):
    """A :class:`benchc.models.protocol.Generative` model whose answers are the labels of a closed list."""

    chat: ClosedListModel

    def identity(self) -> dict[str, str]:
        """Return all that decides an answer besides prompt and pixels."""
        labels = json.dumps(self.chat.labels).encode()
        return {
            **self.chat.facts(),
            "scoring": "classify",
            "labels": hashlib.blake2b(labels, digest_size=16).hexdigest(),
        }

    def prompt(self, question: Question, images: int) -> str:
        return self.chat.render(bare_prompt(question), images)

    def replies(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> list[Reply]:
        return self.ask(question, self.encode(question, variants))

    def ask(self, question: Question, encoded: Encoded) -> list[Reply]:
        """Return the answer under each variant of the question's images; each has ``LABEL_TOKENS`` tokens.

        Of labels with equal logits, the first is the answer. Raises ModelError where a logit is NaN.
        """
        labels = self.chat.labels
        places = self.numbers(question, encoded).argmax(axis=-1).tolist()
        return [Reply(labels[place], "stop", LABEL_TOKENS) for place in places]

    @torch.inference_mode()
    def numbers(self, question: Question, encoded: Encoded) -> Numbers:
        """Return the logits of the labels [V, labels]; raises ModelError where one is NaN."""
        # ViLT shuffles the patches of an image, which changes the last bits of a logit.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            output = self.chat.forward(self.chat.on_device(encoded.inputs), last_only=False)
        logits = output.logits.float()
        if logits.isnan().any():
            raise ModelError(
                f"{self.chat.name}: a logit of an answer is NaN; set `dtype: float32` (float16 overflows) in "
                "the model catalogue, or check the model's weights"
            )
        found: Numbers = logits.cpu().numpy()
        return found
