"""Changed params are named as a user knows them."""

from pathlib import Path
from typing import Any

import pytest

from benchc.config.resolved import digest
from benchc.corruptions.recipe import Recipe
from benchc.models.asking import AskedModel, ShownImages
from benchc.planning.param_changes import OTHER_INPUTS, flat, param_changes, parameter_files
from benchc.workflow.code import code_of, contents_of
from benchc.workflow.stage import setting_texts
from tests.corruptions.own_files import DARKEN, written

OLD, NEW = "0" * 32, "1" * 32


def changes(old: object, new: object, **settings: object) -> list[str]:
    """Return the changes between two values of a setting ``name``, as rules record it."""
    before, after = (setting_texts("name", value).values() for value in (old, new))
    only_old, only_new = (
        [repr(text) for text in texts if text not in others]
        for texts, others in ((before, after), (after, before))
    )
    return param_changes(only_old, only_new, settings)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([f"benchc/a.py {OLD}"], [f"benchc/a.py {NEW}"], "code of benchc/a.py"),
        ([""], [f"benchc/a.py {NEW}"], "code of benchc/a.py"),  # a new import
        ([[f"data/my file.tsv 12 {OLD}"]], [[f"data/my file.tsv 13 {NEW}"]], "content of data/my file.tsv"),
        ([[f"reviews/1/ann.csv {OLD}"]], [[f"reviews/1/ann.csv {NEW}"]], "content of reviews/1/ann.csv"),
        ([[]], [[f"data/a.tsv 12 {OLD}"]], "content of data/a.tsv"),
        ([digest(["seed: 1", "b"])], [digest(["seed: 2", "b"])], "record of the configuration"),
        (['input.scores=["<results>/a"]'], ['input.scores=["<results>/a", "<results>/b"]'], OTHER_INPUTS),
        (["draws=2000"], ["draws=100"], "draws: 2000 -> 100"),
        (["--draws 2000"], ["draws=2000"], "draws: none -> 2000"),  # of a former version
        (["Thing(1)"], [""], "other params"),
        (  # of another version's recipes
            ['images.recipes.dots={"alpha": 1, "kernel": "my.py:f"}'],
            ['images.recipes.dots={"alpha": 2, "kernel": "my.py:f"}'],
            "dots: alpha: 1 -> 2",
        ),
    ],
)
def test_a_change_is_one_phrase(old: list[object], new: list[object], expected: str) -> None:
    assert param_changes([*map(repr, old)], [*map(repr, new)]) == [expected]


def test_an_entry_is_named_with_the_one_setting_that_lists_it() -> None:
    old = [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]
    new = [{"id": "b", "label": "Bee"}, {"id": "c", "label": "C"}, {"id": "d"}, {"id": "e"}]
    settings = {"selectors": ["b"], "targets": ["b", "c", "e"], "others": ["e"], "label": "c"}
    assert changes(old, new, **settings) == [
        'name.b.label: "B" -> "Bee"',
        "targets: + c",
        "name: + d",
        "name: + e",
        "name: - a",
    ]
    assert changes(old, old[::-1]) == changes(old[::-1], old) == ["name: other order"]
    assert changes(old, old[1:]) == ["name: - a"]
    assert changes([], old[:1], targets=["a"]) == ["targets: + a"]


