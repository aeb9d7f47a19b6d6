"""A small run to its end: what it writes, and what each edit reruns."""

import hashlib
import json

import polars as pl
import pytest
import yaml

from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.scores import SCORES as GROUP_SCORES
from benchc.benchmarks.naturalbench.schemas.translations import TRANSLATIONS
from benchc.schemas.answers import ANSWERS
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from tests.page_answers import opened, use
from tests.page_clicks import TITLE
from tests.workflow.checkout import Checkout

CLEAN_TABLES = ("bias", "table1", "table11", "table2", "table4", "table5", "table6", "taus")
FIGURES = ("blind", "corruption", "examples", "readings")
FROM_SCORES = dict.fromkeys(
    ("chance", *CLEAN_TABLES, "rank_swaps", "corruption", *(f"figure_{name}" for name in FIGURES)), 1
)
SCORES = {"score_groups": 2, "score_translated": 2, **FROM_SCORES}
TUNED_TABLES = {"fine_tuning": 1, "figure5": 1}
ASKED_TUNED = {"infer_fine_tuned": 1, "infer_fine_tuned_without_images": 1, **TUNED_TABLES}
TUNED = {"fine_tune": 2, **ASKED_TUNED}
ASKED = {"answer": 2, "answer_translated": 2, "infer": 2, "infer_without_images": 2, **SCORES, **TUNED}
FROM_BLIND = dict.fromkeys(("blind_sources", "figure3", "figure4"), 1)
# By the usual prompt, so that the run's own one does not count.
ASKED_BLIND = {"infer_blind_sources": 2, "infer_blind_sources_without_images": 2, **FROM_BLIND}
TRANSLATED = {"answer_translated": 2, "score_translated": 2, "table5": 1}


