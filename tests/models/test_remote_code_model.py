"""What all families with code of their own share; whole models are in test_remote_code.py."""

import os
import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from benchc.models import remote_code
from benchc.models.chat import Head
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.remote_code import (
    Batch,
    Loading,
    RemoteCodeModel,
    package,
    package_code,
    package_digest,
    require_class,
    require_parameters,
)
from benchc.models.remote_code_families import lacks_trust


class Plain(RemoteCodeModel):
    """Reads the first pixel of each image; its logits are twice its hidden states."""

    def prompt(self, text: str, images: int) -> str:
        return "<image>" * images + text

    def row(self, text: str, rendered: str, images: list[Any]) -> Batch:
        pixels = [float(image.getpixel((0, 0))[0]) for image in images]
        return {
            "input_ids": torch.tensor([[*range(len(rendered))]]),
            "pixels": torch.tensor([pixels]).double(),
        }

    def call(self, batch: Batch, *, last_only: bool) -> torch.Tensor:
        head = self._head
        if head is not None and "silent" not in self.settings:
            head.states = batch["input_ids"][..., None].float()
        return 2 * batch["input_ids"][..., None].float()

    @contextmanager
    def head(self) -> Iterator[Head]:
        self._head = Head(torch.nn.Linear(1, 1))
        yield self._head


class OneByOne(Plain):
    batches = False


class FirstImage(Plain):
    all_images = False
    marks_images = False

    def prompt(self, text: str, images: int) -> str:
        assert images <= 1
        return text


def made(kind: type[RemoteCodeModel] = Plain, **settings: Any) -> Any:
    config = SimpleNamespace(max_position_embeddings=100)
    network = SimpleNamespace(config=config, device=torch.device("cpu"), dtype=torch.bfloat16)
    return kind(network, "processor", {"model": "m"}, settings=settings)


def pixels(*values: int) -> list[Any]:
    return [np.full((2, 2, 3), value, np.uint8) for value in values]


def test_variants_are_one_batch_or_pass_one_by_one():
    variants = [pixels(1, 2), pixels(3, 4), pixels(5, 6)]
    for kind, expected in (
        (Plain, [[[1, 2], [3, 4], [5, 6]]]),
        (OneByOne, [[[1, 2]], [[3, 4]], [[5, 6]]]),
        (FirstImage, [[[1], [3], [5]]]),
    ):
        model = made(kind)
        batches = model.encode(model.render("Which?", 2), variants)["batches"]
        assert [batch["pixels"].tolist() for batch in batches] == expected
        # In the model's precision; tokens stay whole numbers.
        assert {batch["pixels"].dtype for batch in batches} == {torch.bfloat16}
        assert {batch["input_ids"].dtype for batch in batches} == {torch.int64}


def test_a_model_of_one_image_says_so_once(capsys):
    model = made(FirstImage)
    for images, said in (
        (0, ""),
        (1, ""),
        (2, "m: reads one image, so the first of each item with several\n"),
    ):
        model.render(f"Which {images}?", images)
        assert capsys.readouterr().err == said
    model.render("Which?", 2)
    assert capsys.readouterr().err == ""
    assert (model.facts()["images"], made().facts()["images"]) == ("the first", "all")
    assert made().facts()["image_processor"] == "str" and made().facts()["attention"] == "None"


@pytest.mark.parametrize(
    ("kind", "text", "images", "refused"),
    [
        (Plain, "Which?", 2, False),
        (Plain, "Which <image>?", 2, True),
        (Plain, "Which <image>?", 0, True),
        (Plain, "Is it <image> of " + "them" * 20, 0, True),
        (FirstImage, "Which?", 1, False),
        (FirstImage, "Which <image>?", 1, True),
    ],
)
def test_a_mark_in_the_question_would_be_read_as_an_image(kind, text, images, refused):
    if not refused:
        assert text in made(kind).render(text, images)
        return
    shown = re.escape(repr(text[:80]))
    sentence = f"^m: a question contains '<image>', which the model does not read as text: {shown}; rem"
    with pytest.raises(ModelError, match=sentence):
        made(kind).render(text, images)


