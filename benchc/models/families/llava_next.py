"""LLaVA-NeXT, and Falcon2-VLM, which has the same class but ships without a chat template.

Falcon2-VLM also ships without processor_config.json, so that its processor cannot count the tokens of an
image, and the token that stands for an image is beyond the rows of its embedding (65,024 of 65,024;
huggingface/transformers#34728).
"""

from typing import Any

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
    chat = checkpoint.load(source, chat_template=FALCON_TEMPLATE)
    if chat.processor.patch_size is None:
        chat.processor.patch_size = chat.model.config.vision_config.patch_size
        chat.processor.vision_feature_select_strategy = chat.model.config.vision_feature_select_strategy
        chat.processor.num_additional_image_tokens = 1  # CLIP's class token
    _embed_any_image_token(chat.model)
    return chat


def _embed_any_image_token(model: Any) -> None:
    """Let the embedding take the token of an image where it is beyond its rows.

    What it returns for such a token is replaced by the image's features.
    """
    embedding = model.get_input_embeddings()
    rows = embedding.num_embeddings
    if model.config.image_token_id >= rows:
        embedding.register_forward_pre_hook(lambda _, arguments: (arguments[0].clamp(max=rows - 1),))