@pytest.fixture(scope="module")
def checkout(finished_groups: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return finished_groups.copy(tmp_path_factory.mktemp("naturalbench") / "benchc")


def test_nothing_is_left_to_do_but_to_evaluate_a_model(checkout):
    assert checkout.plan() == {}
    # A model is evaluated on the groups that others were tuned on.
    content = {"name": "new", "evaluate": {"benchmark": "results/groups", "models": ["more"]}}
    content["catalogues"] = {"models": "config/small-models.yaml"}
    (checkout.folder / "config/new.yaml").write_text(yaml.safe_dump(content))
    jobs = checkout.plan("--configfile", "config/new.yaml")
    assert jobs["score_groups"] == 1
    assert not {"fine_tune", "assemble", "pool", "corrupt"} & set(jobs)


def test_groups_are_made_where_no_model_is_scored(tmp_path, python):
    checkout = Checkout(tmp_path / "benchc", "config/demo-naturalbench.yaml")
    checkout.python = python
    checkout.configure(models=[], fine_tuning=None, retrieval=None, corruptions={"types": []}, translate=None)
    jobs = checkout.plan()
    assert jobs["assemble"] == 1
    assert not {"infer", "answer", "pool"} & set(jobs)


def test_the_release_says_what_made_it(checkout):
    curated = checkout.folder / "results/groups/curate"
    record = json.loads((curated / "groups.json").read_text())
    assert record["sha256"] == hashlib.sha256((curated / "groups.tsv").read_bytes()).hexdigest()
    encoder = record["encoders"]["tiny-clip"]
    (weights,) = checkout.folder.glob("results/models/image_encoder-*/open_clip_model.safetensors")
    recorded = encoder["sha256"][str(weights.relative_to(checkout.folder))]
    assert recorded == hashlib.sha256(weights.read_bytes()).hexdigest()
    assert len(encoder["sha256"]) == 2 and encoder["library"] == "open_clip"
    assert record["captions"] == {
        "drawings": {"subset": "Drawings"},
        "drawings-zh": {"subset": "Drawings (Chinese)"},
    }
    assert (record["mining"]["pairs"], record["mining"]["keep"], record["seed"]) == (8, 64, 20251119)
    assert record["benchc"] == "0.1.0" and record["rounds"][0]["url"] is None


EDITS = {
    "the version": ("pyproject.toml", 'version = "0.1.0"', 'version = "0.1.1"', {"record_release": 1}),
    "the name of the release": (
        "config/groups.yaml",
        "name: NaturalBench-Drawings",
        "name: Other",
        {"record_release": 1, "configuration": 1, "review_form": 10},
    ),
    "how options are listed": (
        "benchc/models/label_prompt.py",
        "{' '.join(named)}",
        "{'  '.join(named)}",
        ASKED | ASKED_BLIND,
    ),
    "a default": ("benchc/benchmarks/naturalbench/settings.py", "default=2000,", "default=2001,", {}),
    # The demo's replies are recorded for its requests.
    "the prompt of the translator": (
        "config/prompts/naturalbench_translate.txt",
        "Translate the texts",
        "Put the texts",
        {"record_demo_translator": 1, "translate_questions": 1, **TRANSLATED},
    ),
    "the label of a model": (
        "config/small-models.yaml",
        "label: Texts",
        "label: Words",
        {"describe_models": 1, "configuration": 1, **FROM_SCORES, **FROM_BLIND, **TUNED_TABLES},
    ),
    "how a model is tuned": ("benchc/models/tuning/train.py", "WARM_UP = 0.03", "WARM_UP = 0.05", TUNED),
    "how the groups are split": (
        "benchc/benchmarks/naturalbench/halves.py",
        "% sum(room.values())",
        "% max(1, sum(room.values()))",
        {"split_groups": 1, **TUNED},
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_decides(checkout, edit):
    file, old, new, expected = EDITS[edit]
    assert checkout.plan_of_edit(file, old, new) == expected


SETTINGS = {
    "extraction": ({"decoding": {"extraction": "official"}}, SCORES),
    "prior": ({"prior": "grey_image"}, {"infer_without_images": 2, "score_groups": 2, **FROM_SCORES}),
    "how the translator is reached": (
        {"translate": {"url": "http://localhost:1/v1", "concurrency": 1, "api_key_env": "KEY"}},
        {},
    ),
    "the attempts of the translator": (
        {"translate": {"attempts": 3}},
        {"record_demo_translator": 1, "translate_questions": 1, **TRANSLATED},
    ),
    "which models are ranked": (
        {"tables": {"ranking": {"below_chance": True}}},
        dict.fromkeys(("chance", *CLEAN_TABLES, "rank_swaps", "corruption"), 1),
    ),
    "epochs": ({"fine_tuning": {"epochs": 2}}, TUNED),
    "the seed of the halves": ({"fine_tuning": {"seed": 1}}, {"split_groups": 1, **TUNED}),
    "the models that are tuned": ({"fine_tuning": {"models": ["trained", "texts"]}}, TUNED),
    "prompt": ({"prompt": {"separator": "none"}}, ASKED),
    "items of other benchmarks": ({"blind": {"items": 6}}, {"pool_blind_sources": 1, **ASKED_BLIND}),
    "a share of models": ({"blind": {"share": 0.5}}, {"figure3": 1}),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_reruns_what_it_decides(checkout, setting):
    changes, expected = SETTINGS[setting]
    assert checkout.plan_of_settings(**changes) == {**expected, "configuration": 1}


def test_chinese_questions_are_asked_in_english_too(checkout):
    results = checkout.folder / "results/groups"
    table = read_table(results / "translated/questions.parquet", TRANSLATIONS)
    groups = read_table(results / "pool/groups.parquet", GROUPS)
    chinese = groups.filter(language="Chinese", method="mined")
    assert 0 < table.height == chinese["group"].n_unique() * 2
    assert set(groups["language"]) == {"English", "Chinese"}
    asked = table.filter("ok")
    assert asked.height and not asked["question"].str.contains("^[ -~]*$").any()
    assert asked["english_question"].str.contains("^[ -~]*$").all()
    items = read_table(results / "translated/items.parquet", POOL)
    for model in ("texts", "trained"):
        answers = read_table(results / f"answers/translated/{model}/clean.parquet", ANSWERS)
        assert answers["id"].to_list() == items["id"].to_list()
    table5 = pl.read_csv(results / "tables/table5.csv")
    assert table5["language"].to_list() == ["Chinese"] * 2
    assert table5["groups"].to_list() == [items.height // 4] * 2


def test_the_results_page_is_used_and_shows_four_answers_of_a_group(finished_groups, tmp_path):
    run = finished_groups.folder / "results/groups"
    scores = read_table(run / "scores/texts.parquet", GROUP_SCORES).filter(reading="decoding")
    grade = pl.col("g").cast(pl.Float64)
    with opened(run, tmp_path) as browser:
        use(browser, run, scores.select("corruption", "severity", sample="group", grade=grade))
        models = len(browser.texts("#filter-model option"))
        assert len(browser.texts("#detail .group .mark")) == 4 * models
        assert len(browser.texts("#detail section.question")) == 4
        group, marks = browser.run(TITLE), browser.texts("#detail .group tr:nth-child(2) .mark")
        # Each image, clean and corrupted. These items have an image of their own each.
        captions = browser.texts("#detail .images figcaption")
        assert len(captions) == 8 and captions[-2] == "question 2, image 2: clean"
        clean = scores.filter(group=group, corruption="clean").row(0, named=True)
        order = [f"c{name[9:10]}{name[-1]}" for name in browser.texts("#detail .group th")[1:5]]
        places = [f"c{int(each[1]) - 1}{int(each[2]) - 1}" for each in order]
        assert sorted(places) == ["c00", "c01", "c10", "c11"]
        assert [mark[0] for mark in marks] == ["✓" if clean[place] else "✗" for place in places]
