"""Predictions that one stage computes and another one reuses count once."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from benchc.config.evaluation import FinishedRun
from benchc.config.load import Config
from benchc.planning import plan
from benchc.planning.amounts import Amount
from benchc.planning.plan import Plan, plan_markdown
from benchc.planning.rates import Rate
from benchc.planning.size import ImageCounts
from benchc.planning.stages import Stage, Work, work_of, work_table
from benchc.schemas.answers import ANSWERS
from benchc.schemas.parquet import TableError, write_table
from benchc.schemas.predictions import PREDICTIONS
from tests.footers import footer_of

FILE = Path("mine.yaml")
WHOLE = Stage("whole", ("a", "b"), Amount(100), Amount(300), ("whole/{model}/1", "whole/{model}/2"))
PART = Stage("part", ("b", "c"), Amount(10, "at most"), Amount(30, "at most"), ("part/{model}",), "whole")
OWN = Stage("own", ("c",), Amount(5), Amount(15), ("own/{model}",))
STAGES = [WHOLE, PART, OWN]


def write_predictions(path: Path, predictions: int) -> None:
    frame = pl.DataFrame(schema=dict(PREDICTIONS.columns))
    write_table(frame, path, PREDICTIONS, footer_of({"predictions": predictions}))


def by_name(work: list[Work]) -> dict[tuple[str, str], Work]:
    return {(each.stage.name, each.model): each for each in work}


def test_a_stage_that_is_part_of_another_computes_nothing(tmp_path: Path) -> None:
    work = by_name(work_of(STAGES, tmp_path, {}))
    assert work["part", "b"].distinct == work["part", "b"].left == Amount(0)
    assert work["part", "c"].distinct == work["part", "c"].left == Amount(30, "at most")
    assert work["whole", "b"].distinct == Amount(300)


def test_done_predictions_are_subtracted(tmp_path: Path) -> None:
    write_predictions(tmp_path / "whole/a/1", 120)
    write_predictions(tmp_path / "whole/a/2", 60)
    write_predictions(tmp_path / "part/b", 20)
    write_predictions(tmp_path / "own/c", 16)  # of a larger configuration
    work = by_name(work_of(STAGES, tmp_path, {}))
    assert (work["whole", "a"].done, work["whole", "a"].left) == (180, Amount(120))
    assert (work["part", "b"].done, work["part", "b"].left) == (20, Amount(0))
    assert (work["own", "c"].done, work["own", "c"].left) == (15, Amount(0))
    write_table(
        pl.DataFrame(schema=dict(ANSWERS.columns)), tmp_path / "own/c", ANSWERS, footer_of({"answers": 4})
    )
    assert by_name(work_of(STAGES, tmp_path, {}))["own", "c"].left == Amount(11)
    write_predictions(tmp_path / "own/c", 16)
    unknown = Stage("own", ("c",), Amount(None), Amount(None), ("own/{model}",))
    (each,) = work_of([unknown], tmp_path, {})
    assert each.done == 16 and each.left.value is None


@pytest.mark.parametrize("footer", ["{", "[]", '{"predictions": "x"}', '{"predictions": null}'])
def test_a_damaged_footer_is_one_line(tmp_path: Path, footer: str) -> None:
    (tmp_path / "own").mkdir()
    pl.DataFrame({"id": []}).write_parquet(tmp_path / "own/c", metadata={"benchc.footer": footer})
    with pytest.raises(TableError, match=r"own/c: its footer .*; delete it and run snakemake again"):
        work_of(STAGES, tmp_path, {})


@pytest.mark.parametrize("count", ["x", None, True])
def test_a_footer_without_a_number_is_one_line(tmp_path: Path, count: object) -> None:
    frame = pl.DataFrame(schema=dict(PREDICTIONS.columns))
    write_table(frame, tmp_path / "own/c", PREDICTIONS, footer_of({"predictions": count}))
    with pytest.raises(
        TableError, match=rf"own/c: its footer has {count!r} predictions, not a number; delete"
    ):
        work_of(STAGES, tmp_path, {})
    # Without any, none is done.
    write_table(frame, tmp_path / "own/c", PREDICTIONS, footer_of({}))
    assert by_name(work_of(STAGES, tmp_path, {}))["own", "c"].done == 0


def test_of_a_finished_run_only_the_stages_of_new_models_are_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Plan(STAGES, ImageCounts(Amount(3), Amount(4)), ["a note"], [WHOLE], "all is as before")
    folders = []

    def planned(config: object, folder: Path, size: object) -> Plan:
        folders.append(folder)
        return whole

    monkeypatch.setattr(plan, "module_of", lambda *_: SimpleNamespace(plan_of=planned))
    settings: Any = SimpleNamespace(benchmark="toy", MADE_FROM=("own/",))
    assert plan.plan_of(Config(settings, {}, {}), tmp_path) is whole
    finished = FinishedRun("results/x", {}, {}, ["a", "b"], ["c"])
    # c is of no other stage than one from which the benchmark was made.
    found = plan.plan_of(Config(settings, {}, {}, finished=finished), tmp_path)
    assert found == Plan([replace(PART, models=("c",))], ImageCounts(Amount(0), Amount(0)), ["a note"])
    assert folders == [tmp_path, Path("results/x")]


def test_hours_need_a_rate_unless_nothing_is_computed(tmp_path: Path) -> None:
    write_predictions(tmp_path / "whole/a/1", 200)
    work = by_name(work_of(STAGES, tmp_path, {"a": Rate(Amount(36.0))}))
    assert work["whole", "a"].hours.value == pytest.approx(3)
    assert work["whole", "a"].hours_left.value == pytest.approx(1)
    assert work["own", "c"].hours.value is None
    assert work["part", "b"].hours == Amount(0)


def test_a_plan_is_printed(tmp_path: Path) -> None:
    plan = Plan(
        STAGES,
        ImageCounts(Amount(36), Amount(1.5e9, "estimate")),
        ["a note"],
        [WHOLE, OWN],
        "no part is done",
    )
    text = plan_markdown(plan, tmp_path, {name: Rate(Amount(40.0), 50) for name in "abc"}, FILE)
    assert re.search(
        r"\| whole +\| +2 \| +4 \| +100 \| +600 \| +600 \| +0 \| +600 \| +6.7 h \| +6.7 h \|", text
    )
    assert re.search(r"\| part +\| +2 \| +2 \| +≤ 10 \| +≤ 60 \| +≤ 30 \| +0 \| +≤ 30 \| +≤ 20 min \|", text)
    assert re.search(r"\| total +\| +\| +7 \| +\| +≤ 675 \| +≤ 645 \| +0 \| +≤ 645 \| +≤ 7.2 h \|", text)
    assert re.search(r"\| c +\| +40 \| +50 \| +≤ 45 \| +≤ 30 min \| +≤ 30 min \|", text)
    assert "If no part is done: 615 distinct predictions, 615 left, 6.8 h." in text
    assert "Images on disk, clean included: 36, ≈ 1.5 GB." in text
    assert "- ≤: upper bound.\n- ≈: estimate.\n- disk: estimated at 1.11 bytes per pixel" in text
    assert "- distinct predictions: without those that a model looks up" in text
    assert "(see `benchc what-reruns mine.yaml`).\n- left: distinct" in text
    assert text.endswith("- a note\n")
    assert "| done | left |\n" in (without := plan_markdown(plan, tmp_path, {}, FILE).replace("  ", " "))
    assert "device time" not in without and "615 left.\n" in without
    assert "as in another run" not in text
    elsewhere = plan_markdown(plan, tmp_path, {"a": Rate(Amount(40.0), 50, "other")}, FILE)
    assert re.search(r"\| a +\| +40 \| +50 of other \|", elsewhere)
    assert re.search(r"\| b +\| +unknown \| +– \|", elsewhere)
    assert "≈ as in another run" in elsewhere and "≤ where no job" not in elsewhere


def test_a_plan_says_where_no_images_are_written_or_their_number_is_unknown(tmp_path: Path) -> None:
    for amount, sentence in (
        (Amount(0), "No images are written.\n"),
        (Amount(7, "at most"), "Images on disk, clean included: ≤ 7, < 0.0001 MB.\n"),
        (Amount(None), "Images on disk, clean included: unknown.\n"),
    ):
        plan = Plan([WHOLE], ImageCounts(amount, amount), [])
        assert sentence in plan_markdown(plan, tmp_path, {}, FILE)
        assert "No model is asked" not in plan_markdown(plan, tmp_path, {}, FILE)
        # Nothing is estimated.
        assert "disk: " not in plan_markdown(plan, tmp_path, {}, FILE)
    rates = {"a": Rate(Amount(40.0))}
    assert plan_markdown(Plan([], plan.images, []), tmp_path, rates, FILE) == (
        f"No model is asked.\n\n{sentence}\n"
    )


def test_a_bound_of_the_rate_bounds_times(tmp_path: Path) -> None:
    bound = Rate(Amount(36.14, "at most"), 50)
    plan = Plan([WHOLE, OWN], ImageCounts(Amount(36), Amount(4e7)), [])
    text = plan_markdown(plan, tmp_path, {"a": bound, "b": Rate(Amount(36.0), 50), "c": bound}, FILE)
    assert re.search(r"\| a +\| +≤ 36.1 \| +50 \| +300 \| +≤ 3 h \| +≤ 3 h \|", text)
    assert re.search(r"\| b +\| +36 \| +50 \| +300 \| +3 h \| +3 h \|", text)
    assert "≤ where no job computed 90 % of its predictions" in text
    assert "Images on disk, clean included: 36, 0.04 GB.\n" in text
    rows = work_table(work_of([WHOLE], tmp_path, {"a": bound}))
    assert rows["seconds_known"].to_list() == ["at most", None]


def test_a_plan_before_the_pool_is_built_says_how_to_count_its_items(tmp_path: Path) -> None:
    text = plan_markdown(Plan([PART], ImageCounts(Amount(None), Amount(None)), []), tmp_path, {}, FILE)
    assert "`benchc check mine.yaml` counts" in text
    assert "`benchc run mine.yaml pool --cores 2` builds it." in text


def test_a_plan_without_rates_says_why(tmp_path: Path) -> None:
    plan = Plan([OWN], ImageCounts(Amount(1), Amount(1.0)), [])
    assert "time: unknown until a job of these models has finished, in this run" in plan_markdown(
        plan, tmp_path, {}, FILE
    )
    write_predictions(tmp_path / "own/c", 15)
    assert "they came from the cache, or logs were deleted;" in plan_markdown(plan, tmp_path, {}, FILE)


def test_the_csv_has_a_row_per_stage_and_model(tmp_path: Path) -> None:
    write_predictions(tmp_path / "whole/a/2", 30)
    rows = work_table(work_of(STAGES, tmp_path, {"c": Rate(Amount(36.0), 50)}))
    assert rows["done"].to_list() == [30, 0, 0, 0, 0]
    assert rows["left"].to_list() == [270, 300, 0, 30, 15]
    assert rows["predictions_measured"].to_list() == [None, None, None, 50, 50]
    assert rows["distinct_predictions"].to_list() == [300, 300, 0, 30, 15]
    assert rows["predictions_known"].to_list() == ["exact", "exact", "at most", "at most", "exact"]
    assert rows["jobs"].to_list() == [2, 2, 1, 1, 1]
    assert rows["seconds_per_prediction"].to_list() == [None, None, None, 36.0, 36.0]
    assert rows["hours"].to_list() == pytest.approx([None, None, 0, 0.3, 0.15])


def test_jobs_and_images_of_predictions_that_are_looked_up_take_time(tmp_path: Path) -> None:
    rates = {name: Rate(Amount(36.0, "estimate"), 9, images=6.0, start=60.0) for name in "abc"}
    work = by_name(work_of(STAGES, tmp_path, rates))
    # 300 predictions and two jobs; of the 30 that are looked up, the images alone, and one job.
    assert work["whole", "b"].hours == Amount(3 + 2 / 60, "estimate")
    assert work["part", "b"].hours == Amount((30 * 6 + 60) / 3600, "estimate")
    assert work["part", "c"].hours == Amount((30 * 36 + 60) / 3600, "estimate")
    write_predictions(tmp_path / "whole/b/1", 100)
    write_predictions(tmp_path / "part/b", 30)
    work = by_name(work_of(STAGES, tmp_path, rates))
    # What is done takes no time, nor do its jobs.
    assert (work["whole", "b"].jobs_left, work["part", "b"].jobs_left) == (1, 0)
    assert work["whole", "b"].hours_left == Amount(2 + 1 / 60, "estimate")
    assert work["part", "b"].hours_left.value == 0
