"""The recorded configuration of a run is a configuration of the same run."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchc.config.load import load
from benchc.config.resolved import RECORD, digest, resolved
from tests.config.trial import MODELS

pytestmark = pytest.mark.usefixtures("toy")


def recorded(raw: dict[str, Any], root: Path, **environment: str) -> dict[str, str]:
    return resolved(load(raw, root, environment=environment), "results/trial", root)


def test_the_record_loads_as_the_same_run(raw: dict[str, Any], root: Path) -> None:
    del raw["pool"], raw["corruptions"]
    before = load(raw, root)
    files = recorded(raw, root)
    assert list(files) == [f"results/trial/config{part}.yaml" for part in ("", "-sources", "-models")]
    (root / "results/trial").mkdir(parents=True)
    for path, text in files.items():
        (root / path).write_text(text)
    again = yaml.safe_load(files["results/trial/config.yaml"])
    assert again["pool"] == {"per_task": 200, "total": 4000} and len(again["corruptions"]["types"]) == 19
    after = load(again, root)
    assert recorded(again, root) == files
    assert (after.sources, after.models.keys()) == (before.sources, before.models.keys())


def test_resources_comments_and_the_order_of_keys_are_not_recorded(raw: dict[str, Any], root: Path) -> None:
    before = recorded(raw, root)
    large = 'large: {label: Large, family: llava, scoring: letter, repo: owner/large, revision: "1"'
    assert large in MODELS
    (root / "models.yaml").write_text("# Mine.\n" + MODELS.replace(large, f"{large}, mem_mb: 9"))
    assert recorded(dict(reversed(raw.items())), root) == before
    (root / "models.yaml").write_text(MODELS.replace(large, f"{large}, gpus: 1"))
    one = recorded(raw, root)
    assert one != before
    (root / "models.yaml").write_text(MODELS.replace(large, f"{large}, gpus: 2"))
    assert recorded(raw, root) == one
    # The one line of it differs where the files do.
    lines = [digest(files.values()) for files in (before, one, recorded(raw, root))]
    assert lines[0] != lines[1] == lines[2] and re.fullmatch(rf"{RECORD} [0-9a-f]{{32}}", lines[0])


def test_a_record_has_its_keys_in_order_and_short_lines(raw: dict[str, Any], root: Path) -> None:
    # A line is broken behind the word that passes its 110th character.
    for length, between in ((95, " "), (96, "\n    ")):
        label = f"Größe {'a' * length}"
        (root / "sources.yaml").write_text(
            f"z: {{task_column: category, url: 'https://x.org/z.tsv', label: {label} c}}\n"
        )
        text = recorded(raw | {"sources": ["z"]}, root)["results/trial/config-sources.yaml"]
        assert f"\nz:\n  label: {label}{between}c\n  url: https://x.org/z.tsv\n" in text


def test_a_path_is_recorded_as_it_is_used(raw: dict[str, Any], root: Path) -> None:
    (root / "data").mkdir()
    (root / "data/a.tsv").touch()
    texts = set()
    for path in ("data/a.tsv", "./data/../data/a.tsv", "${DATA}/a.tsv", f"{root}/data/a.tsv"):
        (root / "sources.yaml").write_text(f"a: {{label: A, path: '{path}', task_column: category}}\n")
        texts.add(recorded(raw | {"sources": ["a"]}, root, DATA="data")["results/trial/config-sources.yaml"])
    (only,) = texts
    assert yaml.safe_load(only)["a"]["path"] == "data/a.tsv"
    # And so is that of an adapter.
    texts = set()
    for path in ("data", "./data/../data", "${DATA}", f"{root}/data"):
        (root / "models.yaml").write_text(
            MODELS.replace('revision: "1"', f"revision: '1', adapter: '{path}'")
        )
        files = recorded(raw | {"sources": ["a"]}, root, DATA="data")
        texts.add(files["results/trial/config-models.yaml"])
    (only,) = texts
    assert yaml.safe_load(only)["large"]["adapter"] == "data"


def test_the_files_of_a_conversion_are_recorded_as_they_are_used(raw: dict[str, Any], root: Path) -> None:
    (root / "i").mkdir()
    for name in ("q.json", "a.json", "list.txt"):
        (root / name).touch()
    files = {
        "questions": "${DATA}/q.json",
        "annotations": f"{root}/a.json",
        "images": "http://x.org/i.zip",
    }
    convert = {"format": "vqav2", "files": files, "take_images": "./list.txt"}
    entry = {"label": "V", "task_column": "category", "convert": convert}
    (root / "sources.yaml").write_text(yaml.safe_dump({"v": entry}))
    text = recorded(raw | {"sources": ["v"]}, root, DATA="i/..")["results/trial/config-sources.yaml"]
    assert yaml.safe_load(text)["v"]["convert"] == {
        "format": "vqav2",
        "files": {"questions": "q.json", "annotations": "a.json", "images": "http://x.org/i.zip"},
        "md5": {},
        "bytes": {},
        "mirrors": {},
        "take_images": "list.txt",
    }
