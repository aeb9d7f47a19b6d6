"""Checkpoints that are damaged, of another family, or with code of their own are refused in one line."""

import builtins
import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from benchc.corruptions.recipe import clean_recipe
from benchc.hugging_face import transformers
from benchc.models import checkpoint, checkpoint_files, quantised
from benchc.models.asking import AskedModel, Job, ShownImages
from benchc.models.auto_class import auto_class
from benchc.models.auto_class_names import AUTO_CLASSES
from benchc.models.load import load_scorer
from benchc.models.loading_report import COMPUTED, require_floats, require_weights
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.quantised import check_head
from scripts.command import run
from tests.models.classes.builders import save
from tests.models.conftest import QUESTIONS
from tests.models.test_units import write_pool
from tests.stages import call_stage

CODE = """
import pathlib
pathlib.Path({marker!r}).touch()
from transformers import LlavaConfig
class OwnConfig(LlavaConfig):
    model_type = "own"
"""


def edit(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def load(folder: Path, **options: Any) -> Any:
    return load_scorer(None, "letter", CheckpointSource(str(folder), **options))


def message(folder: Path, **options: Any) -> str:
    """Return the line with which a script that loads the model ends."""
    with pytest.raises(SystemExit) as caught:
        run(lambda: load(folder, **options))
    text = str(caught.value)
    assert text.startswith(f"error: {folder}: ") and "\n" not in text
    return text.removeprefix(f"error: {folder}: ")


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


@pytest.mark.parametrize(
    ("auto_map", "auto_class"), [((), None), (AUTO_CLASSES, None), (AUTO_CLASSES, "AutoModelForCausalLM")]
)
def test_a_checkpoints_own_code_is_run_only_if_it_is_trusted(folder, marker, auto_map, auto_class):
    edit(folder / "config.json", auto_map=dict.fromkeys(("AutoConfig", *auto_map), "own.OwnConfig"))
    assert "Python code" in (text := message(folder, auto_class=auto_class))
    assert "set `trust_remote_code: true` in the model catalogue" in text and not marker.exists()
    # The code is of a configuration alone, so that no model class fits it.
    message(folder, auto_class=auto_class, trust_remote_code=True)
    assert marker.exists()


def test_a_model_that_does_not_generate_token_by_token_is_refused(folder, monkeypatch):
    # As DiffusionGemma, whose forward pass draws random numbers.
    monkeypatch.setattr(transformers, "GenerationMixin", type("Other", (), {}))
    assert "LlavaForConditionalGeneration writes no token after another" in message(folder)


def test_code_of_another_repository_is_refused_even_if_trusted(folder: Path, marker: Path) -> None:
    own = "other/repo--own.Own"
    edit(folder / "config.json", auto_map={"AutoConfig": own})
    assert f"runs code of another repository ({own})" in message(folder, trust_remote_code=True)
    edit(folder / "config.json", auto_map={})
    edit(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": [None, own]})
    assert "tokenizer_config.json runs code of another" in message(folder, trust_remote_code=True)
    assert not marker.exists()


@pytest.mark.parametrize(("repository", "refused"), [("a/b", True), ("owner/name", False), ("z/b", True)])
def test_code_of_the_repository_itself_is_no_other(repository, refused):
    names = {"AutoConfig": f"{repository}--own.Own"}
    with pytest.raises(ModelError, match=rf"code of another .* \({repository}") if refused else nullcontext():
        checkpoint_files._refuse_upstream_code("owner/name", "config.json", names)


def test_another_family_or_auto_class_is_refused(folder):
    load(folder, family="llava")
    for family in ("gemma3", "qwen2_5_vl"):
        text = message(folder, family=family)
        assert f"a model of the family 'llava' (model_type in config.json), not {family!r}" in text
    # No model type of transformers: a family with a file of its own.
    load(folder, family="own_family")
    load(folder, auto_class="AutoModelForMultimodalLM")
    text = message(folder, auto_class="AutoModelForCausalLM")
    assert "AutoModelForCausalLM does not load the model type 'llava' (config.json); set `auto_class" in text
    assert "set `auto_class: AutoModelForImageTextToText` in" in text


@pytest.mark.parametrize(
    ("trusted", "expected"), [(True, "AutoModelForCausalLM"), (False, "AutoModelForImageTextToText")]
)
def test_trusted_code_comes_before_the_class_of_transformers(trusted: bool, expected: str) -> None:
    config = {"model_type": "llava", "auto_map": {"AutoModelForCausalLM": "own.OwnModel"}}
    found = auto_class(CheckpointSource("m", trust_remote_code=trusted), config)
    assert found is getattr(transformers, expected)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        # transformers would make a part of its own sizes, of 7 billion parameters.
        ({"text_config": None}, "text_config in config.json is null, for which transformers makes a model"),
        (dict.fromkeys(("vision_config", "text_config")), "text_config in config.json is null, for which"),
        ({"vision_config": None}, "vision_config in config.json is null, for which transformers makes a mod"),
        *(({"model_type": name}, "which is no name; download the checkpoint") for name in (["a"], 7, {})),
        ({"is_encoder_decoder": True}, "reads the prompt with an encoder, but scoring needs a decoder"),
        ({"model_type": "phi4mm"}, "the model type 'phi4mm' (config.json) is unknown to transformers"),
        ({"model_type": "vit"}, "its model type is 'vit' (config.json); choose another model, or add"),
        ({"model_type": "llama"}, "set `auto_class: AutoModelForCausalLM` in the model catalogue if it re"),
    ],
)
def test_settings_of_no_model_for_images_and_text_are_refused(folder, settings, sentence):
    edit(folder / "config.json", **settings)
    assert sentence in (text := message(folder))
    assert ("auto_class" in text) == (settings == {"model_type": "llama"})


