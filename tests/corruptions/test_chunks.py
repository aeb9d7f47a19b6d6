"""A table of corrupted images does not depend on workers, chunks, neighbours or interruptions."""

import errno
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from benchc.closure import source_closure
from benchc.corruptions import chunks
from benchc.corruptions.chunks import IMAGES_PER_CHUNK, CorruptionSpec, write_corrupted
from benchc.corruptions.recipe import Recipe, clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.image_keys import derived_key
from benchc.images import CODECS, Codec, decode, encode_png
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.corrupted_images import images_of_items
from benchc.schemas.parquet import TableError, read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import IMAGE_COLUMNS, EncodedImage, pool_digest, read_ids, unique_images
from benchc.schemas.subset import SUBSET
from scripts.command import run
from tests.stages import call_stage, command_of

ROOT = Path(__file__).resolve().parents[2]


def recipe(name: str, *severities: int) -> Recipe:
    whole = recipe_of(name, engine="imgaug")
    return replace(whole, parameters={severity: whole.parameters[severity] for severity in severities})


def png(seed: int, height: int = 36, width: int = 50) -> bytes:
    return encode_png(np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8))


IMAGES: list[EncodedImage] = [("b/2#0", png(1)), ("b/2#1", png(1)), ("b/10#0", png(2)), ("a://x", png(1))]
SPEC = CorruptionSpec(recipe("gaussian_noise", 1, 4), seed=7)


def written(
    images: Sequence[EncodedImage], spec: CorruptionSpec, path: Path, workers: int = 1
) -> pl.DataFrame:
    write_corrupted(images, spec, path, workers)
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(path.name)] == [path.name]
    return read_table(path, CORRUPTED)


@pytest.mark.parametrize("codec", CODECS)
def test_rows_are_in_the_order_of_images_then_severities(tmp_path: Path, codec: Codec) -> None:
    frame = written(IMAGES, replace(SPEC, codec=codec), tmp_path / "t.parquet")
    expected = [
        (key, severity, pixels)
        for key, data in IMAGES
        for severity, pixels in variants_of_image(key, data, SPEC.recipe, (1, 4), 7).items()
    ]
    for row, (key, severity, pixels) in zip(frame.iter_rows(named=True), expected, strict=True):
        assert (row["image_key"], row["severity"]) == (key, severity)
        np.testing.assert_array_equal(decode(row["image"]["bytes"]), pixels)
    footer = read_footer(tmp_path / "t.parquet")
    assert (footer["seed"], footer["codec"]) == (7, codec)


@pytest.mark.parametrize("name", ["impulse_noise", "frost"])
def test_bytes_depend_on_neither_order_neighbours_workers_nor_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    spec = CorruptionSpec(recipe(name, 2, 5), seed=3)
    whole = written(IMAGES, spec, tmp_path / "whole")
    backwards = written(IMAGES[::-1], spec, tmp_path / "backwards")
    key = ["image_key", "severity"]
    assert backwards.sort(key).equals(whole.sort(key))
    assert written(IMAGES[2:3], spec, tmp_path / "new/folder/alone").equals(whole.filter(image_key="b/10#0"))
    monkeypatch.setattr(chunks, "IMAGES_PER_CHUNK", 1)
    monkeypatch.setattr(chunks, "variants_of_image", None)  # of this process
    written(IMAGES, spec, tmp_path / "workers", workers=2)
    assert (tmp_path / "workers").read_bytes() == (tmp_path / "whole").read_bytes()


def test_an_error_keeps_the_old_table_and_the_finished_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "IMAGES_PER_CHUNK", 1)
    path = tmp_path / "t.parquet"
    written(IMAGES[:1], SPEC, path)
    old = path.read_bytes()
    with pytest.raises(InputError, match=r"image 'a/2#0', under gaussian_noise: .* not a complete image"):
        write_corrupted([*IMAGES, ("a/2#0", b"\x89PNG")], SPEC, path)
    assert path.read_bytes() == old
    remade = corrupted_keys(monkeypatch)
    written([*IMAGES, ("a/2#0", png(9))], SPEC, path)
    assert remade == ["a/2#0"]


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 8},
        {"codec": "png"},
        {"alpha": "white"},
        {"recipe": recipe("gaussian_noise", 1, 5)},
        {"recipe": recipe("shot_noise", 1, 4)},
    ],
    ids=["seed", "codec", "alpha", "severities", "corruption"],
)
def test_chunks_of_another_job_are_not_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    interrupted(tmp_path / "t.parquet", replace(SPEC, **changes))
    remade = corrupted_keys(monkeypatch)
    frame = written(IMAGES, SPEC, tmp_path / "t.parquet")
    assert remade == [key for key, _ in IMAGES]
    assert frame.equals(written(IMAGES, SPEC, tmp_path / "u.parquet"))


