import json
import os
import re
import subprocess
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.schemas.errors import read_errors
from benchc.judges.short_answer import agrees
from benchc.schemas.answers import ANSWERS
from benchc.schemas.grades import GRADES
from benchc.schemas.parquet import read_table
from benchc.schemas.predictions import KEY
from benchc.schemas.references import REFERENCES
from tests.benchmarks.vqa_robustness.conftest import IMPORTED, VARIANTS
from tests.page_answers import opened, use
from tests.workflow.checkout import Checkout

RUN = "results/open"
MODELS = ["texts", "trained", "listed"]
WITH_INTERVALS = ("vre_intervals", "vre_model", "vre_corruption", "figure_weightings", "figure_accuracy")
SCALED = (*WITH_INTERVALS, "weightings", "figure_radar", "weights")
LEVELLED = (*SCALED, "severity_metrics")
# What needs the errors alone, and what needs the grades.
FROM_ERRORS = dict.fromkeys(
    {*LEVELLED, "table_a1", "relative_drops", "figure_a2", "figure_heatmap", "figure_bars"}, 1
)
RESAMPLED = ("table_a3", "mispredictions", "colour_questions", "figure_a4")
# What ranks models, or has a row of chance.
FROM_CHANCE = dict.fromkeys({"chance", *SCALED, "table_a1", "relative_drops"}, 1)
FROM_GRADES = dict.fromkeys(("errors", "other_errors", "table_a2", "class_accuracy", *RESAMPLED), 1)
FROM_GRADES |= FROM_ERRORS | FROM_CHANCE
SETTING = {"configuration": 1}


