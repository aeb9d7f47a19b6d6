"""Checkpoints that are damaged, of another family, or with code of their own are refused in one line."""

import builtins
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchc.hugging_face import transformers
from benchc.models import checkpoint
from benchc.models.auto_class import auto_class
from benchc.models.auto_class_names import AUTO_CLASSES
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from scripts.command import run
from tests.models.classes.builders import save

CODE = """
import pathlib
pathlib.Path({marker!r}).touch()
from transformers import LlavaConfig
class OwnConfig(LlavaConfig):
    model_type = "own"
"""


@pytest.fixture
def folder(checkpoints: dict[str, Path], tmp_path: Path) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(checkpoints["llava"], copy)
    return copy


def edit(path: Path, **values: Any) -> None:
    """Set keys of a JSON object."""
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def load(folder: Path, **options: Any) -> None:
    load_scorer(None, "letter", CheckpointSource(str(folder), **options))


def message(folder: Path, **options: Any) -> str:
    """Return the line with which a script that loads the model ends."""
    with pytest.raises(SystemExit) as caught:
        run(lambda: load(folder, **options))
    text = str(caught.value)
    assert text.startswith(f"error: {folder}: ")
    assert "\n" not in text
    return text


@pytest.fixture
def marker(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the checkpoint code that writes a file, and say yes to every question."""
    marker = tmp_path / "code-has-run"
    (folder / "own.py").write_text(CODE.format(marker=str(marker)))
    edit(folder / "config.json", model_type="own", auto_map={"AutoConfig": "own.OwnConfig"})
    monkeypatch.setattr(builtins, "input", lambda prompt: "y")
    # Set for classes of code that was run, and then for all later checkpoints that are saved.
    for config in (transformers.PreTrainedConfig, transformers.LlavaConfig):
        monkeypatch.setattr(config, "_auto_class", None)
    return marker


def test_a_checkpoints_own_code_is_not_run(folder: Path, marker: Path) -> None:
    assert "Python code" in (text := message(folder))
    assert "set `trust_remote_code: true` in the model catalogue" in text
    assert not marker.exists()


def test_a_model_that_does_not_generate_token_by_token_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As DiffusionGemma, whose forward pass draws random numbers.
    monkeypatch.setattr(transformers, "GenerationMixin", type("Other", (), {}))
    assert "LlavaForConditionalGeneration writes no token after another" in message(folder)


def test_trusted_code_is_run(folder: Path, marker: Path) -> None:
    # The code is of a configuration alone, so that no model class fits it.
    message(folder, trust_remote_code=True)
    assert marker.exists()


def test_code_of_another_repository_is_refused_even_if_trusted(folder: Path, marker: Path) -> None:
    edit(folder / "config.json", auto_map={"AutoConfig": "other/repo--own.OwnConfig"})
    assert "runs code of another repository (other/repo--own.OwnConfig)" in message(
        folder, trust_remote_code=True
    )
    edit(folder / "config.json", auto_map={})
    edit(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": [None, "other/repo--own.OwnTokenizer"]})
    assert "tokenizer_config.json runs code of another" in message(folder, trust_remote_code=True)
    assert not marker.exists()


def test_a_checkpoint_of_another_family_is_refused(folder: Path) -> None:
    load(folder, family="llava")
    text = message(folder, family="qwen2_5_vl")
    assert "a model of the family 'llava' (model_type in config.json), not 'qwen2_5_vl'" in text
    # No model type of transformers: a family with a file of its own.
    load(folder, family="own_family")


def test_a_model_type_without_a_class_for_images_and_text_is_refused(folder: Path) -> None:
    edit(folder / "config.json", model_type="phi4mm")
    assert "the model type 'phi4mm' (config.json) is unknown to transformers" in message(folder)
    edit(folder / "config.json", model_type="vit")
    text = message(folder)
    assert "is no model for images and text: its model type is 'vit'" in text and "auto_class" not in text
    edit(folder / "config.json", model_type="llama")
    assert "set `auto_class: AutoModelForCausalLM` in the model catalogue" in message(folder)


def test_an_auto_class_that_does_not_load_the_model_is_refused(folder: Path) -> None:
    load(folder, auto_class="AutoModelForMultimodalLM")
    text = message(folder, auto_class="AutoModelForCausalLM")
    assert "AutoModelForCausalLM does not load the model type 'llava' (config.json); set `auto_c" in text


@pytest.mark.parametrize("auto_class", [None, "AutoModelForCausalLM"])
def test_a_models_own_code_is_not_run(folder: Path, marker: Path, auto_class: str | None) -> None:
    edit(folder / "config.json", auto_map=dict.fromkeys(("AutoConfig", *AUTO_CLASSES), "own.OwnConfig"))
    assert "Python code" in message(folder, auto_class=auto_class)
    assert not marker.exists()
    # The code is of a configuration alone, so that no model class fits it.
    message(folder, auto_class=auto_class, trust_remote_code=True)
    assert marker.exists()


@pytest.mark.parametrize(
    ("trusted", "expected"), [(True, "AutoModelForCausalLM"), (False, "AutoModelForImageTextToText")]
)
def test_trusted_code_comes_before_the_class_of_transformers(trusted: bool, expected: str) -> None:
    config = {"model_type": "llava", "auto_map": {"AutoModelForCausalLM": "own.OwnModel"}}
    found = auto_class(CheckpointSource("m", trust_remote_code=trusted), config)
    assert found is getattr(transformers, expected)


@pytest.mark.parametrize("model_type", [["llama"], 7, {}])
def test_a_model_type_that_is_no_name_is_refused(folder: Path, model_type: object) -> None:
    edit(folder / "config.json", model_type=model_type)
    assert "which is no name; download the checkpoint again" in message(folder)


def test_a_model_with_an_encoder_of_the_prompt_is_refused(folder: Path) -> None:
    edit(folder / "config.json", is_encoder_decoder=True)
    assert "reads the prompt with an encoder, but scoring needs a decoder" in message(folder)


def test_a_package_that_a_class_needs_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*arguments: object, **options: object) -> None:
        raise ImportError("Package `num2words` is required.\nInstall it.")

    monkeypatch.setattr(transformers.AutoProcessor, "from_pretrained", load)
    assert "needs a package that is not installed (Package `num2words` is required. Inst" in message(folder)


def test_a_checkpoint_without_a_chat_template_is_refused(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()
    assert "has no chat template for images; give it one by `chat_template`" in message(folder)


def test_a_checkpoint_whose_class_is_not_enough_names_its_family(tmp_path: Path) -> None:
    save("paligemma", tmp_path / "paligemma")
    assert "is a paligemma, which needs more" in (text := message(tmp_path / "paligemma"))
    assert "set `family: paligemma`" in text


def test_any_damaged_file_is_one_line(folder: Path) -> None:
    edit(folder / "config.json", vision_config=[3])
    assert re.search(r"cannot be loaded \(.*vision_config.*\); check the id", message(folder))
    with pytest.raises(ModelError):
        load(folder)


def test_files_that_change_during_loading_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The identity would be that of the new files, the predictions those of the old ones."""
    load = transformers.AutoImageProcessor.from_pretrained

    def replaced(*arguments: object, **options: object) -> object:
        os.utime(folder / "config.json", (1, 1))
        return load(*arguments, **options)

    monkeypatch.setattr(transformers.AutoImageProcessor, "from_pretrained", replaced)
    with pytest.raises(ModelError, match="its files changed while it was loaded; run snakemake again"):
        checkpoint.load(CheckpointSource(str(folder)))


def test_what_a_checkpoint_lacks_is_said(folder: Path, tmp_path: Path) -> None:
    (folder / "processor_config.json").unlink()
    assert "has no settings of an image processor (preprocessor_config.json or " in message(folder)
    (folder / "model.safetensors").rename(folder / "model-q4.gguf")
    assert "its weights are in the format GGUF alone" in message(folder)
    (folder / "model-q4.gguf").unlink()
    (folder / "config.json").unlink()
    (folder / "adapter_config.json").write_text("{}")
    assert "is an adapter (adapter_config.json), not a model; in the model catalogue, set " in message(folder)


def test_an_adapter_beside_a_model_is_refused(folder: Path) -> None:
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(folder)}))
    assert "has an adapter (adapter_config.json) beside a model, so it is not clear" in message(folder)


def test_the_thinker_of_an_omni_model_ends_its_answers(tmp_path: Path) -> None:
    folder = tmp_path / "omni"
    save("qwen3_omni_moe", folder)
    config = json.loads((folder / "config.json").read_text())
    config["thinker_config"]["text_config"]["eos_token_id"] = None
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").unlink()
    chat = checkpoint.load(CheckpointSource(str(folder)))
    assert type(chat.model).__name__ == "Qwen3OmniMoeThinkerForConditionalGeneration"
    assert chat.end_tokens == [chat.tokenizer.eos_token_id] != [None]