def test_damaged_or_absent_settings_are_one_line(folder: Path) -> None:
    template = folder / "chat_template.jinja"
    template.rename(folder / "other")
    assert "has no chat template for images; give it one by `chat_template`" in message(folder)
    (folder / "other").rename(template)
    (folder / "preprocessor_config.json").write_text("[" * 100_000)
    assert "preprocessor_config.json is not a JSON object; download the checkpoint again" in message(folder)


def test_the_order_of_settings_is_no_part_of_the_identity(folder: Path) -> None:
    path, before = folder / "processor_config.json", load(folder).identity()
    backwards = json.loads(path.read_text(), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    path.write_text(json.dumps(backwards))
    assert load(folder).identity()["processor"] == before["processor"]


def test_a_model_may_have_ten_thousand_layers(folder: Path) -> None:
    edit(folder / "config.json", depths=[10_000])
    assert checkpoint_files.check_files(CheckpointSource(str(folder)), None)["depths"] == [10_000]


def test_a_package_that_a_class_needs_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*arguments: object, **options: object) -> None:
        raise ImportError("Package `num2words` is required.\nInstall it.")

    monkeypatch.setattr(transformers.AutoProcessor, "from_pretrained", load)
    assert "needs a package that is not installed (Package `num2words` is required. Inst" in message(folder)


def test_a_checkpoint_whose_class_is_not_enough_names_its_family(tmp_path: Path) -> None:
    save("paligemma", tmp_path / "paligemma")
    assert "is a paligemma, which needs more" in (text := message(tmp_path / "paligemma"))
    assert "set `family: paligemma`" in text


def test_any_damaged_file_is_one_line(folder: Path) -> None:
    edit(folder / "config.json", vision_config=[3])
    assert re.search(r"cannot be loaded \(.*vision_config.*\); check the folder", message(folder))
    with pytest.raises(ModelError):
        load(folder)


def test_of_a_long_error_the_beginning_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As that of transformers which lists all model types.
    monkeypatch.setattr(
        transformers.AutoProcessor, "from_pretrained", Mock(side_effect=ValueError("x" * 999))
    )
    assert f"cannot be loaded ({'x' * 400}); check the folder" in message(folder)


HUB = ("config.json", "vocab.txt", "processor_config.json")


