"""The source files that a script depends on, and the digests of their code."""

import subprocess
from pathlib import Path

import pytest

from benchc.closure import (
    closure_digest,
    code_digests,
    content_sample,
    module_file,
    source_closure,
    source_digest,
)

FILES = {
    "scripts/__init__.py": "",
    "scripts/y.py": "",
    "scripts/x.py": "import scripts.y\nfrom benchc.a import thing\n\ndef late():\n    import benchc.deep.c\n",
    "benchc/__init__.py": "",
    "benchc/a.py": "from .b import other\nfrom benchc.deep import d\n",
    "benchc/b.py": "import numpy\nfrom benchc import a\n",
    "benchc/deep/__init__.py": "",
    "benchc/deep/c.py": "from ..b import other\n",
    "benchc/deep/d.py": "from . import c\n",
    "benchc/unused.py": "",
}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_everything_that_is_imported_is_found(root):
    assert source_closure(["scripts/x.py"], root) == sorted(set(FILES) - {"benchc/unused.py"})


def test_an_edit_is_found_in_the_same_process(root):
    (root / "benchc/deep/c.py").write_text("import benchc.unused\n")
    import os

    os.utime(root / "benchc/deep/c.py", ns=(1, 1))
    assert "benchc/unused.py" in source_closure(["scripts/x.py"], root)


def test_the_digest_depends_only_on_the_code(root):
    before = closure_digest(["scripts/x.py"], root)
    (root / "benchc/unused.py").write_text("x = 1\n")
    (root / "benchc/b.py").touch()
    assert closure_digest(["scripts/x.py"], root) == before
    (root / "benchc/b.py").write_text(FILES["benchc/b.py"] + "y = 1\n")
    assert closure_digest(["scripts/x.py"], root) != before


def test_a_missing_file_is_an_error(root):
    with pytest.raises(FileNotFoundError):
        source_closure(["scripts/none.py"], root)


def test_module_names_become_files():
    assert module_file("benchc.models.letter") == "benchc/models/letter.py"


def test_inference_imports_no_plotting_and_no_other_family():
    root = Path(__file__).parent.parent
    files = source_closure(["scripts/infer.py", "benchc/models/families/llava_next.py"], root)
    assert not [file for file in files if "figures" in file or "metrics" in file or "demo" in file]
    assert [file for file in files if "families" in file] == [
        "benchc/models/families/__init__.py",
        "benchc/models/families/llava_next.py",
    ]


CODE = '''"""Doc."""

import json

LIMIT = 3


def f(x: float, *, scale: float = 2.0) -> dict[str, float]:
    """Return twice."""
    # A reason.
    values = {"a": x * scale, **{}}
    return {name: value for name, value in values.items() if value > LIMIT}
'''
HARMLESS = {
    "comment": CODE + "# more\n",
    "docstring": CODE.replace("Return twice", "Return a scaled value"),
    "no docstring": CODE.replace('    """Return twice."""\n', ""),
    "formatting": CODE.replace(
        '{"a": x * scale, **{}}', "{\n        'a': (x * scale),\n        **{},\n    }"
    ),
}
EDITS = {
    "number": ("LIMIT = 3", "LIMIT = 4"),
    "type of a number": ("LIMIT = 3", "LIMIT = 3.0"),
    "bool": ("LIMIT = 3", "LIMIT = True"),
    "operator": ("x * scale", "x / scale"),
    "name": ("x * scale", "scale * x"),
    "default": ("= 2.0", "= 2.5"),
    "key": ('"a"', '"b"'),
    "comparison": ("> LIMIT", ">= LIMIT"),
    "keyword only": ("*, scale", "scale"),
    "statement": ("    return", "    values.clear()\n    return"),
    "decorator": ("def f(", "@json.loads\ndef f("),
    "an empty line of output": ("import json", "import json\n\nprint()"),
    "annotation, which pydantic reads": ("x: float", "x: int"),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_text_that_does_nothing_does_not_change_the_digest(name):
    assert HARMLESS[name] != CODE
    assert source_digest(HARMLESS[name]) == source_digest(CODE)


@pytest.mark.parametrize("name", EDITS)
def test_every_edit_of_the_code_changes_the_digest(name):
    old, new = EDITS[name]
    assert source_digest(CODE.replace(old, new, 1)) != source_digest(CODE)


def test_the_digest_is_the_same_in_all_versions_of_python():
    # Computed with Python 3.11; 3.12 and 3.13 add fields to these nodes.
    assert source_digest(CODE) == "384072af355cc2cb81b2bd32d42b1e5c"


def test_bare_strings_are_dropped_but_not_those_that_are_used():
    assert source_digest("class A:\n    x = 1\n    'what x is'\n") == source_digest("class A:\n    x = 1\n")
    assert source_digest("x = 'a'") != source_digest("x = 'b'")
    assert source_digest("f('a')") != source_digest("f('b')")


def test_digests_name_the_file_that_was_edited(root):
    before = code_digests(["scripts/x.py"], root)
    (root / "benchc/b.py").write_text(FILES["benchc/b.py"] + "y = 1\n")
    after = code_digests(["scripts/x.py"], root)
    assert [line.split()[0] for line in sorted(set(before) ^ set(after))] == ["benchc/b.py"] * 2
    assert [line.split()[0] for line in after] == source_closure(["scripts/x.py"], root)


def test_ruff_format_changes_no_digest(tmp_path):
    files = source_closure(["scripts/infer.py"], ".")
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(Path(file).read_bytes())
    subprocess.run(["ruff", "format", "-q", "--isolated", "--line-length", "60", tmp_path], check=True)
    for file in files:
        assert source_digest((tmp_path / file).read_bytes()) == source_digest(Path(file).read_bytes()), file


@pytest.mark.parametrize("size", [10, 5 * 10**6])
def test_the_sample_of_a_file_changes_with_its_content_not_its_time(tmp_path, size):
    file = tmp_path / "file"
    file.write_bytes(bytes(size))
    before = content_sample(file)
    file.touch()
    assert content_sample(file) == before
    for number in (0, size - 1):
        content = bytearray(size)
        content[number] = 1
        file.write_bytes(content)
        assert content_sample(file) != before
    file.write_bytes(bytes(size + 1))
    assert content_sample(file) != before
