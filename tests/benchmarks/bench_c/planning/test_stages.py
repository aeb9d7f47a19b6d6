"""The number of predictions is that of the predictions themselves, listed one by one; bounds hold for every selection."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.planning.known import Known, with_benchmark
from benchc.benchmarks.bench_c.planning.predictions import paper_share, predictions_by_model, stages
from benchc.benchmarks.bench_c.selection.option_orders import sampled
from benchc.benchmarks.bench_c.selection.unselected import unselected
from benchc.benchmarks.bench_c.settings import Settings
from benchc.planning.amounts import UNKNOWN, Amount, total
from benchc.planning.known import PoolItems, known_from_items
from benchc.planning.stages import looking_up, new_predictions, predictions_done, predictions_left
from tests.benchmarks.bench_c.planning.plans import diagnostics, settings_of

SHORT = {
    "suite": "imagenet-c",
    "engine": "benchc",
    "corrupted": "files",
    "alpha": "drop",
    "types": ["snow", "fog"],
    "severities": [1, 3, 5],
}


Reads = dict[str, set[tuple[object, ...]]]


def listed(settings: Settings, options: dict[str, int], kept: list[str]) -> Reads:
    """Return every prediction of every stage as the pipeline makes it: an independent count."""
    types, severities = settings.corruptions.types, settings.corruptions.severities
    variants = [("clean", 0), *((name, severity) for name in types for severity in severities)]
    predictions: Reads = {
        "selectors": {(m, i, v) for m in settings.selectors for i in options for v in variants},
        "targets": {(m, i, v) for m in settings.targets for i in kept for v in variants},
    }
    wanted = settings.diagnostics.random_subset
    if wanted is not None:
        columns = {"kappa": pl.lit(1.0), "kept": pl.col("id").is_in(kept)}
        table = pl.DataFrame({"id": list(options)}).with_columns(**columns)
        count = None if wanted == "all" else int(wanted)
        others = unselected(table, count)["id"] if len(kept) < len(options) else []
        predictions["random subset"] = {(m, i, v) for m in settings.targets for i in others for v in variants}
    if settings.diagnostics.option_order is not None:
        again = sampled(kept, settings.diagnostics.option_order)
        highest = [("clean", 0), *((name, max(severities)) for name in types)]
        predictions["option order"] = {
            (m, i, order, v)
            for m in settings.targets
            for i in again
            for order in range(1, options[i])
            for v in highest
        }
    return predictions


def tables(options: dict[str, int], kept: list[str] | None) -> Known:
    items = PoolItems(options, {id_: [(f"{id_}#0", 100_000)] for id_ in options})
    known = known_from_items(items)
    return Known(**vars(known)) if kept is None else with_benchmark(known, items, kept)


@st.composite
def runs(draw: st.DrawFn) -> tuple[Settings, dict[str, int], list[str]]:
    counts = draw(st.lists(st.integers(2, 6), min_size=1, max_size=9))
    options = {f"s/{number}": count for number, count in enumerate(counts)}
    kept = [id_ for id_ in options if draw(st.booleans())]
    wanted = diagnostics(
        draw(st.none() | st.just("all") | st.integers(1, 12)), draw(st.none() | st.integers(1, 12))
    )
    # Some targets select as well.
    models = settings_of("demo").targets
    selectors = [*settings_of("demo").selectors[:1], *models[: draw(st.integers(0, 2))]]
    settings = settings_of("demo", corruptions=SHORT, diagnostics=wanted, selectors=selectors)
    return settings, options, kept


@given(runs())
def test_reads_of_a_selected_run_are_those_that_the_pipeline_makes(run) -> None:
    settings, options, kept = run
    predictions = listed(settings, options, kept)
    known = tables(options, kept)
    found = stages(settings, known)
    assert {stage.name: stage.predictions.value * len(stage.models) for stage in found} == {
        name: len(each) for name, each in predictions.items()
    }
    assert all(stage.predictions.kind == stage.items.kind == "exact" for stage in found)
    assert all(stage.at_share is None for stage in found)
    by_model = predictions_by_model(found, settings, known)
    for model, amount in by_model.items():
        assert amount.value == sum(read[0] == model for each in predictions.values() for read in each)
    assert total(by_model.values()) == Amount(sum(map(len, predictions.values())), "exact")


@given(runs())
def test_bounds_hold_for_every_selection(run) -> None:
    settings, options, kept = run
    predictions = listed(settings, options, kept)
    for known in (tables(options, None), Known(pool=len(options) + 3)):
        found = stages(settings, known)
        for stage in found:
            if stage.predictions.kind in ("exact", "at most"):
                assert stage.predictions.value * len(stage.models) >= len(predictions[stage.name])
                assert stage.items.value >= len({read[1] for read in predictions[stage.name]})
        whole = total(predictions_by_model(found, settings, known).values())
        if whole.kind == "at most":
            assert whole.value >= sum(map(len, predictions.values()))
            assert whole.value <= sum(stage.predictions.value * len(stage.models) for stage in found)


def computed(predictions: Reads, model: str) -> set[tuple[object, ...]]:
    """Return the distinct predictions of a model; the other orders of an item are predictions of their own."""
    return {read for each in predictions.values() for read in each if read[0] == model}


@given(runs())
def test_new_reads_are_the_distinct_ones(run) -> None:
    settings, options, kept = run
    predictions = listed(settings, options, kept)
    known = tables(options, kept)
    found = stages(settings, known)
    new = predictions_by_model(found, settings, known, new=True)
    assert {model: amount.value for model, amount in new.items()} == {
        model: len(computed(predictions, model)) for model in new
    }
    for model, amount in new.items():
        parts = [new_predictions(stage, found, model) for stage in found if model in stage.models]
        assert total(parts) == amount
    assert set(looking_up(found)) == set(settings.selectors) & set(settings.targets)
    # Before the selection, what is new is bounded too.
    for model, amount in predictions_by_model(
        stages(settings, before := tables(options, None)), settings, before, new=True
    ).items():
        assert amount.value >= new[model].value


@given(runs(), st.data())
def test_what_is_left_are_the_distinct_reads_that_no_file_holds(run, data) -> None:
    settings, options, kept = run
    predictions = listed(settings, options, kept)
    known = tables(options, kept)
    found = stages(settings, known)
    made = {
        (stage.name, model)
        for stage in found
        for model in stage.models
        if data.draw(st.booleans(), label=f"{stage.name} {model}")
    }
    done = {(name, model): sum(read[0] == model for read in predictions[name]) for name, model in made}
    for model, amount in predictions_by_model(found, settings, known, new=True).items():
        there = {
            read for name, owner in made if owner == model for read in predictions[name] if read[0] == model
        }
        missing = computed(predictions, model) - there
        assert predictions_left(model, amount, found, done) == Amount(len(missing), "exact")


def test_a_bound_that_rests_on_an_assumption_stays_a_bound() -> None:
    settings = settings_of("config", diagnostics=diagnostics(None, 24))
    known = Known(pool=4000)
    whole = total(predictions_by_model(stages(settings, known), settings, known).values())
    assert whole == Amount(3 * 384_000 + 13 * (384_000 + 24 * 3 * 20), "assumed bound")


def test_files_of_a_larger_configuration_count_as_what_is_asked() -> None:
    settings = settings_of("demo", corruptions=SHORT)
    selectors, *_ = stages(settings, Known(pool=10, pool_exact=True, kept=4))
    model = settings.selectors[0]
    assert [predictions_done(selectors, model, {("selectors", model): there}) for there in (0, 69, 71)] == [
        0,
        69,
        70,
    ]
    (unknown, *_) = stages(settings, Known())
    assert predictions_done(unknown, model, {("selectors", model): 71}) == 71


@given(runs())
def test_the_order_of_the_pool_changes_nothing(run) -> None:
    settings, options, kept = run
    backwards = dict(reversed(options.items()))
    assert stages(settings, tables(options, kept)) == stages(settings, tables(backwards, kept))
    assert stages(settings, tables(options, None)) == stages(settings, tables(backwards, None))


def test_the_papers_run() -> None:
    settings = settings_of("config")
    known = Known(pool=4000, pool_exact=True, kept=849)
    selectors, targets = stages(settings, known)
    assert (len(selectors.models), selectors.jobs, selectors.predictions) == (
        3,
        5,
        Amount(4000 * 96, "exact"),
    )
    # The corrupted predictions of a target are 849 x 19 x 5 = 80,655.
    assert (len(targets.models), targets.predictions) == (13, Amount(80_655 + 849, "exact"))
    by_model = predictions_by_model([selectors, targets], settings, known)
    assert total(by_model.values()) == Amount(3 * 4000 * 96 + 13 * 849 * 96, "exact")


def test_the_papers_run_before_it_is_made() -> None:
    settings = settings_of("config")
    known = Known(pool=4000)
    selectors, targets = stages(settings, known)
    assert selectors.predictions == Amount(384_000, "at most")
    assert targets.predictions == Amount(384_000, "at most")
    assert (selectors.at_share, targets.at_share) == (384_000, 849 * 96)
    assert paper_share(4000) == 849


def test_nothing_is_invented_where_nothing_bounds_the_pool() -> None:
    settings = settings_of("demo", diagnostics=diagnostics(7, 24))
    found = stages(settings, Known())
    assert [stage.predictions for stage in found] == [
        UNKNOWN,
        UNKNOWN,
        Amount(7 * 96, "at most"),
        Amount(24 * 3 * 20, "assumed bound"),  # 4 options, as the plan says
    ]
    assert all(stage.at_share is None for stage in found)
    by_model = predictions_by_model(found, settings, Known())
    assert set(by_model.values()) == {UNKNOWN} and total(by_model.values()) == UNKNOWN


def test_random_items_and_selected_ones_share_a_bound() -> None:
    settings = settings_of("demo", corruptions=SHORT, diagnostics=diagnostics("all", None))
    known = Known(pool=10, pool_exact=True)
    found = stages(settings, known)
    assert [stage.predictions.value for stage in found] == [70, 70, 70]
    by_model = predictions_by_model(found, settings, known)
    # Whatever is selected, selectors and targets read every item of the pool once.
    assert set(by_model.values()) == {Amount(70, "exact"), Amount(70, "at most")}


def test_at_the_papers_share_options_are_the_pools_mean() -> None:
    settings = settings_of("demo", corruptions=SHORT, diagnostics=diagnostics(None, 100))
    known = tables({f"s/{number}": 2 + 2 * (number % 2) for number in range(400)}, None)
    (_, targets, orders) = stages(settings, known)
    assert targets.at_share == 85 * 7  # 400 x 849 / 4000 = 84.9
    assert orders.at_share == 3 * 85 * 2  # K - 1 is 2 on average
    assert orders.predictions == Amount(3 * 100 * 3, "at most")  # 100 items of 4 options


@pytest.mark.parametrize(("done", "left"), [(0, 105), (40, 65), (1000, 35)])
def test_more_reads_than_a_stage_has_help_no_other(done: int, left: int) -> None:
    settings = settings_of("demo", corruptions=SHORT, diagnostics=diagnostics("all", None))
    known = Known(pool=15, pool_exact=True, kept=10)
    found = stages(settings, known)
    model = settings.targets[0]
    assert [stage.predictions.value for stage in found[1:]] == [70, 35]
    there = {("targets", model): done}
    assert predictions_left(model, Amount(105, "exact"), found, there).value == left
    assert predictions_left(model, UNKNOWN, found, there) == UNKNOWN
