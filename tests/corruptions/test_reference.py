"""The page on corruptions agrees with the suites, and its examples run."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchc.corruptions import reference
from benchc.corruptions.reference import CORRUPT_EXAMPLE, OWN_CALL, OWN_EXAMPLE, corruption_page
from benchc.corruptions.registry import SUITES
from benchc.corruptions.suite import CorruptionType, Suite, decided, library, published

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date() -> None:
    path = ROOT / "docs" / "corruptions.md"
    assert path.read_text() == corruption_page(), (
        f"{path} is out of date: run `python -m scripts.stage write_corruption_reference` and commit it"
    )


@pytest.mark.parametrize("suite", SUITES)
def test_every_type_has_a_row_with_each_parameter(suite: str) -> None:
    section = corruption_page().split(f"\n## {suite}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    types = SUITES[suite].types()
    assert [line.split("`")[1] for line in rows] == [type_.name for type_ in types]
    for type_, line in zip(types, rows, strict=True):
        if "as in [imagenet-c](#imagenet-c)" in line:
            assert suite != "imagenet-c" and type_ in SUITES["imagenet-c"].types()
        else:
            assert re.findall(r"`([a-z_]+)`", line.split("|")[3]) == list(type_.parameters)


def test_marks_values_origins_and_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = {
        "size": published("paper", 1.5, 2.0),
        "pair": library("library", (1.0, 0.5), (2.0, 0.1)),
        "mode": decided("paper", "edge", "edge"),
    }
    types = (
        CorruptionType("plain", "Does a | b.", "k.plain", {}, ordered=False),
        CorruptionType("odd", "Does *it*.", "k.odd", parameters, in_default=False),
        CorruptionType(
            "caught_stand_in", "Is made up.", "k.c", {}, None, False, "plain", stand_in=True, resizes=True
        ),
    )
    suite = Suite("own", "Own", "Me (2026)", (1, 2), {"one_group": types}, {"top": ("one_group",)})
    monkeypatch.setattr(reference, "SUITES", {"own": suite})
    page = corruption_page()
    assert "| [own](#own) | 1 | 2 | 2 | one group |" in page
    assert (
        page.split("## own")[1]
        == """

Me (2026). Version 1.

| level | groups |
| --- | --- |
| top | one group |

### One group (own)

| type | what it does | parameters |
| --- | --- | --- |
| `plain` (no order) | Does a \\| b. |  |
| `odd` (off) | Does \\*it\\*. | `size` 1.5, 2 [1]; `pair` (1, 0.5), (2, 0.1) [2]; `mode` edge [3] |
| `caught_stand_in` (alternative to `plain`, stand-in, off, changes the size) | Is made up. |  |

Origins:

1. *published*: paper
2. *library default*: library
3. *decided here*: paper
"""
    )


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_corruptions.py").write_text(OWN_EXAMPLE)
    image = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    Image.fromarray(image).save(tmp_path / "photo.jpg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, np.ndarray] = {}
    exec(CORRUPT_EXAMPLE + OWN_CALL, names)
    assert (np.asarray(Image.open("foggy.png")) == names["foggy"]).all()
    assert names["foggy"].shape == names["noisy"].shape == names["flickered"].shape == image.shape
    assert (names["flickered"] != names["pixels"]).any()
