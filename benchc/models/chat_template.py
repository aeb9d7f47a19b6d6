"""The chat template of a checkpoint."""

from typing import Any


def chat_template(processor: Any, *, writes_images: bool) -> str | None:
    """Return the template for messages with images that came with a processor; None where there is none.

    ``writes_images``: whether it has a place for images; without, the processor writes them itself.
    """
    found: str | None = getattr(processor, "chat_template", None)
    of_tokenizer: str | None = getattr(processor.tokenizer, "chat_template", None)
    if found is not None or of_tokenizer is None:
        return found
    # Some processors do not take the checkpoint's template.
    if not writes_images:
        return of_tokenizer
    # That of a tokenizer may be for text alone.
    content = [{"type": "image"}, {"type": "text", "text": "text"}]
    try:
        rendered = processor.apply_chat_template(
            [{"role": "user", "content": content}], chat_template=of_tokenizer, tokenize=False
        )
    except Exception:  # a template can raise any error
        return None
    image = getattr(processor, "image_token", None)  # not all processors tell it
    return of_tokenizer if image is not None and str(image) in rendered else None
