"""The captions that the benchmarks declare are reStructuredText without errors or warnings."""

import ast
import re
from pathlib import Path

import pytest
from docutils.core import publish_string

from benchc.rendering.declaration import Output

RULES = Path(__file__).resolve().parents[2] / "rules"
DECLARED = re.compile(r"^\w*OUTPUTS = ", re.MULTILINE)

# Such a text may have lines of its own, without the indentation of the code.
FILLED_IN = "7\nof 8 resamples"


def captions(file: Path) -> dict[str, str]:
    """Return the caption of every output; what the run fills in is a word, a number or lines."""
    text = file.read_text()
    found = {}
    declared = DECLARED.search(text)
    assert declared is not None
    for call in ast.walk(ast.parse(text[declared.start() :])):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg == "caption":
                value = keyword.value
                parts = value.values if isinstance(value, ast.JoinedStr) else [value]
                words = (str(part.value) if isinstance(part, ast.Constant) else FILLED_IN for part in parts)
                output = Output(
                    kind="table", name="", title="", inputs={}, formats=["csv"], caption="".join(words)
                )
                found[f"{file.stem} {ast.unparse(call.args[0])}"] = output.paragraphs
    return found


CAPTIONS = {
    name: caption
    for file in sorted(RULES.glob("*.smk"))
    if DECLARED.search(file.read_text())
    for name, caption in captions(file).items()
}


def test_there_are_captions() -> None:
    for file in RULES.glob("*.smk"):
        if DECLARED.search(text := file.read_text()):
            assert sum(name.startswith(f"{file.stem} ") for name in CAPTIONS) == text.count("caption=")


@pytest.mark.parametrize("name", CAPTIONS)
def test_a_caption_is_plain_restructured_text(name: str) -> None:
    page = publish_string(
        CAPTIONS[name],
        writer="pseudoxml",
        settings_overrides={"report_level": 1, "halt_level": 1, "warning_stream": ""},
    )
    assert b"problematic" not in page and b"system_message" not in page
