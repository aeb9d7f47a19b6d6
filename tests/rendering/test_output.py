"""A function's signature declares its inputs and settings, with which it is called."""

from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import pytest

from benchc.command_line import PositiveInt
from benchc.errors import InputError
from benchc.rendering.declaration import page, table
from benchc.rendering.output import (
    File,
    Files,
    Table,
    call,
    function_of,
    inputs_of,
    parquet,
    settings_of,
    stage_of,
)
from benchc.schemas.parquet import TableError, TableType, write_table
from benchc.workflow.stage import options
from scripts.command import call as run_command

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
def files(tmp_path: Path) -> dict[str, Path | list[Path]]:
    write_table(
        pl.DataFrame({"id": ["a"], "word": ["fog"], "length": [3]}), tmp_path / "words.parquet", WORDS
    )
    for name in "abct":
        (tmp_path / name).write_text(name)
    a, b, c, title = (tmp_path / name for name in "abct")
    return {
        "words": tmp_path / "words.parquet",
        "first": a,
        "others": [b, c],
        "title": title,
        "folder": tmp_path,
        "pages": [c, b],
    }


SETTINGS = {"draws": 7}


def test_the_signature_declares_inputs_and_settings():
    assert inputs_of(example) == {
        **{"words": Path, "first": Path, "others": list[Path]},
        **{"title": Path, "folder": Path, "pages": list[Path]},
    }
    assert list(settings_of(example)) == ["draws", "kind", "families"]


def test_inputs_are_read(files, tmp_path):
    families = {"snow": "weather", "fog": "weather"}
    made = call(example, {**files, **SETTINGS, "families": families})
    assert made == ([("fog",)], "abc", "t", tmp_path, files["pages"], 7, "unweighted", families)
    with pytest.raises(TableError, match=r"no such file"):
        call(example, {**files, **SETTINGS, "words": Path("none.parquet")})


def as_table(
    words: Annotated[pl.DataFrame, parquet(WORDS, "word")],
    text: Annotated[str, Files(read_all)],
    pages: list[Path],
    draws: PositiveInt,
    kind: Literal["unweighted", "kappa"] = "unweighted",
    name: str | None = None,
    families: dict[str, str] | None = None,
) -> Table:
    """Return a table."""
    found = [text, len(pages), draws, kind, name, families]
    return Table(words, "".join(map(repr, found)), summary="done")


def command(files, tmp_path, **arguments: object) -> list[str]:
    given = {name: files[name] for name in ("words", "first", "others", "pages")}
    given |= {"draws": 7, "prefix": tmp_path / "made", "formats": ["csv", "md"], **arguments}
    return [option for name, value in given.items() for option in options(name, value)]


@pytest.mark.parametrize(
    ("settings", "printed"),
    [
        ({}, "'abc'27'unweighted'NoneNone"),
        ({"kind": "kappa", "name": "null"}, "'abc'27'kappa''null'None"),
        ({"name": "12", "pages": []}, "'abc'07'unweighted''12'None"),
        ({"families": {"snow": "a", "fog": "{b}"}}, "'abc'27'unweighted'None{'snow': 'a', 'fog': '{b}'}"),
    ],
)
def test_an_output_is_a_stage_of_its_files_and_settings(files, tmp_path, settings, printed, capsys):
    run_command(stage_of(as_table), command(files, tmp_path, **settings), "as_table")
    assert (tmp_path / "made.csv").read_text() == "word\nfog\n"
    assert (tmp_path / "made.md").read_text() == printed
    assert not (tmp_path / "made.tex").exists()
    assert capsys.readouterr().err == "done\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draws": None}, "--draws is missing"),
        ({"drows": 7}, "Unknown option: --drows"),
        ({"draws": 0}, "it should be at least 1"),
        ({"draws": 7.5}, "--draws: Input should be a valid integer"),
        ({"draws": "seven"}, "--draws: Invalid JSON"),
        ({"kind": "other"}, "for --kind"),
        ({"pages": None}, "--pages is missing"),
        ({"mask": "x"}, "Unknown option: --mask"),
        ({"formats": ["cvs"]}, "--formats"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(files, tmp_path, change, message, capsys):
    with pytest.raises(SystemExit) as end:
        run_command(stage_of(as_table), command(files, tmp_path, **change), "as_table")
    error = capsys.readouterr().err
    assert end.value.code == 2 and error.startswith("error: ") and error.count("\n") == 1
    assert message in error


def test_an_absent_format_and_another_result_are_refused(files, tmp_path):
    with pytest.raises(InputError, match="made: has no format tex; remove it from --formats"):
        run_command(stage_of(as_table), command(files, tmp_path, formats=["tex"]), "as_table")
    with pytest.raises(InputError, match="annotate Table, Figure, Samples, or str for a page"):
        stage_of(example)


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"formats": ["cvs"]}, "table t: its formats are .*; choose from csv, md, tex, published"),
        ({"formats": ["png"]}, "table t: its formats are .*; choose from csv"),
        ({"inputs": {"waited_for": "x"}}, "table t: an input cannot be called waited_for"),
        ({"inputs": {"count": "x"}}, "table t: an input cannot be called count"),
    ],
)
def test_an_invalid_declaration_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        table("t", "T", **{"inputs": {}, "caption": "", **changes})


def test_a_page_is_one_html_file():
    declared = page("weights", "Weights", inputs={}, caption="")
    assert declared.files == {"html": "pages/weights.html"}
    assert declared.module("toy") == "benchc.benchmarks.toy.pages.weights"
