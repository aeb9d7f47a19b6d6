"""Names of families and scorings, and the modules behind them.

Modules are named, not imported: an edit of one family's file must rerun the jobs of that family alone.
"""

import difflib
import importlib
from pathlib import Path

from benchc.models.protocol import ModelError, ModelSource, Scorer

SCORINGS = {
    "letter": "benchc.models.letter",
    "text": "benchc.models.text",
    "text_mean": "benchc.models.text",
}


class UnknownFamilyError(ModelError):
    """No module loads the models of a family."""


def family_module(family: str) -> str:
    """Return the name of the module of a family. Raises UnknownFamilyError where there is none."""
    module = f"benchc.models.families.{family}"
    folder = Path(__file__).parent / "families"
    if not (folder / f"{family}.py").is_file():
        known = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
        near = difflib.get_close_matches(family, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"written so far: {', '.join(known)}"
        raise UnknownFamilyError(
            f"no module benchc/models/families/{family}.py loads the family {family!r}; {hint}"
        )
    return module


def scorer_modules(family: str, scoring: str) -> tuple[str, ...]:
    """Return the modules that decide the predictions of a model: its family's and its scoring's."""
    if scoring not in SCORINGS:
        raise ModelError(f"unknown scoring {scoring!r}; choose one of {', '.join(SCORINGS)}")
    return family_module(family), SCORINGS[scoring]


def load_scorer(family: str, scoring: str, source: ModelSource) -> Scorer:
    """Load a model by its family's module and wrap it in the scoring."""
    family_name, scoring_name = scorer_modules(family, scoring)
    chat = importlib.import_module(family_name).load(source)
    module = importlib.import_module(scoring_name)
    scorer: Scorer = (
        module.LetterScorer(chat)
        if scoring == "letter"
        else module.TextScorer(chat, length_normalised=scoring == "text_mean")
    )
    return scorer
