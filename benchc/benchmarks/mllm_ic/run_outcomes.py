"""The outcomes of all models of a run, side by side: all are asked the same items in the same scenarios."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.mllm_ic.capabilities import Capability, capabilities
from benchc.benchmarks.mllm_ic.metrics.averages import Rule, mid_weights, rule_weights
from benchc.benchmarks.mllm_ic.metrics.draws import Integers, capability_draws
from benchc.benchmarks.mllm_ic.schemas.capabilities import CAPABILITIES
from benchc.benchmarks.mllm_ic.schemas.outcomes import OUTCOMES, TIED_RIGHT, WRONG, Codes, is_right, scenarios
from benchc.errors import InputError
from benchc.labels import check_labels
from benchc.rendering.output import Files
from benchc.schemas.parquet import REMAKE, TableError, read_table
from benchc.schemas.shared_facts import tables_by_model
from benchc.statistics.resampling import Floats

Scenario = tuple[str, int]  # a corruption and a severity; (`clean`, 0)
# A bootstrap of n pictures has (n - 1) / n of the variance: none of one picture.
FEW_PICTURES = 10


@dataclass(frozen=True)
class RunOutcomes:
    """The outcomes of the models of a run, on the items that have a capability.

    Attributes:
        codes: by id of the model, int8[items, scenarios] (schemas/outcomes.py)
        items: rows of CAPABILITIES with a capability, sorted by id
        corruptions: names, in the order of the run
        severities: ascending
        in_words: ids of the models that answered in words
    """

    codes: Mapping[str, Codes]
    items: pl.DataFrame
    corruptions: tuple[str, ...]
    severities: tuple[int, ...]
    in_words: frozenset[str] = frozenset()

    @cached_property
    def scenarios(self) -> list[Scenario]:
        """Return the columns of the codes: first clean."""
        return scenarios(self.corruptions, self.severities)

    @cached_property
    def capabilities(self) -> tuple[Capability, ...]:
        """Return the capabilities that have items, in the paper's order."""
        present = set(self.items["capability"])
        return tuple(each for each in capabilities() if each.name in present)

    @cached_property
    def capability(self) -> Integers:
        """Return the index of each item's capability, int64[items]."""
        places = {each.name: number for number, each in enumerate(self.capabilities)}
        return np.array([places[name] for name in self.items["capability"]], np.int64)

    @cached_property
    def picture(self) -> Integers:
        """Return the index of each item's picture, int64[items]."""
        return self.items["picture"].rank("dense").cast(pl.Int64).to_numpy() - 1

    @cached_property
    def questions(self) -> Integers:
        """Return the number of questions of each capability, int64[capabilities]."""
        return np.bincount(self.capability, minlength=len(self.capabilities))

    def right(self, model: str) -> npt.NDArray[np.bool_]:
        """Return whether each answer of a model is right, bool[items, scenarios]."""
        return is_right(self.codes[model])

    def circular(self, model: str) -> npt.NDArray[np.bool_]:
        """Return the same, where an answer is right only if those to all circular copies are."""
        groups = self.items["circular_group"].rank("dense").cast(pl.Int64).to_numpy() - 1
        order = groups.argsort(kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        return np.asarray(np.logical_and.reduceat(self.right(model)[order], starts, axis=0)[groups])

    def cells(self, model: str) -> Floats:
        """Return the accuracy of each scenario and capability, float64[scenarios, capabilities], in [0, 1].

        It is over questions.
        """
        right, number = self.right(model), len(self.capabilities)
        sums = np.zeros((number, right.shape[1]))
        np.add.at(sums, self.capability, right)
        return np.asarray((sums / self.questions[:, None]).T)

    def columns(self, *, category_of: Mapping[str, str] | None = None) -> dict[str, Integers]:
        """Return the scenarios that each average of a table is over, by name.

        `clean`; `corrupted`, all but clean; `severity_1` to `severity_5`; each corruption; and, with
        ``category_of``, the category of each corruption, each category.
        """
        names = np.array([name for name, _ in self.scenarios])
        levels = np.array([level for _, level in self.scenarios])
        found = {"clean": np.flatnonzero(levels == 0), "corrupted": np.flatnonzero(levels > 0)}
        found |= {f"severity_{level}": np.flatnonzero(levels == level) for level in self.severities}
        if category_of is not None:
            of = np.array([category_of.get(name, "") for name in names])
            own = dict.fromkeys(category_of[name] for name in self.corruptions)
            found |= {category: np.flatnonzero(of == category) for category in own}
        return found | {name: np.flatnonzero(names == name) for name in self.corruptions}

    def draws(
        self,
        models: Sequence[str],
        columns: Mapping[str, Integers],
        draws: int,
        seed: int,
        *,
        circular: bool = False,
    ) -> Floats:
        """Return accuracies by capability, float64[1 + draws, models, columns, capabilities], in [0, 1].

        All models and columns have the same resamples of the pictures; row 0 is the sample itself. Averages
        over scenarios are plain means, and the number of questions is that of each scenario, so that a mean
        of accuracies is an accuracy of means.

        Args:
            models: ids.
            columns: the scenarios of each column, as from :meth:`columns`.
            draws: number of resamples.
            seed: of the resamples.
            circular: whether an answer is right only if those to all circular copies are.
        """
        answers = self.circular if circular else self.right
        values = np.column_stack(
            [right[:, own].mean(axis=1) for right in map(answers, models) for own in columns.values()]
        )
        names = [each.name for each in self.capabilities]
        found = capability_draws(values, self.capability, self.picture, names, draws, seed)
        by_capability = np.stack([*found], axis=-1)
        return by_capability.reshape(1 + draws, len(models), len(columns), len(names))

    def average(self, values: Floats, rule: Rule = "overall") -> Floats:
        """Return an average over capabilities, the last axis of ``values``."""
        return np.asarray(values @ rule_weights(rule, self.capabilities, self.questions))

    def by_mid(self, values: Floats) -> dict[str, Floats]:
        """Return the means of the mid-level capabilities, over the last axis of ``values``."""
        return {mid: values @ weights for mid, weights in mid_weights(self.capabilities).items()}


def read_run(outcomes: list[Path], capabilities: Path) -> RunOutcomes:
    """Return the outcomes of the models of a run.

    Args:
        outcomes: outcomes/{model}.parquet
        capabilities: pool/capabilities.parquet

    Raises InputError where two files are of one model, of other items or scenarios, or no item has a
    capability.
    """
    table = read_table(capabilities, CAPABILITIES)
    items = table.filter(pl.col("capability").is_not_null()).sort("id")
    if items.is_empty():
        raise InputError(f"{capabilities}: no item has a capability; map a category of the sources to one")
    codes: dict[str, Codes] = {}
    facts: tuple[tuple[str, ...], tuple[int, ...]] | None = None
    words = set()
    for id_, (path, rows, footer) in tables_by_model(outcomes, OUTCOMES, "outcomes").items():
        own = tuple(footer["corruptions"]), tuple(footer["severities"])
        if facts not in (None, own):
            raise TableError(f"{path}: its corruptions are not those of the files before; {REMAKE}")
        facts = own
        known = rows.join(items.select("id"), on="id", how="semi").sort("id")
        if known.height != items.height or not rows.join(table.select("id"), on="id", how="anti").is_empty():
            raise TableError(f"{path}: its items are not those of {capabilities}; {REMAKE}")
        width = 1 + len(own[0]) * len(own[1])
        own_codes = known["outcomes"].explode()
        if not (known["outcomes"].list.len() == width).fill_null(value=False).all():
            raise TableError(f"{path}: an item has not {width} outcomes; {REMAKE}")
        if not own_codes.is_between(WRONG, TIED_RIGHT).fill_null(value=False).all():
            raise TableError(f"{path}: an outcome is none of {WRONG} to {TIED_RIGHT}; {REMAKE}")
        codes[id_] = own_codes.to_numpy().reshape(-1, width)
        if footer.get("words"):
            words.add(id_)
    if facts is None:
        raise InputError("there are no outcomes; name at least one model")
    return RunOutcomes(codes, items, *facts, frozenset(words))


RunFiles = Annotated[RunOutcomes, Files(read_run)]


def check_models(run: RunOutcomes, labels: Mapping[str, str]) -> None:
    """Raise InputError where ``labels``, names by id, are none, two are equal, or one has no outcomes."""
    if not labels:
        raise InputError("there is no model to show; name at least one")
    check_labels(labels, "the outcomes")
    if absent := [id_ for id_ in labels if id_ not in run.codes]:
        raise InputError(f"{absent[0]} has no outcomes; {REMAKE}")


def few_pictures(run: RunOutcomes) -> str:
    """Return a sentence, after a space, where a capability has few pictures; else nothing."""
    counts = run.items.group_by("capability").agg(pl.col("picture").n_unique())["picture"]
    few = [count for count in counts if count < FEW_PICTURES]
    if not few:
        return ""
    return (
        f" Intervals are too narrow, since {len(few)} of {len(counts)} capabilities "
        f"{'has' if len(few) == 1 else 'have'} fewer than {FEW_PICTURES} pictures (the fewest: {min(few)})."
    )
