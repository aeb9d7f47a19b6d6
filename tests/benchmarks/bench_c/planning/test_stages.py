"""Counts agree with a list of all predictions; bounds are valid for every selection."""

from itertools import takewhile
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.planning.plan import other_orders, plan_of, selected_ids, stages
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.selection.option_orders import sampled
from benchc.benchmarks.bench_c.selection.unselected import unselected
from benchc.benchmarks.bench_c.settings import Settings
from benchc.config.load import Config
from benchc.planning import stages as shared
from benchc.planning.amounts import Amount, total
from benchc.planning.size import RunSize
from benchc.planning.stages import Stage, work_of
from benchc.schemas.parquet import write_table
from tests.benchmarks.bench_c.planning.plans import diagnostics, settings_of

SHORT = {"suite": "imagenet-c", "types": ["snow", "fog"], "severities": [1, 3, 5]}
NOWHERE = Path("a-run-without-results")

Predictions = dict[str, set[tuple[object, ...]]]  # (model, item, variant) or (model, item, order, variant)
Run = tuple[Settings, dict[str, int], list[str]]


def listed(settings: Settings, options: dict[str, int], selected: list[str]) -> Predictions:
    """Return every prediction of every stage as the pipeline makes it: an independent count."""
    types, severities = settings.corruptions.types, settings.corruptions.severities
    variants = [("clean", 0), *((name, severity) for name in types for severity in severities)]
    predictions: Predictions = {
        "selectors": {(m, i, v) for m in settings.selectors for i in options for v in variants},
        "targets": {(m, i, v) for m in settings.targets for i in selected for v in variants},
    }
    wanted = settings.diagnostics.random_subset
    if wanted is not None:
        columns = {"kappa": pl.lit(1.0), "selected": pl.col("id").is_in(selected)}
        table = pl.DataFrame({"id": list(options)}).with_columns(**columns)
        count = None if wanted == "all" else int(wanted)
        others = unselected(table, count)["id"] if len(selected) < len(options) else []
        predictions["random subset"] = {(m, i, v) for m in settings.targets for i in others for v in variants}
    if settings.diagnostics.option_order is not None:
        sample = sampled(selected, settings.diagnostics.option_order)
        highest = [("clean", 0), *((name, max(severities)) for name in types)]
        orders = [(i, order) for i in sample for order in range(1, options[i])]
        predictions["option order"] = {(m, *o, v) for m in settings.targets for o in orders for v in highest}
    if speakers := settings.diagnostics.generated_answers:
        answers = {(m, i, "answer", v) for m in speakers for i in selected for v in variants}
        predictions["generated answers"] = answers
    return predictions


def counted(settings: Settings, options: dict[str, int], selected: list[str] | None) -> list[Stage]:
    """Return the stages of a run whose pool is built; ``selected``: None before the selection."""
    size = RunSize(Amount(len(options)), options)
    count = Amount(len(options), "at most") if selected is None else Amount(len(selected))
    return stages(settings, size.pool, count, other_orders(size, selected))


@st.composite
def runs(draw: st.DrawFn) -> Run:
    # An open-ended question has no options.
    counts = draw(st.lists(st.sampled_from([0, 2, 3, 4, 5, 6]), min_size=1, max_size=9))
    options = {f"s/{number}": count for number, count in enumerate(counts)}
    selected = [id_ for id_ in options if draw(st.booleans())]
    models = settings_of("demo").targets
    wanted = diagnostics(
        draw(st.none() | st.just("all") | st.integers(1, 12)),
        draw(st.none() | st.integers(1, 12)),
        *models[: draw(st.integers(0, 2))],
    )
    # Some targets select as well.
    selectors = [*settings_of("demo").selectors[:1], *models[: draw(st.integers(0, 2))]]
    settings = settings_of("demo", corruptions=SHORT, diagnostics=wanted, selectors=selectors)
    return settings, options, selected


