"""What a plan of any benchmark counts once: predictions that one stage makes and another looks up."""

import re

import polars as pl

from benchc.planning.amounts import Amount
from benchc.planning.hours import Price
from benchc.planning.known import Images, Known
from benchc.planning.pictures import Pictures, count_of, disk_of
from benchc.planning.plan import Plan
from benchc.planning.report import plan_markdown
from benchc.planning.stages import (
    Stage,
    computing,
    looking_up,
    new_predictions,
    predictions_done,
    predictions_left,
)
from benchc.planning.table import plan_rows

WHOLE = Stage("whole", ("a", "b"), 2, Amount(100, "exact"), 3, Amount(300, "exact"), None)
PART = Stage("part", ("b", "c"), 1, Amount(10, "at most"), 3, Amount(30, "at most"), 15, "whole")
OWN = Stage("own", ("c",), 1, Amount(5, "exact"), 3, Amount(15, "exact"), None, None, " × 2")
STAGES = [WHOLE, PART, OWN]
READS = {"a": Amount(300, "exact"), "b": Amount(330, "at most"), "c": Amount(45, "at most")}
NEW = READS | {"b": Amount(300, "exact")}
PLAN = Plan(
    origin="Counted.",
    stages=STAGES,
    predictions=READS,
    new=NEW,
    done={("whole", "a"): 300, ("part", "c"): 31},
    subsets=["x"],
    batches=["all"],
    pictures=[Pictures("made", Amount(10, "exact"), count_of(Images(12, 3.0)), 3, 1, None)],
    share="half",
    added="",
    notes=lambda text: ["half of it"] if "at half" in text else [],
)


def test_a_part_is_looked_up_where_the_whole_is_made() -> None:
    assert computing(STAGES, "b") == [WHOLE] and computing(STAGES, "c") == [PART, OWN]
    assert looking_up(STAGES) == ["b"]
    assert (
        new_predictions(PART, STAGES, "b") == Amount(0, "exact")
        and new_predictions(PART, STAGES, "c") == PART.predictions
    )


def test_what_is_left_counts_a_read_once() -> None:
    assert predictions_done(WHOLE, "a", {("whole", "a"): 301}) == 300
    for done, left in (({}, 300), ({("part", "b"): 20}, 280), ({("part", "b"): 20, ("whole", "b"): 50}, 250)):
        assert predictions_left("b", Amount(300, "exact"), STAGES, done).value == left
    assert (
        predictions_left("c", Amount(45, "at most"), STAGES, {("part", "c"): 30, ("own", "c"): 15}).value == 0
    )


def test_a_plan_is_printed() -> None:
    text = plan_markdown(PLAN, {name: Price(36.0) for name in "abc"})
    assert re.search(r"\| own +\| +1 \| +1 \| +5 \| +3 × 2 \| +15 \|", text)
    assert "Left to compute: ≤ 315, ≤ 3.1 hours." in text and text.endswith("- half of it\n")
    rows = plan_rows(PLAN, {})
    assert rows["new_predictions"].to_list() == [300, 300, 0, 30, 15]
    assert rows["done"].to_list() == [300, 0, 0, 30, 0] and rows["hours"].dtype == pl.Float64


def test_disk_is_measured_where_all_is_written() -> None:
    assert disk_of(Known(corrupted_bytes=7), None, 3) == Amount(7, "exact")
    assert disk_of(Known(), Images(2, 1.0), 3) == Amount(3_330_000, "assumed")
