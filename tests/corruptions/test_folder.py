"""A folder of images is corrupted into another folder; unreadable images are named."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchc.corruptions import corrupt, folder
from benchc.corruptions.folder import choose, corrupt_folder
from benchc.corruptions.registry import corruptions_of
from benchc.errors import InputError
from benchc.images import decode
from benchc.pixels import Pixels
from benchc.randomness import seed_of
from tests import stages
from tests.corruptions.own_files import written
from tests.test_images import png_header

pytestmark = pytest.mark.usefixtures("preloaded_stages")

ROOT = Path(__file__).resolve().parents[2]
NOISE = choose(["gaussian_noise"], [1, 3], engine="imgaug")


def corrupt_command() -> list[str]:
    return [stages.PYTHON, "-m", "scripts.benchc", "corrupt"]


def sample_image(seed: int) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (36, 50, 3), np.uint8)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two images, one in a subfolder, and a file that is not an image."""
    path = tmp_path / "photos"
    (path / "more").mkdir(parents=True)
    Image.fromarray(sample_image(1)).save(path / "a.png")
    Image.fromarray(sample_image(2)).save(path / "more" / "b.BMP")
    (path / "notes.txt").write_text("no image")
    return path


def written_images(place: Path) -> set[str]:
    return {path.relative_to(place).as_posix() for path in place.rglob("*.png")}