@given(runs())
def test_the_predictions_of_a_selected_run_are_those_that_the_pipeline_makes(run: Run) -> None:
    settings, options, selected = run
    predictions = listed(settings, options, selected)
    found = counted(settings, options, selected)
    assert {stage.name: stage.predictions.times(len(stage.models)) for stage in found} == {
        name: Amount(len(each)) for name, each in predictions.items()
    }
    assert all(stage.items.kind == "exact" for stage in found)
    backwards = dict(reversed(options.items()))
    assert counted(settings, backwards, selected[::-1]) == found
    assert counted(settings, backwards, None) == counted(settings, options, None)


@given(runs())
def test_bounds_hold_for_every_selection(run: Run) -> None:
    settings, options, selected = run
    predictions = listed(settings, options, selected)
    pool = Amount(len(options) + 3, "at most")
    for found in (counted(settings, options, None), stages(settings, pool, pool, None)):
        for stage in found:
            assert stage.items.value >= len({each[1] for each in predictions[stage.name]})
            if stage.predictions.kind != "estimate":
                assert stage.predictions.value * len(stage.models) >= len(predictions[stage.name])


@given(runs())
def test_new_predictions_are_the_distinct_ones(run: Run) -> None:
    settings, options, selected = run
    predictions = listed(settings, options, selected)
    new = total(work.distinct for work in work_of(counted(settings, options, selected), NOWHERE, {}))
    assert new == Amount(len(set.union(*predictions.values())))
    # Before the selection, they are bounded.
    bound = total(work.distinct for work in work_of(counted(settings, options, None), NOWHERE, {}))
    assert bound.value >= new.value


@given(runs(), st.data())
def test_what_is_left_are_the_distinct_predictions_that_no_file_has(run: Run, data: st.DataObject) -> None:
    settings, options, selected = run
    predictions = listed(settings, options, selected)
    found = counted(settings, options, selected)
    # The selection needs all selectors, so a target begins when they are done.
    done = list(takewhile(lambda _: data.draw(st.booleans()), predictions))

    def in_files(stage: Stage, model: str, _: Path) -> int:
        return sum(each[0] == model for each in predictions[stage.name]) if stage.name in done else 0

    with patch.object(shared, "_done", in_files):
        left = total(work.left for work in work_of(found, NOWHERE, {}))
    missing = set.union(*predictions.values()) - {each for name in done for each in predictions[name]}
    assert left == Amount(len(missing))


def test_the_papers_run() -> None:
    selectors, targets = stages(settings_of("config"), Amount(4000), Amount(849), None)
    assert (len(selectors.models), len(selectors.outputs)) == (3, 5)
    assert selectors.predictions == Amount(4000 * 96)
    # The corrupted predictions of a target are 849 x 19 x 5 = 80,655.
    assert (len(targets.models), targets.predictions) == (13, Amount(80_655 + 849))


def test_where_nothing_bounds_the_pool_only_diagnostics_are_bounded() -> None:
    settings = settings_of("demo", diagnostics=diagnostics(7, 24))
    found = stages(settings, Amount(None), Amount(None, "at most"), None)
    assert [stage.predictions.text() for stage in found] == [
        "unknown",
        "unknown",
        "≤ 672",  # 7 x 96
        "≈ 1,440",  # 24 items x 3 other orders of 4 options x 20
    ]


def test_few_selected_items_leave_many_for_a_random_subset() -> None:
    settings = settings_of("demo", corruptions=SHORT, diagnostics=diagnostics("all", None))
    for selected, predictions, kind in ((10, 70, "at most"), (2, 56, "estimate"), (4, 42, "exact")):
        (*_, found) = stages(settings, Amount(10), Amount(selected, kind), None)
        assert found.predictions == Amount(predictions, kind)


