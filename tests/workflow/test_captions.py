"""The captions that the benchmarks declare are reStructuredText without errors or warnings."""

import ast
from pathlib import Path

import pytest
from docutils.core import publish_string

from benchc.rendering.declaration import Output

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchc/benchmarks"

# Such a text may have lines of its own, without the indentation of the code.
FILLED_IN = "7\nof 8 resamples"


def captions(file: Path) -> dict[str, str]:
    """Return the caption of every output; what the run fills in is a word, a number or lines."""
    found = {}
    for call in ast.walk(ast.parse(file.read_text())):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg == "caption":
                value = keyword.value
                parts = value.values if isinstance(value, ast.JoinedStr) else [value]
                words = (str(part.value) if isinstance(part, ast.Constant) else FILLED_IN for part in parts)
                output = Output(
                    kind="table", name="", title="", inputs={}, formats=["csv"], caption="".join(words)
                )
                found[f"{file.parent.name} {ast.unparse(call.args[0])}"] = output.paragraphs
    return found


FILES = sorted(BENCHMARKS.glob("*/outputs*.py"))
CAPTIONS = {name: caption for file in FILES for name, caption in captions(file).items()}


def test_there_are_captions() -> None:
    assert len(CAPTIONS) == sum(file.read_text().count("caption=") for file in FILES) > 0
    assert {file.parent for file in FILES} == {file.parent for file in BENCHMARKS.glob("*/settings.py")}


@pytest.mark.parametrize("name", CAPTIONS)
def test_a_caption_is_plain_restructured_text(name: str) -> None:
    page = publish_string(
        CAPTIONS[name],
        writer="pseudoxml",
        settings_overrides={"report_level": 1, "halt_level": 1, "warning_stream": ""},
    )
    assert b"problematic" not in page and b"system_message" not in page
