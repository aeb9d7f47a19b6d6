"""The other circular orders of an item's options, in which a model is asked again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from benchc.models.inference import predict_unit
from benchc.models.predictor import Predictor
from benchc.models.question import Question
from benchc.models.units import Unit
from benchc.randomness import seed_of

Element = TypeVar("Element")


def sampled(ids: Iterable[str], count: int) -> set[str]:
    """Return ``count`` of the ids, or all where there are fewer.

    The first in the order of a hash of the id: a larger count adds to what a smaller one takes, and an id
    that is added or removed displaces at most one other. Raises ValueError where ``count`` is not positive.
    """
    if count < 1:
        raise ValueError(f"a sample needs at least one item, not {count}")
    return set(sorted(ids, key=lambda id_: (seed_of("option order", id_), id_))[:count])


def rotated(values: Sequence[Element], shift: int) -> list[Element]:
    """Return the circular order whose value j is value (j + shift) mod K of the K ``values``.

    ``rotated(rotated(values, s), -s)`` are the values; -K < shift < K.
    """
    return [*values[shift:], *values[:shift]]


def predict_orders(predictor: Predictor, question: Question, unit: Unit) -> Iterator[dict[str, Any]]:
    """Yield the predictions of one unit in the circular orders 1 to K - 1, as rows of ORDERS.

    Order s asks about option (j + s) mod K in place j; logits come back in the item's own order. The given
    order, 0, is left to those who read the benchmark.
    """
    for shift in range(1, len(question.options)):
        asked = replace(question, options=tuple(rotated(question.options, shift)))
        for row in predict_unit(predictor, asked, unit):
            yield {**row, "order": shift, "logits": rotated(row["logits"], -shift)}
