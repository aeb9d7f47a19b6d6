"""Small checkpoints whose prompts get BOS from the chat template, the tokenizer, both or none."""

import shutil
from pathlib import Path

from tokenizers.processors import TemplateProcessing

from benchc.hugging_face import transformers

BOS = "<s>"
# What the template begins with, and what the tokenizer writes, None for the text alone.
ORIGINS = {
    "by none": ("", None),
    "by template": (BOS, None),
    "by tokenizer": ("", f"{BOS} $A"),
    "by both": (BOS, f"{BOS} $A"),
}


def save_with_bos(source: Path, folder: Path, origin: tuple[str, str | None]) -> Path:
    """Save the checkpoint in ``source``, which has no BOS, with the tokenizer and template of ``origin``."""
    processor = transformers.AutoProcessor.from_pretrained(source)
    assert processor.tokenizer.bos_token == BOS
    before, single = origin
    return saved(source, folder, before + processor.chat_template, single)


def saved(
    source: Path, folder: Path, template: str, single: str | None = None, **of_tokenizer: str | None
) -> Path:
    """Save a checkpoint with a chat template and a tokenizer that writes ``single``, None for the text alone.

    ``of_tokenizer``: attributes such as ``bos_token``.
    """
    processor = transformers.AutoProcessor.from_pretrained(source)
    tokenizer = processor.tokenizer
    if single is not None:
        ids = [(token, tokenizer.convert_tokens_to_ids(token)) for token in (BOS, "</s>")]
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=ids)
    for name, value in of_tokenizer.items():
        setattr(tokenizer, name, value)
    processor.chat_template = template
    shutil.copytree(source, folder, dirs_exist_ok=True)
    processor.save_pretrained(folder)
    return folder
