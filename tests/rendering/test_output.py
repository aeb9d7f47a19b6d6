"""A function's signature declares its inputs and settings, with which it is called."""

from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import pytest
from pydantic import PositiveInt

from benchc.errors import InputError
from benchc.rendering.declaration import page, table
from benchc.rendering.output import File, Files, call, function_of, inputs_of, parquet, settings_of
from benchc.schemas.parquet import TableError, TableType, write_table

WORDS = TableType("words", 1, {"id": pl.String, "word": pl.String, "length": pl.Int64})


def read_all(first: Path, others: list[Path]) -> str:
    return "".join(path.read_text() for path in (first, *others))


def example(
    words: Annotated[pl.DataFrame, parquet(WORDS, "word")],
    text: Annotated[str, Files(read_all)],
    title: Annotated[str, File(Path.read_text)],
    folder: Path,
    pages: list[Path],
    draws: PositiveInt,
    kind: Literal["unweighted", "kappa"] = "unweighted",
    families: dict[str, str] | None = None,
) -> tuple[object, ...]:
    return words.rows(), text, title, folder, pages, draws, kind, families


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[Path]]:
    write_table(
        pl.DataFrame({"id": ["a"], "word": ["fog"], "length": [3]}), tmp_path / "words.parquet", WORDS
    )
    for name in "abct":
        (tmp_path / name).write_text(name)
    a, b, c, title = (tmp_path / name for name in "abct")
    return {
        "words": [tmp_path / "words.parquet"],
        "first": [a],
        "others": [b, c],
        "title": [title],
        "folder": [tmp_path],
        "pages": [c, b],
    }


def test_the_signature_declares_inputs_and_settings():
    several = {"words": False, "first": False, "others": True, "title": False, "folder": False, "pages": True}
    assert inputs_of(example) == several
    assert list(settings_of(example)) == ["draws", "kind", "families"]


def test_inputs_are_read_and_settings_are_parsed(files, tmp_path):
    made = call(example, files, {"draws": "7", "families": '{"snow": "weather", "fog": "weather"}'})
    families = {"snow": "weather", "fog": "weather"}
    assert made == ([("fog",)], "abc", "t", tmp_path, files["pages"], 7, "unweighted", families)
    assert list(made[-1]) == ["snow", "fog"]
    assert call(example, files, {"draws": "7", "kind": '"kappa"'})[-2:] == ("kappa", None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "lacks the settings draws; its settings are: draws, families, kind"),
        ({"draws": "7", "drows": "7"}, "does not take the settings drows"),
        ({"draws": "0"}, "--set draws: 0 is not valid"),
        ({"draws": '"7"'}, "--set draws: "),  # a string, not a number
        ({"draws": "7.5"}, "--set draws: "),
        ({"draws": "seven"}, "--set draws: "),
        ({"draws": "7", "kind": '"other"'}, "--set kind: "),
    ],
)
def test_wrong_settings_are_refused_in_one_line(files, settings, message):
    with pytest.raises(InputError) as error:
        call(example, files, settings)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_wrong_inputs_are_refused(files):
    for invalid, message in (
        ({"words": files["words"]}, "lacks the inputs first, folder, others, pages, title"),
        (files | {"mask": files["title"]}, "does not take the inputs mask"),
        (files | {"title": files["pages"]}, "--input title: 2 files are given"),
    ):
        with pytest.raises(InputError, match=message):
            call(example, invalid, {"draws": "7"})
    with pytest.raises(TableError, match=r"no such file"):
        call(example, files | {"words": [Path("none.parquet")]}, {"draws": "7"})


def test_the_function_of_a_module_has_its_name(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_table.py").write_text("def my_table(): ...\n")
    (tmp_path / "my_figure.py").write_text("def draw(): ...\n")
    (tmp_path / "my_broken.py").write_text("import my_absent\n")
    assert function_of("my_table").__name__ == "my_table"
    with pytest.raises(InputError, match="my_figure has no function my_figure"):
        function_of("my_figure")
    with pytest.raises(InputError, match=r"there is no module absent_package; name"):
        function_of("absent_package.my_table")
    with pytest.raises(ModuleNotFoundError, match="my_absent"):  # an error in the module, not in its name
        function_of("my_broken")


def optional(table: Path | None = None) -> None: ...


def unannotated(table): ...


def rest(*tables: Path) -> None: ...


@pytest.mark.parametrize("function", [optional, unannotated, rest])
def test_an_invalid_signature_is_refused(function):
    with pytest.raises(InputError, match=f"{function.__name__}: its parameter tables? must be annotated"):
        inputs_of(function)


def test_an_input_without_a_file_is_refused(files):
    with pytest.raises(InputError, match="--input title: 0 files are given"):
        call(example, files | {"title": []}, {"draws": "7"})


@pytest.mark.parametrize("module", ["", ".table1", "../x", "a..b", "a/b"])
def test_a_name_that_is_not_a_module_is_refused(module):
    with pytest.raises(InputError, match="is not a module; give its dotted path"):
        function_of(module)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formats": ["cvs"]}, "table t: its formats are .*; choose from csv, md, tex, published"),
        ({"formats": ["png"]}, "table t: its formats are .*; choose from csv"),
        ({"inputs": {"code": "x"}}, "table t: an input cannot be called code"),
        ({"inputs": {"count": "x"}}, "table t: an input cannot be called count"),
    ],
)
def test_an_invalid_declaration_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        table("t", "T", **{"inputs": {}, "caption": "", **options})


def test_a_page_is_one_html_file():
    declared = page("weights", "Weights", inputs={}, caption="")
    assert declared.files == {"html": "pages/weights.html"}
    assert declared.module("toy") == "benchc.benchmarks.toy.pages.weights"
