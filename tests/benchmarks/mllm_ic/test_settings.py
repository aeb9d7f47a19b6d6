from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from benchc.benchmarks.mllm_ic.checking import check
from benchc.benchmarks.mllm_ic.planning.plan import plan_of
from benchc.benchmarks.mllm_ic.workflow import Workflow
from benchc.checking.finding import Finding
from benchc.checking.pool import PoolFound
from benchc.config.load import Config, load, read_config
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from benchc.errors import InputError
from benchc.planning.amounts import Amount
from benchc.planning.size import ImageCounts, RunSize
from benchc.schemas.parquet import write_table
from benchc.schemas.subset import SUBSET
from tests.config.trial import MODELS, errors, write_trial
from tests.corruptions.own_files import DARKEN, written

ROOT = Path(__file__).resolve().parents[3]
CONFIG = """
benchmark: mllm-ic
name: trial
catalogues: {sources: sources.yaml, models: models.yaml}
sources: [drawn-text]
corruptions: {suite: mllm-ic}
models: [small, large]
demo: {seed: 1, training_set: {items_per_category: 2}}
"""
IN_WORDS = """
words: {label: Words, scoring: generate, server: {url: "http://localhost", model: m}}
"""
ONE_EACH = [types[0].name for types in MLLM_IC.groups.values()]
OTHER = {"label": "Other", "file": "other.csv"}


@pytest.fixture
def raw() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(CONFIG)
    return content


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "map.csv").write_text("source,category,capability,reason\ndrawn-text,x,ocr,\n")
    return write_trial(tmp_path, MODELS + IN_WORDS)


def corrupted(**changes: Any) -> dict[str, Any]:
    return {"corruptions": {"suite": "mllm-ic", **changes}}


ADD = "add cutout or coarse_dropout"
BOTH = "both, or neither."
NO_MODEL = "but there is no such model of the run (did you mean large?)."


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            corrupted(severities=[1, 3, 5]),
            "corruptions has the severities [1, 3, 5], but averages need [1, 2, 3, 4, 5]; leave the key out.",
        ),
        (
            corrupted(types=[name for name in ONE_EACH if name != "cutout"]),
            f"corruptions has no type of the category occlusion, of which averages need one; {ADD} to types.",
        ),
        (corrupted(suite="imagenet-c"), "corruptions.suite is \"imagenet-c\", but should be 'mllm-ic'."),
        (
            {"capabilities": {"circular": ["drawn-charts"]}},
            'capabilities.circular[0] is "drawn-charts", but there is no such id in sources (did you mean '
            "drawn-text?).",
        ),
        (
            {"answers_from": {"small": OTHER}},
            'answers_from has "small", which is also one of models; give it another id.',
        ),
        (
            {"answers_from": {"x": OTHER}, "predictions_from": {"x": OTHER}},
            "x is in answers_from and in predictions_from; give one another id.",
        ),
        ({"figures": {"figure10": {"model": "larger"}}}, f'figures.figure10.model is "larger", {NO_MODEL}'),
        ({"figures": {"left_out": ["larger"]}}, f'figures.left_out[0] is "larger", {NO_MODEL}'),
        (
            {"figures": {"left_out": ["small", "large"]}},
            "figures.left_out has all models of the run; keep one for Figures 6 to 9.",
        ),
        (
            {"figures": {"figure5": {"types": ["fogg"]}}},
            'figures.figure5.types[0] is "fogg", but there is no such corruption in this run (did you mean '
            "fog?).",
        ),
        ({"hierarchy": {"images": "cifar"}}, "hierarchy has one of images and weights; give " + BOTH),
    ],
)
def test_a_mistake_is_one_sentence(raw, root, changes, message):
    assert errors(raw | changes, root) == (f"config.yaml: {message}",)


def test_without_the_key_the_pool_has_no_limit_and_one_type_of_each_category_is_enough(raw, root):
    pool = load(raw, root).settings.pool
    assert (pool.per_task, pool.total) == (None, None)
    given = raw | {"pool": {"per_task": 3}} | corrupted(types=ONE_EACH)
    assert load(given, root).settings.pool.per_task == 3


