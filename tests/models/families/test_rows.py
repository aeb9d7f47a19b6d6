"""What the code of further families is given; test_remote_code.py loads whole models."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from benchc.hugging_face import transformers
from benchc.models import remote_code
from benchc.models.families import monkey, mplug_owl3, sail_vl
from benchc.models.families.kimi_vl import KimiVL
from benchc.models.families.molmo import Molmo
from benchc.models.families.monkey import Monkey
from benchc.models.families.moondream import Moondream, load
from benchc.models.families.mplug_owl3 import MPlugOwl3
from benchc.models.families.phi4_multimodal import add_adapter
from benchc.models.protocol import CheckpointSource, ModelError

IDENTITY = {"model": "m"}
IMAGES = [Image.new("RGB", (2, 3), colour) for colour in ("red", "blue")]


class Recorded:
    """Notes its arguments, and returns what it was made with."""

    def __init__(self, returned: Any) -> None:
        self.returned = returned
        self.positional: tuple[Any, ...] = ()
        self.named: dict[str, Any] = {}

    def __call__(self, *positional: Any, **named: Any) -> Any:
        self.positional, self.named = positional, named
        return self.returned


def test_kimi_vl_has_the_images_before_the_text():
    processor: Any = Recorded(
        {"input_ids": 1, "attention_mask": 2, "pixel_values": 3, "image_grid_hws": 4, "x": 5}
    )
    processor.apply_chat_template = Recorded("rendered")
    model = KimiVL(SimpleNamespace(), processor, IDENTITY)
    assert model.prompt("Which?", 2) == "rendered"
    ([message],) = processor.apply_chat_template.positional
    assert (message["role"], [part["type"] for part in message["content"]]) == (
        "user",
        ["image", "image", "text"],
    )
    assert message["content"][-1]["text"] == "Which?"
    assert processor.apply_chat_template.named == {"add_generation_prompt": True, "tokenize": False}
    row: Any = model.row("Which?", "rendered", IMAGES)
    assert row == {"input_ids": 1, "attention_mask": 2, "pixel_values": 3, "image_grid_hws": 4}
    # A long prompt is not cut.
    given = {"images": IMAGES, "text": ["rendered"], "return_tensors": "pt", "padding": True}
    assert processor.named == given


def test_molmo_reads_the_prompt_as_it_is_written_with_the_settings_of_the_entry():
    names = ("input_ids", "images", "image_masks", "image_input_idx")
    process = Recorded({name: torch.zeros(2) for name in (*names, "more")})
    settings = {"max_crops": 3, "overlap_margins": None}
    model = Molmo(
        Recorded(SimpleNamespace(logits="logits")),
        SimpleNamespace(process=process),
        IDENTITY,
        settings=settings,
    )
    # As the defaults of its processor write it.
    assert model.prompt("Which?", 1) == " User: Which? Assistant:"
    row = model.row("Which?", "rendered", IMAGES[:1])
    assert process.named == {
        **{"text": "rendered", "images": IMAGES[:1], "message_format": "none"},
        **{"always_start_with_space": False, "max_crops": 3},
    }
    assert {name: tuple(each.shape) for name, each in row.items()} == dict.fromkeys(names, (1, 2))
    for last_only in (True, False):
        assert model.call(batch={"input_ids": "ids"}, last_only=last_only) == "logits"
        assert model.model.named == {"input_ids": "ids", "use_cache": False, "last_logits_only": last_only}


def test_models_that_were_made_for_one_image_are_shown_the_first():
    made_for_one = {family: not family.all_images for family in (KimiVL, Molmo, Monkey, Moondream, MPlugOwl3)}
    assert [family for family, one in made_for_one.items() if one] == [Molmo, Monkey, Moondream]


def test_variants_pass_one_by_one_where_the_code_is_of_one_prompt() -> None:
    families = (KimiVL, Molmo, Monkey, Moondream, MPlugOwl3)
    # Moondream's caches and mPLUG-Owl3's media_offset are of one prompt.
    assert [family for family in families if not family.batches] == [Moondream, MPlugOwl3]
    # Their code puts the image into the prompt, whose text has no mark.
    assert [family for family in families if not family.marks_images] == [Molmo, Moondream]


def loaded(family: Any, network: Any, dtype: str, monkeypatch: Any) -> tuple[Any, dict[str, Any]]:
    """Load a family from stand-ins; return it, and the options with which each class was asked."""
    source, asked = CheckpointSource("m", dtype=dtype, trust_remote_code=True), {}
    returned: Any = {"AutoConfig": SimpleNamespace(llm_config=SimpleNamespace()), "AutoTokenizer": "words"}

    def loads(name: str, **options: Any) -> Any:
        asked[name] = options
        return returned.get(name, network)

    found = remote_code.Loading(source, "0" * 40)
    stand_in = SimpleNamespace(source=source, options={"revision": 1}, settings=found.settings, model=loads)

    @contextmanager
    def opened(_: object) -> Iterator[Any]:
        yield stand_in

    monkeypatch.setattr(family, "remote_code", opened)
    monkeypatch.setattr(remote_code, "_identity", lambda *_: IDENTITY)
    for name in returned:
        monkeypatch.setattr(
            getattr(transformers, name),
            "from_pretrained",
            lambda _, name=name, **options: loads(name, **options),
        )
    return family.load(source), asked


class MonkeyLMHeadModel:
    def forward(self, input_ids: Any, attention_mask: Any, use_cache: Any, return_dict: Any) -> None: ...


@pytest.mark.parametrize(
    ("dtype", "switch"), [("bfloat16", "bf16"), ("float16", "fp16"), ("float32", "fp32")]
)
def test_one_switch_of_monkeys_configuration_is_on(dtype, switch, monkeypatch):
    model, asked = loaded(monkey, MonkeyLMHeadModel(), dtype, monkeypatch)
    expected = dict.fromkeys(("bf16", "fp16", "fp32"), False) | {switch: True}
    assert asked == {"AutoTokenizer": {"revision": 1}, "AutoModelForCausalLM": expected}
    assert model.tokenizer == "words" and model.settings == {}


class mPLUGOwl3Model:  # noqa: N801, as the checkpoint's code calls it
    def init_processor(self, words: str) -> Any:
        return self.prepare

    def prepare(self, messages: Any, images: Any, videos: Any, cut_enable: Any) -> str:
        return "words"


def test_mplug_owl3_is_loaded_as_upstream(monkeypatch):
    model, asked = loaded(mplug_owl3, mPLUGOwl3Model(), "float16", monkeypatch)
    expected = {"AutoTokenizer": {"revision": 1}, "AutoModel": {"attn_implementation": "sdpa"}}
    # vlmeval/vlm/mplug_owl3.py
    assert asked == expected and model.settings == {"cut_enable": False}


def test_sail_vl_is_loaded_as_upstream(monkeypatch):
    network = SimpleNamespace(extract_feature=lambda pixel_values: None)
    model, asked = loaded(sail_vl, network, "bfloat16", monkeypatch)
    assert asked["AutoTokenizer"] == {"use_fast": False, "revision": 1}
    assert asked["AutoModel"]["config"].llm_config._attn_implementation == "sdpa"
    # load_image_msac(image_path, max_num=10, ...) in vlmeval/vlm/sail_vl.py
    assert model.settings == {"use_msac": True, "max_num": 10}


def test_monkey_finds_each_image_in_a_file_of_its_own(monkeypatch):
    words = Recorded({"input_ids": 1, "attention_mask": 2, "token_type_ids": 3})
    model = Monkey(SimpleNamespace(), words, IDENTITY, words=words)
    # A blank before the letter is of its token.
    rendered = model.prompt("Which?", 2)
    assert rendered == "<img></img><img></img> \n Which? Answer:"
    assert model.prompt("Which?", 0) == " \n Which? Answer:"
    row: Any = model.row("Which?", rendered, IMAGES)
    assert row == {"input_ids": 1, "attention_mask": 2} and words.named == {"return_tensors": "pt"}
    first, second = (part.partition("</img>")[0] for part in words.positional[0].split("<img>")[1:])
    assert first != second and words.positional[0].endswith("</img> \n Which? Answer:")
    for path, image in zip((first, second), IMAGES, strict=True):
        assert Image.open(path).tobytes() == image.tobytes()
    # Images of the variant before stay until the next call of the encoder.
    model.row("Which?", rendered, IMAGES[:1])
    assert len(list(Path(model.folder.name).iterdir())) == 3
    monkeypatch.setattr(remote_code.RemoteCodeModel, "encode", lambda *_: {"encoded": 1})
    assert model.encode(rendered, []) == {"encoded": 1} and not list(Path(model.folder.name).iterdir())


def test_mplug_owl3_counts_the_images_before_each_token():
    row = {"input_ids": 1, "media_offset": 2, "pixel_values": 3, "more": 4}
    processor: Any = Recorded(row)
    processor.build_text_qwen = Recorded([{"text": "a"}, {"text": "b"}])
    network = Recorded(SimpleNamespace(logits="logits"))
    model = MPlugOwl3(network, processor, IDENTITY, settings={"cut_enable": False}, words="words")
    messages = [{"role": "user", "content": "<|image|><|image|>Which?"}, {"role": "assistant", "content": ""}]
    assert model.prompt("Which?", 2) == "ab"
    assert processor.build_text_qwen.positional == (messages,)
    assert model.row("Which?", "ab", IMAGES) == {"input_ids": 1, "media_offset": 2, "pixel_values": 3}
    assert processor.positional == (messages,)
    assert processor.named == {"images": IMAGES, "videos": None, "cut_enable": False}
    assert model.call(batch={"input_ids": 1}, last_only=True) == "logits"
    assert network.named == {"input_ids": 1, "use_cache": False, "return_dict": True}
    offset = torch.tensor([[[0, 1], [1, 2], [2, 3]]])
    longer = model.continued({"input_ids": torch.ones(1, 3).long(), "media_offset": offset}, [7, 8])
    assert longer["media_offset"].tolist() == [[[0, 1], [1, 2], [2, 3], [2, 3], [2, 3]]]
    assert longer["input_ids"].tolist() == [[1, 1, 1, 7, 8]]


class Letters:
    """A tokenizer of letters, of which "~" merges with what follows."""

    def encode(self, text: str) -> Any:
        return SimpleNamespace(
            ids=[ord(each) for each in text.replace("~", "").replace(":!", "?").replace(":,", "!")]
        )

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))

    def to_str(self) -> str:
        return "words"


def moondream() -> Any:
    template = {"prefix": [ord("<")], "suffix": [ord(">"), ord(":")]}
    config = SimpleNamespace(
        tokenizer=SimpleNamespace(templates={"query": template}), text=SimpleNamespace(max_context=9)
    )
    inner = SimpleNamespace(tokenizer=Letters(), config=config)
    cache = torch.tensor([1.0])
    network = SimpleNamespace(
        model=inner, encode_image=Recorded(SimpleNamespace(kv_cache=cache, pos=5)), device="cpu", config=None
    )
    return Moondream(network, inner, IDENTITY)


def test_moondream_continues_the_keys_and_values_of_its_image():
    model = moondream()
    assert model.prompt("Which?", 1) == "<Which?>:"
    row = model.row("Which?", "", IMAGES)
    assert model.model.encode_image.positional == (IMAGES[0],)
    assert row["input_ids"].tolist() == [[*map(ord, "<Which?>:")]]
    assert (int(row["pos"]), model.positions(row), model.context()) == (5, 5 + len("<Which?>:"), 9)
    assert model.tokens_after("<Which?>:", " B") == [ord(" "), ord("B")]
    for answer in ("~", "!B", ",B"):  # no token, and two that merge with the prompt
        with pytest.raises(
            ModelError, match=r"^m: the answer .* changes the tokens of the prompt that ends in"
        ):
            model.tokens_after("<Which?>:", answer)
    hidden = torch.tensor([[[1.0], [2.0], [3.0]]])
    model.model.model._prefill_prompt = Recorded(("of the last", hidden, None, None))
    model.model.model.text = {"post_ln": lambda states: states + 1, "lm_head": lambda states: states * 10}
    # Neither the norm nor all positions are in the logits that its code returns.
    assert model.call(batch=row, last_only=True).tolist() == [[[40.0]]]
    assert model.call(row, last_only=False).flatten().tolist() == [20.0, 30.0, 40.0]
    cache, ids, position = model.model.model._prefill_prompt.positional
    assert cache is not row["kv_cache"] and cache.tolist() == [1.0]  # its code writes into it
    assert ids is row["input_ids"] and position == 5
    assert model.language_head() is model.model.model.text["lm_head"]
    # The identity names its words, which the commit does not pin.
    assert model.facts()["tokenizer"] == hashlib.blake2b(b"words", digest_size=16).hexdigest()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_moondream_has_one_precision(dtype):
    with pytest.raises(
        ModelError, match=r"^m: its code computes in float16 alone; set `dtype: float16` in the"
    ):
        load(CheckpointSource("m", dtype=dtype, trust_remote_code=True))


PLAIN = {"r": 2, "lora_alpha": 5, "peft_type": "LORA"}


def adapter(folder: Path, config: dict[str, Any] = PLAIN, **weights: torch.Tensor) -> Any:
    """Write an adapter; return a model of two layers to which it is added."""
    (folder / "adapter_config.json").write_text(json.dumps(config))
    save_file(
        {name.replace("__", "."): each for name, each in weights.items()},
        folder / "adapter_model.safetensors",
    )
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({"first": torch.nn.Linear(3, 4), "second": torch.nn.Linear(3, 4)})
    add_adapter(model, folder, "m")
    return model


A, B = torch.arange(6.0).reshape(2, 3), torch.arange(8.0).reshape(4, 2)
FIRST = {f"base_model__model__first__lora_{half}__weight": each for half, each in (("A", A), ("B", B))}


def test_an_adapter_adds_its_scaled_product_to_the_layers_that_it_names(tmp_path):
    model = adapter(tmp_path, **FIRST)
    x = torch.tensor([[1.0, 2.0, 3.0]])
    for name, added in (("first", 2.5 * x @ A.T @ B.T), ("second", torch.zeros(1, 4))):
        plain = torch.nn.functional.linear(x, model[name].weight, model[name].bias)
        torch.testing.assert_close(model[name](x), plain + added)


@pytest.mark.parametrize(
    ("changes", "left_out", "what"),
    [
        *(({key: value}, "", f"its setting {key}") for key, value in (("use_dora", True), ("bias", "all"))),
        *(
            ({key: value}, "", f"its setting {key}")
            for key, value in (("peft_type", "IA3"), ("use_rslora", True))
        ),
        ({"rank_pattern": {"first": 4}, "bias": "all"}, "", "its setting rank_pattern"),
        ({"fan_in_fan_out": True}, "", "its setting fan_in_fan_out"),
        ({}, "lora_A", r"the layer first"),
        ({"bias": "none", "use_dora": None, "rank_pattern": {}}, None, None),
        # As peft writes them.
        (dict.fromkeys(("use_dora", "use_rslora", "fan_in_fan_out"), False), None, None),
        ({}, "lora", "no layer"),
    ],
)
def test_an_adapter_that_computes_otherwise_is_refused(tmp_path, changes, left_out, what):
    weights = {name: each for name, each in FIRST.items() if not left_out or left_out not in name}
    if what is None:
        adapter(tmp_path, PLAIN | changes, **weights)
        return
    with pytest.raises(ModelError, match=f"^m: its adapter .* has {what}, which this version cannot apply"):
        adapter(tmp_path, PLAIN | changes, **weights)


# A layer's own name is none of its matrices.
@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("base_model__model__third__lora_A__weight", "third"),
        ("lm_head__weight", r"lm_head\.weight"),
        ("first", "first"),
    ],
)
def test_an_adapter_of_an_unknown_layer_is_refused(tmp_path, name, layer):
    with pytest.raises(ModelError, match=rf"has the layer {layer}, which this version cannot"):
        adapter(tmp_path, **FIRST, **{name: A.clone(), "zzz__weight": A.clone()})
    (tmp_path / "adapter_model.safetensors").unlink()
    with pytest.raises(
        ModelError, match=r"^m: its adapter for images, .* cannot be read .*; fetch the model aga"
    ):
        add_adapter(torch.nn.Linear(1, 1), tmp_path, "m")
