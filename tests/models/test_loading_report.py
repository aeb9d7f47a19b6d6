"""A checkpoint whose weights are not those of its class is refused, with one of them as an example."""

import json
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from benchc.models.loading_report import require_floats, require_vocabulary, require_weights
from benchc.models.protocol import ModelError
from benchc.models.weights import weights_problem

SHAPES = [("b.weight", (2, 3), (4, 3)), ("a.weight", (1,), (5,))]


@pytest.mark.parametrize(
    ("missing", "mismatched", "unexpected", "quantised", "sentence"),
    [
        ([], [], [], False, None),
        (
            ["b.weight", "a.bias"],
            [],
            [],
            False,
            r"2 of the model's weights are missing, for example a\.bias",
        ),
        (["b.weight"], [], [], True, r"1 of the model's weights are missing, for example b\.weight"),
        ([], SHAPES, [], False, r"2 of its weights have another shape .* a\.weight, 1 instead of 5; correct"),
        ([], SHAPES[:1], [], False, r"example b\.weight, 2 x 3 instead of 4 x 3; correct"),
        (
            [],
            [],
            ["c", "b.weight"],
            False,
            r"2 of its weights have no place in the model, for example b\.w",
        ),
        # Numbers of a quantisation have other names than weights.
        ([], [], ["a.scale"], True, None),
        ([], [], ["a.scale"], False, r"1 of its weights have no place in the model, for example a\.scale"),
        ([], [], ["a.scale", "a.bias"], True, r"1 of its weights have no place .* for example a\.bias"),
        # Buffers that the class computes itself.
        (["x.position_ids"], [], ["position_ids", "h.0.rotary_emb.inv_freq"], False, None),
        ([], [], ["rotary_pos_emb.inv_freq"], False, None),
        ([], [], ["my_position_ids"], False, r"example my_position_ids"),
        ([], [], ["position_ids.weight"], False, r"example position_ids\.weight"),
    ],
)
def test_all_weights_and_no_others(missing, mismatched, unexpected, quantised, sentence):
    report = {"missing_keys": missing, "mismatched_keys": mismatched, "unexpected_keys": unexpected}
    how = {"quantised": True} if quantised else {}
    if sentence is None:
        require_weights("m", report, **how)
        return
    with pytest.raises(ModelError, match=f"^m: .*{sentence}"):
        require_weights("m", report, **how)


@pytest.mark.parametrize("file", ["model.safetensors", "pytorch_model.bin", "weights.tar"])
@pytest.mark.parametrize(
    ("name", "dtype", "refused"),
    [
        ("a.weight", torch.float32, None),
        ("a.weight", torch.bfloat16, None),
        ("a.weight", torch.float16, None),
        ("a.weight", torch.float64, None),
        # 4 or 8 bits, of which nothing says what they stand for.
        ("a.weight", torch.uint8, "(U8|uint8)"),
        ("a.scale", torch.int8, "(I8|int8)"),
        # Counts and positions are whole numbers, weights are not.
        ("positions", torch.int64, None),
        ("mask", torch.bool, None),
        ("a.weight", torch.int64, "(I64|int64)"),
        ("a.bias", torch.int32, "(I32|int32)"),
    ],
)
def test_weights_are_real_numbers(tmp_path, file, name, dtype, refused):
    tensors = {"x.weight": torch.zeros(2), name: torch.ones(2).to(dtype)}
    if file == "model.safetensors":
        save_file(tensors, tmp_path / file)
    else:
        torch.save({**tensors, "step": 3}, tmp_path / file)
    (tmp_path / "config.json").write_text(json.dumps({"transformers_weights": file}))
    if refused is None:
        require_floats("m", tmp_path)
        return
    sentence = rf"^m: {name} in {file} is stored as {refused}, and nothing says"
    with pytest.raises(ModelError, match=sentence):
        require_floats("m", tmp_path)


def test_no_code_in_a_file_of_weights_is_run(tmp_path):
    tensors = {"a.weight": torch.zeros(2), "step": Path("a path is an object of Python")}
    torch.save(tensors, tmp_path / "pytorch_model.bin")
    with pytest.raises(pickle.UnpicklingError):
        require_floats("m", tmp_path)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ([], "no weights"),
        (["notes.safetensors.txt"], "no weights"),
        (["pytorch_model.bin"], None),
        (["model.safetensors"], None),
        # Of any name that the configuration gives.
        (["weights.tar"], None),
        # Which a server may read.
        (["model-q4.gguf"], None),
        (["model-1.safetensors", "model-2.safetensors", "model.safetensors.index.json"], None),
        (["model-1.safetensors", "model.safetensors.index.json"], "model-2.safetensors is missing"),
        (["model.safetensors", "cut"], "model.safetensors is damaged or incomplete"),
    ],
)
def test_weights_that_are_not_there_or_not_whole_are_named(tmp_path, files, problem):
    for name in files:
        if name.endswith(".safetensors"):
            save_file({"a.weight": torch.zeros(9)}, tmp_path / name)
        else:
            (tmp_path / name).write_text("weights")
    if "model.safetensors.index.json" in files:
        shards = {each: f"model-{each}.safetensors" for each in "12"}
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    if "weights.tar" in files:
        (tmp_path / "config.json").write_text(json.dumps({"transformers_weights": "weights.tar"}))
    if "cut" in files:
        path = tmp_path / "model.safetensors"
        path.write_bytes(path.read_bytes()[:-1])
    assert weights_problem(tmp_path) == problem
    assert weights_problem(tmp_path / "absent") == "no weights"


@pytest.mark.parametrize(
    ("tokens", "ends", "sentence"),
    [
        (10, 3, None),
        (10, None, None),
        (10, [3, 9], None),
        (11, 3, "its tokenizer has 11 tokens, but the model's embedding 10, so"),
        (10, 10, "an answer ends with token 10 .*, but the model has 10; correct"),
        (10, [3, 12, 11], "an answer ends with token 12 .*, but the model has 10; correct"),
        (4, 9, None),
        (4, 0, None),
        (4, "absent", None),
    ],
)
def test_tokenizer_and_end_of_an_answer_are_within_the_embedding(tokens, ends, sentence):
    model: Any = SimpleNamespace(get_input_embeddings=lambda: torch.nn.Embedding(10, 1))
    if ends != "absent":
        model.generation_config = SimpleNamespace(eos_token_id=ends)
    if sentence is None:
        require_vocabulary("m", model, SimpleNamespace(vocab_size=tokens))
        return
    with pytest.raises(ModelError, match=f"^m: {sentence}"):
        require_vocabulary("m", model, SimpleNamespace(vocab_size=tokens))