@pytest.fixture(scope="module")
def checkout(finished_open: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return finished_open.copy(tmp_path_factory.mktemp("vre") / "benchc")


def answers_of(checkout: Checkout, model: str) -> Path:
    return checkout.folder / RUN / f"answers/pool/{model}/all.parquet"


def test_every_question_is_answered_and_graded(checkout):
    assert checkout.plan() == {}
    references = read_table(checkout.folder / RUN / "pool/references.parquet", REFERENCES)
    truths = dict(references.select("id", "truth").iter_rows())
    for model in MODELS:
        answers = read_table(answers_of(checkout, model), ANSWERS)
        assert answers.height == len(truths) * len(VARIANTS)
        grades = read_table(checkout.folder / RUN / f"grades/pool/{model}.parquet", GRADES)
        assert grades.select(KEY).equals(answers.select(KEY))
        pairs = answers.select("id", "reply").iter_rows()
        assert grades["normalised"].to_list() == [agrees(reply, truths[id_]) for id_, reply in pairs]
    # A model from a list answers from its list.
    listed = read_table(answers_of(checkout, "listed"), ANSWERS)
    (config,) = checkout.folder.glob("results/models/listed-*/config.json")
    assert set(listed["reply"]) <= set(json.loads(config.read_text())["id2label"].values())
    assert (listed["finish"] == "stop").all()


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


GREY = {"corrupt": 1, "answer": 3, "judge_short_answers": 3, "contact_sheet": 1, "figure_a1": 1}
# A file, what is there and what it becomes, and the jobs that run again, besides those after grades.
EDITS = {
    "VRE": (
        (
            "benchc/benchmarks/vqa_robustness/metrics/vre.py",
            "Vre(weights @ model_parts",
            "Vre(model_parts.T @ weights",
        ),
        dict.fromkeys(LEVELLED, 1),  # no answer, no grade
    ),
    "the normaliser": (
        ("benchc/judges/short_answer.py", 'frozenset(("a", "an", "the"))', 'frozenset(("a", "an"))'),
        {"judge_short_answers": 3, "import_answers": 1} | FROM_GRADES,
    ),
    "answers from a list": (
        ("benchc/models/classify.py", "LABEL_TOKENS = 1", "LABEL_TOKENS = 2"),
        {"answer": 1, "judge_short_answers": 1} | FROM_GRADES,
    ),
    "answers in words": (
        ("benchc/models/generate.py", ".strip()", ".rstrip()"),
        {"answer": 2, "judge_short_answers": 2} | FROM_GRADES,
    ),
    "an imported answer": ((IMPORTED, ",clean,0,", ",clean,0, "), FROM_GRADES | {"import_answers": 1}),
    "glass blur": (
        (
            "benchc/corruptions/kernels/glass_blur.py",
            "(-max_delta, max_delta)",
            "(1 - max_delta, max_delta + 1)",
        ),
        {"figure_a1": 1},  # of a corruption that the run only shows
    ),
    "greyscale": (
        ("benchc/corruptions/kernels/colour_property.py", "grey)[..., np.new", "grey)[:, :, np.new"),
        GREY | FROM_GRADES,
    ),
    "the label of a model": (
        ("config/small-models.yaml", "label: Texts", "label: Words"),
        {"describe_models": 1, "configuration": 1} | FROM_GRADES,
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_decides(checkout, edit):
    change, expected = EDITS[edit]
    assert checkout.plan_of_edit(*change) == expected


SETTINGS = {
    "when an answer is right": ({"grade": "exact"}, FROM_GRADES),
    "weights": ({"vre": {"weights": [2, 1, 1, 1, 1]}}, {**dict.fromkeys(WITH_INTERVALS, 1), "weights": 1}),
    "levels": ({"vre": {"levels": "1..5"}}, dict.fromkeys(LEVELLED, 1)),
    "resamples": (
        {"tables": {"bootstrap": {"draws": 200, "seed": 0}}},
        {**FROM_CHANCE, **dict.fromkeys(RESAMPLED, 1)},
    ),
    "which models are ranked": ({"tables": {"ranking": {"below_chance": True}}}, FROM_CHANCE),
    "tokens": ({"answers": {"max_new_tokens": 9}}, {"answer": 2, "judge_short_answers": 2, **FROM_GRADES}),
    "the prompt": (
        {"answers": {"instruction": "One word.", "instruction_place": "before"}},
        {"answer": 2, "judge_short_answers": 2, **FROM_GRADES},
    ),
    "a corruption of VRE": (
        {"vre": {"corruptions": ["snow", "shot_noise"]}},
        {name: 1 for name in (*FROM_GRADES, "figure_a1") if name not in ("colour_questions", "figure_a4")},
    ),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_reruns_what_it_decides(checkout, setting):
    changes, expected = SETTINGS[setting]
    assert checkout.plan_of_settings(**changes) == {**expected, **SETTING}


def test_a_scale_of_no_file_is_refused_even_where_outputs_are_finished(checkout):
    path = checkout.folder / checkout.config
    content = path.read_text()
    checkout.configure(vre={"scale_of": "scale.csv"})
    try:
        done = checkout.snakemake("-n", check=False)
        assert done.returncode and "vre.scale_of: there is no file scale.csv" in done.stdout
        scale = checkout.folder / "scale.csv"
        scale.write_bytes((checkout.folder / RUN / "tables/errors.csv").read_bytes())
        checkout.make("weightings")
        assert checkout.plan("weightings") == {}
        # An edit that keeps size and time.
        before, text = scale.stat(), scale.read_text()
        scale.write_text(text.replace("snow", "wons"))
        os.utime(scale, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert checkout.plan("weightings") == {"weightings": 1}
    finally:
        path.write_text(content)


def test_check_asks_the_models_as_the_run_does(checkout):
    command = [checkout.python, "-m", "scripts.benchc", "check", checkout.config]
    with checkout.restored(checkout.config):
        checkout.configure(models=["texts"])  # a process is started for each
        where = {"cwd": checkout.folder, "env": checkout.environment}
        done = subprocess.run(command, **where, text=True, capture_output=True, check=False)
    # Untrained, it writes on; the options of its questions are no matter.
    found = r"warning +texts .* s per answer \(.*\), (\d+) of \1 answers cut off, such as '.*\.instruction"
    assert re.search(found, done.stdout), done.stdout


def test_the_results_page_is_used(finished_open, tmp_path):
    run = finished_open.folder / RUN
    grades = read_table(run / "grades/pool/texts.parquet", GRADES)
    grade = pl.col("normalised").cast(pl.Float64)
    # Of all corruptions of the run, also those without a place in VRE.
    answers = grades.select("corruption", "severity", sample="id", grade=grade)
    with opened(run, tmp_path) as browser:
        use(browser, run, answers)
        id_ = browser.texts("#detail h3")[0]
        own = grades.filter(id=id_, corruption="clean")["reply"].item()
        assert browser.texts("#detail .replies .reply > span")[0] == (own or "(empty)")
