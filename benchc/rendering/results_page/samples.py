"""What the sample viewer shows: questions, and the answers of models in each scenario.

A sample is one item, or several that are shown together. A scenario is the clean image, or a corruption at a
severity.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from benchc.corruptions.recipe import CLEAN
from benchc.errors import InputError
from benchc.schemas.models import Models
from benchc.schemas.page_items import PAGE_ITEMS
from benchc.schemas.parquet import REMAKE, TableType, read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.references import REFERENCES

CELL = ("id", "corruption", "severity")


@dataclass(frozen=True)
class Measure:
    """A number of each answer, beside its grade.

    Attributes:
        name: the column of the answers
        label: with its unit
        change: whether the viewer offers to sort by it: larger absolute values first
    """

    name: str
    label: str
    change: bool = False


@dataclass(frozen=True, kw_only=True)
class Samples:
    """The samples of a run.

    Attributes:
        questions: one row an item: ``id``, ``sample``, ``source``, ``task``, ``question``, ``hint``,
            ``options`` (empty for an open question), ``answer`` (0-based, or null), ``truths`` (the reference
            answers of an open question), ``image_keys``, and ``name``, what the question is called within its
            sample
        facts: one row a sample: ``sample``, and numbers or texts, whose columns are shown as labels
        answers: returns the answers of a model, given its id: ``id``, ``corruption``, ``severity``,
            ``grade`` in [0, 1] or null, and as far as there are any ``probabilities`` of the options,
            ``reply``, ``note`` (what was extracted from the reply, and why), measures and ``state``
        labels: names of the models by id, in the order of the run
        corruptions: the group of each corruption, in the order of the run
        severities: ascending
        right: what a grade says, such as "right" or "graded 0.5 or more"
        threshold: the least grade that is right
        measures: of the answers
        states: values of the column ``state``, and ``state_label`` what it is
        candidates: how many samples the benchmark has
        note: a sentence on the samples; empty for none
    """

    questions: pl.DataFrame
    facts: pl.DataFrame
    answers: Callable[[str], pl.DataFrame]
    labels: Mapping[str, str]
    corruptions: Mapping[str, str]
    severities: Sequence[int]
    right: str = "right"
    threshold: float = 1.0
    measures: Sequence[Measure] = ()
    states: Sequence[str] = field(default=())
    state_label: str = ""
    candidates: int
    note: str = ""

    @property
    def scenarios(self) -> list[tuple[str, int]]:
        """Return the scenarios as corruption and severity, first (`clean`, 0)."""
        return [(CLEAN, 0), *((name, level) for name in self.corruptions for level in self.severities)]


def questions_of(
    chosen: Path, pool: Path, references: Path | None = None, names: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Return the column ``questions`` of :class:`Samples`, in the order of ``chosen``.

    Args:
        chosen: page/chosen.parquet.
        pool: pool/items.parquet.
        references: pool/references.parquet, with the answers of open questions.
        names: ``id`` and ``name`` of questions within their samples.
    """
    columns = ["id", "source", "task", "question", "hint", "options", "answer", "image_keys"]
    found = read_table(chosen, PAGE_ITEMS).join(
        read_table(pool, POOL, columns), on="id", how="left", maintain_order="left"
    )
    if found["question"].null_count():
        raise InputError(f"{chosen}: it has items that {pool} lacks; {REMAKE}")
    if references is None:
        found = found.with_columns(truths=pl.lit([], pl.List(pl.String)))
    else:
        rows = read_table(references, REFERENCES)
        several = pl.when(pl.col("answers").list.len() > 0).then("answers")
        truths = several.otherwise(pl.concat_list("truth"))
        found = found.join(
            rows.select("id", truths=truths), on="id", how="left", maintain_order="left"
        ).with_columns(pl.col("truths").fill_null(pl.lit([], pl.List(pl.String))))
    if names is None:
        return found.with_columns(name=pl.lit(""))
    return found.join(names, on="id", how="left", maintain_order="left")


def labels_of(models: Models, ids: Iterable[str]) -> dict[str, str]:
    """Return the labels of some models by id."""
    return {id_: models.models[id_].label for id_ in ids}


def candidates_of(chosen: Path) -> int:
    """Return how many samples the benchmark has, of which ``chosen`` are shown."""
    return int(str(read_footer(chosen)["candidates"]))


def by_model(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """Return the files of each model, whose id is the fact ``label`` of their footers."""
    found: dict[str, list[Path]] = {}
    for path in paths:
        label = read_footer(path).get("label")
        if not isinstance(label, str):
            raise InputError(f"{path}: its footer names no model; {REMAKE}")
        found.setdefault(label, []).append(path)
    return found


def rows_of(paths: Sequence[Path], table: TableType, columns: Sequence[str], ids: pl.Series) -> pl.DataFrame:
    """Return some columns of tables of one model, the rows of some items."""
    wanted = pl.col("id").is_in(ids.implode())
    parts = [read_table(path, table, columns).filter(wanted) for path in paths]
    return pl.concat(parts) if parts else pl.DataFrame(schema={name: table.columns[name] for name in columns})


def probabilities(logits: str = "logits") -> pl.Expr:
    """Return the softmax of a column of lists of logits, which may have -inf, as lists of float64."""
    shifted = pl.col(logits).list.eval(
        (pl.element().cast(pl.Float64) - pl.element().cast(pl.Float64).max()).exp()
    )
    return shifted.list.eval(pl.element() / pl.element().sum())
