"""The digests of a user's file, and of what it imports from its folder, without parameters."""

import re
from pathlib import Path

import pytest

from benchc.corruptions.chunks import code_digest
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.user_file_digest import first_party_files, own_digests, user_file_digest
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


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "helper.py").write_text("import deeper.still.more\n")
    # The second is not what ``benchc`` imports, which is this repository's.
    for package in ("deeper/still", "benchc/corruptions"):
        (tmp_path / package).mkdir(parents=True)
        for folder in (tmp_path / package, (tmp_path / package).parent):
            (folder / "__init__.py").write_text("")
    (tmp_path / "deeper/still/more.py").write_text("from . import other\n")
    (tmp_path / "deeper/still/other.py").write_text("X = 1\n")
    (tmp_path / "unused.py").write_text("")
    return written(tmp_path, CODE)


def changed(file: str, path: str, old: str, new: str) -> list[str]:
    """Return the names of the files of which the digest changes with an edit."""
    before = own_digests(file)
    place = Path(file).parent / path
    text = place.read_text()
    assert text.count(old) == 1
    place.write_text(text.replace(old, new))
    return [Path(line.split()[0]).name for line in own_digests(file) if line not in before]


def test_the_files_of_the_folder_that_it_imports_are_named(file: str, tmp_path: Path) -> None:
    names = [line.split()[0] for line in own_digests(file)]
    expected = [f"deeper/{name}.py" for name in ("__init__", "still/__init__", "still/more", "still/other")]
    assert names == [str(tmp_path / name) for name in (*expected, "helper.py", "mine.py")]


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("mine.py", "1 - strength", "1 - strength / 2", ["mine.py"]),
        ("mine.py", "normal(0", "normal(1", ["mine.py"]),
        ("mine.py", "LIMIT = 255", "LIMIT = 254", ["mine.py"]),
        ("deeper/still/other.py", "X = 1", "X = 2", ["other.py"]),
        ("mine.py", "0.3", "0.35", []),
        ("mine.py", "'''Darken.'''", "# Darken.\n", []),
        ("mine.py", "LIMIT = 255", "LIMIT = 255\n# A comment", []),
        ("helper.py", "import deeper.still.more", "import deeper.still.more  # A comment", []),
    ],
)
def test_an_edit_of_code_changes_the_digest_of_its_file(
    file: str, path: str, old: str, new: str, expected: list[str]
) -> None:
    assert changed(file, path, old, new) == expected


@pytest.mark.parametrize(
    "statement",
    [
        "from helper import corruption",
        "from helper import *",
        "import helper as corruption",
        "def corruption(values):\n    return lambda kernel: kernel",
        "corruption = helper.corruption",
        "STRENGTHS = []\ncorruption = STRENGTHS.append",
        "globals()['corruption'] = helper.corruption",
    ],
)
def test_arguments_of_another_decorator_of_that_name_count(file: str, statement: str) -> None:
    Path(file).write_text(Path(file).read_text().replace("LIMIT = 255", f"LIMIT = 255\n{statement}"))
    assert changed(file, "mine.py", "0.3", "0.35") == ["mine.py"]
    for decorator in ("helper.corruption(2)", "cached(2)"):  # and those of other names
        Path(file).write_text(CODE.replace("def scaled", f"@{decorator}\ndef scaled"))
        assert changed(file, "mine.py", "(2)", "(3)") == ["mine.py"]


def test_chunks_depend_on_the_file_and_on_this_repositorys_modules_that_it_imports(
    file: str, tmp_path: Path
) -> None:
    assert "benchc/corruptions/kernels/pooling.py" in first_party_files(file, ROOT)
    recipe = Recipe("darken", f"{file}:darken", None, {1: {}})
    before, code = code_digest(recipe), user_file_digest(file)
    assert all(re.fullmatch("[0-9a-f]{32}", digest) for digest in (before, code))
    (tmp_path / "helper.py").write_text("import deeper.still.more\nY = 1\n")
    assert code_digest(recipe) != before
    assert user_file_digest(file) != code
