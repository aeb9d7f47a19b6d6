"""All numbers that the authors' notebook prints for LLaVA-1.5, from the results that they published."""

import numpy as np
import pytest

from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STEP_LABELS
from benchc.statistics.resampling import item_counts
from tests.benchmarks.r_bench.scored import released_rows, released_scores, scored
from tests.shared_data import needs_shared

pytestmark = needs_shared
# (R_a, R_r), in the order of the notebook: the corruption reference's section 4.6.
PRINTED = {
    "overall": [(0.4599,), (0.3524,)],
    "task": [(0.4364, 0.5980, 0.3455), (0.3758, 0.4920, 0.1896)],
    "strength": [(0.4679, 0.4398, 0.4721), (0.3774, 0.3273, 0.3526)],
    "step": [
        (0.4024, 0.4417, 0.4560, 0.4964, 0.5067, 0.4862, 0.4304),
        (0.3309, 0.3542, 0.3298, 0.3677, 0.4094, 0.3619, 0.3258),
    ],
    "group": [
        (0.4459, 0.4570, 0.4654, 0.4781, 0.4600, 0.5193, 0.4014),
        (0.3658, 0.3543, 0.3453, 0.3772, 0.3431, 0.3830, 0.3096),
    ],
}


@pytest.fixture(scope="module")
def llava():
    return scored({"LLaVA-1.5": released_scores()})


def test_means_are_those_that_the_notebook_prints(llava):
    for axis, halves in PRINTED.items():
        found = llava.draws(llava.parts([axis]), 0, 0)
        for values, printed in zip((found.absolute, found.relative), halves, strict=True):
            assert np.round(values[0, 0], 4).tolist() == list(printed), axis
    counts = {part.name: int(part.rows.sum()) for part in llava.parts(["cell", "task", "strength"])}
    assert counts == {
        **{"mcq_low": 170, "mcq_mid": 161, "mcq_high": 164},
        **{"vqa_low": 163, "vqa_mid": 165, "vqa_high": 167},
        **{"cap_low": 162, "cap_mid": 169, "cap_high": 164},
        **dict.fromkeys(("mcq", "vqa", "cap", "low", "mid", "high"), 495),
    }
    # The weights of steps and groups: their dimensions have 45 items each.
    counts = {part.name: int(part.rows.sum()) for part in llava.parts(["step", "group", "dimension"])}
    assert [counts[step] for step in STEP_LABELS] == [45 * number for number in (4, 4, 5, 5, 4, 5, 6)]
    assert [counts[group] for group in GROUP_LABELS] == [45 * number for number in (3, 3, 7, 7, 5, 3, 5)]
    dimensions = released_rows()["dimension"].unique().to_list()
    assert len(dimensions) == 33
    assert {counts[name] for name in dimensions} == {45}


def test_resamples_of_the_released_scores_are_means_over_drawn_items(llava):
    parts = llava.parts(["overall", "cell"])
    found = llava.draws(parts, 3, 5)
    for draw, counts in enumerate(item_counts(1485, 3, 5)):
        chosen = np.repeat(np.arange(1485), counts.astype(int))
        for place, part in enumerate(parts):
            inside = chosen[part.rows[chosen]]
            assert found.relative[draw, 0, place] == pytest.approx(llava.relative[0, inside].mean())
            assert found.absolute[draw, 0, place] == pytest.approx(llava.absolute[0, inside].mean())
