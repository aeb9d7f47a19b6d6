"""Changed params are named as a user knows them."""

import json

import pytest

from benchc.config.resolved import digest
from benchc.planning.param_changes import OTHER_INPUTS, flat, param_changes

OLD, NEW = "0" * 32, "1" * 32
LARGE, RENAMED = (json.dumps({"id": "large", "label": label, "year": None}) for label in ("Large", "L"))
SMALL = json.dumps({"id": "small", "label": "Small", "year": 2025})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([f"benchc/a.py {OLD}"], [f"benchc/a.py {NEW}"], "code of benchc/a.py"),
        ([], [f"benchc/a.py {NEW}"], "code of benchc/a.py"),  # a new import
        ([[f"data/my file.tsv 12 {OLD}"]], [[f"data/my file.tsv 13 {NEW}"]], "content of data/my file.tsv"),
        (["--alpha-kappa 1.0"], ["--alpha-kappa 2.0"], "alpha_kappa (1.0 → 2.0)"),
        (["--label m --dtype float32"], ["--label m --dtype bfloat16"], "dtype (float32 → bfloat16)"),
        (["--label m"], ["--label m --trust-remote-code"], "trust_remote_code (none → on)"),
        (["--processor a=1"], ["--processor a=1 --processor 'b=2 --c'"], "processor (none → b=2 --c)"),
        ([f"--recipe '{'x' * 60}'"], [f"--recipe '{'y' * 60}'"], "recipe"),
        (["sort=true"], ["sort=false"], "sort (true → false)"),
        ([["a", "b"]], [["a", "c"]], "setting (b → c)"),
        ([[1, 2]], [[1, 2, 3]], "setting (none → 3)"),
        ([["a", "b"]], [["b", "a"]], "the order of a list"),
        (["x" * 60], [f"{'y ' * 60}"], f"setting {'y ' * 24}y…"),
        ([digest(["seed: 1", "b"])], [digest(["seed: 2", "b"])], "record of the configuration"),
        ([[LARGE]], [[LARGE, SMALL]], "models (+ small)"),
        ([[LARGE]], [[SMALL]], "models (- large, + small)"),
        ([[LARGE, SMALL]], [[RENAMED, SMALL]], "models (label of large)"),
        (["in: ['<results>/a']"], ["in: ['<results>/a', '<results>/b']"], OTHER_INPUTS),
    ],
)
def test_a_change_is_one_phrase(old: list[object], new: list[object], expected: str) -> None:
    assert param_changes([*map(repr, old)], [*map(repr, new)]) == [expected]


def test_several_changes_are_sorted() -> None:
    old, new = [f"benchc/b.py {OLD}", "--seed 1"], ["", "--seed 2", f"benchc/a.py {NEW}"]
    expected = ["code of benchc/a.py", "code of benchc/b.py", "seed (1 → 2)"]
    assert param_changes([*map(repr, old)], [*map(repr, new)]) == expected


def test_a_value_that_is_no_literal_is_shown() -> None:
    assert param_changes(["Thing(1)"], ["Thing(2)"]) == ["setting (Thing(1) → Thing(2))"]


SETTINGS = flat(
    {
        "seed": 1,
        "corruptions": {"alpha": "white", "severities": [1, 3]},
        "selection": {"alpha_kappa": 2.0, "score": "at_pick"},
        "demo": {"seed": 1, "encoder": {"steps": 300}},
        "diagnostics": {"count": None},
    }
)


@pytest.mark.parametrize(
    ("old", "new", "names", "expected"),
    [
        ("--alpha drop", "--alpha white", {}, "corruptions.alpha (drop → white)"),
        ("--alpha-kappa 1.0", "--alpha-kappa 2.0", {}, "selection.alpha_kappa (1.0 → 2.0)"),
        ("--count 7", "", {}, "diagnostics.count (7 → none)"),
        ("--seed 2", "--seed 1", {}, "seed (2 → 1)"),  # the run's, or the demo's
        ("--steps 300", "--steps 400", {}, "steps (300 → 400)"),  # those of a model
        ("final", "at_pick", {"'at_pick'": "score"}, "selection.score (final → at_pick)"),
        ([1], [1, 3], {"[1, 3]": "severities"}, "corruptions.severities (none → 3)"),
        ([1, 3, 5], [1, 3], {"[1, 3]": "severities"}, "corruptions.severities (5 → none)"),
        (["a"], ["a", "b"], {"['a', 'b']": "selectors"}, "selectors (none → b)"),
    ],
)
def test_a_setting_is_shown_by_its_key(
    old: object, new: object, names: dict[str, str], expected: str
) -> None:
    assert param_changes([repr(old)], [repr(new)], names, SETTINGS) == [expected]


def test_values_of_several_params_are_not_mixed_up() -> None:
    names = {"'b'": "first", "'d'": "second"}
    assert param_changes(["'a'", "'c'"], ["'b'", "'d'"], names) == ["setting (a, c → b, d)"]
