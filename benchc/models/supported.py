"""The families of models that can be loaded.

Inference does not import this module, so a family added here reruns no job.
"""

import difflib

from benchc.models.protocol import ModelError

# By the model type of transformers, whose classes load all of them; llava_next has a file for a chat
# template.
FAMILIES = ("emu3", "gemma3", "idefics3", "internvl", "llava", "ovis2", "qwen2_5_vl", "smolvlm", "llava_next")


class UnsupportedFamilyError(ModelError):
    """No code loads the models of a family."""


def check_family(family: str | None) -> None:
    """Raise UnsupportedFamilyError for a family that cannot be loaded; None is any of transformers."""
    if family is not None and family not in FAMILIES:
        near = difflib.get_close_matches(family, FAMILIES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(FAMILIES)}"
        raise UnsupportedFamilyError(f"models of the family {family!r} cannot be loaded yet; {hint}")