@pytest.mark.parametrize(
    ("repo", "files", "lacks"),
    [
        ("o/m", HUB, None),
        ("o/m", (), None),
        (
            "o/m",
            HUB[:1],
            "the files of its tokenizer are missing (tokenizer.json, tokenizer.model, …); downl",
        ),
        ("o/m", HUB[:2], "has no settings of an image processor (preprocessor_config.json or processor_co"),
        ("o/m-GGUF", (), "its weights are in the format GGUF alone"),
        ("o/m-GGUF", ("model.safetensors", *HUB), None),
    ],
)
def test_what_a_model_on_the_hub_lacks_is_said(repo, files, lacks, monkeypatch):
    here = lambda location, name, commit: Path(name) if name in files else None  # noqa: E731
    monkeypatch.setattr(checkpoint_files, "_path", here)
    found = checkpoint_files._missing(repo, "c1")
    assert found is None if lacks is None else str(found).startswith(lacks)
    # Where the Hub cannot be reached, nothing is known.
    monkeypatch.setattr(checkpoint_files, "_path", Mock(side_effect=OSError))
    assert checkpoint_files._missing(repo, "c1") is None


@pytest.mark.parametrize("time", [1, 2**32])
def test_files_that_change_during_loading_are_refused(folder: Path, monkeypatch, time: int) -> None:
    """The identity would be that of the new files, the predictions those of the old ones."""
    load = transformers.AutoImageProcessor.from_pretrained

    def replaced(*arguments: object, **options: object) -> object:
        os.utime(folder / "config.json", (time, time))
        return load(*arguments, **options)

    monkeypatch.setattr(transformers.AutoImageProcessor, "from_pretrained", replaced)
    with pytest.raises(ModelError, match="its files changed while it was loaded; run snakemake again"):
        checkpoint.load(CheckpointSource(str(folder)))


def test_what_a_checkpoint_lacks_or_has_too_much_is_said(folder, tmp_path):
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(folder)}))
    assert "has an adapter (adapter_config.json) beside a model, so it is not clear" in message(folder)
    (folder / "adapter_config.json").unlink()
    (folder / "processor_config.json").unlink()
    (folder / "other.gguf").touch()  # beside weights that are loaded, it is no fault
    assert "has no settings of an image processor (preprocessor_config.json or " in message(folder)
    (folder / "other.gguf").unlink()
    (folder / "model.safetensors").rename(folder / "model-q4.gguf")
    assert "its weights are in the format GGUF alone" in message(folder)
    (folder / "model-q4.gguf").unlink()
    (folder / "config.json").unlink()
    (folder / "adapter_config.json").write_text("{}")
    assert "is an adapter (adapter_config.json), not a model; in the model catalogue, set " in message(folder)


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


BLOCK = 16
HIGHEST = 448  # of float8 e4m3
FP8 = {
    "quant_method": "fp8",
    "weight_block_size": [BLOCK, BLOCK],
    "modules_to_not_convert": ["lm_head", "vision_tower", "multi_modal_projector"],
}


@pytest.mark.skipif(torch.cuda.is_available(), reason="on a GPU, transformers keeps the weights in 8 bits")
def test_a_checkpoint_that_needs_no_package_is_loaded_by_its_own_settings(folder, tmp_path, variants):
    plain = load(folder).score(QUESTIONS[0], variants).logits
    by_hand = shutil.copytree(folder, tmp_path / "by-hand")
    weights = load_file(folder / "model.safetensors")
    stored = dict(weights)
    for name, weight in weights.items():
        if name.startswith("language_model") and name.endswith("_proj.weight"):
            rows, columns = weight.shape
            blocks = weight.reshape(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK)
            scale = blocks.abs().amax((1, 3)) / HIGHEST
            eighth = (blocks / scale[:, None, :, None]).to(torch.float8_e4m3fn)
            stored[name] = eighth.reshape(rows, columns)
            stored[f"{name}_scale_inv"] = scale
            weights[name] = (eighth.float() * scale[:, None, :, None]).reshape(rows, columns)
    save_file(stored, folder / "model.safetensors", {"format": "pt"})
    save_file(weights, by_hand / "model.safetensors", {"format": "pt"})
    edit(folder / "config.json", quantization_config=FP8)
    scorer = load(folder)
    found = scorer.score(QUESTIONS[0], variants).logits
    np.testing.assert_array_equal(found, load(by_hand).score(QUESTIONS[0], variants).logits)
    assert np.abs(found - plain).max() > 0
    assert scorer.identity()["quantised"] == "fp8" and "quantised" not in load(by_hand).identity()


