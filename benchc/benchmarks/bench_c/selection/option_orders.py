"""Predictions in the other circular orders of an item's options."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from benchc.models.inference import prediction_rows
from benchc.models.predictor import Predictor
from benchc.models.question import Question
from benchc.models.units import Unit
from benchc.randomness import seed_of

Element = TypeVar("Element")


def sampled(ids: Iterable[str], count: int) -> set[str]:
    """Return ``count`` of the ids, or all where there are fewer.

    Ids are taken in the order of their hash: a larger count extends the sample of a smaller one, and an id
    that is added or removed replaces at most one other. Raises ValueError where ``count`` is not positive.
    """
    if count < 1:
        raise ValueError(f"a sample needs at least one item, not {count}")
    return set(sorted(ids, key=lambda id_: (seed_of("option order", id_), id_))[:count])


def rotated(values: Sequence[Element], shift: int) -> list[Element]:
    """Return the circular order whose value j is value (j + shift) mod K of the K ``values``.

    -K < shift < K; a shift of -s undoes a shift of s.
    """
    return [*values[shift:], *values[:shift]]


def predict_orders(
    predictor: Predictor, question: Question, units: Sequence[Unit]
) -> Iterator[dict[str, Any]]:
    """Yield the predictions of an item's units in the circular orders 1 to K - 1, as rows of ORDERS.

    Order s puts option (j + s) mod K in place j; logits are in the item's own order. The given order, 0, is
    among the predictions on the benchmark.
    """
    for unit in units:
        # One after another, so that a model which keeps an image's features computes them once.
        for shift in range(1, len(question.options)):
            reordered = replace(question, options=tuple(rotated(question.options, shift)))
            for row in prediction_rows(predictor, reordered, [unit]):
                yield {**row, "order": shift, "logits": rotated(row["logits"], -shift)}
