from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.r_bench.assignment import balanced_cells
from benchc.benchmarks.r_bench.judging.prompts import PROMPTS, SYSTEM
from benchc.benchmarks.r_bench.planning.plan import plan_of
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.settings import Settings
from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.config.load import Config
from benchc.planning.amounts import Amount, Kind
from benchc.planning.plan import Plan
from benchc.planning.size import RunSize
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.parquet import write_table
from benchc.schemas.references import REFERENCES
from tests.benchmarks.made import frame_of
from tests.benchmarks.r_bench.test_rb_asking import CONFIG

NOWHERE = Path("a-run-without-results")
CELLS = [
    ("drawn-text/1", "jpeg", 1),
    ("drawn-text/1", "white_noise", 3),
    ("drawn-text/2", "jpeg", 2),
    ("drawn-charts/1", "jpeg", 2),
    # Of a dimension that the run no longer has.
    ("drawn-charts/2", "webp", 2),
]
OPTIONS = {"drawn-text/1": 4, "drawn-text/2": 0, "drawn-text/3": 0, "drawn-charts/1": 0, "drawn-charts/2": 0}


def plan(size: RunSize, results: Path = NOWHERE, **changes: Any) -> Plan:
    raw = yaml.safe_load(CONFIG)
    raw["corruptions"] |= changes.pop("corruptions", {})
    return plan_of(Config(Settings.model_validate(raw | changes), {}, {}), results, size)


def counted(plan: Plan, kind: Kind) -> dict[str, tuple[float | None, float | None]]:
    """Return the items and answers of each stage, which are as certain as ``kind``."""
    assert {each.kind for stage in plan.stages for each in (stage.items, stage.predictions)} == {kind}
    return {stage.name: (stage.items.value, stage.predictions.value) for stage in plan.stages}


def write_assigned(folder: Path) -> pl.DataFrame:
    tasks = dict(zip(OPTIONS, ("mcq", "vqa", "vqa", "cap", "cap"), strict=True))
    write_table(frame_of(TASK_TABLE, tasks.items()), folder / "pool/tasks.parquet", TASK_TABLE)
    return frame_of(ASSIGNMENT, CELLS)


def test_the_published_pairs_are_planned_before_they_are_here(tmp_path: Path) -> None:
    size = RunSize(Amount(1485, "at most"))
    found = plan(size, pairs="released", released="pairs.parquet")
    names = [f"{task} answers" for task in ("MCQ", "VQA", "CAP")]
    # "2,970" images of the paper.
    assert counted(found, "estimate") == dict.fromkeys(names, (495, 990))
    assert found.images.written == Amount(2970, "estimate") and found.images.disk.value is None
    # An assignment is counted task by task.
    size = RunSize(Amount(5), OPTIONS, assignment=write_assigned(tmp_path))
    found = plan(size, tmp_path)
    assert counted(found, "exact") == {"MCQ answers": (1, 3), "VQA answers": (1, 2), "CAP answers": (1, 2)}
    note = (
        "answers of an item: 1 clean, and 1 for each dimension that it is assigned, at one strength; at most "
        "so many tokens: MCQ 10, VQA 20, CAP 80."
    )
    assert found.notes[0] == note
    crossed = plan(size, tmp_path, assignment={"cross": True}).notes[0]
    assert crossed == note.replace("strength;", "strength (of all dimensions and strengths);")
    # One part for each group: noise and compression.
    assert {stage.outputs for stage in found.stages if stage.name == "CAP answers"} == {
        ("answers/cap/{model}/compression.parquet", "answers/cap/{model}/noise.parquet")
    }
    # Items that the pool no longer has are not asked.
    smaller = RunSize(Amount(1), {"drawn-text/2": 0}, assignment=size.assignment)
    assert counted(plan(smaller, tmp_path), "exact") == {"VQA answers": (1, 2)}


