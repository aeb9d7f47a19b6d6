"""The families of models that can be named: those with a file of their own, and those of transformers.

Inference does not import this module, so that an edit of it reruns no job.
"""

import difflib
import importlib.util
import runpy
from functools import cache
from pathlib import Path

from benchc.models.protocol import ModelError
from benchc.models.registry import has_own_module


class UnsupportedFamilyError(ModelError):
    """No code loads the models of a family."""


def is_supported(family: str | None) -> bool:
    """Return whether a family has a file of its own or is a model type of transformers.

    None, where the checkpoint's config.json decides, is supported, and so is any family where transformers is
    not installed: then the job says whether its environment has the class.
    """
    known = _of_transformers()
    return family is None or not known or family in known or has_own_module(family)


def check_family(family: str | None) -> None:
    """Raise UnsupportedFamilyError for a family that is not supported."""
    if family is None or is_supported(family):
        return
    near = difflib.get_close_matches(family, [*_of_transformers(), *_own()], n=1)
    hint = f"did you mean {near[0]!r}?" if near else "leave it out, or add the family"
    raise UnsupportedFamilyError(
        f"the family {family!r} is no model type of transformers and has no file of its own "
        f"(docs/models.md); {hint}"
    )


@cache
def _of_transformers() -> frozenset[str]:
    """Return the model types of transformers, by its files: importing it takes seconds."""
    spec = importlib.util.find_spec("transformers")
    if spec is None or spec.origin is None:
        return frozenset()
    models = Path(spec.origin).parent / "models"
    folders = (path.name for path in models.iterdir() if path.is_dir() and path.name[0] != "_")
    table = models / "auto/auto_mappings.py"  # plain data; versions before 5 have none
    names = runpy.run_path(str(table))["CONFIG_MAPPING_NAMES"] if table.is_file() else ()
    return frozenset([*folders, *names])


def _own() -> list[str]:
    folder = Path(__file__).parent / "families"
    return [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
