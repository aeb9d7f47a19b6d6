"""The digest of the code that decides a prediction."""

from collections.abc import Iterable
from pathlib import Path

from benchc.closure import closure_digest, module_file

ROOT = Path(__file__).resolve().parents[2]
ENTRY = "benchc.models.predict"


def prediction_code(modules: Iterable[str], entry: str = ENTRY) -> str:
    """Return a hash of the code from prompt and pixels to logits.

    ``modules``: those of the model's family and scoring, which are imported by name, so that an edit of one
    family changes the hash of its own models only. ``entry``: the module that reaches all other code. Raises
    FileNotFoundError for a module that does not exist.
    """
    return closure_digest([module_file(module) for module in (entry, *modules)], ROOT)
