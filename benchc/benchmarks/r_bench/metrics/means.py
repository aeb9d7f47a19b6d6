"""Means of scores over parts of the benchmark: tasks, strengths, steps, groups and dimensions."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STEP_LABELS, STRENGTHS, dimension
from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.statistics.resampling import Floats, drawn_means, on_grid

# cell: of a task at a strength, a column of Table 3.
Axis = Literal["overall", "task", "strength", "cell", "step", "group", "dimension"]
AXES: tuple[Axis, ...] = get_args(Axis)
OVERALL = "overall"


class Part(NamedTuple):
    """Rows of scores that are averaged.

    Attributes:
        axis: what the rows have in common
        name: `overall`, a task, `low`, a cell such as `mcq_low`, a key of STEP_LABELS or GROUP_LABELS, or a
            dimension
        rows: bool[rows], which belong to it
    """

    axis: Axis
    name: str
    rows: npt.NDArray[np.bool_]


def parts_of(
    tasks: Sequence[str],
    dimensions: Sequence[str],
    severities: Sequence[int],
    axes: Sequence[Axis] = AXES,
) -> list[Part]:
    """Return the parts of rows with these tasks, dimensions and severities, by axis in the paper's order.

    All tasks, strengths, cells, steps and groups have a part, also an empty one; of dimensions, those that a
    row has. Stand-ins for captured dimensions are in no step and group.
    """
    task, name, level = np.array(tasks, str), np.array(dimensions, str), np.array(severities, np.int64)
    known = {each: dimension(each) for each in dict.fromkeys(dimensions)}

    def among(chosen: Sequence[str]) -> npt.NDArray[np.bool_]:
        return np.isin(name, np.array(chosen, str))

    def of(field: Literal["step", "group"], value: str) -> npt.NDArray[np.bool_]:
        return among([each for each, d in known.items() if getattr(d, field) == value and not d.stand_in])

    by_axis: dict[Axis, dict[str, npt.NDArray[np.bool_]]] = {
        "overall": {OVERALL: np.ones(len(task), np.bool_)},
        "task": {each: task == each for each in TASKS},
        "strength": {label: level == each for each, label in STRENGTHS.items()},
        "cell": {
            f"{each}_{label}": (task == each) & (level == number)
            for each in TASKS
            for number, label in STRENGTHS.items()
        },
        "step": {step: of("step", step) for step in STEP_LABELS},
        "group": {group: of("group", group) for group in GROUP_LABELS},
        "dimension": {
            each: among([each]) for each in sorted(known, key=lambda each: (known[each].number, each))
        },
    }
    return [Part(axis, name, rows) for axis in axes for name, rows in by_axis[axis].items()]


def part_means(values: Floats, parts: Sequence[Part], items: npt.NDArray[np.int64], counts: Floats) -> Floats:
    """Return the means over each part in resamples of the items, float64[draws, columns, parts].

    An item is drawn with all its rows, of all columns together. NaN where a resample has no row of a part.

    Args:
        values: float64[columns, rows], such as the scores of models; no NaN.
        parts: the parts of the rows.
        items: int64[rows], the item of each row, from 0.
        counts: float64[draws, items], how often each item is drawn: a row of ones is the sample itself.
    """
    number = counts.shape[1]
    most = int(counts.sum(axis=1).max()) * int(np.bincount(items).max(initial=0))
    exact = on_grid(values, most)
    rows = np.column_stack([np.bincount(items[part.rows], minlength=number) for part in parts])
    means = np.empty((len(counts), len(values), len(parts)))
    for column, row_values in enumerate(exact):
        sums = [np.bincount(items[p.rows], row_values[p.rows], minlength=number) for p in parts]
        means[:, column] = drawn_means(counts, np.column_stack(sums), rows.astype(np.float64))
    return means