def test_chunks_of_other_severities_of_an_image_are_not_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, now = ({key: [severity] for key, _ in IMAGES} for severity in (1, 4))
    interrupted(tmp_path / "t.parquet", SPEC, before)
    remade = corrupted_keys(monkeypatch)
    write_corrupted(IMAGES, SPEC, tmp_path / "t.parquet", assigned=now)
    assert remade == [key for key, _ in IMAGES]
    assert read_table(tmp_path / "t.parquet", CORRUPTED)["severity"].to_list() == [4] * len(IMAGES)


LIBRARIES = ["numpy", "opencv", "numba", "llvmlite", "pillow", "libjpeg_turbo"]


@pytest.mark.parametrize("changed", ["bytes", "key", "code", *LIBRARIES])
def test_chunks_of_other_images_libraries_or_code_are_not_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    interrupted(tmp_path / "t.parquet", SPEC)
    versions = chunks.library_versions()
    if changed in LIBRARIES:
        versions[changed] += ".1"
    monkeypatch.setattr(chunks, "library_versions", lambda: versions)
    if changed == "code":
        monkeypatch.setattr(chunks, "closure_digest", lambda files, root: "edited")
    first = {"bytes": ("b/2#0", png(3)), "key": ("b/3#0", png(1))}.get(changed, IMAGES[0])
    remade = corrupted_keys(monkeypatch)
    written([first, *IMAGES[1:]], SPEC, tmp_path / "t.parquet")
    assert len(remade) == len(IMAGES)


def test_a_damaged_chunk_is_refused(tmp_path: Path) -> None:
    interrupted(tmp_path / "t.parquet", SPEC)
    (chunk,) = tmp_path.glob("t.parquet.parts/*.chunk")
    assert len(bytes.fromhex(chunk.stem)) * 8 == 128
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(data)
    with pytest.raises(TableError, match=rf"{chunk}: .*; delete it and run snakemake again$"):
        write_corrupted(IMAGES, SPEC, tmp_path / "t.parquet")
    assert list(chunk.parent.iterdir()) == [chunk]  # what was unfinished is gone
    chunk.unlink()
    written(IMAGES, SPEC, tmp_path / "t.parquet")


def test_a_second_process_does_not_write_the_same_table(tmp_path: Path) -> None:
    output = tmp_path / "t.parquet"

    def images() -> Iterator[EncodedImage]:
        with pytest.raises(InputError, match=r"t.parquet.parts: another process is writing there; wait"):
            write_corrupted(IMAGES, SPEC, output)
        yield from IMAGES

    write_corrupted(images(), SPEC, output)
    assert read_table(output, CORRUPTED).height == 2 * len(IMAGES)


def test_a_file_system_without_locks_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(chunks.fcntl, "flock", flock)
    assert written(IMAGES[:1], SPEC, tmp_path / "t.parquet").height == 2


def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    made = corrupted_keys(monkeypatch)
    outputs = {tmp_path: "is a folder", tmp_path / "file/t.parquet": r"cannot be written \([A-Z]"}
    for output, message in outputs.items():
        with pytest.raises(InputError, match=f"{message}.*another --output"):
            write_corrupted(IMAGES, SPEC, output)
    assert made == []
    assert not tmp_path.with_name(f"{tmp_path.name}.parts").exists()


