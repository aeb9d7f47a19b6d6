"""The chat template of a checkpoint."""

from typing import Any


def chat_template(processor: Any) -> str | None:
    """Return the template for messages with images that came with a processor; None where there is none."""
    found: str | None = getattr(processor, "chat_template", None)
    of_tokenizer: str | None = getattr(processor.tokenizer, "chat_template", None)
    if found is not None or of_tokenizer is None:
        return found
    # Some processors do not take the checkpoint's template. That of a tokenizer may be for text alone.
    content = [{"type": "image"}, {"type": "text", "text": "text"}]
    try:
        rendered = processor.apply_chat_template(
            [{"role": "user", "content": content}], chat_template=of_tokenizer, tokenize=False
        )
    except Exception:  # a template can raise any error
        return None
    return of_tokenizer if str(processor.image_token) in rendered else None
