"""What the author of an export chose neither runs nor is asked unless it is trusted."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchc.errors import InputError
from benchc.export.manifest import FILE, FORMAT, Manifest, write_manifest
from benchc.export.rebuild import rebuild
from scripts.commands.evaluate import evaluate

SERVER = {"model": "m", "api_key_env": "HOME", "url": "http://127.0.0.1:9"}
NOT_OURS = "runs code that is not benchc's"


def export(folder: Path, settings: dict[str, Any], kernel: str | None) -> Path:
    """Write an export without items, of a stranger who wrote ``settings`` and named a ``kernel``."""
    recipe = {
        "name": "fog",
        "kernel": kernel or "benchc.corruptions.kernels.fog.fog",
        "parameters": {"1": {}},
    }
    (folder / "run").mkdir(parents=True)
    (folder / "run/config.yaml").write_text(yaml.safe_dump(settings))
    facts = {"benchc": "1", "run": "small", "benchmark": "bench-c", "images_folder": None}
    images = {"recipes": {"fog": recipe}, "footers": {}, "seed": 1, "alpha": "drop", "libraries": {}}
    write_manifest(folder, Manifest(format=FORMAT, pool=[], **facts, **images))
    return folder


@pytest.mark.parametrize(
    ("settings", "kernel", "expected"),
    [
        ({"corruptions": {"own_files": ["a.py"]}}, None, f"{NOT_OURS} (a.py)"),
        ({}, "os.system", f"{NOT_OURS} (os.system)"),
        ({}, "benchc.corruptions.own_file.load_own_file", f"{NOT_OURS} (benchc.corruptions.own_file."),
        ({}, "a.py:benchc.corruptions.kernels.fog.fog", f"{NOT_OURS} (a.py); read "),
        ({"corruptions": {"own_files": ["a.py"]}}, "a.py:darken", f"{NOT_OURS} (a.py); read "),
        ({"corruptions": {"own_files": [__file__]}}, "a.py:darken", f"{NOT_OURS} ({__file__}, a.py); read "),
        ({"a": {"judge": SERVER}}, None, "may ask http://127.0.0.1:9 with the key in HOME; read "),
        ({"tags": __file__}, None, f"reads {__file__}; read "),
        ({"judge": {"url": "http://a"}}, "b.c", f"{NOT_OURS} (b.c) and may ask http://a; read "),
    ],
)
def test_an_export_that_runs_or_asks_is_refused(tmp_path, settings, kernel, expected):
    made = export(tmp_path / "made", settings, kernel)
    with pytest.raises(InputError, match=re.escape(f"{made}: {expected}")):
        rebuild(made, root=tmp_path)
    assert not (tmp_path / "results").exists()
    with pytest.raises(InputError, match="pool"):  # which it has not
        rebuild(made, root=tmp_path, trusted=True)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"judge": SERVER | {"mode": "replay"}},
        {"judge": SERVER | {"kind": "rule"}},
        {"corruptions": [1], "tags": ["/none", "tests/a\0"]},
    ],
)
def test_others_need_no_trust(tmp_path, settings):
    with pytest.raises(InputError, match="pool"):
        rebuild(export(tmp_path / "made", settings, None), root=tmp_path)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"repo": "a/b", "trust_remote_code": True}, "runs the code of its checkpoint"),
        (
            {"server": {"command": "sh {model}"}},
            "starts a program (server.command: sh {model}); give --trust",
        ),
        ({"server": SERVER}, "asks http://127.0.0.1:9 with the key in HOME; give --trust"),
    ],
)
def test_an_entry_of_an_export_is_used_if_it_is_trusted(tmp_path, monkeypatch, entry, expected):
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "results/exported/small-1"
    run.mkdir(parents=True)
    for name, content in {"config.yaml": {"name": "small"}, "config-models.yaml": {"m": entry}}.items():
        (run / name).write_text(yaml.safe_dump(content))
    (run / FILE).write_text("{}")
    with pytest.raises(InputError, match=re.escape(f"--model m: its entry in the export {expected}")):
        evaluate(benchmark=run, model=["m"])
    with pytest.raises(InputError, match="benchmark"):  # the run has none
        evaluate(benchmark=run, model=["m"], trust=True, name="of-m")
