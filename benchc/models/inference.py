"""Ask a model about items under corruptions: every unit once, rows in the order of the items."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchc.models.items import Item
from benchc.models.job_counts import counts_text
from benchc.models.predictor import Predictor
from benchc.models.question import Question
from benchc.models.units import Recipes, Unit, predict_unit, units_of
from benchc.prefetch import prefetch
from benchc.progress import track

# Enough to hide the slowest image of a batch, few enough to hold.
UNITS_AHEAD = 4

Rows = Iterable[dict[str, Any]]


def infer(
    predictor: Predictor,
    pool: Path,
    items: Mapping[str, Item],
    images: Sequence[Path] | Recipes,
    *,
    label: str,
    severities: Container[int] | None = None,
    ahead: bool = False,
    predict: Callable[[Predictor, Question, Unit], Rows] = predict_unit,
) -> list[dict[str, Any]]:
    """Return the rows that ``predict`` makes of every unit: in the order of ``items``, then of corruptions.

    ``images`` and ``severities`` as for :func:`benchc.models.units.units_of`; ``label`` names the model in
    the lines of progress; ``ahead`` decodes or makes pixels while the model works, for a model on a device.
    Raises as the units do.
    """
    rows = [
        row
        for unit in tracked_units(pool, items, images, label=label, severities=severities, ahead=ahead)
        for row in predict(predictor, items[unit.item].question, unit)
    ]
    order = {id_: place for place, id_ in enumerate(items)}
    # Stable: an item's corruptions stay in the order given.
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
    """Yield the units of every corruption in turn, with a line of progress; arguments as of :func:`infer`."""
    keys = {id_: item.image_keys for id_, item in items.items()}
    for corruption, units in units_of(pool, keys, images, severities):
        made = prefetch(units, UNITS_AHEAD) if ahead else units
        yield from track(made, label=f"{label} {corruption}", unit="items", total=len(items))


def summary(model: str, count: int, predictor: Predictor) -> str:
    """Return the line that says how many predictions there are and where they come from."""
    return f"{model}: {counts_text(count, predictor.cached, predictor.computed)}"
