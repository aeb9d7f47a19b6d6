"""A folder of images is corrupted into another folder; unreadable images are named."""

import json
import re
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
from scripts.benchc import main
from tests.corruptions.own_files import DARKEN, written
from tests.test_images import png_header

NOISE = choose(["gaussian_noise"], [1, 3], engine="imgaug")


def sample_image(seed: int) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (36, 50, 3), np.uint8)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two images, one in a subfolder, and what is none: another file, a hidden one, a folder."""
    path = tmp_path / "photos"
    (path / "more").mkdir(parents=True)
    Image.fromarray(sample_image(1)).save(path / "a.png")
    Image.fromarray(sample_image(2)).save(path / "more" / "b.BMP")
    (path / "notes.txt").write_text("no image")
    Image.fromarray(sample_image(3)).save(path / ".hidden.png")
    (path / "c.png").mkdir()
    return path


def written_images(place: Path) -> set[str]:
    return {path.relative_to(place).as_posix() for path in place.rglob("*.png")}


def test_every_image_at_every_severity_is_written_once(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out"
    corrupt_folder(images=photos, output=output, choices=NOISE, seed=4)
    names = {f"gaussian_noise/{severity}/{name}.png" for severity in (1, 3) for name in ("a", "more/b")}
    assert written_images(output) == names
    found = decode((output / "gaussian_noise/3/more/b.png").read_bytes())
    seed = seed_of(4, "more/b.BMP", 0, "gaussian_noise", 3)
    expected = corrupt(sample_image(2), "gaussian_noise", 3, seed=seed, engine="imgaug")
    np.testing.assert_array_equal(found, expected)
    before = {name: (output / name).read_bytes() for name in written_images(output)}
    kept, lost = output / "gaussian_noise/1/a.png", output / "gaussian_noise/3/a.png"
    kept.write_bytes(b"touched")
    lost.unlink()
    monkeypatch.setattr(folder, "variants_of_image", None)  # of this process
    corrupt_folder(photos, output, choose(["gaussian_noise"], [1, 3, 4], engine="imgaug"), seed=4, workers=2)
    assert kept.read_bytes() == b"touched"
    assert lost.read_bytes() == before["gaussian_noise/3/a.png"]
    assert written_images(output) == {*before, "gaussian_noise/4/a.png", "gaussian_noise/4/more/b.png"}
    another = r"corruption\.json: .* made in another way \(different: "
    for seed in (3, 5):
        with pytest.raises(InputError, match=another):
            corrupt_folder(photos, tmp_path / "out", NOISE, seed=seed)
    assert json.loads((tmp_path / "out/gaussian_noise/corruption.json").read_text())["seed"] == 4


def test_a_changed_source_is_corrupted_again(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a number of workers no process is started, which would run a caller's script again.
    monkeypatch.setattr("multiprocessing.get_context", None)
    output = tmp_path / "out" / "gaussian_noise"
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 4
    # Another default seed or form of the record would refuse the folders of earlier releases.
    assert (output / "corruption.json").read_text().startswith('{\n  "seed": 0,\n')
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
    # A record that is damaged, or of another form, is lost.
    for record in ("[", "[]", '{"a.png": 1}'):
        (output / "sources.json").write_text(record)
        assert corrupt_folder(photos, tmp_path / "out", NOISE) == 4


def test_the_images_of_a_deleted_source_are_kept_and_named(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corrupt_folder(photos, tmp_path / "out", NOISE)
    assert "keeps" not in capsys.readouterr().err
    (photos / "a.png").unlink()
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 0
    assert (tmp_path / "out/gaussian_noise/1/a.png").is_file()
    kept = f"{tmp_path}/out: keeps what an earlier call made of 1 file that is not in {photos}: a.png\n"
    assert kept in capsys.readouterr().err
    # Another form of the record would recreate the images of earlier releases.
    Image.fromarray(sample_image(3)).save(photos / "0.png")
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 2
    record = (tmp_path / "out/gaussian_noise/sources.json").read_text()
    entries = [f'"{name}": \\[\n"{name}",\n"[0-9a-f]{{32}}"\n\\]' for name in ("0.png", "a.png")]
    assert re.match("{\n" + ",\n".join(entries), record)


@pytest.mark.parametrize(("most", "rest"), [(1, ", …"), (2, "")])
def test_of_many_files_the_first_are_named(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    most: int, rest: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(folder, "SHOWN", most)
    Image.fromarray(sample_image(3)).save(photos / "c_kept.png")
    pixelate = choose(["pixelate"], [1])
    corrupt_folder(photos, tmp_path / "out", pixelate)
    for path in (photos / "a.png", photos / "more" / "b.BMP"):
        path.unlink()
    corrupt_folder(photos, tmp_path / "out", pixelate)
    names = ", ".join(["a.png", "more/b.BMP"][:most])
    line = f"keeps what an earlier call made of 2 files that are not in {photos}: {names}{rest}\n"
    assert line in capsys.readouterr().err
    for name in ("x.png", "y.png"):
        (photos / name).touch()
    more = "; and 1 more; fix" if most == 1 else "; fix"
    with pytest.raises(
        InputError, match=rf"2 of 3 images .* done: x\.png: .*{more} or remove them$"
    ) as caught:
        corrupt_folder(photos, tmp_path / "out", pixelate)
    assert ("y.png" in str(caught.value)) == (most == 2)


def test_twenty_images_are_listed(photos: Path, tmp_path: Path) -> None:
    for number in range(21):
        (photos / f"{number}.png").touch()
    with pytest.raises(InputError, match=r"21 of 23 images .*8\.png: [^;]*; and 1 more; fix") as caught:
        corrupt_folder(photos, tmp_path / "out", choose(["pixelate"], [1]))
    assert str(caught.value).count(".png: ") == 20


@pytest.mark.parametrize("content", [b"38", b"52"])  # their digests begin with 00 and ff
def test_a_source_that_changes_during_the_run_is_left_out(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    def discard(*arguments: object) -> set[str]:
        (photos / "a.png").write_bytes(content)
        return set()

    monkeypatch.setattr(folder, "discard_stale", discard)
    with pytest.raises(
        InputError, match=r"1 of 2 images .* done: a\.png: it changed during this run; fix or"
    ):
        corrupt_folder(photos, tmp_path / "out", NOISE)


def test_unfinished_files_of_a_killed_run_are_removed_and_files_of_other_programs_kept(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "out/gaussian_noise"
    left = [place / name for name in (".corruption.json.0abc12_x9", "3/more/.b.png.00000aaaa")]
    others = (".notes", "3/more/.b.png.backup.of.mine", "9/.b.png.00000aaaa", "originals/a.png")
    kept = [place / name for name in others]
    for path in (*left, *kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    unlink = Path.unlink

    def removed_before(path: Path, missing_ok: bool = False) -> None:
        # By another call, at other severities.
        if path in left:
            unlink(path)
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", removed_before)
    assert corrupt_folder(photos, tmp_path / "out", NOISE) == 4
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in kept)


def test_images_that_cannot_be_corrupted_are_named_and_the_others_are_written(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.eps", "b.h5", "c.grib", "d.mpg"):  # which Pillow only identifies
        (photos / name).touch()
    Image.new("RGB", (17_000, 2)).save(photos / "long.png")
    too_long = r"1 of 3 images .* done: long\.png: WebP .* 16,383 .* scale it down"
    with pytest.raises(InputError, match=too_long):
        corrupt_folder(photos, tmp_path / "webp", choose(["webp"], [1], suite="r-bench"), workers=2)
    assert written_images(tmp_path / "webp") == {"webp/1/a.png", "webp/1/more/b.png"}
    (photos / "long.png").write_bytes(png_header(13_000, 13_000))
    (photos / "plot.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    (photos / "a.png").write_bytes((photos / "a.png").read_bytes()[:-2000])
    (photos / "locked.png").touch()
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "locked.png":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match=r"4 of 5 images could not be corrupted, .* done: ") as caught:
        corrupt_folder(photos, tmp_path / "out", NOISE)
    for reason in (
        r"a\.png: .*complete",
        r"locked\.png: it cannot be read \(Permission denied\)",
        r"long\.png: the image has 13,000 ",
        r"plot\.png: .* known format",
    ):
        assert re.search(reason, str(caught.value))
    assert written_images(tmp_path / "out") == {f"gaussian_noise/{level}/more/b.png" for level in (1, 3)}


def test_an_output_that_cannot_be_written_is_refused(photos: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "file", tmp_path / "out/gaussian_noise/3", tmp_path / "other/gaussian_noise"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    outputs = {"file": "is a file", "file/out": "Not a directory"}
    outputs |= dict.fromkeys(("out", "other"), "cannot be written")
    for output, message in outputs.items():
        with pytest.raises(InputError, match=f"{message}.* another --output"):
            corrupt_folder(photos, tmp_path / output, NOISE)


def test_two_images_of_one_name_a_folder_without_images_or_as_its_own_output_are_refused(
    photos: Path, tmp_path: Path
) -> None:
    Image.fromarray(sample_image(3)).save(photos / "a.jpg")
    with pytest.raises(InputError, match=r"a\.jpg and a\.png would both become a\.png"):
        corrupt_folder(photos, tmp_path / "out", NOISE)
    assert not (tmp_path / "out").exists()
    cases = (("none", "no such folder"), ("a.png", "is a file"), ("photos", "another --output"))
    (tmp_path / "a.png").touch()
    for name, message in cases:
        with pytest.raises(InputError, match=message):
            corrupt_folder(tmp_path / name, photos, NOISE)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="contains no images"):
        corrupt_folder(tmp_path / "empty", tmp_path / "out", NOISE)


def test_an_output_inside_the_folder_is_not_read(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(photos)
    (photos / "out").mkdir()
    for name in ("z.png", "out/own.png"):
        Image.fromarray(sample_image(3)).save(photos / name)
    for output in (photos / "out", photos / "more" / ".." / "out", Path("out")):
        corrupt_folder(photos, output, NOISE)
    assert len(written_images(photos / "out")) == 6 + 1


def test_the_folder_may_be_inside_the_output_but_not_be_it(photos: Path, tmp_path: Path) -> None:
    corrupt_folder(photos, photos.parent, NOISE)
    assert len(written_images(photos.parent / "gaussian_noise")) == 4
    with pytest.raises(InputError, match="both input and output"):
        corrupt_folder(photos.parent / "gaussian_noise" / "3", photos.parent, NOISE)
    before = (photos / "a.png").read_bytes()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/gaussian_noise").symlink_to(tmp_path)
    with pytest.raises(InputError, match="is both input and output; give another --output"):
        corrupt_folder(photos, tmp_path / "out", NOISE)
    assert (photos / "a.png").read_bytes() == before


def test_images_of_another_call_are_no_sources(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        corrupt_folder(photos, photos / "made", NOISE)
        assert "left out, as" not in capsys.readouterr().err
    for _ in range(2):
        corrupt_folder(photos, tmp_path / "out", NOISE)
        line = "left out, as benchc wrote the images there (corruption.json): made/gaussian_noise"
        assert f"{photos}: {line}" in capsys.readouterr().err.splitlines()
        assert written_images(tmp_path / "out") == written_images(photos / "made")
    with pytest.raises(InputError, match=r"no images .*, but those that another call has written; give"):
        corrupt_folder(photos / "made", tmp_path / "again", NOISE)
    with pytest.raises(InputError, match=r"gaussian_noise: has images that benchc has corrupted .*; give"):
        corrupt_folder(photos / "made/gaussian_noise", tmp_path / "again", NOISE)
    corrupt_folder(photos / "made/gaussian_noise/3", tmp_path / "again", NOISE)
    assert len(written_images(tmp_path / "again")) == 4


def test_files_that_are_no_images_are_named(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (photos / ".hidden.txt").touch()
    (photos / "notes.txt").unlink()
    corrupt_folder(photos, tmp_path / "out", NOISE)
    assert "left out, as" not in capsys.readouterr().err
    for name in ("more/d.heic", "photo"):
        (photos / name).touch()
    corrupt_folder(photos, tmp_path / "out", NOISE)
    line = f"{photos}: 2 files left out, by the suffix no image that can be read: more/d.heic, photo\n"
    assert line in capsys.readouterr().err


def test_what_differs_from_an_earlier_call_is_named(photos: Path, tmp_path: Path) -> None:
    corrupt_folder(photos, tmp_path / "out", NOISE)
    with pytest.raises(InputError, match=r"in another way \(different: seed, alpha\); give another --output"):
        corrupt_folder(photos, tmp_path / "out", NOISE, seed=1, alpha="white")
    for damaged in (b"{", b"\xff"):
        (tmp_path / "out/gaussian_noise/corruption.json").write_bytes(damaged)
        with pytest.raises(InputError, match=r"\(different: seed, alpha, recipe, libraries, code\)"):
            corrupt_folder(photos, tmp_path / "out", NOISE)


def test_names_and_severities_are_chosen_from_the_suite() -> None:
    chosen = choose(["all"])
    assert [recipe.name for recipe, _ in chosen] == list(corruptions_of("imagenet-c"))
    assert {severities for _, severities in chosen} == {(1, 2, 3, 4, 5)}
    assert [severities for _, severities in choose(["fog", "clean"])] == [(1, 2, 3, 4, 5), (0,)]
    more = [recipe.name for recipe, _ in choose(["fog", "all", "frost_six"])]
    assert sorted(more) == sorted([*corruptions_of("imagenet-c"), "frost_six"])
    for name in ("fogg", "a fog"):  # the second sorts before "all"
        with pytest.raises(ValueError, match="did you mean 'fog'"):
            choose(["all", name])
    with pytest.raises(ValueError, match="severities 1, 2, 3, 4, 5, not 6"):
        choose(["fog"], [1, 6])


def test_the_command_line(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchc.progress.MIN_SECONDS", 0)
    options = ["--engine", "imgaug", "--corruption", "pixelate", "--severities", "2"]
    main(["corrupt", str(photos), "--output", str(tmp_path / "out"), *options])
    assert written_images(tmp_path / "out") == {"pixelate/2/a.png", "pixelate/2/more/b.png"}
    *_, progress, last = capsys.readouterr().err.splitlines()
    assert progress.startswith("corrupt: 2 of 2 images, ") and last == f"{tmp_path / 'out'}: 2 images written"


def test_own_corruptions_are_named_beside_the_suites(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--own-files", written(tmp_path, DARKEN), "--severities", "5", "--output", "out"]
    command = ["corrupt", str(photos), *options, "--corruption", "pixelate"]
    main([*command, "darken"])
    assert {"darken/5/a.png", "pixelate/5/a.png"} < written_images(tmp_path / "out")
    recipe = json.loads((tmp_path / "out/darken/corruption.json").read_text())["recipe"]
    assert recipe["kernel"] == "mine.py:darken" and recipe["code"]
    with pytest.raises(SystemExit, match="did you mean 'darken'"):
        main([*command, "darkn"])


def test_a_deleted_sources_name_changes_no_terminal(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (photos / "a.png").rename(photos / "a\x1b[2J.png")
    corrupt_folder(photos, tmp_path / "out", NOISE)
    (photos / "a\x1b[2J.png").unlink()
    corrupt_folder(photos, tmp_path / "out", NOISE)
    assert "a\\x1b[2J.png" in (shown := capsys.readouterr().err) and "\x1b[2J" not in shown
