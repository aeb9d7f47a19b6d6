"""An encoder that is only on the Hub is told from one that nothing can load."""

import logging
from importlib import import_module
from pathlib import Path

import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from benchc.checking import encoders, try_encoder
from benchc.checking.child import in_child
from benchc.checking.encoders import check_encoder_gpus, check_image_text_encoders
from benchc.checking.try_encoder import _absence, try_image_encoder, try_text_encoder
from benchc.errors import InputError
from tests.checking.collected import lines


@pytest.fixture(autouse=True)
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new processes find nothing in the Hub's cache."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))


def test_encoders_on_a_machine_without_a_gpu_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def torch_finds(module: str, function: str) -> bool:
        asked.append(getattr(import_module(module), function))
        return found

    monkeypatch.setattr(encoders, "in_child", torch_finds)
    found = False
    assert "torch finds no GPU" in lines(list(check_encoder_gpus(1, load=True)), "warning")[0]
    found = True
    assert [*check_encoder_gpus(1, load=True)] == [] and len(asked) == 2
    assert [*check_encoder_gpus(0, load=True), *check_encoder_gpus(1, load=False)] == [] and len(asked) == 2


def test_an_absent_encoder_is_not_logged_as_an_error_of_the_network(caplog: pytest.LogCaptureFixture) -> None:
    def load() -> None:
        logging.error("Please check your connection")
        raise InputError("absent") from LocalEntryNotFoundError("absent")

    assert _absence(load) == "absent" and caplog.messages == []
    logging.error("heard again")
    assert caplog.messages == ["heard again"]


FAR = (
    ("try_text_encoder", ("owner/far",)),
    ("try_image_encoder", ("ViT-B-32-quickgelu", "openai")),
    ("try_image_text_encoder", ("sentence_transformers", "owner/far", None)),
    ("try_image_text_encoder", ("blip2", "owner/far", None)),
)


def absences() -> list[str | None]:
    """Return what is said of each encoder of FAR; a process of its own imports the libraries once."""
    return [getattr(try_encoder, function)(*arguments) for function, arguments in FAR]


def test_an_encoder_on_the_hub_is_absent() -> None:
    for (_, arguments), absent in zip(FAR, in_child(__name__, "absences"), strict=True):
        assert any(f"{argument!r}" in absent for argument in arguments) and "cannot be loaded (" in absent


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


def test_encoders_of_images_and_texts_are_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def tried(
        module: str, function: str, library: str, name: str, pretrained: str | None, language: str | None
    ) -> str | None:
        assert language is None
        assert (module, function) == ("benchc.checking.try_encoder", "try_image_text_encoder")
        if name == "owner/wrong":
            raise InputError("it does not embed images; give a CLIP")
        return "it is not here" if name == "owner/far" else None

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(encoders, "in_child", tried)
    (tmp_path / "models/own/clip").mkdir(parents=True)
    found = check_image_text_encoders(
        {
            "tag": ("open_clip", "ViT-B-32-quickgelu", "openai", None),
            "folder": ("open_clip", "models/own/clip", None, None),
            "absent": ("blip2", "models/own/blip", None, None),
            "far": ("sentence_transformers", "owner/far", None, None),
            "wrong": ("sentence_transformers", "owner/wrong", None, None),
            "own": ("open_clip", "trained", None, None),
        },
        load=True,
    )
    levels = [(each.level, line) for each in found for line in lines([each])]
    assert levels == [
        ("ok", "tag: open_clip ViT-B-32-quickgelu openai: can be loaded"),
        ("ok", "folder: open_clip models/own/clip: can be loaded"),
        (
            "error",
            "absent: there is no folder models/own/blip; correct `name`, relative to the working directory",
        ),
        ("fetch", "far: sentence_transformers owner/far, from the Hub"),
        ("error", "wrong: it does not embed images; give a CLIP"),
        ("made", "own: made by the run"),
    ]
