"""A model with an adapter against weights that were merged by hand; what does not fit is refused."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from benchc.checking.locate import LocalModel, locate
from benchc.checking.model_facts import loaded_by, whereabouts
from benchc.config.catalogue import Model
from benchc.errors import InputError
from benchc.hugging_face import transformers
from benchc.models import adapter, checkpoint
from benchc.models.adapter_files import adapter_files, only_an_adapter
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.tuning.lora import peft
from tests.models.conftest import FAMILIES, QUESTIONS

# Of the language model and of the vision encoder, so that a wrong place is noticed.
TARGETS = ("q_proj", "down_proj", "fc1")
R, ALPHA = 4, 8
LORA = {"peft_type": "LORA", "base_model_name_or_path": "owner/base", "r": R, "lora_alpha": ALPHA}
LORA |= {"target_modules": [*TARGETS]}
PREFIX = "base_model.model."
Save = Callable[..., Path]


def base_model(folder: Path, **options: Any) -> Any:
    return transformers.AutoModelForImageTextToText.from_pretrained(folder, **options)


def matrices(model: Any, seed: int = 1) -> dict[str, dict[str, np.ndarray]]:
    """Return matrices A and B of each target by its name, of small powers of two, so that B A is exact."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return (rng.integers(-8, 9, shape) / 64).astype(np.float32)

    return {
        name: {"A": drawn(R, module.in_features), "B": drawn(module.out_features, R)}
        for name, module in model.named_modules()
        if name.rpartition(".")[2] in TARGETS
    }