def test_an_edit_of_a_kernel_outside_the_repository_changes_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "outside_kernels.py"
    module.write_text("def turned(image):\n    return image[:, ::-1].copy()\n")
    outside = Recipe("turned", "outside_kernels.turned", None, {1: {}})
    frame = written(IMAGES[:1], CorruptionSpec(outside, seed=1), tmp_path / "t.parquet")
    np.testing.assert_array_equal(decode(frame["image"][0]["bytes"]), decode(png(1))[:, ::-1])
    digest = chunks.code_digest(outside)
    assert digest != chunks.code_digest(clean_recipe())
    module.write_text(module.read_text() + "\n")
    assert chunks.code_digest(outside) != digest
    for kernel in ("no_such_package.light.turned", "outside_kernels.light.turned", ".turned"):
        with pytest.raises(InputError, match=r"the module .* is missing; .* to PYTHONPATH"):
            chunks.code_digest(replace(outside, kernel=kernel))


def interrupted(
    path: Path, spec: CorruptionSpec, assigned: Mapping[str, Sequence[int]] | None = None
) -> None:
    """Leave the files of a job that was killed after its last chunk, before the table was complete."""
    folder = path.with_name(f"{path.name}.parts")
    folder.mkdir()
    assert list(chunks.corrupted_images(IMAGES, spec, folder, 1, assigned))
    (folder / ".whole.parquet.x").write_bytes(b"half")


