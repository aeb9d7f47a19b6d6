"""PaliGemma, which has no turns: its prompt is the images, the text and a line break."""

from benchc.models import checkpoint
from benchc.models.chat import ChatModel
from benchc.models.protocol import CheckpointSource

# The format of PaliGemmaProcessor (transformers, models/paligemma/processing_paligemma.py).
TEMPLATE = (
    "{% for message in messages if message['role'] == 'user' %}{% for part in message['content'] %}"
    "{{ '<image>' if part['type'] == 'image' else part['text'] }}"
    "{% endfor %}{% endfor %}"
)


class PaliGemmaModel(ChatModel):
    """A PaliGemma, whose processor writes the line break after which the answer begins."""

    def processor_end(self, images: int) -> str:
        return "\n"


def load(source: CheckpointSource) -> PaliGemmaModel:
    """Load a checkpoint of the family."""
    chat = checkpoint.load(source, chat_template=TEMPLATE)
    return PaliGemmaModel(chat.model, chat.processor, chat.identity, chat.system_prompt)
