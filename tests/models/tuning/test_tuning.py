"""Tuning against plain passes of the same models, and what is kept of it."""

import io
import json
import math
import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image
from torch.optim.optimizer import register_optimizer_step_pre_hook

from benchc.errors import InputError
from benchc.images import decode
from benchc.models.image_features import METHOD
from benchc.models.items import Item
from benchc.models.load import load_scorer
from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.models.registry import scorer_modules
from benchc.models.tuning import examples, train, tuned
from benchc.models.tuning.examples import Example, answer_loss, examples_of, extended
from benchc.models.tuning.lora import peft
from benchc.models.tuning.settings import TuningSettings, obstacle
from benchc.randomness import generator_of
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.models.conftest import QUESTIONS

SETTINGS = TuningSettings(epochs=3, batch=2, learning_rate=5e-3, rank=4, alpha=8, seed=3)


def png(seed: int) -> bytes:
    file = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (40, 56, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


# The same question about two images, with two answers, and another one.
EXAMPLES = [
    Example(QUESTIONS[0], "red", (png(1),)),
    Example(QUESTIONS[0], "blue", (png(2),)),
    Example(QUESTIONS[1], "12", (png(3),)),
]


def scorer_of(checkpoints: dict[str, Path], family: str = "llava", scoring: str = "text") -> Any:
    return load_scorer(family, scoring, CheckpointSource(str(checkpoints[family])))


def rows_of(scorer: Any) -> list[np.ndarray]:
    return [scorer.score(each.question, [[decode(*each.images)]]).logits[0] for each in EXAMPLES]


def scores_of(scorer: Any) -> np.ndarray:
    return np.concatenate(rows_of(scorer))


def tune(scorer: Any, folder: Path, *, order: type = list, **changes: Any) -> Path:
    settings = replace(SETTINGS, **changes)
    how = {"family": "llava", "scoring": "text", "alpha": "drop"}
    identity = tuned.identity_of_tuning(scorer, EXAMPLES, settings=settings, **how)
    identity = dict(order(identity.items()))
    return tuned.tune(scorer, EXAMPLES, settings, identity=identity, cache=folder, label="tiny")


@pytest.mark.parametrize("family", ["llava", "internvl", "idefics3"])
@pytest.mark.parametrize("scoring", ["text", "letter"])
def test_the_loss_is_that_of_the_tokens_of_the_answer_alone(checkpoints, family, scoring):
    scorer = scorer_of(checkpoints, family, scoring)
    question, answer = (QUESTIONS[1], "12") if scoring == "text" else (QUESTIONS[1], "C")
    found = answer_loss(scorer, Example(question, answer, (png(1),)))
    # The loss of transformers, of which labels of -100 have no part.
    chat = scorer.chat
    prompt = {"text": text_prompt, "letter": letter_prompt}[scoring](question)
    rendered = chat.render(prompt, 1)
    image = [[Image.open(io.BytesIO(png(1)))]]
    texts = (rendered, f"{rendered} {answer}")
    before, whole = (chat.processor(text=[text], images=image, return_tensors="pt") for text in texts)
    labels = whole["input_ids"].clone()
    labels[:, : before["input_ids"].shape[1]] = -100
    with torch.no_grad():
        expected = chat.model(**whole, labels=labels).loss
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    assert found.requires_grad


def test_the_gradient_is_that_of_the_answer(checkpoints):
    """A model without images has no gradient from the prompt's own tokens."""
    scorer = scorer_of(checkpoints)
    loss = answer_loss(scorer, Example(QUESTIONS[0], "red"))
    loss.backward()
    head = scorer.chat.model.get_output_embeddings().weight.grad
    # Of one position, the gradient of the head is an outer product.
    assert torch.linalg.matrix_rank(head).item() == 1


def test_a_tuned_model_learns_what_it_was_shown(checkpoints, tmp_path, monkeypatch, capsys):
    scorer = scorer_of(checkpoints)
    name, steps = "get_cosine_schedule_with_warmup", []
    schedule = getattr(train.transformers, name)
    monkeypatch.setattr(train.transformers, name, lambda own, *of: steps.append(of) or schedule(own, *of))
    right = [each.question.options.index(each.answer) for each in EXAMPLES]

    def chosen() -> list[int]:
        return [int(row.argmax()) for row in rows_of(scorer)]

    before = chosen()
    folder = tune(scorer, tmp_path, epochs=40)
    assert before != right and chosen() == right
    assert steps == [(3, 80)]  # at first 3 % of all, rounded up
    losses = pl.read_json(folder / tuned.RECORD)["losses"][0].to_list()
    assert len(losses) == 40 and losses[-1] < 0.2 * losses[0]
    said = f"mean loss {losses[0]:.3f} in the first epoch and {losses[-1]:.3f} in the last; {folder}"
    assert said in capsys.readouterr().err
    # In the same order each time.
    modules = json.loads((folder / "adapter_config.json").read_text())["target_modules"]
    assert modules == sorted(modules) and len(modules) > 1
    # Layers that it lacks are an error.
    with pytest.raises(ModelError, match="correct the names of its layers") as error:
        train.adapted(scorer_of(checkpoints), replace(SETTINGS, modules=("absent",)))
    assert "\n" not in str(error.value)


def test_merged_weights_are_those_of_the_adapter(checkpoints, tmp_path):
    scorer = scorer_of(checkpoints)
    plain = {name: each.clone() for name, each in scorer.chat.model.named_parameters()}
    as_it_was = scores_of(scorer)
    model = train.adapted(scorer, SETTINGS)
    np.testing.assert_array_equal(scores_of(scorer), as_it_was)
    train.train(scorer, model, EXAMPLES, SETTINGS, state=tmp_path / "state.pt", label="tiny")
    learned = {name.removeprefix("base_model.model."): each for name, each in model.named_parameters()}
    with_adapter = scores_of(scorer)
    assert np.abs(with_adapter - as_it_was).max() > 0.1
    scorer.chat.model = model.merge_and_unload()
    np.testing.assert_allclose(scores_of(scorer), with_adapter, atol=1e-5, rtol=1e-5)
    # W + alpha / r B A, of every linear layer but the head.
    changed = 0
    for name, weight in scorer.chat.model.named_parameters():
        stem = name.removesuffix(".weight")
        if f"{stem}.lora_A.default.weight" in learned:
            a, b = (learned[f"{stem}.lora_{each}.default.weight"] for each in "AB")
            torch.testing.assert_close(weight, plain[name] + 2 * (b @ a), atol=1e-6, rtol=1e-6)
            changed += 1
        else:
            assert torch.equal(weight, plain[name]), name
    assert changed > 10 and "lm_head" not in str([name for name in learned if "lora" in name])


def test_what_was_learned_is_kept_and_not_learned_again(checkpoints, tmp_path, monkeypatch, capsys):
    first, again, other = (scorer_of(checkpoints) for _ in range(3))
    folder = tune(first, tmp_path)
    record = (folder / tuned.RECORD).read_text()
    assert record.startswith('{\n "identity": {\n  "model"')  # a fact a line
    losses = json.loads(record)["losses"]
    one, two, three = (f"{loss:.3f}" for loss in losses)
    assert len({one, two, three}) == 3
    said = f"tiny: 3 examples, mean loss {one} in the first epoch and {three} in the last; {folder}\n"
    assert capsys.readouterr().err.endswith(said)
    monkeypatch.setattr(tuned, "train", lambda *_, **__: pytest.fail("learned again"))
    assert tune(again, tmp_path, order=reversed) == folder
    np.testing.assert_array_equal(scores_of(again), scores_of(first))
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".lock") == [folder.name]
    assert re.fullmatch("adapter-[0-9a-f]{12}", folder.name)  # as long as in all earlier runs, which have it
    with pytest.raises(pytest.fail.Exception):
        tune(other, tmp_path, seed=4)
    # It is loaded as it was tuned.
    origin = shutil.copytree(checkpoints["llava"], tmp_path / "origin")
    settings = json.loads((origin / "config.json").read_text())
    (origin / "config.json").write_text(json.dumps(settings | {"of_the_origin": 1}))
    (origin / "adapter_config.json").write_text("{}")
    # Its weights in any format are those before.
    (origin / "adapter_model.safetensors").write_bytes(b"")
    (origin / "model.safetensors").rename(origin / "pytorch_model.bin")
    (origin / "generation_config.json").write_text('{"of_the_origin": 1}')
    (origin / "additional_chat_templates").mkdir()
    (origin / "additional_chat_templates/a.jinja").write_text("short")
    tuned.save_tuned(first, CheckpointSource(str(origin)), tmp_path / "tuned")
    written = {path.name for path in (tmp_path / "tuned").iterdir()}
    assert "model.safetensors" in written
    assert not written & {"adapter_config.json", "adapter_model.safetensors", "pytorch_model.bin"}
    assert "of_the_origin" not in (tmp_path / "tuned/config.json").read_text()
    assert (tmp_path / "tuned/generation_config.json").read_text() == '{"of_the_origin": 1}'
    template = tmp_path / "tuned/additional_chat_templates/a.jinja"
    assert template.read_text() == "short"
    shutil.rmtree(template.parent)
    (tmp_path / "tuned/generation_config.json").unlink()
    loaded = load_scorer("llava", "text", CheckpointSource(str(tmp_path / "tuned")))
    np.testing.assert_array_equal(scores_of(loaded), scores_of(first))
    assert loaded.prompt(QUESTIONS[0], 1) == first.prompt(QUESTIONS[0], 1)
    # A model of the Hub lies in its cache, at the commit that was loaded.
    asked = []
    monkeypatch.setattr(tuned, "snapshot_folder", lambda *of: asked.append(of) or origin)
    first.chat.identity["revision"] = "0" * 40
    tuned.save_tuned(first, CheckpointSource("owner/model", "main"), tmp_path / "again")
    assert asked == [("owner/model", "0" * 40)] and (tmp_path / "again/tokenizer_config.json").is_file()