def test_the_digests_of_rules_are_read() -> None:
    file = "benchc/planning/param_changes.py"
    (line,) = [line for line in code_of(file) if line.startswith(f"{file} ")]
    assert param_changes([repr(line)], []) == [f"code of {file}"]
    assert param_changes([], [repr(contents_of([Path(file)]))]) == [f"content of {file}"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (6, 7, ["name: 6 -> 7"]),
        (None, 7, ["name: none -> 7"]),
        (7, None, ["name: 7 -> none"]),
        (True, False, ["name: true -> false"]),
        ("a", "null", ['name: "a" -> "null"']),
        ("a=b", "a\n<b>", [r'name: "a=b" -> "a\n<b>"']),
        ("x" * 48, "y" * 49, ['name: "' + "x" * 48 + '" -> "' + "y" * 48 + "…"]),
        ("x" * 60, "y" * 60, ['name: "' + "x" * 48 + '… -> "' + "y" * 48 + "…"]),
        ([1, 3, 5], [1, 3], ["name: - 5"]),
        ([], [1], ["name: + 1"]),
        (["idea", "video"], ["idea", "side", "tidy"], ['name: + "side", + "tidy", - "video"']),
        (["a", "b"], ["b", "a"], ["name: other order"]),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ["name.b: 2 -> 3"]),
        ({"a": 1}, {"a": 1, "b": {"c": 1}}, ['name.b: none -> {"c": 1}']),
        (
            {"a": 1, "b": {"c": 1, "d": 2}},
            {"a": 2, "b": {"c": 1, "d": 3}},
            ["name.a: 1 -> 2", "name.b.d: 2 -> 3"],
        ),
    ],
)
def test_a_setting_is_shown_with_both_values(old: object, new: object, expected: list[str]) -> None:
    assert changes(old, new) == expected


def test_a_field_of_a_dataclass_is_named() -> None:
    first = AskedModel(label="m", location="a/b", processor={"max_patches": 6})
    second = AskedModel(label="m", location="a/b", dtype="bfloat16", processor={"max_patches": 4})
    assert changes(first, second) == ['name.dtype: none -> "bfloat16"', "name.processor.max_patches: 6 -> 4"]


def test_the_parameter_of_a_corruption_is_named() -> None:
    first, second = (
        {"my_blur": Recipe("my_blur", "a.py:blur", None, {1: {"sigma": 0}, 3: {"sigma": sigma}})}
        for sigma in (1, 2)
    )
    assert changes(first, second) == ["name.my_blur.parameters.3.sigma: 1 -> 2"]


def test_a_corruption_that_is_new_or_gone_is_one_change() -> None:
    none, one = (
        ShownImages(recipes=recipes, seed=1)
        for recipes in ({}, {"lines": Recipe("lines", "mine/my.py:lines", None, {1: {"jitter": 1}})})
    )
    before, after = ([*map(repr, setting_texts("images", images).values())] for images in (none, one))
    (new,), (gone,) = param_changes(before, after, {}, FILES), param_changes(after, before, {}, FILES)
    assert new.startswith("images.recipes.lines: none -> ") and gone.startswith("images.recipes.lines: ")
    assert gone.endswith(" -> none")


FILES = {"lines": "mine/my.py"}


@pytest.mark.parametrize(
    ("strengths", "expected"),
    [
        ({1: 60, 3: 60}, "lines: jitter 50 -> 60 in mine/my.py"),
        ({1: 50, 3: 60}, "lines: jitter 50 -> 60 at severity 3 in mine/my.py"),
        ({1: 40, 3: 50}, "lines: jitter 50 -> 40 at severity 1 in mine/my.py"),
        ({1: 50, 3: 50, 5: 50}, "corruptions.severities: + 5"),
        (
            {1: 60, 3: 60, 5: 50, 7: 50},
            ["corruptions.severities: + 5, + 7", "lines: jitter 50 -> 60 at severities 1, 3 in mine/my.py"],
        ),
    ],
)
def test_the_parameter_of_a_corruption_is_named_alike_in_all_jobs(
    strengths: dict[int, int], expected: str | list[str]
) -> None:
    """A job that corrupts has one recipe, a job of a model those of its part."""
    old, new = (
        Recipe(
            "lines",
            "mine/my.py:lines",
            parameters={level: {"jitter": value} for level, value in each.items()},
        )
        for each in ({1: 50, 3: 50}, strengths)
    )
    settings = {"corruptions.severities": list(strengths)}
    for name, values in (("recipe", (old, new)), ("images", ({"lines": old}, {"lines": new}))):
        if name == "images":
            values = tuple(ShownImages(recipes=each, seed=1) for each in values)
        before, after = (setting_texts(name, value).values() for value in values)
        only_old, only_new = (
            [repr(text) for text in texts if text not in others]
            for texts, others in ((before, after), (after, before))
        )
        found = param_changes(only_old, only_new, settings, FILES, "lines")
        assert found == ([expected] if isinstance(expected, str) else expected)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"code": OLD}, {"code": NEW}, "code of mine/my.py"),
        ({"code": NEW}, {"code": OLD}, "code of mine/my.py"),
        ({}, {"code": NEW}, "code of mine/my.py"),
        (
            {"kernel": "mine/my.py:dots", "code": OLD},
            {"code": OLD},
            'lines: kernel: "mine/my.py:dots" -> "mine/my.py:lines"',
        ),
        ({"pixels": ("jitter",)}, {}, 'lines: pixels: ["jitter"] -> none'),
        (
            {"parameters": {1: {"jitter": 1, "width": 2}}},
            {},
            "lines: width 2 -> none at severity 1 in mine/my.py",
        ),
    ],
)
def test_another_recipe_of_an_own_corruption_is_named_with_its_file(
    before: dict[str, Any], after: dict[str, Any], expected: str
) -> None:
    lines = {"name": "lines", "kernel": "mine/my.py:lines", "parameters": {1: {"jitter": 1}}}
    old, new = ({"lines": Recipe(**lines | each)} for each in (before, after))
    images = [setting_texts("images", ShownImages(recipes=each, seed=1)).values() for each in (old, new)]
    only_old, only_new = (
        [repr(text) for text in texts if text not in others] for texts, others in (images, images[::-1])
    )
    assert param_changes(only_old, only_new, {}, FILES) == [expected]