def test_shipped_runs_are_the_papers(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = ("mllm-ic", "mllm-ic-mini", "demo-mllm-ic")
    paper, mini, demo = (read_config(Path(f"config/{name}.yaml")).settings for name in names)
    for settings in (paper, mini, demo):
        assert len(settings.corruptions.types) == 40 and "shear_xy" not in settings.corruptions.types
    # They differ in nothing else, so that the mini run finds its predictions in the cache.
    assert (paper.mini, mini.mini) == (None, 50)
    assert paper.model_dump(exclude={"name", "mini"}) == mini.model_dump(exclude={"name", "mini"})
    plan = plan_of(read_config(Path("config/mllm-ic.yaml")), Path("nowhere"))
    assert {stage.name: len(stage.outputs) for stage in plan.stages} == {"predictions": 40, "answers": 40}
    # 4,270,400 under corruptions, and the clean ones.
    assert {stage.predictions.value for stage in plan.stages} == {4_270_400 + 21_352}


def test_files_of_the_whole_pool_are_refused_and_those_of_a_part_are_not(monkeypatch):
    monkeypatch.chdir(ROOT)
    raw = yaml.safe_load(Path("config/mllm-ic.yaml").read_text())
    raw["corruptions"]["corrupted"] = "files"
    with pytest.raises(InputError, match=r"at least 31 GB would .* of 40 corruptions.*; give on_the_fly"):
        Workflow(load(raw, ROOT))
    Workflow(load(raw | {"sources": ["mmbench-dev-en"]}, ROOT))
    Workflow(load(raw | {"pool": {"per_task": 20, "total": None}}, ROOT))


def test_a_group_of_ones_own_has_no_column_of_a_capability(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    raw = yaml.safe_load(Path("config/demo-mllm-ic.yaml").read_text())
    raw["corruptions"]["types"] += ["darken"]
    for group in ("spatial_perception", "light"):
        code = DARKEN.replace("0.5]}", f'0.5]}}, group="{group}"')
        raw["corruptions"]["own_files"] = [written(tmp_path, code, f"{group}.py")]
        config = load(raw, ROOT)
        if group == "light":
            Workflow(config)
        else:
            with pytest.raises(InputError, match=r"group spatial_perception is also a mid-level capability"):
                Workflow(config)


def plan(config: Config, items: int) -> dict[str, tuple[tuple[str, ...], Amount]]:
    stages = plan_of(config, Path("nowhere"), RunSize(Amount(items, "estimate"))).stages
    return {stage.name: (stage.models, stage.items) for stage in stages}


def test_models_that_answer_in_words_are_planned_by_themselves(raw, root):
    found = plan(load(raw | {"models": ["large", "words"]}, root), 100)
    models = {name: own for name, (own, _) in found.items()}
    assert models == {"predictions": ("large",), "answers": ("words",)}
    assert {items for _, items in found.values()} == {Amount(100, "estimate")}


@pytest.mark.parametrize(
    ("circular", "items", "expected"),
    [
        ([], 100, Amount(100, "estimate")),
        ([], 34 * 5, Amount(34 * 5, "at most")),
        ([], 10_000, Amount(34 * 5, "at most")),
        (["drawn-text"], 10_000, Amount(34 * 5 * 4, "at most")),
    ],
)
def test_a_mini_bounds_what_is_asked(raw, root, circular, items, expected):
    config = load(raw | {"mini": 5, "capabilities": {"circular": circular}}, root)
    assert plan(config, items)["predictions"][1] == expected


def test_what_a_run_lacks_is_found_before_it_starts(raw, root):
    settings = {"sources": ["drawn-text", "drawn-charts"], "capabilities": {"categories": "map.csv"}}
    config = load(raw | settings | {"answers_from": {"other": OTHER}}, root)
    rows = [("drawn-text/1", "drawn-text", "x"), ("drawn-text/2", "drawn-text", "y")]
    texts = pl.DataFrame(rows, schema=["id", "source", "category"], orient="row")
    pool = PoolFound(texts, None, texts, 4)

    def found(config: Config = config) -> list[tuple[str, str, str]]:
        findings = check(config, pool, load=False, network=False)
        return [(each.level, each.subject, each.text) for each in findings]

    absent = "names other.csv, which does not exist; write it, or remove the entry"
    missing = "of a category that map.csv does not have; "
    assert found() == [
        ("ok", "drawn-text", "map.csv has 1 category of it, in 1 capability"),
        ("error", "drawn-charts", "map.csv has no category of it; add its categories, or name another file"),
        ("error", "y of drawn-text", f"1 item {missing}add it, with a capability or a reason"),
        ("error", "answers_from.other", absent),
    ]
    kept = load(raw | settings | {"capabilities": {"categories": "map.csv", "unmapped": "keep"}}, root)
    assert ("ok", "y of drawn-text", f"1 item {missing}in no mean of capabilities") in found(kept)
    (root / "map.csv").write_text("source,category,capability,reason\ndrawn-text,x,ocr\n")
    (root / "other.csv").write_text("id,corruption,severity,answer\ncircular/1,clean,0,A\n")
    assert found() == [
        ("error", "capabilities", "map.csv: row 2: has fewer cells than the header; complete it"),
        (
            "ok",
            "answers_from.other",
            "1 answer in other.csv; its job checks whether they are those that the run asks for",
        ),
    ]


@pytest.mark.parametrize("copies", [(), ("drawn-text",)])
def test_a_file_of_answers_has_those_of_all_questions_that_are_asked(raw, root, copies):
    capabilities = {"categories": "map.csv", "circular": [*copies], "unmapped": "keep"}
    settings = {"sources": ["drawn-text"], "capabilities": capabilities, "answers_from": {"other": OTHER}}
    config = load(raw | settings, root)
    (root / "map.csv").write_text(
        "source,category,capability,reason\ndrawn-text,x,ocr,\ndrawn-text,z,,no picture\n"
    )
    rows = [("1", "x"), ("2", "z"), ("1000001", "x")]
    texts = pl.DataFrame(
        [(f"drawn-text/{index}", index, "drawn-text", kind, ["1"]) for index, kind in rows],
        schema=["id", "index", "source", "category", "image_keys"],
        orient="row",
    )
    pool = PoolFound(texts, RunSize(Amount(3), {}, texts), texts, 4)
    chosen = config.settings.corruptions
    wanted = [("clean", 0), *((name, severity) for name in chosen.types for severity in chosen.severities)]

    def level(*indices: str) -> str:
        cells = [f"drawn-text/{index},{name},{severity},A" for index in indices for name, severity in wanted]
        (root / "other.csv").write_text("\n".join(["id,corruption,severity,answer", *cells]))
        return [*check(config, pool, load=False, network=False)][-1].level

    # The second question is left out.
    assert level("1", "1000001") == "ok"
    assert level("1") == level("1", "2", "1000001") == "error"
    (root / "map.csv").write_text(
        "source,category,capability,reason\ndrawn-text,x,,two pictures\ndrawn-text,z,,no picture\n"
    )
    count, left_out, _ = check(config, pool, load=False, network=False)
    assert count.text == "map.csv has 2 categories of it, in 0 capabilities"
    text = "all categories in map.csv are left out, so there is no question to ask; keep one"
    assert left_out == Finding("pool", "error", "capabilities", text)


def test_questions_are_counted_once_they_are_chosen(raw, root):
    options = {f"s/{number}": 4 for number in range(6)}
    images = [(id_, id_, 100) for id_ in options]
    frame = pl.DataFrame(images, schema=["id", "image_key", "pixels"], orient="row")
    size = RunSize(Amount(6), options, frame)
    config = load(raw | {"mini": 5}, root)
    chosen = config.settings.corruptions
    variants = 1 + len(chosen.types) * len(chosen.severities)
    # All items of the pool are asked at most, before which ones is known.
    whole = plan_of(load(raw, root), root, size)
    assert whole.stages[0].items == Amount(6, "at most")
    assert whole.stages[0].predictions == Amount(6 * variants, "at most")
    write_table(pl.DataFrame({"id": ["s/1", "s/4", "old/9"]}), root / "subsets/questions.parquet", SUBSET)
    found = plan_of(config, root, size)
    assert (found.stages[0].items, found.images) == (Amount(2), ImageCounts(Amount(0), Amount(0)))
    jobs = len(found.stages[0].outputs)
    assert found.notes == [
        f"predictions of a question: 1 clean + {len(chosen.types)} corruptions × {len(chosen.severities)} "
        f"severities; {jobs} jobs a model."
    ]
    # Before the pool is built, the subset is of another one.
    before = plan_of(config, root, RunSize(Amount(6, "at most")))
    assert before.stages[0].items == Amount(6, "at most")
    files = load(raw | {"corruptions": {"suite": "mllm-ic", "corrupted": "files"}}, root)
    assert plan_of(files, root, size).images.written == Amount(6 * variants)