def test_a_selection_of_an_older_pool_counts_the_items_that_are_left(tmp_path: Path) -> None:
    facts = {"kappa": pl.lit(1.0), "rank": pl.int_range(pl.len()), "score": pl.lit(1.0)}
    table = pl.DataFrame({"id": ["gone", "c", "b", "a"]}).with_columns(**facts, selected=pl.col("id") != "a")
    write_table(table, tmp_path / "selected.parquet", SELECTED)
    size = RunSize(Amount(3), {"a": 2, "b": 3, "c": 0})
    assert selected_ids(size, tmp_path / "selected.parquet") == ["c", "b"]
    assert sorted(other_orders(size, ["c", "b"]) or []) == [0, 2]
    assert other_orders(size, None) == [2, 1, 0]
    assert selected_ids(size, tmp_path / "none.parquet") is None


def write_selection(folder: Path, **selected: bool) -> None:
    facts = {"kappa": pl.lit(1.0), "rank": pl.int_range(pl.len()), "score": pl.lit(1.0)}
    table = pl.DataFrame({"id": [*selected]}).with_columns(**facts, selected=pl.Series(selected.values()))
    write_table(table, folder / "selection/selected.parquet", SELECTED)


def test_the_plan_of_a_run_is_bounded_before_the_selection_and_exact_after(tmp_path: Path) -> None:
    settings = settings_of("demo", corruptions=SHORT, diagnostics=diagnostics(None, None))
    images = [("a", "x", 100), ("b", "y", 300), ("c", "z", 50)]
    frame = pl.DataFrame(images, schema=["id", "image_key", "pixels"], orient="row")
    size = RunSize(Amount(40_000), dict.fromkeys("abc", 4), frame)
    plan = plan_of(Config(settings, {}, {}), tmp_path, size)
    targets = plan.stages[1]
    assert (targets.name, targets.items) == ("targets", Amount(40_000, "at most"))
    # The only published share: 849 of 4,000.
    assert plan.expected[1].items == Amount(8490, "estimate")
    assert plan.assumption == "21.2 % of the pool is selected, as in the paper"
    assert plan.images.written == Amount(7 * round(3 * 849 / 4000), "estimate")
    write_selection(tmp_path, a=False, b=True, c=True)
    plan = plan_of(Config(settings, {}, {}), tmp_path, size)
    assert plan.stages[1].items == Amount(2) and not plan.expected
    # Those of the selected items, in seven variants.
    assert plan.images.written == Amount(2 * 7)
    assert plan.images.disk.value == pytest.approx(350 * 7 * 1.11)
    # In files, the images of the whole pool.
    files = settings_of("demo", corruptions=SHORT | {"corrupted": "files"})
    assert plan_of(Config(files, {}, {}), tmp_path, size).images.written == Amount(3 * 7)
    unknown = plan_of(Config(settings, {}, {}), tmp_path / "none", RunSize(Amount(None)))
    assert not unknown.expected and unknown.images.written.value is None


def test_the_notes_say_what_is_counted() -> None:
    models = settings_of("demo").targets
    blocks = {"corruptions": SHORT, "selectors": models[:2]}
    every = settings_of("demo", diagnostics=diagnostics(None, 5, models[0]), **blocks)
    of_item = "predictions of an item: 1 clean + 2 corruptions × 3 severities."
    orders = "option order: 1 clean + 2 corruptions in the K − 1 other circular orders of K options"
    both = f"targets that are selectors too find their predictions in the cache: {', '.join(models[:2])}."
    longer = "generated answers take longer than predictions, by whose rate their hours are estimated."
    size = RunSize(Amount(3))
    notes = plan_of(Config(every, {}, {}), NOWHERE, size).notes
    assert notes == [of_item, f"{orders}; K = 4 is assumed.", longer, both]
    built = RunSize(Amount(1), {"a": 3})
    assert plan_of(Config(every, {}, {}), NOWHERE, built).notes[1] == f"{orders}."
    others = [model for model in settings_of("demo").selectors if model not in models]
    blocks["selectors"] = others[:1]
    if others:
        few = settings_of("demo", diagnostics=diagnostics(None, None), **blocks)
        assert plan_of(Config(few, {}, {}), NOWHERE, size).notes == [of_item]