def test_of_two_processes_one_learns_and_the_other_waits(checkpoints, tmp_path, monkeypatch, capsys):
    first, second = scorer_of(checkpoints), scorer_of(checkpoints)
    learn, others, calls = tuned.train, [], []

    def learning(*arguments: Any, **named: Any) -> list[float]:
        calls.append(1)
        # flock is of an open file, so that a thread stands for a process.
        others.append(Thread(target=tune, args=(second, tmp_path)))
        others[0].start()
        others[0].join(timeout=3)
        assert others[0].is_alive()
        losses = learn(*arguments, **named)
        named["state"].unlink()  # as another process may, where files cannot be locked
        return losses

    monkeypatch.setattr(tuned, "train", learning)
    tune(first, tmp_path)
    others[0].join()
    assert len(calls) == 1
    np.testing.assert_array_equal(scores_of(second), scores_of(first))
    assert "tiny: waiting for another process that learns the same" in capsys.readouterr().err


def test_where_files_cannot_be_locked_nobody_waits(tmp_path, monkeypatch, capsys):
    def without_locks(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(tuned.fcntl, "flock", without_locks)
    ran = []
    for _ in range(2):
        with tuned._alone(tmp_path / "new/folder/lock", "tiny"):
            ran.append(1)
    assert ran == [1, 1] and capsys.readouterr().err == ""


def test_no_code_of_a_training_that_was_killed_is_run(checkpoints, tmp_path):
    scorer = scorer_of(checkpoints)
    model = train.adapted(scorer, SETTINGS)
    torch.save({"learned": Path("a path is an object of Python")}, tmp_path / "state.pt")
    with pytest.raises(pickle.UnpicklingError):
        train.train(scorer, model, EXAMPLES, SETTINGS, state=tmp_path / "state.pt", label="tiny")


@pytest.mark.parametrize("longest", [None, 1e9])  # these gradients are longer than 2
def test_the_steps_are_those_of_adamw_on_mean_clipped_gradients(checkpoints, tmp_path, monkeypatch, longest):
    """The last step of an epoch has fewer examples, and the rate is a ramp and then a cosine.

    That of the first and of the second epoch has no image, and leaves alone what images are for.
    """
    given = [EXAMPLES[0], replace(EXAMPLES[1], images=()), EXAMPLES[2]]
    if longest is None:
        longest = 1.0
    else:
        monkeypatch.setattr(train, "MAX_GRADIENT_NORM", longest)
    scorer, plain = scorer_of(checkpoints), scorer_of(checkpoints)
    model = train.adapted(scorer, SETTINGS)
    lengths = []

    def measured(optimizer: torch.optim.Optimizer, *_: object) -> None:
        gradients = [each.grad for each in optimizer.param_groups[0]["params"] if each.grad is not None]
        lengths.append(float(sum((each**2).sum() for each in gradients)) ** 0.5)

    hook = register_optimizer_step_pre_hook(measured)
    means = train.train(scorer, model, given, SETTINGS, state=tmp_path / "s", label="tiny")
    hook.remove()
    # AdamW would learn the same from gradients of another length, if all had that.
    assert lengths == pytest.approx([1.0] * 6) if longest == 1 else min(lengths) > 2
    torch.manual_seed(SETTINGS.seed)
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules="all-linear")
    for module in plain.chat.model.modules():
        vars(module).pop(METHOD, None)  # which keeps the features of an image that comes twice
    own = peft.get_peft_model(plain.chat.model, config)
    learned = [each for each in own.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(learned, weight_decay=0.0)
    step = 0
    for epoch in range(3):
        order = generator_of(3, "epoch", epoch).permutation(3).tolist()
        total = 0.0
        for batch in (order[:2], order[2:]):
            losses = [answer_loss(plain, given[place]) for place in batch]
            total += sum(each.item() for each in losses)
            gradients = torch.autograd.grad(torch.stack(losses).mean(), learned, allow_unused=True)
            norm = sum(float((each**2).sum()) for each in gradients if each is not None) ** 0.5
            for weights, each in zip(learned, gradients, strict=True):
                weights.grad = None if each is None else each * min(1.0, longest / norm)
            # Of 6 steps, 3 % in which the rate rises are 1, at whose start it is 0.
            rate = 0.0 if step == 0 else (1 + math.cos(math.pi * (step - 1) / 5)) / 2
            optimizer.param_groups[0]["lr"] = SETTINGS.learning_rate * rate
            optimizer.step()
            step += 1
        assert means[epoch] == pytest.approx(total / 3, rel=1e-3)
    for weights, expected in zip((p for p in model.parameters() if p.requires_grad), learned, strict=True):
        torch.testing.assert_close(weights, expected, rtol=1e-3, atol=1e-5)


def test_one_example_is_learned_too(checkpoints, tmp_path):
    """The features of its image, which questions about it share, are computed again after each step."""
    scorer = scorer_of(checkpoints)
    model = train.adapted(scorer, SETTINGS)
    before = answer_loss(scorer, EXAMPLES[0]).item()
    state = tmp_path / "state.pt"
    losses = train.train(scorer, model, EXAMPLES[:1], settings=SETTINGS, state=state, label="tiny")
    assert losses[:2] == pytest.approx([before] * 2) and losses[2] < before


def test_a_killed_training_goes_on_with_the_same_bits(checkpoints, tmp_path, monkeypatch):
    expected = scorer_of(checkpoints)
    tune(expected, tmp_path / "whole")
    passes = []

    def counted(*arguments: Any) -> torch.Tensor:
        passes.append(1)
        if len(passes) == 5:  # in the second epoch
            raise KeyboardInterrupt
        return answer_loss(*arguments)

    monkeypatch.setattr(train, "answer_loss", counted)
    with pytest.raises(KeyboardInterrupt):
        tune(scorer_of(checkpoints), tmp_path / "killed")
    scorer = scorer_of(checkpoints)
    tune(scorer, tmp_path / "killed")
    assert len(passes) == 5 + 2 * len(EXAMPLES) + 1  # the last sees that the loss is still finite
    np.testing.assert_array_equal(scores_of(scorer), scores_of(expected))


def test_what_is_learned_depends_on_examples_model_and_settings(checkpoints):
    def key(which=EXAMPLES, family="llava", alpha="drop", **changes: Any) -> Any:
        scorer, how = scorer_of(checkpoints, family), {"family": family, "scoring": "text", "alpha": alpha}
        return tuned.identity_of_tuning(scorer, which, replace(SETTINGS, **changes), **how)

    blind = [Example(each.question, each.answer) for each in EXAMPLES]
    others = [key(which) for which in (EXAMPLES[:2], EXAMPLES[::-1], blind)]
    others += [key(family="internvl"), key(alpha="white"), key(rank=5), key(seed=9)]
    whole = key()
    assert key() == whole and whole not in others
    assert whole["code"] == prediction_code(scorer_modules("llava", "text"), "benchc.models.tuning.train")
    # Recorded: with another digest, nothing that earlier versions learned would be found.
    recorded = key([Example(QUESTIONS[0], "red", (b"a", b"b"))])["examples"]
    assert recorded == "3def7b83b06939e1f8053a867de4fb29"


def test_a_loss_that_is_not_finite_stops_the_training_and_is_not_kept(checkpoints, tmp_path, monkeypatch):
    steps: list[int] = []
    hook = register_optimizer_step_pre_hook(lambda *_: steps.append(1))
    with pytest.raises(InputError, match=r"after the last step: a loss is .*; lower the learning rate"):
        tune(scorer_of(checkpoints), tmp_path, epochs=1, batch=1, learning_rate=1e9)
    hook.remove()
    assert len(steps) == len(EXAMPLES)
    assert not list(tmp_path.glob("adapter-*"))
    found = iter([1.0] * 3 + [math.nan])
    monkeypatch.setattr(train, "answer_loss", lambda *_: torch.tensor(next(found), requires_grad=True))
    with pytest.raises(InputError, match=r"^tiny, epoch 2 of 3: a loss is nan; lower the learning rate$"):
        tune(scorer_of(checkpoints), tmp_path)


def pool_of(folder: Path, data: bytes, *more: str, answer: int | None = 1) -> tuple[Path, dict[str, Item]]:
    row = dict.fromkeys(POOL.columns) | {"source": "s", "question": "Which?", "answer": answer}
    row |= {"options": ["red", "blue"], "image_keys": ["s://a"], "images": [{"bytes": data, "path": None}]}
    rows = [row | {"id": id_} for id_ in ("s/0", *more)]
    write_table(pl.DataFrame(rows, schema=pl.Schema(POOL.columns)), folder / "items.parquet", POOL)
    item = Item(Question("Which?", ("red", "blue")), ("s://a",))
    return folder / "items.parquet", {row["id"]: item for row in rows}


def test_without_images_none_is_read(checkpoints, tmp_path, monkeypatch):
    pool, items = pool_of(tmp_path, png(1))
    (shown,) = examples_of(pool, items, "text", "images")
    assert shown == Example(items["s/0"].question, "blue", (png(1),))
    assert examples_of(pool, items, "letter", "text")[0].answer == "B"
    for name in ("pool_images", "decode"):
        monkeypatch.setattr(examples, name, lambda *_: pytest.fail("read"))
    assert examples_of(pool, items, "text", "text") == [Example(items["s/0"].question, "blue")]
    assert answer_loss(scorer_of(checkpoints), Example(QUESTIONS[0], "red")).item() > 0
    pool, items = pool_of(tmp_path, png(1), "s/1", answer=None)
    with pytest.raises(InputError, match="item s/0 has no answer to learn; remove it"):
        examples_of(pool, items, "text", "text")


def test_what_follows_a_prompt_sees_what_its_last_token_sees():
    inputs = {
        "input_ids": torch.tensor([[5, 6, 7]]),
        "attention_mask": torch.ones(1, 3, dtype=torch.int64),
        "mm_token_type_ids": torch.tensor([[0, 1, 0]]),
        "cross_attention_mask": torch.tensor([[[0], [0], [1]]]),
        "pixel_values": torch.zeros(1, 3, 4, 4),
    }
    found = extended(inputs, [8, 9])
    assert found["input_ids"].tolist() == [[5, 6, 7, 8, 9]]
    assert found["attention_mask"].tolist() == [[1] * 5]
    assert found["mm_token_type_ids"].tolist() == [[0, 1, 0, 0, 0]]
    assert found["cross_attention_mask"].tolist() == [[[0], [0], [1], [1], [1]]]
    assert found["pixel_values"] is inputs["pixel_values"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"server": {"url": "http://localhost"}}, "a server answers for it"),
        ({"family": "molmo"}, "code of its own"),
        ({"trust_remote_code": True}, "code of its own"),
        ({"scoring": "generate"}, "no probabilities of options"),
        ({"env": "transformers-4-37"}, "peft is only in the environment transformers"),
    ],
)
def test_which_models_can_be_tuned(changes, reason):
    entry = {"scoring": "letter", "family": "llava", "server": None, "trust_remote_code": None}
    found = obstacle(**{**entry, "env": "transformers", **changes})
    assert found is None if reason is None else reason in str(found)


@pytest.mark.parametrize(
    ("shown", "error", "message"),
    [
        (True, RuntimeError("odd\nshape"), r"fails while it is tuned \(RuntimeError: odd shape\)"),
        (True, torch.OutOfMemoryError("full"), "does not fit into the memory of the GPU"),
        (False, TypeError("pixels"), r"takes no prompt without an image \(TypeError: pixels\)"),
    ],
)
def test_an_error_of_a_model_is_one_line(checkpoints, tmp_path, monkeypatch, shown, error, message):
    scorer = scorer_of(checkpoints)

    def failing(*_: Any, **__: Any) -> None:
        raise error

    model = train.adapted(scorer, SETTINGS)
    monkeypatch.setattr(scorer.chat, "forward", failing)
    example = Example(QUESTIONS[0], "red", (png(1),) if shown else ())
    with pytest.raises(ModelError, match=message) as found:
        train.train(scorer, model, [example], SETTINGS, state=tmp_path / "state.pt", label="tiny")
    assert "\n" not in str(found.value)
