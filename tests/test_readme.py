"""The examples of docs/own-data.md and docs/own-model.md: what they tell users to write is accepted."""

import re
from pathlib import Path

import pytest
import yaml

from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit
from tests.sources.tsv_files import BLUE, RED

DOCS = Path(__file__).resolve().parents[1] / "docs"
TEXT = "".join((DOCS / name).read_text() for name in ("own-data.md", "own-model.md"))


def example(language: str, of: str) -> str:
    """Return the block of code in which ``of`` occurs."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    (found,) = (block for block in blocks if of in block)
    return str(found)


def test_the_entries_are_valid() -> None:
    model, source = (yaml.safe_load(example("yaml", of)) for of in ("my-model:", "my-source:"))
    assert ModelCatalogue.model_validate(model).root["my-model"].family is None
    assert SourceCatalogue.model_validate(source).root["my-source"].task_column == "category"


def test_the_script_writes_a_tsv_file_of_which_every_row_is_an_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in (("sales", RED), ("before", RED), ("after", BLUE)):
        Path(f"{name}.png").write_bytes(data)
    exec(example("python", "my.tsv"), {})
    items, report = read_vlmevalkit("my.tsv", "my", ReaderOptions(task_column="category"))
    assert report.is_empty()
    found = {row["id"]: row for row in items.to_dicts()}
    assert [len(row["images"]) for row in found.values()] == [1, 1, 2]
    assert found["my/2"]["images"][0]["bytes"] == RED
    assert (found["my/2"]["hint"], found["my/2"]["answer"]) == ("Bars are sales.", 0)
    assert (found["my/3"]["options"], found["my/1"]["hint"]) == (["yes", "no"], None)
    assert found["my/3"]["category"] == "comparison"
