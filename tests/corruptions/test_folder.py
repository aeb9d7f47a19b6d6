"""A folder of images becomes a folder of corrupted ones, as far as they can be read."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchc.corruptions.corrupt import corrupt
from benchc.corruptions.folder import choose, corrupt_folder
from benchc.corruptions.registry import corruptions_of
from benchc.errors import InputError
from benchc.images import Pixels, decode
from benchc.randomness import seed_of

ROOT = Path(__file__).resolve().parents[2]
NOISE = choose(["gaussian_noise"], [1, 3], engine="imgaug")


def picture(seed: int) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (36, 50, 3), np.uint8)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two images, one in a subfolder, beside a file that is none."""
    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    Image.fromarray(picture(1)).save(folder / "a.png")
    Image.fromarray(picture(2)).save(folder / "more" / "b.BMP")
    (folder / "notes.txt").write_text("no image")
    return folder


def images_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.png")}


def test_every_image_at_every_severity(photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    corrupt_folder(photos, output, NOISE, seed=4)
    names = {f"gaussian_noise/{severity}/{name}.png" for severity in (1, 3) for name in ("a", "more/b")}
    assert images_of(output) == names
    found = decode((output / "gaussian_noise/3/more/b.png").read_bytes())
    seed = seed_of(4, "more/b.BMP", 0, "gaussian_noise", 3)
    np.testing.assert_array_equal(found, corrupt(picture(2), "gaussian_noise", 3, seed=seed, engine="imgaug"))


def test_files_that_are_there_stay_and_others_are_made(photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    corrupt_folder(photos, output, NOISE, seed=4)
    before = {name: (output / name).read_bytes() for name in images_of(output)}
    kept, lost = output / "gaussian_noise/1/a.png", output / "gaussian_noise/3/a.png"
    kept.write_bytes(b"touched")
    lost.unlink()
    corrupt_folder(photos, output, choose(["gaussian_noise"], [1, 3, 4], engine="imgaug"), seed=4, workers=2)
    assert kept.read_bytes() == b"touched"
    assert lost.read_bytes() == before["gaussian_noise/3/a.png"]
    assert images_of(output) == {*before, "gaussian_noise/4/a.png", "gaussian_noise/4/more/b.png"}


def test_images_of_another_seed_are_not_mixed_in(photos: Path, tmp_path: Path) -> None:
    corrupt_folder(photos, tmp_path / "out", NOISE, seed=4)
    with pytest.raises(InputError, match=r"corruption\.json: .* another recipe, seed, alpha or code"):
        corrupt_folder(photos, tmp_path / "out", NOISE, seed=5)
    assert json.loads((tmp_path / "out/gaussian_noise/corruption.json").read_text())["seed"] == 4


def test_an_image_that_cannot_be_read_is_named_and_the_others_are_made(photos: Path, tmp_path: Path) -> None:
    (photos / "a.png").write_bytes((photos / "a.png").read_bytes()[:-2000])
    with pytest.raises(InputError, match=r"1 of 2 images were left out, .* done: a\.png: .*whole"):
        corrupt_folder(photos, tmp_path / "out", NOISE)
    assert images_of(tmp_path / "out") == {f"gaussian_noise/{severity}/more/b.png" for severity in (1, 3)}


def test_two_images_of_one_name_are_refused_before_any_work(photos: Path, tmp_path: Path) -> None:
    Image.fromarray(picture(3)).save(photos / "a.jpg")
    with pytest.raises(InputError, match=r"a\.jpg and a\.png would both become a\.png"):
        corrupt_folder(photos, tmp_path / "out", NOISE)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_images_or_read_into_itself_is_refused(photos: Path, tmp_path: Path) -> None:
    for name, message in (("none", "no such folder"), ("photos", "another --output")):
        with pytest.raises(InputError, match=message):
            corrupt_folder(tmp_path / name, photos, NOISE)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file in it"):
        corrupt_folder(tmp_path / "empty", tmp_path / "out", NOISE)


def test_an_output_inside_the_folder_is_not_read(photos: Path) -> None:
    for _ in range(2):
        corrupt_folder(photos, photos / "out", NOISE)
    assert len(images_of(photos / "out")) == 4


def test_names_and_severities_are_chosen_from_the_suite() -> None:
    chosen = choose(["all"])
    assert [recipe.name for recipe, _ in chosen] == list(corruptions_of("imagenet-c"))
    assert {severities for _, severities in chosen} == {(1, 2, 3, 4, 5)}
    assert [severities for _, severities in choose(["fog", "clean"])] == [(1, 2, 3, 4, 5), (0,)]
    with pytest.raises(ValueError, match="severities 1, 2, 3, 4, 5, not 6"):
        choose(["fog"], [1, 6])


def test_the_command_line(photos: Path, tmp_path: Path) -> None:
    def call(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "scripts.corrupt", "--images", str(photos)]
        command += ["--output", str(tmp_path / "out"), "--engine", "imgaug", *options]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    result = call("--corruption", "pixelate", "--severities", "2")
    assert result.returncode == 0, result.stderr
    assert images_of(tmp_path / "out") == {"pixelate/2/a.png", "pixelate/2/more/b.png"}
    result = call("--corruption", "pixelat")
    assert (result.returncode, "did you mean 'pixelate'?" in result.stderr) == (2, True)
    assert "needs --corruption" in call().stderr
