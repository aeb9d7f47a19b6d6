"""Small checkpoints whose prompts get BOS from the chat template, the tokenizer, both or none."""

import shutil
from pathlib import Path
from typing import NamedTuple

from tokenizers.processors import TemplateProcessing

from benchc.hugging_face import transformers

BOS = "<s>"


class Origin(NamedTuple):
    """Where BOS comes from, and how many a prompt begins with."""

    template: bool
    tokenizer: bool
    count: int


ORIGINS = {
    "by none": Origin(False, False, 0),
    "by template": Origin(True, False, 1),
    "by tokenizer": Origin(False, True, 1),
    "by both": Origin(True, True, 1),
}


def save_with_bos(source: Path, folder: Path, origin: Origin) -> Path:
    """Save the checkpoint in ``source``, which has no BOS, with the tokenizer and template of ``origin``."""
    processor = transformers.AutoProcessor.from_pretrained(source)
    tokenizer = processor.tokenizer
    assert tokenizer.bos_token == BOS
    if origin.tokenizer:
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=f"{BOS} $A", special_tokens=[(BOS, tokenizer.bos_token_id)]
        )
    if origin.template:
        processor.chat_template = BOS + processor.chat_template
    shutil.copytree(source, folder, dirs_exist_ok=True)
    processor.save_pretrained(folder)
    return folder
