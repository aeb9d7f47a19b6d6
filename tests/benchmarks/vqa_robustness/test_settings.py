from pathlib import Path
from typing import Any

import pytest
import yaml

from benchc.config.load import load, read_config
from benchc.models.generation import Generation
from benchc.models.question import Question
from tests.config.trial import errors, write_trial

ROOT = Path(__file__).resolve().parents[3]
CONFIG = """
benchmark: vqa-robustness
name: trial
catalogues: {sources: sources.yaml, models: models.yaml}
sources: [drawn-text]
corruptions:
  suite: vqa-robustness
  types: [snow, grayscale, shot_noise]
models: [small, large]
demo: {seed: 1, training_set: {items_per_category: 2}}
"""


@pytest.fixture
def raw() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(CONFIG)
    return content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_trial(tmp_path)


def test_vre_is_of_the_default_set_of_the_suite_unless_it_is_named(raw, root):
    settings = load(raw, root).settings
    assert (settings.measured, settings.asking_rule) == (["snow", "shot_noise"], "answer")
    instruction = "Answer the question using a single word or phrase."
    asked = settings.open_answers
    assert (asked.max_new_tokens, asked.instruction) == (10, instruction)
    raw["vre"] = {"corruptions": ["shot_noise", "grayscale"]}
    # In the order of the types.
    assert load(raw, root).settings.measured == ["grayscale", "shot_noise"]


def test_a_corruption_of_the_users_own_is_measured(raw, root):
    (root / "mine.py").write_text(
        "from benchc.corruptions.own import corruption\n\n\n"
        '@corruption(parameters={"strength": [1, 2, 3, 4, 5]})\n'
        "def darker(image, *, strength):\n    return image // (1 + strength)\n"
    )
    raw["corruptions"] |= {"types": ["snow", "darker"], "own_files": ["mine.py"]}
    assert load(raw, root).settings.measured == ["snow", "darker"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"corruptions": {"severities": [1, 3, 5]}},
            "corruptions has the severities [1, 3, 5], but VRE needs [1, 2, 3, 4, 5].",
        ),
        ({"vre": {"weights": [0, 0, 0, 0, 0]}}, "vre has weights with the sum 0; raise one of them."),
        ({"vre": {"weights": [1, 1, 1, 1]}}, "vre.weights"),
        ({"vre": {"weights": [1, 1, 1, 1, -1]}}, "vre.weights[4]"),
        (
            {"vre": {"corruptions": ["fog"]}},
            'vre.corruptions[0] is "fog", but there is no such corruption in corruptions.types; there are',
        ),
        (
            {"answers_from": {"small": {"label": "Mine", "file": "answers.csv"}}},
            'answers_from has "small", which is also one of models; give it another id.',
        ),
        ({"answers_from": {"vle": {"label": "VLE"}}}, "answers_from.vle.file is missing"),
        (
            {"corruptions": {"types": ["grayscale", "inverse"]}},
            "corruptions.types has none of the default set of vqa-robustness",
        ),
        ({"vre": {"scale_of": ""}}, 'vre.scale_of is ""'),
        ({"vre": {"scale_of": "{a}.csv"}}, 'vre.scale_of is "{a}.csv"'),
        ({"grade": "strict"}, 'grade is "strict"'),
        ({"answers": {"max_new_tokens": 0}}, "answers.max_new_tokens is 0"),
    ],
)
def test_a_mistake_is_one_sentence(raw, root, changes, sentence):
    whole = {**changes, "corruptions": raw["corruptions"] | changes.get("corruptions", {})}
    (found,) = errors(raw | whole, root)
    assert found.startswith(f"config.yaml: {sentence}")


def test_the_shipped_run_asks_llava_as_the_authors_code_does() -> None:
    config = read_config(ROOT / "config/vqa-robustness.yaml")
    assert config.settings.open_answers is not None
    generation = Generation(**config.settings.open_answers.generation())
    # ishmamt/VQA-Visual-Robustness-Benchmark at 1c1d3b9, models/llava.py; it crops, since it gives
    # process_images a dict.
    expected = "Answer the given question in a single word using the image as context: Is it red?"
    assert generation.prompt(Question("Is it red?", ())) == expected
    llava = [model for model in config.models.values() if model.label.startswith("LLaVA")]
    assert len(llava) == 2 and not any(model.processor for model in llava)
    # models/blip.py.
    assert config.models["blip-vqa"].processor == {"size": 480}
    # Where its authors pad, it is padded.
    models = read_config(ROOT / "config/naturalbench.yaml").models
    padded = {"image_processor_type": "LlavaImageProcessor", "do_pad": True}
    assert [models[f"llava-1.5-{size}"].processor for size in ("7b", "13b")] == [padded, padded]


def test_each_model_has_answers_of_its_own(raw, root) -> None:
    raw["answers_from"] = {id_: {"label": id_, "file": f"{id_}.csv"} for id_ in ("x", "y")}
    load(raw, root)
    raw["answers_from"]["y"]["file"] = "./x.csv"
    assert errors(raw, root) == (
        'config.yaml: answers_from.y.file is "./x.csv", which is also a file of x; give each model its own.',
    )