def write_adapter(folder: Path, pairs: dict[str, dict[str, np.ndarray]], **config: Any) -> Path:
    """Write an adapter as peft does, without it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps({**LORA, **config}))
    weights = {
        f"{PREFIX}{name}.lora_{half}.weight": pair[half] for name, pair in pairs.items() for half in "AB"
    }
    save_file(weights, folder / "adapter_model.safetensors")
    return folder


def write_merged(base: Path, folder: Path, pairs: dict[str, dict[str, np.ndarray]], scale: float) -> Path:
    shutil.copytree(base, folder)
    model = base_model(base)
    weights = model.state_dict()
    for name, pair in pairs.items():
        old = weights[f"{name}.weight"].numpy()
        weights[f"{name}.weight"].copy_(torch.from_numpy(old + np.float32(scale) * (pair["B"] @ pair["A"])))
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def base(checkpoints: dict[str, Path]) -> Path:
    return checkpoints["llava"]


@pytest.fixture
def lora(base: Path, tmp_path: Path) -> Save:
    def save(name: str = "lora", **config: Any) -> Path:
        return write_adapter(tmp_path / name, matrices(base_model(base)), **config)

    return save


def loaded(folder: Path, adapter: Path | str | None = None, dtype: str = "float32", **options: Any) -> Any:
    options["adapter"] = None if adapter is None else str(adapter)
    return load_scorer(None, "letter", CheckpointSource(str(folder), dtype=dtype, **options))


def logits(scorer: Any, variants: Any) -> np.ndarray:
    return scorer.score(QUESTIONS[1], variants).logits


def same_weights(one: Any, other: Any) -> bool:
    first, second = (scorer.chat.model.state_dict() for scorer in (one, other))
    return first.keys() == second.keys() and all(torch.equal(own, second[key]) for key, own in first.items())


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_are_those_of_weights_merged_by_hand(checkpoints, family, tmp_path, variants) -> None:
    plain = checkpoints[family]
    pairs = matrices(base_model(plain))
    # In both parts of the model.
    assert len({"vision" in name for name in pairs}) == 2
    adapter = write_adapter(tmp_path / "lora", pairs)
    by_hand = logits(loaded(write_merged(plain, tmp_path / "merged", pairs, ALPHA / R)), variants)
    found = logits(loaded(plain, adapter), variants)
    np.testing.assert_array_equal(found, by_hand)
    assert np.abs(found - logits(loaded(plain), variants)).max() > 0.1


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_weights_are_merged_in_float32_and_then_cast(base, lora, tmp_path, variants, dtype) -> None:
    pairs = matrices(base_model(base))
    by_hand = loaded(write_merged(base, tmp_path / "merged", pairs, ALPHA / R), dtype=dtype)
    found = loaded(base, lora(), dtype=dtype)
    assert same_weights(found, by_hand)
    # Also what the class keeps in float32, such as the frequencies of positions.
    buffers = [dict(scorer.chat.model.named_buffers()) for scorer in (found, by_hand)]
    assert all(torch.equal(buffers[0][key], value) for key, value in buffers[1].items())
    assert {value.dtype for value in buffers[0].values()} >= {torch.float32}
    np.testing.assert_array_equal(logits(found, variants), logits(by_hand, variants))
    # Cast first, the weights would be others.
    name, pair = next(iter(pairs.items()))
    cast = getattr(torch, dtype)
    first = base_model(base, dtype=cast).state_dict()[f"{name}.weight"]
    change = torch.from_numpy(pair["B"] @ pair["A"] * ALPHA / R)
    assert not torch.equal((first + change).to(cast), found.chat.model.state_dict()[f"{name}.weight"])


@pytest.mark.parametrize(
    ("config", "scale"),
    [
        ({"use_rslora": True}, ALPHA / R**0.5),
        ({"init_lora_weights": True}, ALPHA / R),
        ({"lora_alpha": 16}, 16 / R),
        ({"r": 8, "rank_pattern": dict.fromkeys(TARGETS, R)}, ALPHA / R),
        ({"lora_alpha": 1, "alpha_pattern": dict.fromkeys(TARGETS, 32)}, 32 / R),
    ],
)
def test_the_scale_is_that_of_the_adapters_settings(base, lora, tmp_path, config, scale) -> None:
    by_hand = write_merged(base, tmp_path / "merged", matrices(base_model(base)), scale)
    assert same_weights(loaded(base, lora(**config)), loaded(by_hand))


@pytest.mark.parametrize(
    "config",
    [
        peft.LoraConfig(target_modules=[*TARGETS], use_dora=True, init_lora_weights=False),
        peft.LoraConfig(target_modules=["q_proj"], modules_to_save=["lm_head"], init_lora_weights=False),
        peft.LoraConfig(target_modules=["embed_tokens", "q_proj"], init_lora_weights=False),
        peft.LoHaConfig(target_modules=[*TARGETS], init_weights=False),
        peft.LoKrConfig(target_modules=[*TARGETS], init_weights=False),
        peft.IA3Config(target_modules=[*TARGETS], feedforward_modules=["down_proj"], init_ia3_weights=False),
    ],
    ids=["dora", "a saved module", "an embedding", "loha", "lokr", "ia3"],
)
def test_other_adapters_compute_what_peft_computes_unmerged(base, tmp_path, variants, config) -> None:
    plain, scorer = loaded(base), loaded(base)
    torch.manual_seed(3)
    scorer.chat.model = model = peft.get_peft_model(scorer.chat.model, config)
    with torch.no_grad():
        for name, each in model.named_parameters():
            if "modules_to_save" in name:
                each.mul_(-1)
    model.save_pretrained(tmp_path / "adapter")
    scorer = type(scorer)(scorer.chat)  # whose head is that of the adapter
    expected, found = logits(scorer, variants), logits(loaded(base, tmp_path / "adapter"), variants)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert np.abs(found - logits(plain, variants)).max() > 0.01


def test_the_identity_has_the_content_of_the_adapter(base, lora, tmp_path) -> None:
    def identity(**options: Any) -> dict[str, str]:
        return dict(checkpoint.load(CheckpointSource(str(base), **options)).identity)

    plain = identity()
    # Of a model without an adapter, it is what it was.
    assert not {"adapter", "adapter_revision", "peft", "quantised"} & plain.keys()
    folder = lora()
    first = identity(adapter=str(folder))
    assert first.keys() - plain.keys() == {"adapter", "adapter_revision", "peft"}
    assert first["adapter"] == "lora" and {key: first[key] for key in plain} == plain
    os.utime(folder / "adapter_config.json", (1, 1))
    (folder / "README.md").write_text("not read")
    assert identity(adapter=str(folder)) == first
    # Another path of the same folder.
    assert identity(adapter=f"{tmp_path}/../{tmp_path.name}/lora") == first
    weights = load_file(folder / "adapter_model.safetensors")
    next(iter(weights.values()))[0, 0] += 1
    save_file(weights, folder / "adapter_model.safetensors")
    second = identity(adapter=str(folder))
    (folder / "adapter_config.json").write_text(json.dumps({**LORA, "lora_alpha": 4}))
    third = identity(adapter=str(folder))
    assert len({each["adapter_revision"] for each in (first, second, third)}) == 3


def test_an_adapter_that_changes_during_loading_is_refused(base, lora, monkeypatch) -> None:
    folder, load = lora(), transformers.AutoImageProcessor.from_pretrained

    def replaced(*arguments: object, **options: object) -> object:
        os.utime(folder / "adapter_model.safetensors", (1, 1))
        return load(*arguments, **options)

    monkeypatch.setattr(transformers.AutoImageProcessor, "from_pretrained", replaced)
    with pytest.raises(ModelError, match="its files changed while it was loaded"):
        loaded(base, folder)


def test_a_folder_with_both_is_what_the_entry_says(base, lora, tmp_path) -> None:
    both, other = tmp_path / "both", lora()
    shutil.copytree(base, both)
    # transformers would load the base that it names, and apply the adapter itself.
    write_adapter(both, matrices(base_model(base), seed=2), base_model_name_or_path=str(other))
    with pytest.raises(ModelError, match=f"set `adapter: {both}` for the model with this adapter, or `adap"):
        loaded(both)
    assert same_weights(loaded(both, "none"), loaded(base))
    by_hand = write_merged(base, tmp_path / "merged", matrices(base_model(base), seed=2), ALPHA / R)
    assert same_weights(loaded(both, both), loaded(by_hand))
    assert same_weights(loaded(both, other), loaded(base, other))


def test_pickled_weights_run_no_code(base, lora, tmp_path) -> None:
    folder, marker = lora(), tmp_path / "code-has-run"
    file = folder / "adapter_model.safetensors"
    weights = {key: torch.from_numpy(value) for key, value in load_file(file).items()}
    expected = loaded(base, folder)
    file.unlink()
    torch.save(weights, folder / "adapter_model.bin")
    assert same_weights(loaded(base, folder), expected)

    class Code:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (marker,)

    torch.save({**weights, "code": Code()}, folder / "adapter_model.bin")
    with pytest.raises(ModelError, match="lora: does not fit the model"):
        loaded(base, folder)
    assert not marker.exists()


def drop(weights: dict[str, np.ndarray]) -> None:
    del weights[next(name for name in weights if "q_proj.lora_B" in name)]


def other_place(weights: dict[str, np.ndarray]) -> None:
    name = f"{PREFIX}model.language_model.layers.9.self_attn.q_proj.lora_A.weight"
    weights[name] = np.zeros((R, 48), np.float32)


def other_shape(weights: dict[str, np.ndarray]) -> None:
    for name in weights:
        if "q_proj.lora_A" in name:
            weights[name] = np.zeros((R, 96), np.float32)


def not_finite(weights: dict[str, np.ndarray]) -> None:
    next(iter(weights.values()))[0, 0] = np.nan


ABSENT = "1 of its weights are missing or not finite"
MORE = {"target_modules": [*TARGETS, "v_proj"]}
MISFITS = {
    "its modules are absent": (
        {"target_modules": ["c_attn"]},
        None,
        r"does not fit the model, LlavaForConditionalGeneration \(Target modules",
    ),
    "weights without a place": ({}, other_place, "1 of its weights have no place in the model, LlavaForCond"),
    "a module without its weights": ({}, drop, ABSENT),
    # peft would leave the other modules at their initial value.
    "a module that the adapter names alone": (
        MORE,
        None,
        r"missing or not finite, for example .*layers\.0\.self_attn\.v_",
    ),
    "fewer modules than weights": (
        {"target_modules": ["q_proj"]},
        None,
        r"have no place in the model, .*, for example .*layers\.0\.",
    ),
    "a saved module without weights": ({"modules_to_save": ["lm_head"]}, None, "does not fit the model"),
    # Of a longer list, the first 300 characters.
    "other shapes": ({}, other_shape, r" \((?=.{300}\); name).*size mismatch for"),
    "weights that are no numbers": ({}, not_finite, ABSENT),
}


@pytest.mark.parametrize("name", MISFITS)
def test_an_adapter_of_another_base_is_refused(base, lora, name) -> None:
    config, change, expected = MISFITS[name]
    folder = lora(**config)
    if change is not None:
        weights = load_file(folder / "adapter_model.safetensors")
        change(weights)
        save_file(weights, folder / "adapter_model.safetensors")
    with pytest.raises(ModelError) as error:
        loaded(base, folder)
    text = str(error.value)
    assert text.startswith(f"{folder}: ") and re.search(expected, text) and "\n" not in text
    assert "name the base model that it was made for" in text


def test_an_adapter_of_tied_weights_is_refused(base, tmp_path) -> None:
    tied = tmp_path / "tied"
    shutil.copytree(base, tied)
    config = json.loads((tied / "config.json").read_text())
    config["tie_word_embeddings"] = config["text_config"]["tie_word_embeddings"] = True
    (tied / "config.json").write_text(json.dumps(config))
    weights = load_file(tied / "model.safetensors")
    del weights["language_model.lm_head.weight"]
    save_file(weights, tied / "model.safetensors", {"format": "pt"})
    model = base_model(tied)
    assert model.lm_head.weight is model.get_input_embeddings().weight
    rows, columns = model.lm_head.weight.shape
    pair = {"A": np.ones((R, columns), np.float32), "B": np.ones((rows, R), np.float32)}
    folder = write_adapter(tmp_path / "head", {"lm_head": pair}, target_modules=["lm_head"])
    loaded(base, folder)
    with pytest.raises(ModelError, match=r"changes weights that two layers of the model share .*lm_head"):
        loaded(tied, folder)


def damaged(folder: Path) -> None:
    path = folder / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def no_object(folder: Path) -> None:
    (folder / "adapter_config.json").write_text("[]")


# What is seen before the weights of the model are loaded.
BEFORE: dict[str, tuple[dict[str, Any], Callable[[Path], object] | None, str]] = {
    "settings": ({}, lambda folder: (folder / "adapter_config.json").unlink(), "has no adapter_config.json"),
    "no object": ({}, no_object, "adapter_config.json is not a JSON object"),
    "no JSON": (
        {},
        lambda folder: (folder / "adapter_config.json").write_text("{"),
        "adapter_config.json is not a JSON object; copy the adapter again",
    ),
    "weights": ({}, lambda folder: (folder / "adapter_model.safetensors").unlink(), "has no weights (adapt"),
    "damaged": ({}, damaged, "adapter_model.safetensors is damaged or incomplete"),
    **{
        str(kind): ({"peft_type": kind}, None, f"is of the type {kind!r}, which is not merged")
        for kind in ("PROMPT_TUNING", "PREFIX_TUNING", None)
    },
    "pissa": ({"init_lora_weights": "pissa"}, None, "has `init_lora_weights: pissa`, by which its training"),
    "code": ({"megatron_config": {"a": 1}, "megatron_core": "own"}, None, "has `megatron_config`"),
    "activated": ({"alora_invocation_tokens": [3]}, None, "has `alora_invocation_tokens`, which cannot be"),
}


@pytest.mark.parametrize("name", BEFORE)
def test_what_cannot_be_merged_is_refused_before_anything_is_loaded(base, lora, monkeypatch, name) -> None:
    config, change, expected = BEFORE[name]
    folder = lora(**config)
    if change is not None:
        change(folder)
    monkeypatch.setattr(transformers.AutoProcessor, "from_pretrained", None)
    entry = entry_of(path=str(base), adapter=str(folder))
    for refuse in (lambda: loaded(base, folder), lambda: locate("model", entry, None)):
        with pytest.raises(InputError) as error:
            refuse()
        text = str(error.value)
        assert text.startswith(f"{folder}: {expected}") and "\n" not in text
    assert whereabouts(entry).text.startswith(f"adapter: {expected}")


def entry_of(**keys: Any) -> Model:
    return Model.model_validate({"label": "Tiny", "scoring": "letter", **keys})


def test_an_adapter_alone_names_its_base(base, lora) -> None:
    folder = lora()
    expected = (
        f"{folder}: is an adapter (adapter_config.json), not a model; in the model catalogue, set `path` or "
        f"`repo` to its base model ('owner/base'), and `adapter: {folder}`"
    )
    # Training programs save the processor beside it.
    for name in ("processor_config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(base / name, folder)
    for refuse in (lambda: loaded(folder), lambda: locate("model", entry_of(path=str(folder)), None)):
        with pytest.raises(InputError) as error:
            refuse()
        assert str(error.value) == expected
    # Where it does not name one, none is said.
    for base_model in ({"base_model_name_or_path": ""}, {"base_model_name_or_path": 3}, {}):
        (folder / "adapter_config.json").write_text(json.dumps(base_model))
        assert "to its base model, and `adapter" in only_an_adapter("m", folder / "adapter_config.json")


def test_of_an_adapter_the_first_format_of_its_weights_is_read(tmp_path) -> None:
    names = ["adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"]
    for name in names:
        (tmp_path / name).touch()
    assert [path.name for path in adapter_files(tmp_path)] == names[:2]
    (tmp_path / names[0]).unlink()
    assert [path.name for path in adapter_files(tmp_path)] == names[1:2]


def test_a_located_model_has_its_adapter(base, lora, monkeypatch):
    entry = entry_of(path=str(base), adapter=str(lora()))
    found = locate("model", entry, None)
    assert isinstance(found, LocalModel) and found.source.adapter == entry.adapter
    assert (loaded_by(entry), whereabouts(entry).text) == ("transformers + adapter", "yes")
    assert loaded_by(entry_of(path=str(base), adapter="none")) == "transformers"
    absent = entry_of(path=str(base), adapter=str(base / "absent"))
    assert whereabouts(absent).text == "adapter: folder is missing"
    # Without peft, it cannot be merged.
    monkeypatch.setattr(adapter, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"lora: an adapter needs the package peft, which is not installed"):
        loaded(base, entry.adapter)
    loaded(base)
