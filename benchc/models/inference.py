"""Ask a model about units: every unit once, rows in the order of the items."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchc.models.items import Item
from benchc.models.predictor import Answerer, Predictor
from benchc.models.question import Question
from benchc.models.units import Recipes, Unit, units_of
from benchc.ordered_map import ordered_map
from benchc.prefetch import prefetch
from benchc.progress import track

# Enough to hide the slowest image of a batch, few enough for the memory.
UNITS_AHEAD = 4

Row = dict[str, Any]
Model = TypeVar("Model")


def predict_unit(predictor: Predictor, question: Question, unit: Unit) -> Iterator[Row]:
    """Yield the unit's predictions as rows of PREDICTIONS, logits in the order of the question's options."""
    scores, prompt_hash, image_hashes = predictor.ask(question, unit)
    for row, severity in enumerate(unit.severities):
        yield {
            "id": unit.item,
            "corruption": unit.corruption,
            "severity": severity,
            "logits": scores.logits[row].tolist(),
            "label_mass": float(scores.label_mass[row]),
            "prompt_hash": prompt_hash,
            "image_hash": image_hashes[row],
        }


def answer_unit(answerer: Answerer, question: Question, unit: Unit) -> Iterator[Row]:
    """Yield the unit's answers as rows of ANSWERS."""
    replies, prompt_hash, image_hashes = answerer.ask(question, unit)
    for reply, severity, image_hash in zip(replies, unit.severities, image_hashes, strict=True):
        yield {
            "id": unit.item,
            "corruption": unit.corruption,
            "severity": severity,
            "reply": reply.text,
            "finish": reply.finish,
            "n_tokens": reply.tokens,
            "prompt_hash": prompt_hash,
            "image_hash": image_hash,
        }


def infer(
    model: Model,
    items: Mapping[str, Item],
    units: Iterable[Unit],
    ask: Callable[[Model, Question, Unit], Iterable[Row]],
    at_once: int = 1,
) -> list[Row]:
    """Return the rows that ``ask`` yields for all units, in the order of ``items``.

    With ``at_once`` > 1, the model is asked about so many units at the same time, in threads.
    """

    def rows_of(unit: Unit) -> list[Row]:
        return list(ask(model, items[unit.item].question, unit))

    found = map(rows_of, units) if at_once == 1 else ordered_map(rows_of, units, at_once)
    rows = [row for rows in found for row in rows]
    order = {id_: place for place, id_ in enumerate(items)}
    # The sort is stable: an item's corruptions stay in their order.
    return sorted(rows, key=lambda row: order[row["id"]])


def tracked_units(
    pool: Path,
    items: Mapping[str, Item],
    images: Sequence[Path] | Recipes,
    *,
    label: str,
    severities: Container[int] | None = None,
    ahead: bool = False,
) -> Iterator[Unit]:
    """Yield the units of all corruptions and show progress.

    Args:
        pool: the POOL table of the items, whose images the recipes are applied to.
        items: the items to take, by id in the pool's order.
        images: files of corrupted images, or recipes.
        label: name of the model in the progress bar.
        severities: the severities to take; None takes all.
        ahead: load or corrupt images while the model runs, for a model on a GPU.

    Raises as :func:`benchc.models.units.units_of` does.
    """
    keys = {id_: item.image_keys for id_, item in items.items()}
    for corruption, units in units_of(pool, keys, images, severities):
        loaded = prefetch(units, UNITS_AHEAD) if ahead else units
        yield from track(loaded, label=f"{label} {corruption}", unit="items", total=len(items))