def test_parameters_are_in_the_file_of_their_suite_or_of_the_user(tmp_path: Path) -> None:
    own = written(tmp_path, DARKEN)
    files = parameter_files("imagenet-c", [own])
    assert files.pop("darken") == own and "fog" in files
    assert {Path(file).is_file() for file in files.values()} == {True}


def test_several_changes_are_sorted() -> None:
    old, new = [f"benchc/b.py {OLD}", "seed=1"], ["", "seed=2", f"benchc/a.py {NEW}"]
    expected = ["code of benchc/a.py", "code of benchc/b.py", "seed: 1 -> 2"]
    assert param_changes([*map(repr, old)], [*map(repr, new)]) == expected


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
    ("old", "new", "expected"),
    [
        ('alpha="drop"', 'alpha="white"', 'corruptions.alpha: "drop" -> "white"'),
        ('images.alpha="drop"', 'images.alpha="white"', 'images.alpha: "drop" -> "white"'),
        ("alpha_kappa=1.0", "alpha_kappa=2.0", "selection.alpha_kappa: 1.0 -> 2.0"),
        ('selection.score="final"', 'selection.score="at_pick"', 'selection.score: "final" -> "at_pick"'),
        ("count=7", "", "diagnostics.count: 7 -> none"),
        ("seed=2", "seed=1", "seed: 2 -> 1"),  # the run's, or the demo's
        ("steps=300", "steps=400", "steps: 300 -> 400"),  # those of a model
        ("severities=[1]", "severities=[1, 3]", "corruptions.severities: + 3"),
        ('selectors=["a"]', 'selectors=["a", "b"]', 'selectors: + "b"'),
    ],
)
def test_a_setting_is_shown_by_its_key(old: str, new: str, expected: str) -> None:
    assert param_changes([repr(old)], [repr(new)], SETTINGS) == [expected]


def test_records_of_other_versions_are_passed_over() -> None:
    assert param_changes(["<function f at 0x1>", "'a=1'"], ["'a=2'"]) == ["a: 1 -> 2"]


def test_a_key_that_is_not_certain_is_not_named() -> None:
    settings = {"one.draws": 3, "other.draws": 3}
    assert param_changes(["'draws=2'"], ["'draws=3'"], settings) == ["draws: 2 -> 3"]


def test_a_repeated_value_of_a_list_counts() -> None:
    assert changes(["a", "a"], ["a"]) == ['name: - "a"']
    assert changes(["a", "b"], ["b", "a"]) == ["name: other order"]
    assert changes(["a"], ["a"]) != ["name: other order"]
