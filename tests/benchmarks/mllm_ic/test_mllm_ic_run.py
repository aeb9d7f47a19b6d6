import re
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.mllm_ic.schemas.cube import CUBE
from benchc.benchmarks.mllm_ic.schemas.outcomes import OUTCOMES
from benchc.benchmarks.mllm_ic.schemas.scores import SCORES
from benchc.letters import LETTERS
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from benchc.schemas.subset import SUBSET
from tests.benchmarks.mllm_ic.conftest import CATEGORIES, CONFIG, TYPES
from tests.page_answers import opened, use
from tests.page_clicks import LEVEL, TITLE
from tests.workflow.checkout import Checkout

RUN = "results/scenarios"
STAGES = {
    *("read_source", "pool", "corrupt", "capabilities", "choose_questions", "infer", "answer"),
    *("judge_options", "outcomes", "score_capabilities", "cube"),
}
SCENARIOS = [("clean", 0), *((name, level) for name in TYPES for level in range(1, 6))]


@pytest.fixture(scope="module")
def checkout(finished_scenarios: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return finished_scenarios.copy(tmp_path_factory.mktemp("scenarios") / "benchc")


@pytest.fixture(scope="module")
def results(checkout: Checkout) -> Path:
    return checkout.folder / RUN


def stages_of(checkout: Checkout) -> dict[str, int]:
    """Return the jobs of stages that a dry run lists, without those of declared outputs."""
    return {rule: count for rule, count in checkout.plan().items() if rule in STAGES}


def test_nothing_is_left_to_do_and_the_explorer_is_made_without_cifar(checkout, results):
    assert checkout.plan() == {}
    for name in ("features", "tsne"):
        missing = read_footer(results / f"hierarchy/{name}.parquet")["missing"]
        assert missing == "data/cifar-10-python.tar.gz and data/wrn-40-2.pt are not here"
    assert str(missing) in (results / "tables/hierarchy.md").read_text()
    assert (results / "figures/figure3.png").stat().st_size > 0
    page = (results / "pages/cube_explorer.html").read_text()
    assert page.count('<script type="text/plain" id="image-') > 5 * len(TYPES)


def test_each_question_has_an_outcome_in_each_scenario(results):
    ids = read_table(results / "subsets/questions.parquet", SUBSET)["id"].to_list()
    pool = read_table(results / "pool/items.parquet", POOL, ["id", "category", "answer"])
    assert ids == pool.filter(pl.col("category") != "size comparison")["id"].to_list() and len(ids) == 12
    for model in ("letters", "words"):
        table = read_table(results / f"outcomes/{model}.parquet", OUTCOMES)
        assert table["id"].to_list() == ids
        assert set(table["outcomes"].list.len()) == {len(SCENARIOS)}
    answers = dict(pool.select("id", "answer").iter_rows())
    predicted = read_table(results / "predictions/questions/letters/all.parquet", PREDICTIONS)
    rows = predicted.select("id", "corruption", "severity", pl.col("logits").list.arg_max()).iter_rows()
    right = {(id_, *scenario): option == answers[id_] for id_, *scenario, option in rows}
    table = read_table(results / "outcomes/letters.parquet", OUTCOMES)
    for id_, codes in table.iter_rows():
        assert [code in (1, 5) for code in codes] == [right[(id_, *scenario)] for scenario in SCENARIOS]


def test_scores_of_words_count_what_names_no_option(results):
    judged = read_table(results / "judgements/questions/words.parquet", JUDGEMENTS)
    assert judged.height == 12 * len(SCENARIOS)
    scores = read_table(results / "scores/words.parquet", SCORES)
    without = judged.filter(pl.col("option").is_null()).height
    assert scores["refused"].sum() + scores["unparsed"].sum() == without
    assert read_footer(results / "scores/words.parquet")["words"] is True
    assert "words" not in read_footer(results / "scores/letters.parquet")


def test_the_cube_has_the_accuracies_of_the_scores(results):
    cube = read_table(results / "tables/ic_cube.parquet", CUBE)
    assert cube["model"].unique(maintain_order=True).to_list() == ["Letters", "Words"]
    scores = read_table(results / "scores/letters.parquet", SCORES)
    joined = cube.filter(model="Letters").join(scores, on=["corruption", "severity", "capability"])
    assert joined.height == scores.height == len(SCENARIOS) * 6
    assert (joined["accuracy"] - joined["correct"] / joined["n"]).abs().max() < 1e-12
    assert (joined["n"] == joined["n_right"]).all()


AFTER = {"outcomes": 2, "score_capabilities": 2, "cube": 1}
SCORED = {"score_capabilities": 2, "cube": 1}
ASKED = {"infer": 1, "answer": 1, "judge_options": 1, **AFTER}
EDITS = {
    "another capability asks no model": (
        (CATEGORIES, "shapes,rotation,spatial_relation,", "shapes,rotation,object_localization,"),
        {"capabilities": 1, **SCORED},
    ),
    "a category that is left out": (
        (CATEGORIES, "shapes,rotation,spatial_relation,", "shapes,rotation,,no"),
        {"capabilities": 1, "choose_questions": 1, **ASKED},
    ),
    "how tied options are read": (
        ("benchc/benchmarks/mllm_ic/found_outcomes.py", "block.argmax(axis=1)", "block.argmin(axis=1)"),
        AFTER,
    ),
    "how outcomes are counted": (
        ("benchc/benchmarks/mllm_ic/metrics/counts.py", '"refused": (REFUSED,)', '"refused": (UNPARSED,)'),
        {"score_capabilities": 2},
    ),
    "a type's number": (
        ("benchc/corruptions/suites/mllm_ic.py", "0.2, 0.3, 0.4, 0.5, 0.6", "0.2, 0.3, 0.4, 0.5, 0.65"),
        ASKED,
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_decides(checkout, edit):
    (file, old, new), expected = EDITS[edit]
    with checkout.restored(file):
        checkout.edit(file, old, new)
        assert stages_of(checkout) == expected


def test_a_mini_chooses_other_questions_and_depends_on_the_mapping(checkout):
    with checkout.restored(CONFIG):
        checkout.configure(mini=1)
        assert stages_of(checkout) == {"capabilities": 1, "choose_questions": 1, **ASKED}
    assert checkout.plan() == {}


def test_a_types_number_asks_that_type_alone(checkout, tmp_path):
    copy = checkout.copy(tmp_path / "benchc")
    (file, old, new), _ = EDITS["a type's number"]
    copy.edit(file, old, new)
    copy.make(f"{RUN}/predictions/questions/letters/all.parquet")
    log = (copy.folder / "logs/scenarios/infer/questions/letters/all.log").read_text()
    assert re.findall(r"([\d,]+) computed", log) == ["60"]  # 12 questions under cutout


def test_an_unmapped_category_stops_the_run_after_its_report(checkout, tmp_path):
    copy = checkout.copy(tmp_path / "benchc")
    copy.edit(CATEGORIES, "shapes,rotation,spatial_relation,\n", "")
    files = (f"{RUN}/{name}.parquet" for name in ("subsets/questions", "pool/capabilities"))
    assert copy.snakemake("--cores", "1", "--keep-going", *files, check=False).returncode
    log = (copy.folder / "logs/scenarios/choose_questions.log").read_text()
    assert "no capability is given to rotation of shapes (2)" in log
    report = pl.read_csv(copy.folder / RUN / "pool/capabilities.report.csv")
    assert report.filter(status="unmapped").select("category", "items").rows() == [("rotation", 2)]


def test_the_results_page_is_used(finished_scenarios, tmp_path):
    run = finished_scenarios.folder / RUN
    right = read_table(run / "pool/items.parquet", POOL, ["id", "answer"])
    asked = read_table(run / "predictions/questions/letters/all.parquet", PREDICTIONS).join(right, on="id")
    grade = (pl.col("logits").list.arg_max() == pl.col("answer")).cast(pl.Float64)
    with opened(run, tmp_path) as browser:
        use(browser, run, asked.select("corruption", "severity", sample="id", grade=grade))
        # Which option was read from what the other model said.
        judged = read_table(run / "judgements/questions/words.parquet", JUDGEMENTS)
        id_, level = browser.run(TITLE), int(str(browser.run(LEVEL)))
        corruption = browser.run("return document.querySelector('#detail .controls select').value")
        notes = []
        for name, severity in (("clean", 0), (corruption, level)):
            cell = judged.filter(id=id_, corruption=name, severity=severity)
            option, status = cell.select("option", "status").row(0)
            notes.append(f"no option: {status}" if option is None else f"{LETTERS[option]}, by its {status}")
        assert browser.texts("#detail .reply small") == notes
