"""A table of corrupted images is the same however it came about: workers, portions, neighbours, a kill."""

import io
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.closure import source_closure
from benchc.corruptions import portions
from benchc.corruptions.portions import ITEMS_OF_A_PORTION, Item, Job, write_corrupted
from benchc.corruptions.recipe import Recipe, clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_item
from benchc.errors import InputError
from benchc.images import CODECS, Codec, decode, encode_png
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL

ROOT = Path(__file__).resolve().parents[2]


def recipe(name: str, *severities: int) -> Recipe:
    whole = recipe_of(name, engine="imgaug")
    return replace(whole, parameters={severity: whole.parameters[severity] for severity in severities})


def png(seed: int, height: int = 36, width: int = 50) -> bytes:
    return encode_png(np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8))


ITEMS: list[Item] = [("b/2", [png(1), png(1)]), ("b/10", [png(2)]), ("a/1", [png(1)])]
JOB = Job(recipe("gaussian_noise", 1, 4), seed=7)


def written(items: Sequence[Item], job: Job, path: Path, workers: int = 1) -> pl.DataFrame:
    write_corrupted(items, job, path, workers)
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(path.name)] == [path.name]
    return read_table(path, CORRUPTED)


@pytest.mark.parametrize("codec", CODECS)
def test_rows_follow_the_items_then_the_severities(tmp_path: Path, codec: Codec) -> None:
    frame = written(ITEMS, replace(JOB, codec=codec), tmp_path / "t.parquet")
    expected = [
        (id_, severity, variant)
        for id_, images in ITEMS
        for severity, variant in variants_of_item(id_, images, JOB.recipe, (1, 4), 7)
    ]
    for row, (id_, severity, variant) in zip(frame.iter_rows(named=True), expected, strict=True):
        assert (row["id"], row["severity"]) == (id_, severity)
        for image, pixels in zip(row["images"], variant, strict=True):
            np.testing.assert_array_equal(decode(image["bytes"]), pixels)
    footer = read_footer(tmp_path / "t.parquet")
    assert (footer["seed"], footer["codec"]) == (7, codec)


def test_clean_passes_through_the_same_code(tmp_path: Path) -> None:
    frame = written(ITEMS, Job(clean_recipe(), seed=7), tmp_path / "t.parquet")
    assert frame["severity"].to_list() == [0, 0, 0]
    np.testing.assert_array_equal(decode(frame["images"][1][0]["bytes"]), decode(png(2)))


@pytest.mark.parametrize("name", ["impulse_noise", "frost"])
def test_neither_order_nor_neighbours_nor_workers_nor_portions_change_a_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    job = Job(recipe(name, 2, 5), seed=3)
    whole = written(ITEMS, job, tmp_path / "whole")
    backwards = written(ITEMS[::-1], job, tmp_path / "backwards")
    key = ["id", "severity"]
    assert backwards.sort(key).equals(whole.sort(key))
    assert written(ITEMS[1:2], job, tmp_path / "alone").equals(whole.filter(id="b/10"))
    monkeypatch.setattr(portions, "ITEMS_OF_A_PORTION", 1)
    written(ITEMS, job, tmp_path / "workers", workers=2)
    assert (tmp_path / "workers").read_bytes() == (tmp_path / "whole").read_bytes()


def test_an_error_keeps_the_old_table_and_what_was_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "ITEMS_OF_A_PORTION", 1)
    path = tmp_path / "t.parquet"
    written(ITEMS[:1], JOB, path)
    old = path.read_bytes()
    with pytest.raises(InputError, match=r"item 'a/2', image 0, under gaussian_noise: .* no whole image"):
        write_corrupted([*ITEMS, ("a/2", [b"\x89PNG"])], JOB, path)
    assert path.read_bytes() == old
    remade = counted(monkeypatch)
    written([*ITEMS, ("a/2", [png(9)])], JOB, path)
    assert remade == ["a/2"]


@pytest.mark.parametrize(
    "other",
    [
        replace(JOB, seed=8),
        replace(JOB, recipe=recipe("gaussian_noise", 1, 5)),
        replace(JOB, codec="png"),
        replace(JOB, recipe=recipe("shot_noise", 1, 4)),
    ],
    ids=["seed", "severities", "codec", "corruption"],
)
def test_portions_of_another_job_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: Job
) -> None:
    interrupted(tmp_path / "t.parquet", other)
    remade = counted(monkeypatch)
    frame = written(ITEMS, JOB, tmp_path / "t.parquet")
    assert remade == [id_ for id_, _ in ITEMS]
    assert frame.equals(written(ITEMS, JOB, tmp_path / "u.parquet"))


def test_portions_of_older_code_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tmp_path / "t.parquet", JOB)
    monkeypatch.setattr(portions, "closure_digest", lambda files, root: "edited")
    remade = counted(monkeypatch)
    written(ITEMS, JOB, tmp_path / "t.parquet")
    assert len(remade) == len(ITEMS)


def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    made = counted(monkeypatch)
    for output, message in (
        (tmp_path, "is a folder"),
        (tmp_path / "file" / "t.parquet", "cannot be written"),
    ):
        with pytest.raises(InputError, match=f"{message}.*another --output"):
            write_corrupted(ITEMS, JOB, output)
    assert made == []
    assert not tmp_path.with_name(f"{tmp_path.name}.parts").exists()


