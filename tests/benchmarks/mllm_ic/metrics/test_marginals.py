import numpy as np
import pytest

from benchc.benchmarks.mllm_ic.metrics.averages import RULES, rule_weights
from benchc.benchmarks.mllm_ic.metrics.marginals import (
    CHUNK,
    capability_groups,
    columns_of,
    corruption_groups,
    marginals,
)
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, LEVELS, items_of, run_of

# Two mid-level capabilities of perception, of two and one capability, and one of reasoning.
NAMES = ["image_topic", "image_style", "instance_counting", "ocr"]
DRAWS, SEED = 40, 3


def test_an_average_is_over_mid_level_capabilities_or_all_or_questions() -> None:
    own = run_of({"a": 0.9}, items_of(NAMES, 9), ("fog",)).capabilities
    places = [[each.name for each in own].index(name) for name in NAMES]
    questions = np.zeros(len(own), np.int64)
    questions[places] = 1, 2, 3, 4
    # Of three mid-level capabilities, one has two of the four.
    expected = {
        "overall": [1 / 6, 1 / 6, 1 / 3, 1 / 3],
        "capabilities": [1 / 4] * 4,
        "micro": [1 / 10, 2 / 10, 3 / 10, 4 / 10],
    }
    assert {*expected} == {*RULES} and len(own) == len(NAMES)
    for rule in RULES:
        assert rule_weights(rule, own, questions)[places] == pytest.approx(expected[rule])


def test_estimates_are_means_of_mid_level_capabilities_with_differences_to_clean() -> None:
    types = ("fog", "snow", "rotate")
    run = run_of({"a": 0.9}, items_of(NAMES, 9), types)
    corruptions, groups = corruption_groups(run, CATEGORIES, LEVELS), capability_groups(run)
    members = {each.name: [types[n] for n in each.members] for each in corruptions}
    assert members == {
        **{name: [name] for name in types},
        **{"weather_condition": ["fog", "snow"], "geometric_transform": ["rotate"]},
        **{"regional": ["fog", "snow"], "global": ["rotate"], "all": [*types]},
    }
    columns = columns_of(run, corruptions)
    weights = np.stack([own for _, own in groups])
    found = marginals(run, "a", columns, weights, DRAWS, SEED)
    order = [each.name for each in run.capabilities]
    members = {each.name: [order[n] for n in each.members] for each, _ in groups}
    assert members == {
        **{name: [name] for name in order},
        **{"global_context_sensing": order[:2], "spatial_perception": order[2:3]},
        **{"logic_reasoning": order[3:], "perception": order[:3], "reasoning": order[3:], "all": order},
    }
    expected = {"image_topic": 1 / 4, "image_style": 1 / 4, "instance_counting": 1 / 2, "ocr": 0}
    (perception,) = (n for n, (each, _) in enumerate(groups) if each.name == "perception")
    assert weights[perception] == pytest.approx([expected[name] for name in order])
    (place,) = (n for n, each in enumerate(corruptions) if each.name == "weather_condition")
    wanted = [n for n, scenario in enumerate(run.scenarios) if scenario in (("fog", 5), ("snow", 5))]
    drawn = run.draws(["a"], {"clean": np.array([0]), "own": np.array(wanted)}, DRAWS, SEED)[:, 0]
    clean, own = (drawn @ weights[perception]).T
    ends = [np.quantile(values[1:], [0.025, 0.975]) for values in (own, own - clean)]
    assert ends[1][1] < 0  # so that a turned sign shows
    values = found[[*columns].index(f"{place} 4"), perception]
    assert values == pytest.approx([own[0], *ends[0], *ends[1]])
    # In parts of the columns, of which there are several, as in one.
    assert len(columns) > CHUNK
    drawn = run.draws(["a"], columns, DRAWS, SEED)[:, 0] @ weights.T
    assert found[..., 0] == pytest.approx(drawn[0])
    ends = np.quantile(drawn[1:], [0.025, 0.975], axis=0)
    assert np.moveaxis(found[..., 1:3], -1, 0) == pytest.approx(ends)