def test_every_image_at_every_severity(photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    corrupt_folder(photos, output, NOISE, seed=4)
    names = {f"gaussian_noise/{severity}/{name}.png" for severity in (1, 3) for name in ("a", "more/b")}
    assert written_images(output) == names
    found = decode((output / "gaussian_noise/3/more/b.png").read_bytes())
    seed = seed_of(4, "more/b.BMP", 0, "gaussian_noise", 3)
    np.testing.assert_array_equal(
        found, corrupt(sample_image(2), "gaussian_noise", 3, seed=seed, engine="imgaug")
    )


def test_existing_files_are_kept_and_missing_ones_are_written(photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    corrupt_folder(photos, output, NOISE, seed=4)
    before = {name: (output / name).read_bytes() for name in written_images(output)}
    kept, lost = output / "gaussian_noise/1/a.png", output / "gaussian_noise/3/a.png"
    kept.write_bytes(b"touched")
    lost.unlink()
    corrupt_folder(photos, output, choose(["gaussian_noise"], [1, 3, 4], engine="imgaug"), seed=4, workers=2)
    assert kept.read_bytes() == b"touched"
    assert lost.read_bytes() == before["gaussian_noise/3/a.png"]
    assert written_images(output) == {*before, "gaussian_noise/4/a.png", "gaussian_noise/4/more/b.png"}


def test_a_changed_source_is_corrupted_again(photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "out" / "gaussian_noise"
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 4
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 0
    other = output / "1/more/b.png"
    other.write_bytes(b"touched")
    Image.fromarray(sample_image(3)).save(photos / "a.png")
    assert corrupt_folder(photos, tmp_path / "out", choose(["gaussian_noise"], [3], engine="imgaug")) == 1
    assert not (output / "1/a.png").exists()  # stale, and of another severity than the requested ones
    corrupt_folder(photos, tmp_path / "fresh", NOISE)
    assert (output / "3/a.png").read_bytes() == (tmp_path / "fresh/gaussian_noise/3/a.png").read_bytes()
    # The same target and bytes, but another name, and so other seeds.
    (photos / "a.png").rename(photos / "a.PNG")
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 2
    assert other.read_bytes() == b"touched"
    (output / "sources.json").write_text("[")
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 4


def test_the_images_of_a_deleted_source_are_kept_and_named(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corrupt_folder(photos, tmp_path / "out", NOISE)
    assert "keeps" not in capsys.readouterr().err
    (photos / "a.png").unlink()
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 0
    assert (tmp_path / "out/gaussian_noise/1/a.png").is_file()
    assert (
        f"{tmp_path}/out: keeps what an earlier call made of 1 file that is not in {photos}: a.png\n"
    ) in capsys.readouterr().err


def test_a_source_that_changes_during_the_run_is_left_out(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def discard(*arguments: object) -> set[str]:
        (photos / "a.png").write_bytes(b"new")
        return set()

    monkeypatch.setattr(folder, "discard_stale", discard)
    with pytest.raises(InputError, match=r"1 of 2 images .* done: a\.png: it changed during this run"):
        corrupt_folder(photos, tmp_path / "out", NOISE)


def test_unfinished_files_of_a_killed_run_are_removed(photos: Path, tmp_path: Path) -> None:
    place = tmp_path / "out" / "gaussian_noise"
    left = [place / ".corruption.json.abc12_x9", place / "3" / "more" / ".b.png.0000aaaa"]
    kept = [place / ".notes", place / "3" / "more" / ".b.png.backup.of.mine", place / "9" / ".b.png.0000aaaa"]
    for path in (*left, *kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    corrupt_folder(photos, tmp_path / "out", NOISE)
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in kept)


def test_images_of_another_seed_are_not_mixed_in(photos: Path, tmp_path: Path) -> None:
    corrupt_folder(photos, tmp_path / "out", NOISE, seed=4)
    with pytest.raises(
        InputError, match=r"corruption\.json: .* another recipe, seed, alpha, code or library"
    ):
        corrupt_folder(photos, tmp_path / "out", NOISE, seed=5)
    assert json.loads((tmp_path / "out/gaussian_noise/corruption.json").read_text())["seed"] == 4


def test_an_unreadable_image_is_named_and_the_others_are_written(photos: Path, tmp_path: Path) -> None:
    (photos / "a.png").write_bytes((photos / "a.png").read_bytes()[:-2000])
    with pytest.raises(
        InputError, match=r"1 of 2 images could not be corrupted, .* done: a\.png: .*complete"
    ):
        corrupt_folder(photos, tmp_path / "out", NOISE)
    assert written_images(tmp_path / "out") == {
        f"gaussian_noise/{severity}/more/b.png" for severity in (1, 3)
    }


def test_an_image_too_large_for_a_codec_is_named_and_the_others_are_written(
    photos: Path, tmp_path: Path
) -> None:
    Image.new("RGB", (17_000, 2)).save(photos / "long.png")
    with pytest.raises(
        InputError, match=r"1 of 3 images .* done: long\.png: WebP .* 16,383 .* scale it down"
    ):
        corrupt_folder(photos, tmp_path / "out", choose(["webp"], [1], suite="r-bench"), workers=2)
    assert written_images(tmp_path / "out") == {"webp/1/a.png", "webp/1/more/b.png"}


def test_a_file_that_cannot_be_opened_is_named_and_the_others_are_written(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.png":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match=r"1 of 2 .* a\.png: it cannot be read \(Permission denied\)"):
        corrupt_folder(photos, tmp_path / "out", NOISE)
    assert len(written_images(tmp_path / "out")) == 2


def test_an_output_that_cannot_be_written_is_refused(photos: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "file", tmp_path / "out/gaussian_noise/3", tmp_path / "other/gaussian_noise"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for output, message in (
        ("file", "is a file"),
        ("file/out", "Not a directory"),
        ("out", "cannot be written"),
        ("other", "cannot be written"),
    ):
        with pytest.raises(InputError, match=f"{message}.* another --output"):
            corrupt_folder(photos, tmp_path / output, NOISE)


def test_two_images_of_one_name_are_refused_before_any_work(photos: Path, tmp_path: Path) -> None:
    Image.fromarray(sample_image(3)).save(photos / "a.jpg")
    with pytest.raises(InputError, match=r"a\.jpg and a\.png would both become a\.png"):
        corrupt_folder(photos, tmp_path / "out", NOISE)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_images_or_as_its_own_output_is_refused(photos: Path, tmp_path: Path) -> None:
    for name, message in (("none", "no such folder"), ("photos", "another --output")):
        with pytest.raises(InputError, match=message):
            corrupt_folder(tmp_path / name, photos, NOISE)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="contains no images"):
        corrupt_folder(tmp_path / "empty", tmp_path / "out", NOISE)


def test_an_output_inside_the_folder_is_not_read(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(photos)
    for output in (photos / "out", photos / "more" / ".." / "out", Path("out")):
        corrupt_folder(photos, output, NOISE)
    assert len(written_images(photos / "out")) == 4


def test_the_folder_may_be_inside_the_output(photos: Path) -> None:
    corrupt_folder(photos, photos.parent, NOISE)
    assert len(written_images(photos.parent / "gaussian_noise")) == 4
    with pytest.raises(InputError, match="both input and output"):
        corrupt_folder(photos.parent / "gaussian_noise" / "3", photos.parent, NOISE)


def test_a_link_to_the_folder_of_the_images_is_no_output(photos: Path, tmp_path: Path) -> None:
    before = (photos / "a.png").read_bytes()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/gaussian_noise").symlink_to(tmp_path)
    with pytest.raises(InputError, match="is both input and output; give another --output"):
        corrupt_folder(photos, tmp_path / "out", NOISE)
    assert (photos / "a.png").read_bytes() == before


def test_files_of_other_programs_in_the_output_are_kept(photos: Path, tmp_path: Path) -> None:
    other = tmp_path / "out/gaussian_noise/originals/a.png"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"mine")
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 4
    assert other.read_bytes() == b"mine"


def test_an_image_above_the_limit_is_named_and_the_others_are_done(photos: Path, tmp_path: Path) -> None:
    (photos / "large.png").write_bytes(png_header(13_000, 13_000))
    (photos / "plot.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    with pytest.raises(InputError, match=r"large\.png: the image has 13,000 .*; plot\.png: .* known format"):
        corrupt_folder(photos, tmp_path / "out", NOISE)
    assert len(written_images(tmp_path / "out")) == 4


def test_files_that_pillow_only_identifies_are_skipped(photos: Path, tmp_path: Path) -> None:
    for name in ("a.eps", "b.h5", "c.grib", "d.mpg"):
        (photos / name).touch()
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 4


def test_names_and_severities_are_chosen_from_the_suite() -> None:
    chosen = choose(["all"])
    assert [recipe.name for recipe, _ in chosen] == list(corruptions_of("imagenet-c"))
    assert {severities for _, severities in chosen} == {(1, 2, 3, 4, 5)}
    assert [severities for _, severities in choose(["fog", "clean"])] == [(1, 2, 3, 4, 5), (0,)]
    more = [recipe.name for recipe, _ in choose(["fog", "all", "frost_six"])]
    assert sorted(more) == sorted([*corruptions_of("imagenet-c"), "frost_six"])
    with pytest.raises(ValueError, match="did you mean 'fog'"):
        choose(["all", "fogg"])
    with pytest.raises(ValueError, match="severities 1, 2, 3, 4, 5, not 6"):
        choose(["fog"], [1, 6])


def test_the_command_line(photos: Path, tmp_path: Path) -> None:
    def call(*options: str) -> subprocess.CompletedProcess[str]:
        given = [*corrupt_command(), photos, "--output", tmp_path / "out", "--engine", "imgaug", *options]
        return subprocess.run(given, cwd=ROOT, capture_output=True, text=True, check=False)

    result = call("--corruption", "pixelate", "--severities", "2")
    assert result.returncode == 0, result.stderr
    assert written_images(tmp_path / "out") == {"pixelate/2/a.png", "pixelate/2/more/b.png"}
    assert result.stderr.splitlines()[-1] == f"{tmp_path / 'out'}: 2 images written"
    result = call("--corruption", "pixelat")
    assert (result.returncode, "did you mean 'pixelate'?" in result.stderr) == (1, True)
    assert (result.stderr[:6], result.stderr.count("\n")) == ("error:", 1)
    result = call()
    assert (result.returncode, "--corruption is missing" in result.stderr) == (2, True)
    result = call("--corruption", "fog", "--suite", "imagenet")
    assert result.stderr.startswith("error: unknown suite 'imagenet'; choose one of imagenet-c, ")


def test_own_corruptions_are_named_beside_the_suites(photos: Path, tmp_path: Path) -> None:
    code = """
@corruption({"strength": [0.1, 0.2, 0.3, 0.4, 0.5]})
def darken(image, *, strength):
    return np.rint(image * (1 - strength)).astype(np.uint8)
"""
    options = ["--own-files", written(tmp_path, code), "--severities", "5", "--output", "out"]
    command = [*corrupt_command(), photos, *options, "--corruption", "pixelate"]

    def call(name: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run([*command, name], cwd=tmp_path, env=environment, capture_output=True, text=True)

    result = call("darken")
    assert result.returncode == 0, result.stderr
    assert {"darken/5/a.png", "pixelate/5/a.png"} < written_images(tmp_path / "out")
    recipe = json.loads((tmp_path / "out/darken/corruption.json").read_text())["recipe"]
    assert recipe["kernel"] == "mine.py:darken" and recipe["code"]
    assert "did you mean 'darken'?" in call("darkn").stderr
    written(tmp_path, "x = 1\n")
    result = call("darken")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("error: mine.py: registers no corruption; put @corruption")