@pytest.mark.parametrize(
    ("assignment", "mcq", "vqa"),
    [
        # Two dimensions of 15 items, of 40 items in one dimension each.
        ({}, (30, 60), (3, 6)),
        ({"per_task": 30}, (40, 80), (3, 6)),
        ({"per_task": 30, "per_item": 9}, (40, 100), (3, 9)),
    ],
)
def test_before_the_assignment_it_is_bounded_by_the_items_of_each_task(assignment, mcq, vqa) -> None:
    options = {f"drawn-text/{number}": 4 if number < 40 else 0 for number in range(43)}
    found = plan(RunSize(Amount(43), options), assignment=assignment)
    assert counted(found, "at most") == {"MCQ answers": mcq, "VQA answers": vqa}
    # Crossed, all items are shown under all dimensions at all strengths.
    found = plan(RunSize(Amount(5), OPTIONS), assignment={"cross": True})
    expected = {"MCQ answers": (1, 1 + 2 * 3), "VQA answers": (2, 2 * 7), "CAP answers": (2, 2 * 7)}
    assert counted(found, "exact") == expected


def test_before_the_pool_a_task_has_at_most_its_dimensions() -> None:
    size = RunSize(Amount(1000, "at most"))
    # Captions are of a source that has this task; the others have options, or not.
    bound = dict.fromkeys([f"{task} answers" for task in ("MCQ", "VQA", "CAP")], (30, 60))
    assert counted(plan(size), "at most") == bound
    tasks = {"drawn-charts": "cap", "drawn-text": "vqa"}
    assert [stage.name for stage in plan(size, tasks=tasks).stages] == ["VQA answers", "CAP answers"]
    # The items of a source without a task may be of the other's task, too.
    found = plan(size, tasks={"drawn-charts": "vqa"})
    assert [stage.name for stage in found.stages] == ["MCQ answers", "VQA answers"]
    unknown = plan(RunSize(Amount(None)))
    assert counted(unknown, "at most") == bound


def test_images_are_written_only_with_files_and_once(tmp_path: Path) -> None:
    rows = [(id_, *(("s://x", 100) if "text" in id_ else (id_, 101))) for id_ in OPTIONS]
    images = pl.DataFrame(rows, schema=["id", "image_key", "pixels"], orient="row")
    # Two items show one image under jpeg at the same strength.
    shared = frame_of(ASSIGNMENT, [("drawn-text/3", "jpeg", 2)])
    size = RunSize(Amount(5), OPTIONS, images, pl.concat([write_assigned(tmp_path), shared]))
    assert plan(size, tmp_path).images.written == Amount(0)
    files = {"corrupted": "files"}
    # Three clean; of one image jpeg at two strengths and noise, of another one jpeg.
    assert plan(size, tmp_path, corruptions=files).images.written == Amount(3 + 3 + 1)
    # Tasks are known, and which items are shown under which dimensions is not.
    before = plan(RunSize(Amount(5), OPTIONS, images), tmp_path, corruptions=files).images
    assert before.written == Amount(3 + 5, "at most")
    assert before.disk.kind == "estimate" and before.disk.value == pytest.approx(8 * 302 / 3 * 1.11)
    # Of one image, whose items may be under five dimensions; and of none.
    one = plan(RunSize(Amount(1), {"drawn-text/1": 4}, images[:1]), corruptions=files).images
    assert one.disk.value == pytest.approx((one.written.value or 0) * 100 * 1.11)
    none = plan(RunSize(Amount(0), {}, images[:0]), corruptions=files).images
    assert none.written.value == none.disk.value == 0
    # Imported images are files in any case.
    released = plan(size, tmp_path, pairs="released", released="pairs.parquet").images
    assert released.written == Amount(3 + 3 + 1)


