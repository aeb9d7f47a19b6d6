"""The settings in which two runs differ are those of their records."""

from pathlib import Path

import pytest
import yaml

from benchc.config.differing import changed_settings, differing_origin, differing_settings, shown
from benchc.errors import InputError


def run(folder: Path, config: object, sources: object, models: object) -> Path:
    folder.mkdir()
    parts = {"config": config, "config-sources": sources, "config-models": models}
    for name, content in parts.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return folder


def test_settings_and_entries_are_named_by_their_keys(tmp_path: Path) -> None:
    lists = {"types": ["a", "b", "b"], "turned": [1, 2], "back": [2, 1], "same": [3], "gone": [4]}
    others = {"types": ["b", "c"], "turned": [2, 1], "back": [1, 2], "same": [3]}
    first, second = {"name": "a", "seed": 1, "pool": {"total": 4}}, {"name": "b", "seed": 2, "new": "n"}
    a = run(tmp_path / "a", first | lists, {"s": {"url": "x", "bytes": 5}}, {"m": {}})
    b = run(tmp_path / "b", second | others, {"s": {"url": "y", "md5": "0f"}}, None)
    assert differing_settings(a, a) == []
    # A record names itself and its catalogues.
    assert differing_settings(a, b) == [
        "seed: 1 -> 2",
        'pool: {"total": 4} -> none',
        'types: + "c", - "a", - "b"',
        "turned: other order",
        "back: other order",
        "gone: [4] -> none",
        'new: none -> "n"',
        "sources.s.bytes: 5 -> none",
        'sources.s.md5: none -> "0f"',
        'sources.s.url: "x" -> "y"',
        "models.m: {} -> none",
    ]


def test_a_record_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    a = run(tmp_path / "a", {}, {}, {})
    (a / "config-models.yaml").write_text("a: 1\na: 2\n")
    with pytest.raises(InputError, match=r"a/config-models.yaml: a is given twice.*; run snakemake again"):
        differing_settings(a, a)
    (a / "config-models.yaml").unlink()
    with pytest.raises(InputError, match=r"a/config-models.yaml: No such file or directory; run snakemake"):
        differing_settings(a, a)


def test_what_a_run_would_change_in_its_record(tmp_path: Path) -> None:
    texts = {"x/config.yaml": "seed: 2", "x/config-sources.yaml": "{}", "x/config-models.yaml": "m: {}"}
    a = run(tmp_path / "a", {"seed": 1}, {}, {"m": {}})
    assert changed_settings(a, texts) == ["seed: 1 -> 2"]
    (a / "config-models.yaml").unlink()
    assert changed_settings(a, texts) == []


def test_a_run_of_other_items_has_another_benchmark_or_other_sources(tmp_path: Path) -> None:
    old = {"benchmark": "x", "sources": ["s", "t"], "seed": 1}
    a = run(tmp_path / "a", old, {}, {})

    def differing(**new: object) -> list[str]:
        texts = {f"{a}/config.yaml": yaml.safe_dump(old | new), f"{a}/config-models.yaml": "sources: []"}
        return differing_origin(a, texts)

    assert differing(seed=2, sources=["t", "s"]) == []
    assert differing(benchmark="y", sources=["s", "u"]) == ['benchmark: "x" -> "y"', 'sources: + "u", - "t"']
    (a / "config.yaml").unlink()
    assert differing(benchmark="y") == []


def test_a_long_value_is_cut() -> None:
    assert (shown("é" * 48), shown("é" * 49)) == (f'"{"é" * 48}"', f'"{"é" * 48}…')
