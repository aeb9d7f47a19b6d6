"""The captions of the report are text in a form that docutils reads without complaint."""

import re
from pathlib import Path

import pytest
from docutils.core import publish_string

CAPTIONS = sorted((Path(__file__).resolve().parents[4] / "rules/captions").glob("*.rst"))


@pytest.mark.parametrize("path", CAPTIONS, ids=lambda path: path.stem)
def test_a_caption_is_plain_restructured_text(path: Path) -> None:
    # What Snakemake fills in is a word or a number.
    text = re.sub(r"{{.*?}}", "7", path.read_text())
    page = publish_string(
        text,
        writer="pseudoxml",
        settings_overrides={"report_level": 1, "halt_level": 1, "warning_stream": ""},
    )
    assert b"problematic" not in page and b"system_message" not in page
