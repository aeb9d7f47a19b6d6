"""A commit is written into the text of a catalogue; everything else stays."""

import re
from pathlib import Path

import pytest
import yaml

from benchc.config.pin import pin, pinned_text
from benchc.errors import InputError

COMMIT = "1" * 40
QUOTED = f'"{COMMIT}"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# Models.\na:\n  repo: o/a # the one\n  revision: null # not yet\n\nb: {repo: o/b}\n",
            f"# Models.\na:\n  repo: o/a # the one\n  revision: {QUOTED} # not yet\n\nb: {{repo: o/b}}\n",
        ),
        ('a:\n  revision: "v1"\n  repo: o/a\n', f"a:\n  revision: {QUOTED}\n  repo: o/a\n"),
        ("a:\n  repo: o/a\n", f"a:\n  repo: o/a\n  revision: {QUOTED}\n"),
        ("a:\n  revision:\n  repo: o/a\n", f"a:\n  revision: {QUOTED}\n  repo: o/a\n"),
        (
            "a:\n    repo: o/a # one\t\n    b: 1",
            f"a:\n    repo: o/a # one\t\n    revision: {QUOTED}\n    b: 1",
        ),
        # A key behind a question mark is further right.
        ("a:\n  repo: o/a\n  ? b\n  : 1\n", f"a:\n  repo: o/a\n  revision: {QUOTED}\n  ? b\n  : 1\n"),
        ("a:\n  b: 1\n  repo: o/a", f"a:\n  b: 1\n  repo: o/a\n  revision: {QUOTED}\n"),
        ("a: {repo: o/a, b: 1}\n", f"a: {{repo: o/a, revision: {QUOTED}, b: 1}}\n"),
        ("a: {repo: o/a, revision: ~}\n", f"a: {{repo: o/a, revision: {QUOTED}}}\n"),
        ("a:\r\n  repo: o/a\r\n  b: é\r\n", f"a:\r\n  repo: o/a\r\n  revision: {QUOTED}\r\n  b: é\r\n"),
        (
            "x: &x {repo: o/x, revision: v1}\na:\n  <<: *x\n  repo: o/a\n",
            f"x: &x {{repo: o/x, revision: v1}}\na:\n  <<: *x\n  repo: o/a\n  revision: {QUOTED}\n",
        ),
    ],
)
def test_only_the_revision_changes(text: str, expected: str) -> None:
    assert pinned_text(text, "a", COMMIT) == expected


def test_every_entry_of_the_shipped_catalogue_can_be_pinned() -> None:
    text = Path("config/models.yaml").read_text()
    # Each entry alone, since the whole text is read again for each.
    blocks = [block for block in re.split(r"(?m)^(?=[^\s#])", text) if yaml.safe_load(block)]
    closed = []
    for block in blocks:
        ((id_, entry),) = yaml.safe_load(block).items()
        if "repo" in entry:
            new = pinned_text(block, id_, COMMIT)
            assert yaml.safe_load(new) == {id_: entry | {"revision": COMMIT}}
            assert len(new.splitlines()) == len(block.splitlines())
        else:
            closed.append(id_)
    # A closed model has no repository and no commit.
    assert closed == ["gpt-4o"] and len(blocks) > 20


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x: &x\n  repo: o/x\n  revision: null\na: *x\n", "the entry shares its keys with another entry"),
        (
            "a: {repo: o/x, revision: &r v1}\nb: {repo: o/y, revision: *r}\n",
            "shares its keys with another entry",
        ),
        (
            "b: {repo: o/y, revision: &r v1}\na: {repo: o/x, revision: *r}\n",
            "shares its keys with another entry",
        ),
        ("a: {path: here}\n", "the entry has no repo"),
    ],
)
def test_what_cannot_be_edited_is_one_sentence(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        pin(path, "a", COMMIT)
    assert why in str(caught.value)
    assert str(caught.value).endswith(f'write it by hand: revision: "{COMMIT}"')
    assert path.read_text() == text
