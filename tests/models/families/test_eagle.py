"""What Eagle's code is given, on stand-ins of its functions; a whole model is in test_remote_code.py."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from PIL import Image

from benchc.models import remote_code
from benchc.models.families import eagle
from benchc.models.families.eagle import Eagle
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.remote_code_families import SETTINGS_OF

MARK = -200  # IMAGE_TOKEN_INDEX in eagle/constants.py


class Conversation:
    """As of eagle/conversation.py: two roles, and turns of which the last may be open."""

    roles = ("USER", "ASSISTANT")

    def __init__(self) -> None:
        self.turns: list[tuple[str, str | None]] = []

    def copy(self) -> "Conversation":
        return Conversation()

    def append_message(self, role: str, text: str | None) -> None:
        self.turns.append((role, text))

    def get_prompt(self) -> str:
        return " ".join(f"{role}:" if text is None else f"{role}: {text}" for role, text in self.turns)


def process_images(images: list[Image.Image], processor: str, config: Any) -> Any:
    # As in eagle/mm_utils.py: a list, where images have different numbers of tiles.
    assert (processor, config.mm_use_im_start_end) == ("images", False)
    tiles = [torch.ones(1 + image.width // 10, 3, 2, 2) for image in images]
    return torch.stack(tiles) if len({len(each) for each in tiles}) == 1 else tiles


def tokenizer_image_token(prompt: str, words: str, index: int, return_tensors: str) -> torch.Tensor:
    assert (words, return_tensors) == ("words", "pt")
    return torch.tensor([index if word == "<image>" else len(word) for word in prompt.split()])


@pytest.fixture
def model() -> Eagle:
    constants = SimpleNamespace(
        DEFAULT_IMAGE_TOKEN="<image>",
        DEFAULT_IM_START_TOKEN="<im_start>",
        DEFAULT_IM_END_TOKEN="<im_end>",
        IMAGE_TOKEN_INDEX=MARK,
    )
    utilities = SimpleNamespace(process_images=process_images, tokenizer_image_token=tokenizer_image_token)
    templates = SimpleNamespace(conv_templates={"vicuna_v1": Conversation()})
    code = {"constants": constants, "mm_utils": utilities, "conversation": templates}
    config = SimpleNamespace(mm_use_im_start_end=False, max_position_embeddings=50)
    network = SimpleNamespace(config=config, get_vision_tower=lambda: SimpleNamespace(num_patches=8))
    return Eagle(network, "images", {"model": "NVEagle/x"}, text_tokenizer="words", code=code, encoders="e@1")


@pytest.mark.parametrize(
    ("marked", "images", "marks"),
    [
        (False, 0, ""),
        (False, 2, "<image><image>"),
        # vlmeval/vlm/eagle_x.py: one pair around the marks of all images.
        (True, 2, "<im_start><image><image><im_end>"),
    ],
)
def test_the_question_follows_the_images_in_the_users_turn_and_the_answer_is_open(
    model, marked, images, marks
):
    model.model.config.mm_use_im_start_end = marked
    for _ in range(2):  # the conversation of the package stays empty
        assert model.prompt("Which?", images) == f"USER: {marks}\nWhich? ASSISTANT:"


def test_a_row_has_the_tiles_and_the_sizes_of_its_images(model):
    images = [Image.new("RGB", (20, 8)), Image.new("RGB", (25, 9))]
    row = model.row("Which?", "ab <image> <image> abc", images)
    assert row["input_ids"].tolist() == [[2, MARK, MARK, 3]]
    assert row["images"].shape == (2, 3, 3, 2, 2)
    assert row["image_sizes"].tolist() == [[20, 8], [25, 9]]  # width first, as `img.size` upstream
    # Each mark becomes the patches of an image.
    assert model.positions(row) == 2 + 2 * 8
    other = [Image.new("RGB", (20, 8)), Image.new("RGB", (40, 9))]
    with pytest.raises(ModelError, match=r"^NVEagle/x: images of one item have different numbers of tiles"):
        model.row("Which?", "ab <image> <image> abc", other)


@pytest.mark.parametrize(
    ("cut", "positions", "context"), [(None, 50, 50), (30, 50, 30), (60, 50, 50), (30, None, 30)]
)
def test_the_context_ends_where_the_code_would_cut_a_prompt(model, cut, positions, context):
    model.model.config = SimpleNamespace(tokenizer_model_max_length=cut, max_position_embeddings=positions)
    assert model.context() == context


def test_the_code_is_called_once_for_all_rows_without_keys_and_values(model):
    given = {}
    network = model.model

    def called(**options: Any) -> Any:
        given.update(options)
        return SimpleNamespace(logits="logits")

    model.model = called
    batch = {"input_ids": "ids", "images": "tiles", "image_sizes": torch.tensor([[20, 8]])}
    assert model.call(batch=batch, last_only=True) == "logits"
    # `image_sizes` are compared with tuples and lists of numbers in eagle_llama.py.
    whole = {"input_ids": "ids", "images": "tiles", "image_sizes": [[20, 8]]}
    assert given == {**whole, "use_cache": False, "return_dict": True}
    model.model = network
    assert model.facts()["encoders"] == "e@1" and model.tokenizer == "words"


class EagleLlamaForCausalLM:
    def __init__(self) -> None:
        self.calls: list[object] = []

    def forward(self, images: Any, image_sizes: Any, use_cache: Any, return_dict: Any) -> None: ...

    def to(self, *where: object) -> "EagleLlamaForCausalLM":
        self.calls.append(where)
        return self

    def eval(self) -> None:
        self.calls.append("eval")


def test_the_weights_are_loaded_as_upstream_and_not_quantised(monkeypatch):
    asked: list[Any] = []
    network = EagleLlamaForCausalLM()

    def load_pretrained_model(*arguments: Any, **options: Any) -> Any:
        asked.append((arguments, options))
        return "words", network, "images", 4096

    source = CheckpointSource("m", dtype="bfloat16")
    found = SimpleNamespace(source=source, settings=dict, folder=lambda: "folder")
    code = SimpleNamespace(load_pretrained_model=load_pretrained_model)
    monkeypatch.setattr(eagle, "package_code", lambda _: nullcontext(found))
    monkeypatch.setattr(eagle, "package", lambda name, *_: code if name == "eagle.model.builder" else name)
    monkeypatch.setattr(eagle, "package_digest", lambda name: f"digest of {name}")
    monkeypatch.setattr(
        eagle, "_only_the_checkpoints_weights", lambda *given: nullcontext(asked.append(given))
    )
    monkeypatch.setattr(eagle, "_loaded_commit", lambda repo: "1")
    monkeypatch.setattr(remote_code, "_identity", lambda *given: {"digest": given[2]})
    model = eagle.load(source)
    # load_pretrained_model(model_path, None, model_name, False, False, device='cpu') in
    # vlmeval/vlm/eagle_x.py: neither in 8 nor in 4 bits.
    assert asked == [(found, code), (("folder", None, "eagle", False, False), {"device": "cpu"})]
    assert network.calls == [("cpu", torch.bfloat16), "eval"]
    assert (model.model, model.processor, model.tokenizer) == (network, "images", "words")
    assert model.identity == {"digest": "digest of eagle"}
    assert sorted(model.code) == ["builder", "constants", "conversation", "mm_utils"]
    assert model.encoders.split(", ") == [f"{repo}@1" for repo in SETTINGS_OF["eagle"]]


def test_the_commit_of_an_encoder_is_that_of_its_branch_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    (tmp_path / "models--owner--encoder/refs").mkdir(parents=True)
    (tmp_path / "models--owner--encoder/refs/main").write_text("c0ffee")
    assert eagle._loaded_commit("owner/encoder") == "c0ffee"


class Tower:
    """A class of transformers, with the class of its settings."""

    config_class = SimpleNamespace(from_pretrained=lambda name: f"settings of {name}")

    def __init__(self, settings: str) -> None:
        self.settings = settings

    @classmethod
    def from_pretrained(cls, folder: str, **options: Any) -> Any:
        assert options == {"output_loading_info": True, "device_map": "cpu"}
        return cls(folder), "report"


def test_encoders_are_built_from_settings_and_the_package_is_left_as_it_was(monkeypatch):
    modules = {name: SimpleNamespace(**{each: Tower}) for name, each in eagle.ENCODERS.items()}
    modules["convnext_encoder"] = SimpleNamespace(
        convnext_xxlarge=lambda *, pretrained: ("built", pretrained)
    )
    before = {name: dict(vars(module)) for name, module in modules.items()}
    monkeypatch.setattr(eagle, "package", lambda name, *_: modules[name.rpartition(".")[2]])
    required = []
    source = SimpleNamespace(location="m")
    found: Any = SimpleNamespace(source=source, require_weights=lambda *given: required.append(given))
    builder = SimpleNamespace(EagleLlamaForCausalLM=Tower)
    with pytest.raises(KeyError), eagle._only_the_checkpoints_weights(found, builder):
        for name, each in eagle.ENCODERS.items():
            encoder = getattr(modules[name], each).from_pretrained("someone/encoder")
            assert encoder.settings == "settings of someone/encoder"
        # `pretrained` of timm's builder reads a checkpoint from the address that it is given.
        assert modules["convnext_encoder"].convnext_xxlarge("address") == ("built", False)
        loaded = builder.EagleLlamaForCausalLM.from_pretrained("folder", device_map="cpu")
        assert loaded.settings == "folder" and required == [(loaded, "report")]
        raise KeyError
    assert {name: dict(vars(module)) for name, module in modules.items()} == before
    assert builder.EagleLlamaForCausalLM is Tower
