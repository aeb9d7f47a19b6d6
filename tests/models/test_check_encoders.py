"""An encoder that is only on the Hub is told from one that nothing can load."""

from pathlib import Path

import pytest

from benchc.checking.child import in_child
from benchc.checking.try_encoder import try_image_encoder, try_text_encoder
from benchc.errors import InputError


@pytest.fixture(autouse=True)
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new processes find nothing in the Hub's cache."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("try_text_encoder", ("owner/far",)), ("try_image_encoder", ("ViT-B-32-quickgelu", "openai"))],
)
def test_an_encoder_on_the_hub_is_absent(function: str, arguments: tuple[str, ...]) -> None:
    absent = in_child("benchc.checking.try_encoder", function, *arguments)
    assert f"{arguments[0]!r}" in absent and "cannot be loaded (" in absent


def test_wrong_names_and_damaged_folders_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'ViT-B-999' is neither a folder nor a model of open_clip"):
        try_image_encoder("ViT-B-999", "openai")
    with pytest.raises(InputError, match="no weights 'opnai'; open_clip knows openai"):
        try_image_encoder("ViT-B-32-quickgelu", "opnai")
    (tmp_path / "broken").mkdir()
    with pytest.raises(InputError, match="cannot be loaded"):
        try_image_encoder(str(tmp_path / "broken"), None)
    (tmp_path / "broken/modules.json").write_text("{")
    with pytest.raises(InputError, match="cannot be loaded"):
        try_text_encoder(str(tmp_path / "broken"))
    assert try_text_encoder("all-MiniLM-L6-v2") is None
