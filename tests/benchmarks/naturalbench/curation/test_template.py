"""The shipped prompts of the writer."""

from pathlib import Path

import pytest

from benchc.benchmarks.naturalbench.curation.questions import OPTIONAL, REQUIRED
from benchc.benchmarks.naturalbench.settings import Writer
from benchc.endpoint.template import read_template

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize("file", Writer(model="m").templates.values())
def test_the_shipped_templates_are_valid_and_show_both_captions_in_order(file):
    prompt = read_template(ROOT / file, REQUIRED, OPTIONAL).filled(
        caption_0="a first dog", caption_1="a second dog", language="Hindi"
    )
    assert prompt.index("a first dog") < prompt.index("a second dog")
    assert "in Hindi" in prompt and '"Caption1 Answer"' in prompt
    assert "{caption" not in prompt and "{language" not in prompt
