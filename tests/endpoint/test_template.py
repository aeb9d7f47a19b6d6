"""Prompt templates: their placeholders, and captions that look like placeholders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.endpoint.template import Template, read_template
from benchc.errors import InputError

REQUIRED, OPTIONAL = ("caption_0", "caption_1"), ("language",)


@given(st.text(), st.text())
def test_captions_are_inserted_as_they_are(first, second):
    template = Template('{caption_0}|{caption_1}|{"0": {"Question": "..."}}')
    assert (
        template.filled(caption_0=first, caption_1=second)
        == f'{first}|{second}|{{"0": {{"Question": "..."}}}}'
    )


def test_a_caption_that_is_a_placeholder_is_not_replaced():
    assert (
        Template("{caption_0} {caption_1}").filled(caption_0="{caption_1}", caption_1="{language}")
        == "{caption_1} {language}"
    )


def test_another_text_has_another_hash():
    assert Template("a").hash == Template("a").hash != Template("b").hash
    assert len(Template("a").hash) == 16


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            b"{caption_0} {captoin_1}",
            "has the placeholder {captoin_1}; correct it: a prompt has {caption_0}, {cap",
        ),
        (b"{caption_0} {caption_2} {caption_1}", "has the placeholder {caption_2}; correct it"),
        (b"{caption_0}", "lacks the placeholder {caption_1}; add it"),
        (b"{caption_1} {language}", "lacks the placeholder {caption_0}; add it"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_a_bad_template_is_one_line(tmp_path, text, message):
    file = tmp_path / "prompt.txt"
    file.write_bytes(text)
    with pytest.raises(InputError) as caught:
        read_template(file, REQUIRED, OPTIONAL)
    assert str(caught.value).startswith(f"{file}: {message}") and "\n" not in str(caught.value)
