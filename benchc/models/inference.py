"""Ask a model about units: every unit once, rows in the order of the items."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from benchc.models.items import Item
from benchc.models.predictor import Answerer, Predictor
from benchc.models.question import Question
from benchc.models.units import Unit
from benchc.ordered_map import ordered_map

# Bytes of pixels, or of the model's input, of the units of an item that a model is asked about at once.
MAX_BYTES = 64 * 2**20
# Where they pass together through a model on a GPU, which they are to fill.
MAX_BYTES_TOGETHER = 512 * 2**20

Row = dict[str, Any]
Model = TypeVar("Model")
Ask = Callable[[Model, Question, Sequence[Unit]], Iterable[Row]]


def prediction_rows(predictor: Predictor, question: Question, units: Sequence[Unit]) -> Iterator[Row]:
    """Yield the units' predictions as rows of PREDICTIONS, logits in the order of the question's options."""
    for unit, found in zip(units, predictor.ask(question, units), strict=True):
        scores, prompt_hash, image_hashes = found
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


def answer_rows(answerer: Answerer, question: Question, units: Sequence[Unit]) -> Iterator[Row]:
    """Yield the units' answers as rows of ANSWERS."""
    for unit, found in zip(units, answerer.ask(question, units), strict=True):
        replies, prompt_hash, image_hashes = found
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
    ask: Ask[Model],
    at_once: int = 1,
    most_bytes: int = MAX_BYTES,
) -> list[Row]:
    """Return the rows that ``ask`` yields for all units, in the order of ``items``.

    With ``at_once`` > 1, the model is asked about so many units at the same time, in threads. Else it is
    asked about consecutive units of an item together, of ``most_bytes``.
    """

    def rows_of(group: Sequence[Unit]) -> list[Row]:
        return list(ask(model, items[group[0].item].question, group))

    rows: list[Row] = []
    if at_once == 1:
        with ThreadPoolExecutor(1) as freeing:
            for group in groups_of(units, most_bytes):
                rows += rows_of(group)
                # Memory that worker processes shared takes 0.1 ms a MB to free, in which a device would wait.
                freeing.submit(group.clear)
    else:
        single = ([unit] for unit in units)
        for found in ordered_map(rows_of, single, ThreadPoolExecutor(at_once), at_once):
            rows += found
    order = {id_: place for place, id_ in enumerate(items)}
    # The sort is stable: an item's corruptions stay in their order.
    return sorted(rows, key=lambda row: order[row["id"]])


def groups_of(units: Iterable[Unit], most_bytes: int = MAX_BYTES) -> Iterator[list[Unit]]:
    """Yield consecutive units of an item together, as long as their pixels take ``most_bytes`` at most."""
    group: list[Unit] = []
    size = 0
    for unit in units:
        own = unit.nbytes
        if group and (unit.item != group[0].item or size + own > most_bytes):
            yield group
            group, size = [], 0
        group.append(unit)
        size += own
    if group:
        yield group