def corrupted_keys(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects the key of every image corrupted from now on."""
    keys: list[str] = []

    def counting(key: str, *arguments: object) -> object:
        keys.append(key)
        return variants_of_image(key, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(chunks, "variants_of_image", counting)
    return keys


def pool_file(path: Path, items: Mapping[str, Sequence[EncodedImage]]) -> None:
    rows = [
        {"id": id_, "image_keys": [key for key, _ in own], "images": [{"bytes": data} for _, data in own]}
        for id_, own in items.items()
    ]
    write_table(pl.DataFrame(rows, schema=POOL.columns), path, POOL)


def options(folder: Path, spec: CorruptionSpec, output: Path) -> dict[str, Any]:
    return {"pool": folder / "items.parquet", "recipe": spec.recipe, "seed": spec.seed, "output": output}


def test_a_killed_stage_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images: list[EncodedImage] = [(f"a://{n}", png(n, 168, 224)) for n in range(3 * IMAGES_PER_CHUNK)]
    # Every other item shares its image with the one before it, and the last with the first.
    items = {f"a/{n}": [images[n // 2]] for n in range(2 * len(images))}
    pool_file(tmp_path / "items.parquet", items | {"a/last": [images[0]]})
    spec = CorruptionSpec(recipe("elastic_transform", 1, 2, 3), seed=5)
    output = tmp_path / "killed.parquet"
    # The process of the stage itself is to be killed.
    given = [sys.executable, *command_of("corrupt", **options(tmp_path, spec, output))[1:]]
    process = subprocess.Popen(given, cwd=ROOT, stderr=subprocess.DEVNULL)
    parts = tmp_path / "killed.parquet.parts"
    while process.poll() is None and not list(parts.glob("*.chunk")):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not output.exists()
    finished = len(list(parts.glob("*.chunk")))
    assert 1 <= finished < 3
    remade = corrupted_keys(monkeypatch)
    written(images, spec, output)
    assert remade == [key for key, _ in images[finished * IMAGES_PER_CHUNK :]]
    written(images, spec, tmp_path / "whole.parquet")
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_the_script_corrupts_the_images_of_a_subset_once_each(tmp_path: Path) -> None:
    # The second image of b/2 is that of a/2, and b/10 is not in the subset.
    items = {"b/2": IMAGES[:2], "b/10": IMAGES[2:3], "a/1": IMAGES[3:], "a/2": IMAGES[1:2]}
    pool_file(tmp_path / "items.parquet", items)
    write_table(pl.DataFrame({"id": ["b/2", "a/1", "a/2"]}), tmp_path / "subset.parquet", SUBSET)
    output = tmp_path / "t.parquet"
    for subset, expected in ((tmp_path / "subset.parquet", [*IMAGES[:2], IMAGES[3]]), (None, IMAGES)):
        call_stage("corrupt", **options(tmp_path, SPEC, output), threads=2, subset=subset)
        digest = pool_digest(tmp_path / "items.parquet", IMAGE_COLUMNS)
        write_corrupted(expected, SPEC, tmp_path / "expected.parquet", pool=digest)
        assert output.read_bytes() == (tmp_path / "expected.parquet").read_bytes()


def test_a_subset_of_another_pool_and_a_pool_with_two_images_of_one_key_are_refused(tmp_path: Path) -> None:
    pool_file(tmp_path / "items.parquet", {"b/2": IMAGES[:2]})
    write_table(pl.DataFrame({"id": ["b/2", "b/3"]}), tmp_path / "subset.parquet", SUBSET)
    with pytest.raises(InputError, match=r"subset.parquet: 1 item not in .*items.parquet, such as b/3"):
        read_ids(tmp_path / "items.parquet", tmp_path / "subset.parquet")
    pool_file(tmp_path / "items.parquet", {"a/1": [("a://x", png(1))], "a/2": [("a://x", png(2))]})
    message = "item a/2 and an earlier one have different images with the key 'a://x'"
    with pytest.raises(InputError, match=message):
        list(unique_images(tmp_path / "items.parquet", {"a/1", "a/2"}))
    assert list(unique_images(tmp_path / "items.parquet", {"a/2"})) == [("a://x", png(2))]


# Composed and decomposed: equal on a screen.
ODD = ("s/\u00e9", "s/e\u0301", "s/1#0", "s/x://y", "s/ 1", "s/1\x1f", "s/\U0001f600")


def test_odd_ids_stay_distinct(tmp_path: Path) -> None:
    pool_file(tmp_path / "items.parquet", {id_: [(derived_key(id_, 0), png(1))] for id_ in ODD})
    images = list(unique_images(tmp_path / "items.parquet", set(ODD)))
    write_corrupted(images, SPEC, tmp_path / "gaussian_noise.parquet")
    keys = {id_: [derived_key(id_, 0)] for id_ in reversed(ODD)}
    found = dict(images_of_items(tmp_path / "gaussian_noise.parquet", keys))
    assert list(found) == list(keys)
    for id_, variants in found.items():
        expected = variants_of_image(derived_key(id_, 0), png(1), SPEC.recipe, (1, 4), SPEC.seed)
        for severity, pixels in expected.items():
            np.testing.assert_array_equal(variants[severity][0], pixels)
    assert len({variants[1][0].tobytes() for variants in found.values()}) == len(ODD)


def test_a_truncated_image_ends_the_script_with_a_one_line_error(tmp_path: Path) -> None:
    pool_file(tmp_path / "items.parquet", {"a/1": [("a/1#0", png(1))], "a/2": [("a/2#0", png(1)[:-900])]})
    output = tmp_path / "t.parquet"
    with pytest.raises(SystemExit) as stop:
        run(lambda: call_stage("corrupt", **options(tmp_path, SPEC, output)))
    mend = "fix the image in its source, or remove the items that have it"
    assert re.fullmatch(f"error: image 'a/2#0', under gaussian_noise: .*; {mend}", str(stop.value))
    assert not output.exists()


def test_corrupt_jobs_do_not_import_suites() -> None:
    closure = source_closure(["scripts/corrupt.py"], ROOT)
    assert "benchc/corruptions/chunks.py" in closure
    assert not [file for file in closure if "suites" in file or "registry" in file or "kernels" in file]


def test_transparency_is_blended_with_white_if_the_job_requests_it(tmp_path: Path) -> None:
    # Red, and under the transparent half, blue.
    pixels = np.zeros((40, 40, 4), np.uint8)
    pixels[:, :20] = (255, 0, 0, 255)
    pixels[:, 20:] = (0, 0, 255, 0)
    buffer = io.BytesIO()
    Image.fromarray(pixels, "RGBA").save(buffer, "PNG")
    hidden = {}
    for alpha in ("drop", "white"):
        path = tmp_path / f"{alpha}.parquet"
        write_corrupted([("a/1#0", buffer.getvalue())], CorruptionSpec(clean_recipe(), 0, alpha), path)
        image = decode(read_table(path, CORRUPTED)["image"][0]["bytes"])
        assert image[0, 0].tolist() == [255, 0, 0]
        hidden[alpha] = image[0, 39].tolist()
    assert hidden == {"drop": [0, 0, 255], "white": [255, 255, 255]}
