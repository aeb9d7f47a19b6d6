"""A small run to its end: what it writes, that a killed job resumes, and what each edit reruns."""

from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.schemas.errors import read_errors
from benchc.judges.short_answer import agrees
from benchc.schemas.answers import ANSWERS
from benchc.schemas.grades import GRADES
from benchc.schemas.parquet import read_table
from benchc.schemas.references import REFERENCES
from tests.benchmarks.vqa_robustness.conftest import IMPORTED, VARIANTS
from tests.workflow.checkout import Checkout

RUN = "results/open"
MODELS = ["texts", "trained", "listed"]
# What needs the errors alone.
FROM_ERRORS = dict.fromkeys(
    (
        *("table_a1", "severity_metrics", "weightings", "relative_drops", "weights"),
        *("figure_a2", "figure_heatmap", "figure_bars", "figure_weightings", "figure_radar", "figure_accuracy"),
    ),
    1,
)
FROM_GRADES = {
    **dict.fromkeys(("errors", "vre_model", "vre_corruption", "table_a2", "class_accuracy"), 1),
    **FROM_ERRORS,
}
SETTING = {"configuration": 1}


@pytest.fixture(scope="module")
def checkout(finished_open: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return finished_open.copy(tmp_path_factory.mktemp("vre") / "benchc")


def answers_of(checkout: Checkout, model: str) -> Path:
    return checkout.folder / RUN / f"answers/pool/{model}/all.parquet"


def test_nothing_is_left_to_do(checkout):
    assert checkout.plan() == {}


def test_every_question_is_answered_and_graded(checkout):
    references = read_table(checkout.folder / RUN / "pool/references.parquet", REFERENCES)
    truths = dict(references.select("id", "truth").iter_rows())
    for model in MODELS:
        answers = read_table(answers_of(checkout, model), ANSWERS)
        assert answers.height == len(truths) * len(VARIANTS)
        grades = read_table(checkout.folder / RUN / f"grades/pool/{model}.parquet", GRADES)
        assert grades.select("id", "corruption", "severity").equals(answers.select("id", "corruption", "severity"))
        pairs = answers.select("id", "reply").iter_rows()
        assert grades["normalised"].to_list() == [agrees(reply, truths[id_]) for id_, reply in pairs]


def test_a_model_from_a_list_answers_from_its_list(checkout):
    references = read_table(checkout.folder / RUN / "pool/references.parquet", REFERENCES)
    answers = read_table(answers_of(checkout, "listed"), ANSWERS)
    assert (answers["finish"] == "stop").all()
    assert answers["reply"].n_unique() > 1
    assert references.height


def test_the_errors_are_those_of_the_grades(checkout):
    errors = read_errors(checkout.folder / RUN / "tables/errors.csv")
    assert errors.models == ("Texts", "Trained", "Listed", "Other program")
    # Not the one outside the default set of the suite.
    assert errors.corruptions == ("shot_noise", "snow", "zoom_blur")
    grades = read_table(checkout.folder / RUN / "grades/pool/other.parquet", GRADES)
    for place, corruption in enumerate(errors.corruptions):
        for level in range(6):
            name = corruption if level else "clean"
            right = grades.filter(corruption=name, severity=level)["normalised"]
            assert errors.values[3, place, level] == pytest.approx(1 - right.mean())
    others = pl.read_csv(checkout.folder / RUN / "tables/other_errors.csv")
    assert others["corruption"].unique().to_list() == ["grayscale"]


@pytest.mark.parametrize("model", ["trained", "listed"])
def test_a_killed_job_resumes_and_writes_the_same_bytes(checkout, tmp_path, model):
    copy = checkout.copy(tmp_path / "benchc")
    answers = answers_of(copy, model)
    before = answers.read_bytes()
    answers.unlink()
    (shard,) = copy.folder.glob(f"results/.cache/*/*/open-{model}-pool-all-answers-*.units")
    lines = shard.read_bytes().splitlines(keepends=True)
    # A kill may cut off the last line.
    shard.write_bytes(b"".join(lines[: len(lines) // 2]) + lines[-1][:40])
    copy.make(str(answers.relative_to(copy.folder)))
    assert answers.read_bytes() == before
    log = (copy.folder / f"logs/open/answer/pool/{model}/all.log").read_text()
    assert ", 0 computed" not in log and " 0 from the cache" not in log


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        # Of VRE alone: no answer, no grade.
        (
            "benchc/benchmarks/vqa_robustness/metrics/vre.py",
            "return np.where(np.isnan(values), 0, below)",
            "return np.where(np.isnan(values), -1, below)",
            None,
        ),
        # Of the normaliser: grades, but no answer.
        (
            "benchc/judges/short_answer.py",
            'ARTICLES = frozenset(("a", "an", "the"))',
            'ARTICLES = frozenset(("a", "an"))',
            {"judge_short_answers": 3, "import_answers": 1, "other_errors": 1, **FROM_GRADES},
        ),
        (
            "benchc/models/classify.py",
            "finish",
            "finish",
            None,
        ),
    ],
)
def test_an_edit_reruns_what_it_decides(checkout, file, old, new, expected):
    content = (checkout.folder / file).read_text()
    checkout.edit(file, old, new)
    try:
        plan = checkout.plan()
    finally:
        (checkout.folder / file).write_text(content)
    assert plan == expected
    assert checkout.plan() == {}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"grade": "exact"}, {**FROM_GRADES, "other_errors": 1, **SETTING}),
        ({"vre": {"levels": "1..5"}}, None),
    ],
)
def test_a_setting_reruns_what_it_decides(checkout, changes, expected):
    path = checkout.folder / checkout.config
    content = path.read_text()
    checkout.configure(**changes)
    try:
        plan = checkout.plan()
    finally:
        path.write_text(content)
    assert plan == expected
    assert IMPORTED