@pytest.mark.parametrize(
    ("config", "context"),
    [
        ({}, None),
        ({"max_position_embeddings": 7}, 7),
        ({"max_position_embeddings": None}, None),
        ({"text_config": {"max_position_embeddings": 5}}, 5),
        ({"max_position_embeddings": 7, "llm_config": {"max_position_embeddings": 5}}, 5),
        ({"language_config": {"max_position_embeddings": 9}, "max_position_embeddings": 7}, 7),
        ({"text_config": None, "max_position_embeddings": 7}, 7),
    ],
)
def test_the_context_is_the_least_that_a_part_names(config, context):
    parts = {
        name: SimpleNamespace(**each) if isinstance(each, dict) else each for name, each in config.items()
    }
    model = made()
    model.model.config = SimpleNamespace(**parts)
    assert model.context() == context
    model.require_context(context or 10**9)
    if context is not None:
        with pytest.raises(
            ModelError, match=rf"^m: prompt, images and answer have {context + 1} tokens, but"
        ):
            model.require_context(context + 1)


def test_the_longest_prompt_counts_and_a_setting_of_its_images_is_named():
    for settings, fix in (
        ({}, "remove the item"),
        ({"use": 1, "max_num": 6, "max_crops": 2}, "lower max_num in `processor`"),
    ):
        model = made(**settings)
        model.model.config.max_position_embeddings = 12
        rendered = model.render("Which", 1)  # 12 tokens
        inputs = model.encode(rendered, [pixels(1)] * 2)
        with pytest.raises(ModelError, match=rf"have 14 tokens, but the model takes 12; {fix}"):
            model.extended(inputs, [7, 8])


def test_tokens_are_added_to_ids_and_mask_in_their_types():
    model = made()
    batch = {
        "input_ids": torch.tensor([[1, 2], [3, 4]], dtype=torch.int32),
        "attention_mask": torch.tensor([[False, True], [True, True]]),
        "pixels": torch.zeros(2, 1),
    }
    [longer] = model.extended({"batches": [batch]}, [8, 9])["batches"]
    assert longer["input_ids"].tolist() == [[1, 2, 8, 9], [3, 4, 8, 9]]
    assert longer["attention_mask"].tolist() == [[False, True, True, True], [True, True, True, True]]
    assert (longer["input_ids"].dtype, longer["attention_mask"].dtype) == (torch.int32, torch.bool)
    assert longer["pixels"] is batch["pixels"]
    del batch["attention_mask"]
    assert model.continued(batch, [8]).keys() == {"input_ids", "pixels"}
    # Of a prompt without a further token, nothing changes.
    assert model.continued(batch, [])["input_ids"].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(("last_only", "expected"), [(True, [[2], [4]]), (False, [[0, 1, 2], [2, 3, 4]])])
def test_logits_and_states_of_all_batches_are_joined(last_only, expected):
    model = made(OneByOne)
    batches = [{"input_ids": torch.arange(start, start + 3)[None]} for start in (0, 2)]
    with model.head() as head:
        found = model.forward({"batches": batches}, last_only=last_only)
    assert head.states[..., 0].tolist() == expected
    assert found.logits[..., 0].tolist() == [[2.0 * each for each in row] for row in expected]
    silent = made(silent=True)
    with (
        silent.head(),
        pytest.raises(ModelError, match=r"^m: its code does not call the language head; its lo"),
    ):
        silent.forward({"batches": batches[:1]}, last_only=last_only)


def test_settings_are_those_of_the_family_and_the_entry_chooses():
    def settings(given: dict[str, object], **defaults: object) -> dict[str, Any]:
        return Loading(CheckpointSource("m", processor=given), None).settings(**defaults)

    assert settings({}, a=1, b=2) == {"a": 1, "b": 2}
    assert settings({"b": 3}, a=1, b=2) == {"a": 1, "b": 3}
    with pytest.raises(
        ModelError, match=r"^m: its preprocessing has no setting 'c' \(it has a, b\); correct"
    ):
        settings({"a": 1, "c": 1}, a=1, b=2)
    with pytest.raises(ModelError, match=r"has no setting 'c' \(it has none\)"):
        settings({"c": 1})
    source = CheckpointSource("m", trust_remote_code=True)
    assert Loading(source, "c1").options == {"revision": "c1", "trust_remote_code": True}


def test_other_code_than_the_family_is_about_is_refused():
    require_class("m", made(), "Plain")
    for name in ("Other", "Qwen"):
        with pytest.raises(ModelError, match=rf"^m: its code defines the model Plain, not {name}; correct"):
            require_class("m", made(), name)

    def named(a: int, b: int) -> None: ...

    def any_others(a: int, **others: int) -> None: ...

    require_parameters("m", named, "a", "b")
    require_parameters("m", any_others, "a", "b")
    with pytest.raises(
        ModelError, match=r"^m: .*named of its code has no argument 'c' \(it has a, b\); give"
    ):
        require_parameters("m", named, "a", "c", "d")