@pytest.mark.parametrize(
    ("quantisation", "method", "packages"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes", "bitsandbytes"),
        ({"load_in_8bit": True}, "bitsandbytes", "bitsandbytes"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "awq", "gptqmodel"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "gptq", "gptqmodel optimum"),
        ({"quant_method": "compressed-tensors", "config_groups": {}}, *["compressed-tensors"] * 2),
    ],
)
def test_what_a_method_needs_is_said(folder: Path, monkeypatch, quantisation, method, packages) -> None:
    here = {("accelerate",): {"accelerate": "1"}}
    monkeypatch.setattr(quantised, "package_versions", lambda names: here.get(names, {}))
    edit(folder / "config.json", quantization_config=quantisation)
    assert message(folder) == (
        f"is quantised ({method}), for which transformers needs the package "
        f"{packages.replace(' ', ' and ')}; run: pip install {packages}, or name an environment that has it "
        "(`env` in the model catalogue)"
    )


def test_a_method_is_part_of_the_identity_and_an_unknown_one_is_refused(folder, tmp_path):
    facts = quantised.quantisation_facts({"quantization_config": {"quant_method": "quanto"}})
    assert facts["quantised"] == "quanto" and facts.keys() <= {"quantised", "accelerate", "optimum-quanto"}
    assert "accelerate" in facts
    assert quantised.quantisation_facts({"quantization_config": {}}) == {}
    edit(folder / "config.json", quantization_config={"quant_method": "own"})
    assert message(folder).startswith("is quantised by 'own' (quantization_config in config.json), which is ")
    edit(folder / "config.json", quantization_config=FP8)
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    save_file({"a": torch.zeros(1)}, adapter / "adapter_model.safetensors")
    assert "is quantised (fp8), so that no adapter can be merged" in message(folder, adapter=str(adapter))


@pytest.mark.parametrize(
    ("head", "refused"),
    [
        (torch.nn.Linear(2, 2, dtype=torch.bfloat16), False),
        (None, False),
        (SimpleNamespace(weight=torch.zeros(2, dtype=torch.uint8)), True),
        (SimpleNamespace(weight=torch.zeros(2, dtype=torch.float8_e4m3fn)), True),
        (SimpleNamespace(qweight=torch.zeros(2)), True),
    ],
)
def test_a_quantised_head_is_refused(head: Any, refused: bool) -> None:
    model = SimpleNamespace(get_output_embeddings=lambda: head)
    with pytest.raises(ModelError, match="m: its language head is quan") if refused else nullcontext():
        check_head(model, CheckpointSource("m"))


Weights = dict[str, torch.Tensor]
Change = Callable[[Path], object]
LAST_NORM = "language_model.model.norm.weight"
CLASS = "vision_tower.embeddings.class_embedding"
PROJECTION = "multi_modal_projector.linear_1.weight"


def setting(value: object, *keys: str, name: str = "config.json") -> Change:
    """Return what sets a key of a JSON file of a checkpoint."""

    def change(model: Path) -> None:
        content = json.loads((model / name).read_text())
        place = content
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value
        (model / name).write_text(json.dumps(content))

    return change


def stored(edit: Callable[[Weights], Weights], name: str = "model.safetensors") -> Change:
    """Return what edits the weights of a checkpoint, and stores them in another file if a name says so."""

    def change(model: Path) -> None:
        weights = edit(load_file(model / "model.safetensors"))
        (model / "model.safetensors").unlink()
        if name.endswith(".bin"):
            torch.save(weights, model / name)
        else:
            save_file(weights, model / name, {"format": "pt"})

    return change


def in_eight_bits(weights: Weights) -> Weights:
    return {name: (value * 50).clamp(-127, 127).to(torch.int8) for name, value in weights.items()}


