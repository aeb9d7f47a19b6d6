"""Names of families and scorings, and the modules behind them.

Modules are named, not imported: an edit of a family's file must rerun the jobs of that family alone.
"""

from pathlib import Path

from benchc.models.protocol import ModelError

VQASCORE = "text_vqascore"
SCORINGS = {
    "letter": "benchc.models.letter",
    "text": "benchc.models.text",
    "text_mean": "benchc.models.text",
    VQASCORE: "benchc.models.text",
}
# In place of a scoring: answers in the model's own words, or from a closed list.
GENERATE, CLASSIFY = "generate", "classify"
ANSWERING = {GENERATE: "benchc.models.generate", CLASSIFY: "benchc.models.classify"}
MODULES = {**SCORINGS, **ANSWERING}
# Merges an adapter of peft, which is not in all environments.
ADAPTER = "benchc.models.adapter"


# Model types of transformers that answer otherwise without their family: it adds what their class leaves out.
NEED_FAMILY = ("paligemma", "phi4_multimodal")


def has_own_module(family: str) -> bool:
    """Return whether a family has a file in benchc/models/families."""
    return (Path(__file__).parent / "families" / f"{family}.py").is_file()


def family_module(family: str | None) -> str:
    """Return the name of the module that loads a family: its own, or else the one for all of transformers."""
    own = family is not None and has_own_module(family)
    return f"benchc.models.families.{family}" if own else "benchc.models.checkpoint"


def answering(scoring: str) -> str:
    """Return how a model whose options are scored by ``scoring`` answers: a key of ``ANSWERING``."""
    return scoring if scoring in ANSWERING else GENERATE


def scorer_modules(family: str | None, scoring: str, *, adapter: bool = False) -> tuple[str, ...]:
    """Return the modules that decide a model's predictions, or answers: its family's and its scoring's.

    ``adapter``: whether an adapter is merged into it, by a module that other models do without.
    """
    if scoring not in MODULES:
        raise ModelError(f"unknown scoring {scoring!r}; choose one of {', '.join(MODULES)}")
    return family_module(family), MODULES[scoring], *((ADAPTER,) if adapter else ())