@given(
    items=st.integers(0, 60),
    per_task=st.integers(1, 20),
    per_item=st.integers(1, 4),
    corruptions=st.sampled_from([["jpeg"], ["jpeg", "webp"], ["jpeg", "webp", "white_noise"]]),
)
def test_no_assignment_has_more_cells_than_the_bound(items, per_task, per_item, corruptions) -> None:
    options = {f"drawn-text/{number}": 4 for number in range(items)}
    asked = {"per_task": per_task, "per_item": per_item}
    bound = plan(RunSize(Amount(items), options), assignment=asked, corruptions={"types": corruptions}).stages
    cells = [*balanced_cells([*options], corruptions, [1, 2, 3], count=per_task, per_item=per_item)]
    shown = {id_ for id_, _, _ in cells}
    assert sum(int(stage.predictions.value or 0) for stage in bound) >= len(shown) + len(cells)
    assert sum(int(stage.items.value or 0) for stage in bound) >= len(shown)


def judge_note(size: RunSize, results: Path = NOWHERE, **changes: Any) -> str:
    return plan(size, results, **changes).notes[1]


def test_the_judge_of_the_published_run_gets_22275_requests_a_model(tmp_path: Path) -> None:
    # Section "Files and stages": 1,485 pairs, five judgements of dis, of ref and of com each.
    published = {"pairs": "released", "released": "pairs.parquet", "judge": {"kind": "llm"}}
    note = judge_note(RunSize(Amount(1485, "at most")), **published)
    assert note.startswith("the judge gpt-3.5-turbo: ≈ 22,275 requests a model, ≈ 44,550 in all, of ≈ ")
    assert note.endswith(" without questions and options; fewer where a reply is a letter, or recorded.")
    always = judge_note(
        RunSize(Amount(1485, "at most")), **published | {"judge": {"kind": "llm", "always": True}}
    )
    assert always.endswith("; fewer where a reply is recorded.")
    # Answers of models that benchc does not run are judged, too.
    others = {"answers_from": {"gpt": {"label": "GPT", "file": "gpt.csv"}}}
    more = judge_note(RunSize(Amount(1485, "at most")), **published | others)
    assert "≈ 22,275 requests a model, ≈ 66,825 in all" in more
    # A prompt, of four characters a token, and two replies of at most 10, 20 and 80 tokens.
    prompts = [len(SYSTEM + PROMPTS[task].text) / 4 for task in TASKS]
    million_tokens = 44_550 * (sum(prompts) / 3 + 2 * (10 + 20 + 80) / 3)
    many = judge_note(RunSize(Amount(1485 * 10**6, "at most")), **published)
    assert f"of ≈ {million_tokens:,.1f} million tokens" in many
    unknown = judge_note(RunSize(Amount(None)), **published)
    assert unknown == "the judge gpt-3.5-turbo: requests unknown before the pool is built."
    assert len(plan(RunSize(Amount(None)), judge={"kind": "rule"}).notes) == 1
    # Captions are judged once each.
    size = RunSize(Amount(5), OPTIONS, assignment=write_assigned(tmp_path))
    rows = [("drawn-charts/1", ["a", "b", "c"]), ("drawn-charts/2", ["a"]), ("drawn-text/2", [])]
    columns = dict.fromkeys(REFERENCES.columns)
    frame = frame_of(REFERENCES, (columns | {"id": id_, "answers": texts} for id_, texts in rows))
    write_table(frame, tmp_path / "pool/references.parquet", REFERENCES)
    note = judge_note(size, tmp_path, judge={"kind": "llm", "repeats": 3})
    # MCQ: 2 dis, 1 ref, 2 com; VQA: one each; CAP: dis and ref against 2 captions (the mean), 3 com.
    assert f"≤ {3 * (2 + 1 + 2) + 3 * 3 + (2 + 2 + 3)} requests a model" in note
    # Of tasks without an item, none.
    one = RunSize(Amount(1), {"drawn-text/2": 0}, assignment=size.assignment)
    assert "≤ 15 requests a model" in judge_note(one, tmp_path, judge={"kind": "llm"})