def stored_as(name: str, dtype: torch.dtype, called: str) -> tuple[Change, str]:
    change = stored(lambda weights: weights | {name: weights[name].to(dtype)})
    return change, f"{name} in model.safetensors is stored as {called}, and nothing"


def smaller_vocabulary(model: Path) -> None:
    def cut(weights: Weights) -> Weights:
        names = [name for name in weights if "embed_tokens" in name or "lm_head" in name]
        return weights | {name: weights[name][:100].clone() for name in names}

    setting(100, "text_config", "vocab_size")(model)
    stored(cut)(model)


def index(shard: str) -> Change:
    """Return what replaces the weights of a checkpoint by an index that names them in another place."""

    def change(model: Path) -> None:
        outside = model.parent / "outside.safetensors"
        (model / "model.safetensors").rename(outside)
        shards = dict.fromkeys(load_file(outside), shard.format(outside=outside))
        (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))

    return change


class Pickled:
    """Would touch a file where it is unpickled."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("code-has-run"),)


def with_code(model: Path) -> None:
    (model / "model.safetensors").unlink()
    torch.save({"weight": Pickled()}, model / "pytorch_model.bin")


REFUSED: dict[str, tuple[Change, str]] = {
    "fewer layers than the weights": (
        setting(1, "text_config", "num_hidden_layers"),
        r"9 of its weights have no place in the model, for example model\.language_model\.layers\.1\.input_"
        r".*; correct config.json \(such as num_hidden_layers\), download",
    ),
    "a number that no class has": (
        stored(lambda weights: weights | {"language_model.model.layers.0.self_attn.k_scale": torch.ones(1)}),
        r"1 of its weights have no place in the model, for example .*k_scale, and would be left out",
    ),
    "more layers than the weights": (
        setting(3, "text_config", "num_hidden_layers"),
        "9 of the model's weights are missing, for example model.language_model.layers.2.input_.*; downl",
    ),
    "layers without end": (
        setting(10**7, "text_config", "num_hidden_layers"),
        "config.json has num_hidden_layers 10,000,000, and a model has 10,000 at most; correct it",
    ),
    "a depth without end": (setting([2, 10_001], "vision_config", "depths"), "config.json has depths 10,001"),
    "weights in eight bits": (
        stored(in_eight_bits),
        "head.weight in model.safetensors is stored as I8, and nothing says .*`quantization_config`.*; do",
    ),
    "weights in eight bits of a float": stored_as(LAST_NORM, torch.float8_e4m3fn, "F8_E4M3"),
    "another parameter in eight bits": stored_as(CLASS, torch.uint8, "U8"),
    "weights of whole numbers": stored_as(LAST_NORM, torch.int64, "I64"),
    "pickled weights in eight bits": (
        stored(in_eight_bits, "pytorch_model.bin"),
        "weight in pytorch_model.bin is stored as int8, and nothing says",
    ),
    "a pickle with code": (with_code, "a damaged pickle, or one that would run code, which is not read"),
    "weights of another shape": (
        stored(lambda weights: weights | {PROJECTION: torch.zeros(40, 48)}),
        r"1 of its weights have another shape than config.json says, for example "
        r"model\.multi_modal_projector\.linear_1\.weight, 40 x 48 instead of 48 x 48; correct config.json",
    ),
    "tokens beyond the embedding": (
        smaller_vocabulary,
        r"its tokenizer has \d{3} tokens, but the model's embedding 100, so that .*; download",
    ),
    "an end beyond the embedding": (
        setting([2, 99_999], "eos_token_id", name="generation_config.json"),
        r"an answer ends with token 99,999 \(eos_token_id in generation_config.json\), but .*; correct it",
    ),
    "another token for images": (setting(0, "image_token_id"), r"fails on a prompt .*; remove .* download t"),
    "a layer that the tower lacks": (setting(99, "vision_feature_layer"), r"fails on a prompt .*IndexError"),
    "weights above the folder": (index("../outside.safetensors"), r"outside of it \(\.\./outside.*; copy th"),
    "weights elsewhere": (index("{outside}"), r"names weights outside of it \(/.*; copy"),
    "weights elsewhere by their name": (
        setting("a/../../outside.safetensors", "transformers_weights"),
        r"names weights outside of it \(a/\.\./\.\./outside.safetensors\); copy",
    ),
    "attention of a repository": (
        setting("someone/kernel", "_attn_implementation"),
        r"names code of another repository for the attention \(someone/kernel\), .*; name a folder with",
    ),
    "attention of a part": (
        setting({"text_config": "someone/kernel@main"}, "attn_implementation"),
        r"code of another repository for the attention \(someone/kernel@main\)",
    ),
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pool") / "pool.parquet"
    write_pool(path, ["a", "b"])
    return path


def infer(model: Path, pool: Path) -> None:
    clean = clean_recipe()
    call_stage(
        "infer",
        model=AskedModel(label=model.name, location=str(model)),
        scoring="letter",
        images=ShownImages(recipes={clean.name: clean}, seed=1),
        job=Job(cache=model.parent / "cache"),
        pool=pool,
        output=model.parent / "out.parquet",
    )


def changed(checkpoints: dict[str, Path], parent: Path, change: Change) -> Path:
    # Not ASCII, which no message and no library must mind.
    model = Path(shutil.copytree(checkpoints["llava"], parent / "Modèle 模型"))
    change(model)
    return model


@pytest.mark.parametrize("fault", REFUSED)
def test_files_that_do_not_fit_are_one_line(checkpoints, pool, tmp_path, fault):
    change, expected = REFUSED[fault]
    model = changed(checkpoints, tmp_path, change)
    with pytest.raises(SystemExit) as caught:
        run(lambda: infer(model, pool))
    text = str(caught.value)
    assert re.search(expected, text), text
    assert text.startswith("error: ") and model.name in text and "\n" not in text
    assert not (tmp_path / "out.parquet").exists() and not Path("code-has-run").exists()


def test_a_folder_whose_name_is_not_ascii_is_read(checkpoints, pool: Path, tmp_path: Path) -> None:
    model = changed(checkpoints, tmp_path, setting("sdpa", "_attn_implementation"))
    setting("owner/name", "_name_or_path")(model)  # no code
    infer(model, pool)
    assert (tmp_path / "out.parquet").exists()
    # Attention of a repository is refused even if the model is trusted.
    setting("someone/kernel", "_attn_implementation")(model)
    with pytest.raises(ModelError, match="names code of another repository for the attention"):
        load_scorer(None, "letter", CheckpointSource(str(model), trust_remote_code=True, attention="eager"))


@pytest.mark.parametrize(
    ("unused", "quantised", "refused"),
    [
        ("vision_tower.embeddings.position_ids", False, False),
        ("layers.0.self_attn.rotary_emb.inv_freq", False, False),
        ("position_ids.weight", False, True),
        ("layers.1.mlp.up_proj.weight", True, True),
        ("layers.0.self_attn.k_scale", True, False),
        ("layers.0.self_attn.k_scale", False, True),
    ],
)
def test_unused_weights_are_refused_but_for_what_is_computed(unused, quantised, refused):
    assert (COMPUTED.search(unused) is None) == (refused or quantised)
    report = {"missing_keys": [], "mismatched_keys": [], "unexpected_keys": [unused]}
    sentence = f"1 of its weights have no place in the model, for example {unused}"
    with pytest.raises(ModelError, match=sentence) if refused else nullcontext():
        require_weights("m", report, quantised=quantised)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_real_numbers_and_buffers_are_accepted(tmp_path: Path, name: str, dtype: torch.dtype) -> None:
    weights = {"a.weight": torch.ones(2, 2, dtype=dtype), "position_ids": torch.arange(3)}
    weights |= {"mask": torch.ones(2, dtype=torch.bool), "index": torch.arange(3, dtype=torch.int32)}
    if name.endswith(".bin"):
        torch.save(weights | {"more": "text"}, tmp_path / name)
    else:
        save_file(weights, tmp_path / name)
    require_floats("m", tmp_path)
