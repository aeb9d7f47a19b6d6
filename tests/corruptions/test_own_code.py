"""The digests of a user's file: one per corruption, and only of what its kernel runs."""

from pathlib import Path

import pytest

from benchc.corruptions.chunks import code_digest
from benchc.corruptions.own_code import first_party_files, own_code, own_digests
from benchc.corruptions.recipe import Recipe
from tests.corruptions.own_files import written

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import helper
from benchc.corruptions.kernels.pooling import max_pooling
LIMIT = 255

@corruption({"strength": [0.1, 0.2, 0.3, 0.4, 0.5]})
def darken(image, *, strength):
    '''Darken.'''
    return scaled(image, 1 - strength)

def scaled(image, factor):
    return np.clip(image * factor, 0, LIMIT).astype(np.uint8)

def draw(generator, height, width, *, spread):
    return generator.normal(0, spread)

@corruption({"spread": 3}, noise=draw)
def flicker(image, gain, *, spread):
    return (image + gain).astype(np.uint8)
"""
KERNELS = {"darken": None, "flicker": "draw"}


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "helper.py").write_text("import deeper.more\n")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper/__init__.py").write_text("")
    (tmp_path / "deeper/more.py").write_text("from . import other\n")
    (tmp_path / "deeper/other.py").write_text("X = 1\n")
    (tmp_path / "unused.py").write_text("")
    return written(tmp_path, CODE)


def changed(file: str, path: str, old: str, new: str) -> set[str]:
    """Return the corruptions of which the code changes with an edit."""
    before = {name: own_digests(f"{file}:{name}", noise) for name, noise in KERNELS.items()}
    place = Path(file).parent / path
    text = place.read_text()
    assert text.count(old) == 1
    place.write_text(text.replace(old, new))
    return {name for name, noise in KERNELS.items() if own_digests(f"{file}:{name}", noise) != before[name]}


def test_the_files_of_the_folder_that_it_imports_are_named(file, tmp_path):
    names = [line.split()[0] for line in own_digests(f"{file}:darken", None)]
    expected = ("deeper/__init__.py", "deeper/more.py", "deeper/other.py", "helper.py", "mine.py")
    assert names == [str(tmp_path / name) for name in expected]


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("mine.py", "1 - strength", "1 - strength / 2", {"darken"}),
        ("mine.py", "image * factor", "image * factor + 1", {"darken"}),
        ("mine.py", "image + gain", "image - gain", {"flicker"}),
        ("mine.py", "normal(0", "normal(1", {"flicker"}),
        ("mine.py", "LIMIT = 255", "LIMIT = 254", {"darken", "flicker"}),
        ("deeper/other.py", "X = 1", "X = 2", {"darken", "flicker"}),
        ("mine.py", "0.3", "0.35", set()),
        ("mine.py", "'''Darken.'''", "# Darken.\n", set()),
        ("mine.py", "LIMIT = 255", "LIMIT = 255\n# A comment", set()),
        ("helper.py", "import deeper.more", "import deeper.more  # A comment", set()),
    ],
)
def test_an_edit_changes_the_corruptions_that_run_it(file, path, old, new, expected):
    assert changed(file, path, old, new) == expected


@pytest.mark.parametrize("reference", ["flicker", "getattr(helper, 'flicker')", "helper.flicker"])
def test_a_function_that_another_one_names_counts(file, reference):
    Path(file).write_text(
        Path(file).read_text().replace("return scaled(", f"{reference}\n    return scaled(")
    )
    assert changed(file, "mine.py", "image + gain", "image - gain") == {"darken", "flicker"}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("from benchc.corruptions import own", {"flicker"}),
        ("import benchc.corruptions.own as own", {"flicker"}),
        ("from helper import corruption", {"darken", "flicker"}),
        ("import helper as own", {"darken", "flicker"}),
        ("from helper import *", {"darken", "flicker"}),
        ("def corruption(values):\n    return lambda kernel: kernel", {"darken", "flicker"}),
        ("corruption = helper.corruption", {"darken", "flicker"}),
        ("NAMES = globals()", {"darken", "flicker"}),
        ("NAMES = eval('flick' + 'er')", {"darken", "flicker"}),
        ("NAMES = getattr(sys.modules[__name__], 'flick' + 'er')", {"darken", "flicker"}),
        ("import mine", {"darken", "flicker"}),
        ("import uses_mine", {"darken", "flicker"}),
    ],
)
def test_the_whole_file_counts_where_names_do_not_tell_what_runs(file, tmp_path, statement, expected):
    (tmp_path / "uses_mine.py").write_text("def run(image):\n    import mine\n")
    Path(file).write_text(f"{Path(file).read_text()}\n{statement}\n")
    assert changed(file, "mine.py", "image + gain", "image - gain") == expected


def test_the_arguments_of_another_decorator_of_the_same_name_count(file):
    Path(file).write_text(Path(file).read_text().replace("def scaled", "@helper.corruption(2)\ndef scaled"))
    assert changed(file, "mine.py", "corruption(2)", "corruption(3)") == {"darken", "flicker"}


def test_a_function_with_another_decorator_counts(file):
    Path(file).write_text(Path(file).read_text().replace("def scaled", "@helper.kept\ndef scaled"))
    assert changed(file, "mine.py", "image * factor", "image * factor + 1") == {"darken", "flicker"}


def test_chunks_depend_on_the_file_and_on_this_repositorys_modules_that_it_imports(file, tmp_path):
    assert "benchc/corruptions/kernels/pooling.py" in first_party_files(f"{file}:darken", None, ROOT)
    recipe = Recipe("darken", f"{file}:darken", None, {})
    before, code = code_digest(recipe), own_code(f"{file}:darken", None)
    (tmp_path / "helper.py").write_text("import deeper.more\nY = 1\n")
    assert code_digest(recipe) != before
    assert own_code(f"{file}:darken", None) != code