def test_the_source_of_a_kernel_outside_the_repository_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "outside_kernels.py"
    module.write_text("def turned(image):\n    return image[:, ::-1].copy()\n")
    outside = Recipe("turned", "outside_kernels.turned", None, {1: {}})
    frame = written(ITEMS[:1], Job(outside, seed=1), tmp_path / "t.parquet")
    np.testing.assert_array_equal(decode(frame["images"][0][0]["bytes"]), decode(png(1))[:, ::-1])
    digest = portions.code_digest(outside)
    assert digest != portions.code_digest(clean_recipe())
    module.write_text(module.read_text() + "\n")
    assert portions.code_digest(outside) != digest
    for kernel in ("no_such_package.light.turned", "outside_kernels.light.turned", ".turned"):
        with pytest.raises(InputError, match=r"there is no file of the module .* on PYTHONPATH"):
            portions.code_digest(replace(outside, kernel=kernel))


def interrupted(path: Path, job: Job) -> None:
    """Leave what a job leaves that was killed when its items were done and the table was not."""
    folder = path.with_name(f"{path.name}.parts")
    folder.mkdir()
    assert list(portions.corrupted_items(ITEMS, job, folder, 1))
    (folder / ".whole.parquet.x").write_bytes(b"half")


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which every item is added that is corrupted from now on."""
    ids: list[str] = []

    def counting(id_: str, *arguments: object) -> object:
        ids.append(id_)
        return variants_of_item(id_, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(portions, "variants_of_item", counting)
    return ids


def pool_file(path: Path, items: Sequence[Item]) -> None:
    texts = {"source": "a", "task": "t", "question": "?", "hint": None, "category": "c", "l2_category": None}
    rows = [
        {"id": id_, "images": [{"bytes": data, "path": None} for data in images], **texts}
        | {"options": ["x", "y"], "answer": 0}
        for id_, images in items
    ]
    frame = pl.DataFrame([{name: row[name] for name in POOL.columns} for row in rows], schema=POOL.columns)
    write_table(frame, path, POOL)


def command(folder: Path, job: Job, output: Path, *options: str) -> list[str]:
    return [
        *(sys.executable, "-m", "scripts.corrupt", "--items", str(folder / "items.parquet")),
        *("--recipe", job.recipe.to_json(), "--seed", str(job.seed), "--output", str(output), *options),
    ]


def test_a_killed_stage_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items: list[Item] = [(f"a/{n}", [png(n, 240, 320)]) for n in range(3 * ITEMS_OF_A_PORTION)]
    pool_file(tmp_path / "items.parquet", items)
    job = Job(recipe("elastic_transform", 1, 2, 3), seed=5)
    output = tmp_path / "killed.parquet"
    process = subprocess.Popen(command(tmp_path, job, output), cwd=ROOT, stderr=subprocess.DEVNULL)
    parts = tmp_path / "killed.parquet.parts"
    while process.poll() is None and not list(parts.glob("*.arrow")):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not output.exists()
    finished = len(list(parts.glob("*.arrow")))
    assert 1 <= finished < 3
    remade = counted(monkeypatch)
    written(items, job, output)
    assert remade == [id_ for id_, _ in items[finished * ITEMS_OF_A_PORTION :]]
    written(items, job, tmp_path / "whole.parquet")
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_the_script_corrupts_the_selected_items_alone(tmp_path: Path) -> None:
    pool_file(tmp_path / "items.parquet", ITEMS)
    selected = [{"id": id_, "kappa": 1.0, "rank": 0, "score": 1.0, "kept": id_ != "b/10"} for id_, _ in ITEMS]
    write_table(pl.DataFrame(selected, schema=SELECTED.columns), tmp_path / "selected.parquet", SELECTED)
    output = tmp_path / "t.parquet"
    options = ("--selected", str(tmp_path / "selected.parquet"), "--threads", "2")
    subprocess.run(command(tmp_path, JOB, output, *options), cwd=ROOT, check=True)
    written([ITEMS[0], ITEMS[2]], JOB, tmp_path / "expected.parquet")
    assert output.read_bytes() == (tmp_path / "expected.parquet").read_bytes()


def test_the_script_ends_on_one_sentence_where_an_image_is_truncated(tmp_path: Path) -> None:
    pool_file(tmp_path / "items.parquet", [("a/1", [png(1)]), ("a/2", [png(1)[:-900]])])
    output = tmp_path / "t.parquet"
    result = subprocess.run(command(tmp_path, JOB, output), cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: item 'a/2', image 0, under gaussian_noise: ")
    assert last.endswith("; mend the image in the item's source, or take the item out of it")
    assert not output.exists()


def test_an_edit_of_a_suite_reruns_no_job_that_was_given_its_recipe() -> None:
    closure = source_closure(["scripts/corrupt.py"], ROOT)
    assert "benchc/corruptions/portions.py" in closure
    assert not [file for file in closure if "suites" in file or "registry" in file or "kernels" in file]


def test_transparency_is_laid_over_white_where_the_job_says_so(tmp_path: Path) -> None:
    # Red, and under the transparent half, blue.
    pixels = np.zeros((40, 40, 4), np.uint8)
    pixels[:, :20] = (255, 0, 0, 255)
    pixels[:, 20:] = (0, 0, 255, 0)
    buffer = io.BytesIO()
    Image.fromarray(pixels, "RGBA").save(buffer, "PNG")
    hidden = {}
    for alpha in ("drop", "white"):
        path = tmp_path / f"{alpha}.parquet"
        write_corrupted([("a/1", [buffer.getvalue()])], Job(clean_recipe(), 0, alpha), path)
        image = decode(read_table(path, CORRUPTED)["images"][0][0]["bytes"])
        assert image[0, 0].tolist() == [255, 0, 0]
        hidden[alpha] = image[0, 39].tolist()
    assert hidden == {"drop": [0, 0, 255], "white": [255, 255, 255]}
