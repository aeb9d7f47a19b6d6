from pathlib import Path

import pytest

from benchc.errors import InputError
from benchc.schemas.revision import Revision, read_revision, revision_text

FOUND = Revision("owner/model", None, "0123456789abcdef" * 2 + "01234567")


def test_the_file_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(revision_text(FOUND))
    assert read_revision(path, "owner/model") == FOUND == read_revision(path)
    lines = ['  "repo": "owner/model",', '  "revision": null,', f'  "commit": "{FOUND.commit}"']
    assert path.read_text().splitlines() == ["{", *lines, "}"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, r"cannot be read \(No such file"),
        ("{", "does not contain a model's repo, revision and commit"),
        ("[1]", "does not contain"),
        ('{"repo": "owner/model", "commit": "1"}', "does not contain"),
        (revision_text(Revision("owner/model", None, "main")), "its commit 'main' is not 40 hex digits"),
        (revision_text(Revision("owner/model", None, None)), "its commit None is not"),  # type: ignore[arg-type]
        (revision_text(Revision("owner/b", None, "1" * 40)), "is the revision of owner/b, not of owner"),
    ],
)
def test_another_content_is_refused(tmp_path: Path, text: str | None, sentence: str) -> None:
    path = tmp_path / "model.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=f"model.json: {sentence}.*; delete revisions in the run's folder"):
        read_revision(path, "owner/model")