@pytest.mark.parametrize("is_quantised", [True, False])
def test_only_a_quantised_model_may_have_other_weights_than_real_numbers(tmp_path, is_quantised):
    save_file({"a.weight": torch.ones(2, dtype=torch.uint8)}, tmp_path / "model.safetensors")
    config = {"quantization_config": {"quant_method": "awq"}} if is_quantised else {}
    report: dict[str, Any] = {"missing_keys": [], "mismatched_keys": [], "unexpected_keys": []}
    if is_quantised:
        report["unexpected_keys"] = ["a.scale"]
    refused = pytest.raises(ModelError, match=r"a\.weight in model\.safetensors is stored as U8, and nothing")
    with nullcontext() if is_quantised else refused:
        model = SimpleNamespace(config=SimpleNamespace(**config))
        Loading(CheckpointSource(str(tmp_path)), None).require_weights(model, report)


def test_code_needs_what_it_imports_but_flash_attn(monkeypatch):
    module = remote_code.transformers.dynamic_module_utils
    monkeypatch.setattr(module, "get_imports", lambda path: ["einops", "flash_attn", "torch"])
    with remote_code._without_flash_attention():
        assert module.get_imports("modeling.py") == ["einops", "torch"]


def test_the_identity_has_the_libraries_that_are_there_and_the_settings(tmp_path, monkeypatch):
    def version(name: str) -> str:
        if name in ("tokenizers", "einops"):
            raise remote_code.PackageNotFoundError
        return f"1 of {name}"

    monkeypatch.setattr(remote_code, "version", version)
    (tmp_path / "config.json").write_text("{}")
    found = Loading(CheckpointSource(str(tmp_path)), None)
    identity = Plain.of(found, None, "processor", settings={"b": 1, "a": 2}, digest="d").identity
    names = {"torch", "transformers", "tokenizers", "pillow", "einops", "timm", "xformers"} & identity.keys()
    assert names == {"torch", "transformers", "pillow", "timm", "xformers"}
    assert (identity["timm"], identity["package"]) == ("1 of timm", "d")
    # In whatever order they are given.
    assert identity["processor"] == '{"a": 2, "b": 1}'


@pytest.mark.parametrize(
    ("family", "trusted", "server", "lacks"),
    [
        ("molmo", False, None, True),
        ("molmo", True, None, False),
        ("molmo", False, "vllm", False),
        # The code of a package is installed by the user.
        ("eagle", False, None, False),
        (None, True, None, False),
    ],
)
def test_code_of_a_checkpoint_that_runs_here_must_be_trusted(family, trusted, server, lacks):
    entry = SimpleNamespace(family=family, trust_remote_code=trusted, server=server)
    assert lacks_trust(entry) is lacks


@pytest.mark.parametrize("time", [1, 2**32])
def test_files_that_change_while_they_are_loaded_are_refused(tmp_path, time):
    config = tmp_path / "config.json"
    config.write_text("{}")
    loading = package_code(CheckpointSource(str(tmp_path)))
    with pytest.raises(ModelError, match="its files changed while it was loaded; run snakem"), loading:
        os.utime(config, (time, time))


def test_a_package_is_known_by_its_python_files(tmp_path, monkeypatch):
    folder = tmp_path / "own"
    (folder / "sub").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "sub/more.py").write_text("A = 1\n")
    module = ModuleType("own")
    module.__file__ = str(folder / "__init__.py")
    found = {package_digest(module)}
    (folder / "notes.txt").write_text("no code")
    assert {package_digest(module)} == found and len(next(iter(found))) == 32
    (folder / "sub/more.py").write_text("A = 2\n")
    found.add(package_digest(module))
    (folder / "sub/more.py").rename(folder / "more.py")
    found.add(package_digest(module))
    assert len(found) == 3
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(
        ModelError, match=r"^m: needs the package own_absent \(No module named .*\); install it"
    ):
        package("own_absent.sub", "install it", "m")
    assert package("json.decoder", "install it", "m") is sys.modules["json.decoder"]


@pytest.mark.parametrize(
    ("release", "name"),
    [
        ("4.33.2", "torch_dtype"),
        ("4.55.4", "torch_dtype"),
        *((release, "dtype") for release in ("4.56.0rc1", "4.57.1", "5.0.0")),
    ],
)
def test_the_precision_has_the_name_that_the_installed_transformers_gives_it(release, name, monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda _: release)
    assert runpy.run_path(str(remote_code.__file__))["_DTYPE"] == name
