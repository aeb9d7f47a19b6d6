"""PaliGemma, which has no turns: its prompt is the images, the text and a line break."""

from collections.abc import Sequence
from typing import Any

from benchc.models import checkpoint
from benchc.models.chat import ChatModel
from benchc.models.protocol import CheckpointSource
from benchc.pixels import Pixels

# The format of PaliGemmaProcessor (transformers, models/paligemma/processing_paligemma.py).
TEMPLATE = (
    "{% for message in messages if message['role'] == 'user' %}{% for part in message['content'] %}"
    "{{ '<image>' if part['type'] == 'image' else part['text'] + '\\n' }}"
    "{% endfor %}{% endfor %}"
)


class PaliGemmaModel(ChatModel):
    """A PaliGemma. Its rendered prompt ends with the line break, after which the answer begins."""

    def encode(self, rendered: str, variants: Sequence[Sequence[Pixels]]) -> dict[str, Any]:
        # The processor writes the line break itself.
        return super().encode(rendered.removesuffix("\n"), variants)


def load(source: CheckpointSource) -> PaliGemmaModel:
    """Load a checkpoint of the family."""
    chat = checkpoint.load(source, chat_template=TEMPLATE)
    return PaliGemmaModel(chat.model, chat.processor, chat.identity, chat.system_prompt)
