"""LLaVA-NeXT, and Falcon2-VLM, which has the same class but ships without a chat template."""

from benchc.models import checkpoint
from benchc.models.chat import ChatModel
from benchc.models.protocol import CheckpointSource

# The turns of Falcon2-VLM's model card: "User:<image>\\n{text} Falcon:".
FALCON_TEMPLATE = (
    "{% for message in messages if message['role'] != 'system' %}"
    "{{ 'User:' if message['role'] == 'user' else 'Falcon:' }}"
    "{% for part in message['content'] %}"
    "{{ '<image>\\n' if part['type'] == 'image' else part['text'] }}"
    "{% endfor %} {% endfor %}{% if add_generation_prompt %}Falcon:{% endif %}"
)


def load(source: CheckpointSource) -> ChatModel:
    """Load a checkpoint of the family."""
    return checkpoint.load(source, chat_template=FALCON_TEMPLATE)
