"""A small run to its end: what it writes, and what each edit reruns."""

import re
from itertools import product
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.schemas.answers import ANSWERS
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.parquet import read_table
from benchc.schemas.references import REFERENCES
from benchc.schemas.subset import SUBSET
from tests.benchmarks.r_bench.conftest import CONFIG, MODELS, TARGETS, TYPES
from tests.page_answers import opened, use
from tests.workflow.checkout import Checkout

RUN = "results/pairs"
TASKS = ("mcq", "vqa", "cap")
STAGES = {
    *("generate_demo_source", "generate_training_set", "add_captions", "train_demo_model", "read_source"),
    *("pool", "references", "assign", "corrupt", "answer", "judge", "score"),
}


@pytest.fixture(scope="module")
def checkout(finished_pairs: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return finished_pairs.copy(tmp_path_factory.mktemp("pairs") / "benchc")


def stages_of(checkout: Checkout) -> dict[str, int]:
    """Return the jobs of stages that a dry run lists, without those of declared outputs."""
    return {rule: count for rule, count in checkout.plan(*TARGETS).items() if rule in STAGES}


def answers_of(checkout: Checkout, model: str, task: str) -> Path:
    return checkout.folder / RUN / f"answers/{task}/{model}/all.parquet"


def cells_of(checkout: Checkout) -> pl.DataFrame:
    pool = checkout.folder / RUN / "pool"
    tasks = read_table(pool / "tasks.parquet", TASK_TABLE)
    return read_table(pool / "assignment.parquet", ASSIGNMENT).join(tasks, on="id")


def test_nothing_is_left_to_do(checkout):
    assert checkout.plan(*TARGETS) == {}


def test_each_task_has_its_items_under_each_dimension_at_each_strength(checkout):
    cells = cells_of(checkout)
    shown = {*cells.select("task", "corruption", "severity").iter_rows()}
    assert shown == {*product(TASKS, TYPES, (1, 2, 3))}
    assert cells.height == 3 * 2 * 3 and cells["id"].n_unique() == cells.height
    for task in TASKS:
        subset = read_table(checkout.folder / RUN / f"subsets/{task}.parquet", SUBSET)
        assert {*subset["id"]} == {*cells.filter(task=task)["id"]}
    for model in MODELS:
        for task in TASKS:
            mine = cells.filter(task=task)
            answers = read_table(answers_of(checkout, model, task), ANSWERS)
            shown = answers.select("id", "corruption", "severity").rows()
            clean = [(id_, "clean", 0) for id_ in mine["id"]]
            assert sorted(shown) == sorted([*clean, *mine.select("id", "corruption", "severity").rows()])
        scores = read_table(checkout.folder / RUN / f"scores/{model}.parquet", SCORES)
        assert sorted(scores.select("id", "dimension", "severity", "task").rows()) == sorted(
            cells.select("id", "corruption", "severity", "task").rows()
        )


def test_captions_are_judged_by_each_reference(checkout):
    references = read_table(checkout.folder / RUN / "pool/references.parquet", REFERENCES)
    captions = dict(references.select("id", "answers").iter_rows())
    judged = read_table(checkout.folder / RUN / "judge_scores/texts.parquet", JUDGE_SCORES)
    counts = judged.filter(task="cap", kind="dis").group_by("id").agg(pl.col("reference").n_unique())
    assert counts.height == 6
    assert all(count == len(captions[id_]) == 3 for id_, count in counts.iter_rows())
    # A model is trained to caption.
    log = (checkout.folder / "logs/pairs/add_captions.log").read_text()
    assert re.search(r"captioned_training_set-\w+\.npz: [\d,]+ captions", log)


def test_another_judge_asks_no_model(checkout):
    with checkout.restored(CONFIG):
        checkout.configure(judge={"kind": "llm", "mode": "replay", "recordings": "none"})
        assert stages_of(checkout) == {"judge": 2, "score": 2}


EDITS = {
    "a strength": (
        "benchc/corruptions/suites/r_bench.py",
        '_kadid("11 (white noise)", "1, 3 and 5", 0.001, 0.003, 0.01)',
        '_kadid("11 (white noise)", "1, 3 and 5", 0.001, 0.003, 0.02)',
        {"corrupt": 1, "answer": 6, "judge": 2, "score": 2},
    ),
    "how cells are chosen": (
        "benchc/benchmarks/r_bench/assignment.py",
        'seed_of("r-bench", corruption, id_)',
        'seed_of("pairs", corruption, id_)',
        {"assign": 1, "corrupt": 3, "answer": 6, "judge": 2, "score": 2},
    ),
    "how scores are made": ("scripts/r_bench/score.py", "def score(", "X = 1\n\ndef score(", {"score": 2}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_decides(checkout, edit):
    file, old, new, expected = EDITS[edit]
    with checkout.restored(file):
        checkout.edit(file, old, new)
        assert stages_of(checkout) == expected
    assert checkout.plan(*TARGETS) == {}


def test_one_strength_asks_the_items_of_its_dimension_alone(checkout, tmp_path):
    file, old, new, _ = EDITS["a strength"]
    copy = checkout.copy(tmp_path / "benchc")
    jpeg = (copy.folder / RUN / "corrupted/jpeg.parquet").read_bytes()
    copy.edit(file, old, new)
    copy.make(*[str(answers_of(copy, "texts", task).relative_to(copy.folder)) for task in TASKS])
    assert (copy.folder / RUN / "corrupted/jpeg.parquet").read_bytes() == jpeg
    changed = cells_of(copy).filter(corruption="white_noise", severity=3)
    for task in TASKS:
        log = (copy.folder / f"logs/pairs/answer/{task}/texts/all.log").read_text()
        (computed,) = re.findall(r"([\d,]+) computed", log)
        # One clean image and one corrupted one of each item were asked before.
        assert int(computed) == changed.filter(task=task).height == 1


def test_the_results_page_is_used_and_has_replies_beside_their_judgements(finished_pairs, tmp_path):
    run = finished_pairs.folder / RUN
    rows = read_table(run / "scores/texts.parquet", SCORES)
    distorted = rows.select("severity", sample="id", corruption="dimension", grade="s_dis")
    clean = rows.group_by("id").agg(grade=pl.col("s_ref").first())
    clean = clean.select("grade", sample="id", corruption=pl.lit("clean"), severity=pl.lit(0, pl.Int64))
    with opened(run, tmp_path) as browser:
        use(browser, run, pl.concat([distorted, clean], how="diagonal"), threshold=0.5)
        id_ = browser.texts("#detail h3")[0]
        cell = distorted.filter(sample=id_).row(0, named=True)
        files = sorted((run / "answers").glob("*/texts/*.parquet"))
        replies = pl.concat([read_table(path, ANSWERS) for path in files]).filter(id=id_)
        by_cell = {
            (name, level): reply
            for name, level, reply in replies.select("corruption", "severity", "reply").rows()
        }
        shown = browser.texts("#detail .replies tr:nth-child(2) .reply > span")
        wanted = [by_cell["clean", 0], by_cell[cell["corruption"], cell["severity"]]]
        assert shown == [reply or "(empty)" for reply in wanted]
        judged = read_table(run / "judge_scores/texts.parquet", JUDGE_SCORES).filter(id=id_)
        notes = browser.texts("#detail .replies tr:nth-child(2) .reply small")
        assert len(notes) == 2 and "against the truth" in notes[0] and "reply to the reference" in notes[1]
        for kind, note in (("ref", notes[0]), ("dis", notes[1]), ("com", notes[1])):
            for row in judged.filter(kind=kind).iter_rows(named=True):
                assert f"{row['score']:g}" in note or not row["readable"]
