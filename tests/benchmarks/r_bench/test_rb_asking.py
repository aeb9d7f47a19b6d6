from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from benchc.config.load import load, read_config
from benchc.corruptions.recipe import imported_recipe
from benchc.models.generation import Generation
from benchc.models.question import Question
from benchc.workflow.run import Run
from benchc.workflow.stage import setting_texts
from tests.config.trial import MODELS, errors, write_trial
from tests.shared_data import write_empty_sources

CONFIG = """
benchmark: r-bench
name: trial
catalogues: {sources: sources.yaml, models: models.yaml}
sources: [drawn-text, drawn-charts]
corruptions: {suite: r-bench, types: [white_noise, jpeg]}
pairs: generated
tasks: {drawn-charts: cap}
models: [small, head]
demo: {seed: 1, training_set: {items_per_category: 2}}
"""
HEAD = "head: {label: Head, scoring: classify, repo: owner/head, revision: '1'}"
# Of shared/reference/corruptions.md, 4.4: the prompts of the authors' notebook.
PROMPTS = {
    "mcq": "Which?\nA.red; B.blue\nAnswer with the option's letter from the given choices directly.",
    "vqa": "Which?. Please answer no more than 10 words",
    "cap": "Please describe this image in general. Directly provide the description, do not include prefix "
    "like 'This image depicts'",
}


@pytest.fixture
def raw() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(CONFIG)
    return content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_trial(tmp_path, MODELS + HEAD)


def asked(run: Run, model: str, subset: str) -> tuple[Any, Any]:
    """Return the template and the generation of a job."""
    assert run.models.question_template is not None
    wildcards = SimpleNamespace(model=model, subset=subset, part="all")
    return run.models.question_template.of(wildcards), run.models.generation.of(wildcards)


def test_tasks_have_the_prompts_and_limits_of_the_paper(raw, root):
    run = Run(load(raw, root))
    for (task, prompt), limit in zip(PROMPTS.items(), (10, 20, 80), strict=True):
        template, generation = asked(run, "small", task)
        assert generation.prompt(template.asked(Question("Which?", ("red", "blue")))) == prompt
        assert generation.max_new_tokens == limit
        # What a job is given anew if it changes.
        assert setting_texts("generation", generation) == {
            "generation.max_new_tokens": f"generation.max_new_tokens={limit}"
        }
    assert run.settings.asking_rule == "answer"
    # A prompt of one task is a setting of its jobs alone.
    before = run
    raw["answers"] = {"vqa": {"prompt": "{question} In one word.", "max_new_tokens": 3}}
    after = Run(load(raw, root))
    for task in ("mcq", "cap"):
        assert asked(after, "small", task) == asked(before, "small", task)
    template, generation = asked(after, "small", "vqa")
    assert template.text == "{question} In one word." and generation == Generation(3)

    # A closed list is asked the bare question.
    assert asked(before, "head", "mcq") == (None, None)
    # An unknown place in a prompt is named.
    raw["answers"] = {"mcq": {"prompt": "{question} {choices}", "max_new_tokens": 3}}
    (error,) = errors(raw, root)
    assert "has {choices}, but the places of a prompt are {question}, {options}, {option_lines}" in error


@pytest.mark.parametrize(
    ("pairs", "source", "options", "category", "task"),
    [
        ("generated", "drawn-charts", ["red", "blue"], "cap", "cap"),
        ("generated", "drawn-text", ["red", "blue"], "vqa", "mcq"),
        ("generated", "drawn-text", [], "mcq", "vqa"),
        ("released", "r-bench", [], "cap", "cap"),
        ("released", "r-bench", ["red", "blue"], "vqa", "vqa"),
        ("released", "drawn", ["red", "blue"], "colour", "mcq"),
    ],
)
def test_the_task_of_an_item(raw, root, pairs, source, options, category, task):
    raw |= {"pairs": pairs} | ({"released": "pairs.parquet"} if pairs == "released" else {})
    item = {"source": source, "options": options, "category": category}
    assert load(raw, root).settings.subset_of(item) == task


