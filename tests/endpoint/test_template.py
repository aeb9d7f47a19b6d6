import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchc.endpoint.template import Template, read_template
from benchc.errors import InputError

REQUIRED, OPTIONAL = ("caption_0", "caption_1"), ("language",)


@given(st.text(), st.text())
@example("{caption_1}", "{language}")
def test_captions_are_inserted_as_they_are(first, second):
    rest = '{"0": {"Question": "..."}}'
    template = Template(f"{{caption_0}}|{{caption_1}}|{rest}")
    assert template.filled(caption_0=first, caption_1=second) == f"{first}|{second}|{rest}"


def test_a_template_is_read_without_a_byte_order_mark(tmp_path):
    file = tmp_path / "prompt.txt"
    for more in ("", " {language}"):
        text = f'{{caption_1}}{more} {{caption_0}}: {{"a": 1}} ä'
        file.write_bytes(text.encode("utf-8-sig"))
        assert read_template(file, REQUIRED, OPTIONAL) == Template(text)


def test_another_text_has_another_hash():
    assert Template("a").hash == Template("a").hash != Template("b").hash
    assert len(Template("a").hash) == 16


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{caption_0} {captoin_1}", "has the placeholder {captoin_1}; correct it: a prompt has {cap"),
        (b"{caption_0} {caption_2} {caption_3}", "has the placeholder {caption_2}; correct it"),
        (b"{caption_0}", "lacks the placeholder {caption_1}; add it"),
        (b"{caption_1} {language}", "lacks the placeholder {caption_0}; add it"),
        (b"{language}", "lacks the placeholder {caption_0}; add it"),
        (b"\xff", "is not UTF-8"),
        (b"{caption_0} {caption_1}\0", "contains a NUL character; save it as text in UTF-8"),
    ],
)
def test_a_bad_template_is_one_line(tmp_path, text, message):
    file = tmp_path / "prompt.txt"
    file.write_bytes(text)
    with pytest.raises(InputError) as caught:
        read_template(file, REQUIRED, OPTIONAL)
    assert str(caught.value).startswith(f"{file}: {message}") and "\n" not in str(caught.value)
