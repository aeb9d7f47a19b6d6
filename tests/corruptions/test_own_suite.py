"""Corruptions of a user's file join a copy of the suite, and errors of the file are one line each."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter

from benchc.corruptions import corrupt
from benchc.corruptions.apply import apply, kernel_functions
from benchc.corruptions.chunks import CorruptionSpec, write_corrupted
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import SUITES, all_corruptions_of, corruptions_of, group_of, recipe_of
from benchc.errors import InputError
from benchc.images import decode, encode_png
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import read_footer, read_table
from tests.corruptions.own_files import DARKEN, written

ROOT = Path(__file__).resolve().parents[2]
IMAGE = np.random.default_rng(3).integers(0, 256, (40, 50, 3), np.uint8)
GRAIN = """
def draw(generator, height, width, *, spread):
    return generator.normal(0, spread, (height, width, 1))

@corruption({"spread": range(10, 60, 10)}, noise=draw, group="noise")
def grain(image, noise, *, spread):
    return np.clip(image + noise, 0, 255).astype(np.uint8)
"""
CROP = """
@corruption({"side": 16, "corner": [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)]}, resizes=True)
def crop(image, *, side, corner):
    top, left = corner
    return image[top : top + side, left : left + side].copy()
"""


def test_own_corruptions_join_a_copy_of_the_suite(tmp_path):
    published = all_corruptions_of("imagenet-c")
    suite = suite_with("imagenet-c", [written(tmp_path, DARKEN + GRAIN), written(tmp_path, CROP, "more.py")])
    assert set(all_corruptions_of(suite)) - set(published) == {"darken", "grain", "crop"}
    assert [group_of(name, suite) for name in ("darken", "grain", "crop")] == ["own", "noise", "own"]
    assert corruptions_of(suite) == corruptions_of("imagenet-c")
    assert all_corruptions_of("imagenet-c") == published
    assert recipe_of("fog", suite) == recipe_of("fog")
    assert suite_with("imagenet-c") is SUITES["imagenet-c"]


@pytest.mark.parametrize(
    ("name", "group", "reason"),
    [
        ("corrupted", "noise", "corrupted may be another column of tables; rename the function"),
        ("severity_2", "noise", "severity_2 may be another column of tables; rename the function"),
        ("grain", "overall", "overall may be another column of tables; rename the group"),
        ("grain", "model", "model may be another column of tables; rename the group"),
        ("blur_low", "noise", "blur_low may be a column of tables that belongs to blur; rename it"),
        ("grain", "clean_style", "clean_style may be a column of tables that belongs to clean; rename it"),
        ("model_high", "noise", "model_high may be a column of tables that belongs to model; rename it"),
        ("all", "noise", "all stands for all corruptions of the suite; rename the function"),
        ("blur", "noise", "blur is also the name of a group; rename the function"),
        ("grain", "fog", "the group fog is also a corruption; rename the group"),
    ],
)
def test_a_name_stands_for_one_column_of_tables(tmp_path, name, group, reason):
    text = GRAIN.replace("def grain", f"def {name}").replace('"noise"', f'"{group}"')
    with pytest.raises(InputError, match=rf"mine\.py: {reason}$"):
        suite_with("imagenet-c", [written(tmp_path, text)])


def test_a_name_may_end_as_the_columns_of_others(tmp_path):
    text = GRAIN.replace("def grain", "def light_low").replace('"noise"', '"film_style"')
    assert group_of("light_low", suite_with("imagenet-c", [written(tmp_path, text)])) == "film_style"


def test_a_function_and_a_group_of_ones_own_have_different_names(tmp_path):
    def of(name, group):
        return GRAIN.replace("grain", name).replace("draw", f"{name}_noise").replace('"noise"', f'"{group}"')

    first, second = of("a", "noise"), of("b", "a")
    message = re.compile("a is also the name of a group|the group a is also a corruption")
    for number, text in enumerate((of("a", "a"), first + second, second + first)):
        with pytest.raises(InputError, match=message):
            suite_with("imagenet-c", [written(tmp_path, text, f"own{number}.py")])


def test_parameters_are_by_severity_or_for_all_and_pixels(tmp_path):
    suite = suite_with("imagenet-c", [written(tmp_path, DARKEN + GRAIN + CROP)])
    assert recipe_of("grain", suite).parameters[3] == {"spread": 30}
    assert recipe_of("crop", suite).parameters[4] == {"side": 16, "corner": (1, 1)}
    assert TypeAdapter(Recipe).validate_json(recipe_of("crop", suite).to_json()) == recipe_of("crop", suite)
    with pytest.raises(InputError, match=r"mine.py: grain.spread has 5 values for 3 severities; give a list"):
        suite_with("r-bench", [written(tmp_path, GRAIN)])
    assert (corrupt(IMAGE, "darken", 5, seed=1, suite=suite) == np.rint(IMAGE * 0.5)).all()
    assert (corrupt(IMAGE, "crop", 2, seed=1, suite=suite) == IMAGE[:16, 1:17]).all()
    noise = np.random.Generator(np.random.SFC64(7)).normal(0, 20, (40, 50, 1))
    expected = np.clip(IMAGE + noise, 0, 255).astype(np.uint8)
    assert (corrupt(IMAGE, "grain", 2, seed=7, suite=suite) == expected).all()


def test_worker_processes_import_the_file_and_the_footer_has_its_code(tmp_path):
    (tmp_path / "own_helper.py").write_text("FACTOR = 2\n")
    code = GRAIN.replace("image + noise", "image + own_helper.FACTOR * noise")
    suite = suite_with("imagenet-c", [written(tmp_path, "import own_helper\n" + code)])
    recipe = recipe_of("grain", suite)
    images = [(f"a/{number}#0", encode_png(IMAGE + number)) for number in range(40)]
    for workers in (1, 2):
        write_corrupted(images, CorruptionSpec(recipe, seed=1), tmp_path / f"{workers}.parquet", workers)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    assert read_footer(tmp_path / "1.parquet")["recipe"]["code"] == recipe.code
    row = read_table(tmp_path / "1.parquet", CORRUPTED)["image"][0]
    assert decode(row["bytes"]).shape == IMAGE.shape


def test_a_file_that_was_edited_since_it_was_planned_is_refused(tmp_path):
    recipe = recipe_of("darken", suite_with("imagenet-c", [written(tmp_path, DARKEN)]))
    assert kernel_functions(recipe.kernel, None, recipe.code)[0].__name__ == "darken"
    for other in ("0" * 32, "f" * 32):
        with pytest.raises(InputError, match=r"mine.py: was edited after this job was planned; run"):
            kernel_functions(recipe.kernel, None, other)
    written(tmp_path, DARKEN.replace("1 - strength", "1 - strength / 2"))
    call = "import sys; from benchc.corruptions.apply import *; kernel_functions(*sys.argv[1:])"
    command = [sys.executable, "-c", call, recipe.kernel, "", recipe.code]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "mine.py: was edited after this job was planned; run snakemake again" in result.stderr


def test_a_function_that_a_file_lacks_is_named(tmp_path):
    file = written(tmp_path, GRAIN)
    assert [each.__name__ for each in kernel_functions(f"{file}:grain", "draw")] == ["grain", "draw"]
    for function, noise, absent in (("gone", "draw", "gone"), ("grain", "away", "away"), ("x", "y", "x")):
        with pytest.raises(InputError, match=f"mine.py: has no function {absent}, which a recipe names; add"):
            kernel_functions(f"{file}:{function}", noise)


def changed(old: str, new: str, code: str = DARKEN) -> str:
    return code.replace(old, new)


NESTED = "def make():\n    @corruption({})\n    def inner(image):\n        return image.copy()\nmake()\n"
TOP_LEVEL = ": the functions of {} should be defined with def at the top level"
# Code, and the end of the error after the file's name.
WRONG = {
    "no corruption": ("x = 1\n", ": registers no corruption; put @corruption"),
    "a clash": (changed("darken", "fog"), ": fog is also a corruption of the suite imagenet-c; rename"),
    "clean": (changed("darken", "clean"), ": clean is also a corruption of the suite imagenet-c"),
    "a name": (changed("darken", "Dunkelgrün"), ": the corruption 'Dunkelgrün' should have a name in"),
    "a group": (changed('"noise")', '"my noise")', GRAIN), ": the group 'my noise' should have a name in"),
    "too few values": (changed(", 0.5", ""), ": darken.strength has 4 values for 5 severities; give a"),
    "a value": (changed("0.5", "float('nan')"), ": darken.strength has the value nan; give finite"),
    "a table": (changed("0.5", "{(1, 2): 3}"), ": darken.strength has the value {(1, 2): 3}; give finite"),
    "an object": (changed("0.5", "np"), ": darken.strength has the value <module 'nump"),
    "a matrix": (changed("0.5", "np.eye(2)"), ": darken.strength has the value array([[1., 0."),
    "no parameters": (
        changed('({"strength": [0.1, 0.2, 0.3, 0.4, 0.5]})', ""),
        ", line 4: TypeError: @corruption needs the kernel's parameters",
    ),
    "noise without its name": (
        changed("noise=draw", "draw", GRAIN),
        ", line 7: TypeError: corruption() takes 1 positional argument but 2 ",
    ),
    "an import": ("import no_such_package\n", ", line 3: ModuleNotFoundError: No module named 'no_such_p"),
    "syntax": ("def x(:\n", ", line 3: SyntaxError: invalid syntax"),
    "exit": ("raise SystemExit(3)\n", ", line 3: SystemExit: 3"),
    "nested": (NESTED, TOP_LEVEL.format("inner")),
    "a lambda": (changed("noise=draw", "noise=lambda *_, **__: 0", GRAIN), TOP_LEVEL.format("grain")),
    "shape": (changed("(image * ", "(image[1:] * "), ":darken of darken returned uint8[39, 48, 3]; it m"),
    "dtype": (changed("np.uint8", "float"), ":darken of darken returned float64[40, 48, 3]; it must"),
    "nothing": (changed("    return", "    "), ":darken of darken returned NoneType; it must return"),
    "an unknown keyword": (
        changed("{", "{'gain': 1, ", changed("image, *, strength", "image, *, factor, strength=1")),
        ": TypeError: darken() got an unexpected keyword argument 'gain'; correct the kernel",
    ),
    "an error": (changed("1 - strength", "1 / 0"), ", line 6: ZeroDivisionError: division by zero; c"),
    "its input": (
        changed("    return", "    image[0] = 0\n    return"),
        ", line 6: ValueError: assignment destination is read-only; the image is read-only, so change a copy",
    ),
    "one name twice": (
        DARKEN + changed("1 - strength", "1 + strength"),
        f"{TOP_LEVEL.format('darken')} of the file, each with a name",
    ),
    "no rows": (
        changed("top : top + side", "0:0", CROP),
        ":crop of crop returned uint8[0, 16, 3]; it must return uint8[H, W, 3] with H and W at least 1",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_one_line_that_names_the_file(tmp_path, name):
    code, message = WRONG[name]
    with pytest.raises(InputError) as caught:
        suite_with("imagenet-c", [written(tmp_path, code)])
    text = str(caught.value)
    assert f"mine.py{message}" in text
    assert "\n" not in text


def test_a_missing_file_two_files_with_one_name_and_a_module_found_elsewhere_are_errors(tmp_path):
    for name in ("code.c", "notes.txt"):
        written(tmp_path, DARKEN, name)
    for name in ("gone.py", "code.c", "notes.txt"):
        with pytest.raises(InputError, match=f"{name}: there is no such Python file; correct the path, or"):
            suite_with("imagenet-c", [tmp_path / name])
    files = [written(tmp_path, DARKEN), written(tmp_path, DARKEN, "more.py")]
    with pytest.raises(InputError, match=r"more.py: darken is also a corruption of .*mine.py; rename the"):
        suite_with("imagenet-c", files)
    (tmp_path / "colorsys.py").write_text("")
    with pytest.raises(InputError, match=r"mine.py: imports colorsys, but Python finds .* first; rename"):
        suite_with("imagenet-c", [written(tmp_path, "import colorsys\n" + DARKEN)])


def test_a_package_of_the_folder_is_imported_unless_python_finds_another(tmp_path):
    for name in ("own_package", "wsgiref"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    # A file may have the name of a library's module, and import what is part of the interpreter.
    unused = next(name for name in sys.builtin_module_names if name not in sys.modules)
    code = f"import own_package, {unused}\n{DARKEN}"
    suite_with("imagenet-c", [written(tmp_path, code, "colorsys.py")])
    assert sys.modules["numpy"] is np  # a package, too
    message = r"mine.py: imports wsgiref, but Python finds .* first; rename .*wsgiref/__init__.py"
    with pytest.raises(InputError, match=message):
        suite_with("imagenet-c", [written(tmp_path, "import wsgiref\n" + DARKEN)])


def test_an_error_in_a_package_of_the_folder_is_at_the_users_own_line(tmp_path, monkeypatch):
    packages = tmp_path / "venv/site-packages"
    packages.mkdir(parents=True)
    (packages / "own_library.py").write_text("def fail():\n    raise OSError('gone')\n")
    monkeypatch.syspath_prepend(packages)
    code = "import own_library\n" + changed("1 - strength", "own_library.fail()")
    with pytest.raises(InputError, match=r"mine\.py, line 7: OSError: gone; correct the kernel$"):
        suite_with("imagenet-c", [written(tmp_path, code)])


def test_a_file_that_another_one_imports_registers_once(tmp_path):
    base = written(tmp_path, DARKEN, "own_base.py")
    both = written(tmp_path, "import own_base\n" + CROP, "both.py")
    suites = [suite_with("imagenet-c", files) for files in ([both], [both, base])]
    names = [[type_.name for type_ in suite.groups["own"]] for suite in suites]
    assert names == [["crop"], ["crop", "darken"]]


def test_a_compiled_kernel_is_registered(tmp_path):
    code = changed("np.rint(image * (1 - strength)).astype(np.uint8)", "image // np.uint8(2)")
    code = "import numba\n" + changed("\ndef", "\n@numba.njit\ndef", code)
    suite = suite_with("imagenet-c", [written(tmp_path, code)])
    assert (apply(recipe_of("darken", suite), IMAGE, 1, seed=0) == IMAGE // 2).all()


def test_an_edit_is_found_in_the_same_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # The second has the size of the first, the third its time too.
    edits = (DARKEN, 0.5, 1), (DARKEN.replace("0.5", "0.6"), 0.4, 2), (DARKEN.replace("0.5", "0.75"), 0.25, 2)
    for code, expected, time in edits:
        os.utime(written(tmp_path, code), ns=(time, time))
        suite = suite_with("imagenet-c", ["mine.py"])
        assert (corrupt(IMAGE, "darken", 5, seed=1, suite=suite) == np.rint(IMAGE * expected)).all()
    written(tmp_path, CROP)
    assert [type_.name for type_ in suite_with("imagenet-c", ["mine.py"]).groups["own"]] == ["crop"]