def test_photographed_dimensions_are_refused_where_images_are_generated(raw, root):
    raw["corruptions"]["types"] = ["jpeg", "lens_shaking"]
    assert errors(raw, root) == (
        'config.yaml: corruptions.types[1] is "lens_shaking", but lens_shaking of r-bench was photographed, '
        "so that no image can be generated; import its images, or take lens_shaking_stand_in.",
    )
    raw |= {"pairs": "released", "released": "pairs.parquet"}
    run = Run(load(raw, root))
    assert run.images.imported == ["jpeg", "lens_shaking"]
    assert run.images.photographed.values == {"jpeg": False, "lens_shaking": True}
    # All images but clean ones are imported.
    raw = yaml.safe_load(CONFIG)
    made = Run(load(raw, root)).images
    assert made.imported == [] and made.files("mcq", ["jpeg"]) == []
    assert made.recipes["jpeg"].kernel is not None and made.sheets
    raw |= {"pairs": "released", "released": "pairs.parquet"}
    images = Run(load(raw, root)).images
    assert images.recipes["clean"] == made.recipes["clean"]
    assert images.recipes["jpeg"] == imported_recipe("jpeg", [1, 2, 3]) and images.kernel_code["jpeg"] == []
    assert images.files("mcq", ["jpeg"]) == ["<results>/corrupted/jpeg.parquet"]
    # A sheet shows what the run generates.
    assert images.sheets == {}


ROOT = Path(__file__).resolve().parents[3]
JUDGED = {"x": {"label": "X", "dis": "a.csv", "ref": "b.csv", "com": "a.csv"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"pairs": "released"},
            "released is missing, but pairs is released; name the distorted images that `benchc "
            "r-bench-pairs` wrote, or choose generated.",
        ),
        (
            {"pairs": "released", "released": "r.parquet", "assignment": {"per_task": 3}},
            "has assignment, but released pairs have their dimensions and strengths; remove it, or choose "
            "generated.",
        ),
        ({"released": "r.parquet"}, "has released, but pairs is generated; remove it, or choose released."),
        (
            {"tasks": {"drawn-texts": "vqa"}},
            'tasks is "drawn-texts", but there is no such id in sources (did you mean drawn-text?).',
        ),
        (
            {"people": ["a.csv", "b.csv"]},
            "people has 2 files, but the best and the worst are left out; give at least 3, or none.",
        ),
        ({"people": [*"aba"]}, "people has a twice; give each person's answers once."),
        (
            {"judgements_from": JUDGED},
            "judgements_from.x has one file twice; give each of dis, ref and com its own.",
        ),
        (
            {"judge": {"url": "https://me:pass@host/v1"}},
            "judge has a url with more than host, port and path; give a key by `api_key_env`, and nothing "
            "else.",
        ),
        (
            {"judge": {"api_key_env": "sk-1234567890"}},
            "judge has an api_key_env that is not the name of an environment variable (capitals, digits "
            "and _); set one to the key, and give its name.",
        ),
        (
            {"judge": {"repeats": 10**12}},
            "judge.repeats is 1000000000000, but should be less than or equal to 1000.",
        ),
    ],
)
def test_a_mistake_is_one_sentence(raw, root, changes, message):
    load(raw, root)
    assert errors(raw | changes, root) == (f"config.yaml: {message}",)


def test_released_pairs_need_no_assignment(raw, root):
    settings = load(raw | {"pairs": "released", "released": "r.parquet"}, root).settings
    assert settings.imported_images == "r.parquet"


@pytest.mark.parametrize("name", ["r-bench", "demo-r-bench", "real-pairs"])
def test_shipped_runs_have_all_dimensions_that_their_pairs_have(name, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("BENCHC_SHARED", write_empty_sources(tmp_path))
    settings = read_config(Path(f"config/{name}.yaml")).settings
    kinds = ("bright_illumination", "dark_illumination", "blocking_obstacle", "lens_obstacle", "lens_shaking")
    captured = {*kinds}
    assert len(settings.corruptions.types) == (33 if name == "r-bench" else 28)
    assert captured.issubset(settings.corruptions.types) == (name == "r-bench")
    assert settings.judge.kind == ("llm" if name == "r-bench" else "rule")
