"""What the trial of a user's kernels refuses."""

import sys
from pathlib import Path

import pytest

from benchc.corruptions import own_trial
from benchc.corruptions.own_suite import suite_with
from benchc.errors import InputError
from tests.corruptions.own_files import DARKEN, written

OTHER_PIXELS = ":darken gives other pixels with the same seed at severity {}; sample its random numbers in a "


def darken(before: str, gain: str = "1 - strength") -> str:
    return DARKEN.replace("    return", f"    {before}\n    return").replace("1 - strength", gain)


GLOBAL = "np.random.rand()"
# Code, and the severity at which it is noticed.
IMPURE = {
    "a global generator": (darken("pass", GLOBAL), 1),
    "a global generator at one severity": (darken(f"if strength == 0.3: strength = {GLOBAL}"), 3),
    "a global generator with a seed": ("np.random.seed(0)\n" + darken("pass", GLOBAL), 1),
    "a global generator for large images": (darken(f"if len(image) > 100: strength = {GLOBAL}"), 5),
    "a global generator when imported": (f"GAIN = {GLOBAL}\n" + darken("pass", "GAIN"), 5),
    "one when imported, at one severity": (
        f"GAIN = {GLOBAL}\n" + darken("if strength == 0.3: strength = GAIN"),
        3,
    ),
    "a generator of the file": ("RNG = np.random.default_rng(0)\n" + darken("pass", "RNG.random()"), 1),
    "a counter": ("CALLS = []\n" + darken("CALLS.append(1)", "len(CALLS) / 99"), 1),
    "the strength of the first call": ("KEPT = []\n" + darken("KEPT.append(strength)", "KEPT[0]"), 5),
}


@pytest.mark.parametrize("is_slow", [True, False])
def test_a_slow_trial_says_what_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_slow: bool
) -> None:
    assert own_trial.SILENT_SECONDS == 1  # as documented; a busy machine would be too slow for it here
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(own_trial, "SILENT_SECONDS", 0.01 if is_slow else 60.0)
    suite_with("imagenet-c", [written(tmp_path, darken("import time; time.sleep(0.02)"))])
    expected = "trying mine.py:darken on two images, as each command does\n"
    assert capsys.readouterr().err == (expected if is_slow else "")


@pytest.mark.parametrize("name", IMPURE)
def test_a_kernel_that_is_no_pure_function_is_refused(tmp_path: Path, name: str) -> None:
    code, severity = IMPURE[name]
    with pytest.raises(InputError, match=f"mine.py{OTHER_PIXELS.format(severity)}"):
        suite_with("imagenet-c", [written(tmp_path, code)])


def test_a_change_in_place_is_refused(tmp_path: Path) -> None:
    code = darken("image.flags.writeable = True; image[0] = 0")
    message = r"mine.py:darken changes its input at severity 1; change a copy \(image.copy\(\)\)"
    with pytest.raises(InputError, match=message):
        suite_with("imagenet-c", [written(tmp_path, code)])


def test_random_numbers_of_an_imported_module_are_refused(tmp_path: Path) -> None:
    (tmp_path / "own_gain.py").write_text("import own_deeper_gain\nGAIN = own_deeper_gain.GAIN\n")
    (tmp_path / "own_deeper_gain.py").write_text("import random\nGAIN = random.random()\n")
    code = "import own_gain\n" + darken("pass", "own_gain.GAIN")
    with pytest.raises(InputError, match=OTHER_PIXELS.format(5)):
        suite_with("imagenet-c", [written(tmp_path, code)])


IN_PLACE = ["image[0] = 0", "image += np.uint8(1)", "image.sort()", "np.random.default_rng(1).shuffle(image)"]
IN_PLACE += ["cv2.blur(image, (3, 3), dst=image)", "cv2.circle(image, (9, 9), 3, (0, 0, 0))", "zeroed(image)"]


@pytest.mark.parametrize("change", IN_PLACE)
def test_a_change_in_place_of_a_large_image_is_refused_by_name(tmp_path: Path, change: str) -> None:
    code = "import cv2, numba\n@numba.njit\ndef zeroed(image):\n    image[0] = 0\n"
    file = written(tmp_path, code + darken(f"if len(image) > 100: {change}"))
    with pytest.raises(InputError, match=r"; the image is read-only, so change a copy \(image.copy\(\)\)$"):
        suite_with("imagenet-c", [file])


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize(
    "statement",
    [
        "sys.path.insert(0, 'FOLDER/elsewhere'); import own_hidden",
        "sys.path.insert(0, 'FOLDER/elsewhere'); __import__('own_hidden')",
        "importlib.import_module('own_untracked')",
    ],
)
def test_an_import_that_the_digests_miss_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, lazily: bool
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("colorsys", "own_hidden", "own_untracked"):
        sys.modules.pop(name, None)
    (tmp_path / "elsewhere").mkdir()
    for path in ("elsewhere/own_hidden.py", "own_untracked.py"):
        (tmp_path / path).write_text("")
    statement = statement.replace("FOLDER", str(tmp_path))
    code = darken(statement) if lazily else f"{statement}\n{darken('pass')}"
    with pytest.raises(InputError, match=r"mine.py: imports own_(\w+) from .*/own_\1.py so that its edits "):
        suite_with("imagenet-c", [written(tmp_path, f"import colorsys, importlib, sys\n{code}")])


def test_the_images_of_the_trial_have_the_documented_sizes(tmp_path: Path) -> None:
    check = "assert image.shape == (40, 48, 3) or image.shape == (240, 320, 3) and strength == 0.5"
    suite_with("imagenet-c", [written(tmp_path, darken(check))])


def test_the_images_of_the_trial_have_all_levels(tmp_path: Path) -> None:
    suite_with("imagenet-c", [written(tmp_path, darken("assert len(np.unique(image)) == 256"))])


def test_two_files_may_import_modules_while_their_kernels_run(tmp_path: Path) -> None:
    for name in ("own_first", "own_second"):
        (tmp_path / f"{name}.py").write_text("import colorsys\n")
    files = [written(tmp_path, darken("import own_first"), "a.py")]
    files += [written(tmp_path, darken("import own_second").replace("darken", "dim"), "b.py")]
    assert len(suite_with("imagenet-c", files).groups["own"]) == 2
