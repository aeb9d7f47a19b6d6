"""Try the encoders of a run: those by which a selection measures diversity, and those of images and texts."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from huggingface_hub import is_offline_mode

from benchc.checking.child import in_child
from benchc.checking.finding import Finding, reason
from benchc.errors import InputError

STAGE = "encoders"


def check_encoders(image: tuple[str, str | None] | None, text: str, *, load: bool) -> Iterator[Finding]:
    """Yield whether the encoders of a selection can be loaded or must be fetched.

    ``image``: name and weights, as in ``load_image_encoder``; None where the run trains it. ``text``: as in
    ``load_text_encoder``.
    """
    encoders: list[tuple[str, str, tuple[str | None, ...]]] = [("text encoder", "try_text_encoder", (text,))]
    if image is None:
        yield Finding(STAGE, "made", "image encoder", "made by the run")
    else:
        encoders.insert(0, ("image encoder", "try_image_encoder", image))
    for subject, function, arguments in encoders:
        yield _tried(subject, function, " ".join(filter(None, arguments)), arguments, load=load)


def check_encoder_gpus(gpus: int, *, load: bool) -> Iterator[Finding]:
    """Yield a warning where encoders need GPUs and torch finds none; ``gpus``: the most of a job."""
    if load and gpus and not in_child("benchc.checking.try_encoder", "finds_gpu"):
        text = (
            "torch finds no GPU of CUDA or ROCm here: a job on this machine would be refused; run it "
            "where there is one, or set `gpus: 0` of the encoder"
        )
        yield Finding(STAGE, "warning", "GPU", text)


def check_image_text_encoders(
    encoders: Mapping[str, tuple[str, str, str | None, str | None]], *, load: bool
) -> Iterator[Finding]:
    """Yield whether encoders of images and texts can be loaded or must be fetched, by id.

    ``encoders``: library, name, weights and language, as in ``load_image_text_encoder``; the name `trained`
    is that of the one that the run trains.
    """
    for id_, (library, name, pretrained, language) in encoders.items():
        if name == "trained":
            yield Finding(STAGE, "made", id_, "made by the run")
            continue
        shown = " ".join(filter(None, (library, name, pretrained)))
        if _looks_like_a_folder(name) and not Path(name).is_dir():
            text = f"there is no folder {name}; correct `name`, relative to the working directory"
            yield Finding(STAGE, "error", id_, text)
        else:
            arguments = (library, name, pretrained, language)
            yield _tried(id_, "try_image_text_encoder", shown, arguments, load=load)


def _looks_like_a_folder(name: str) -> bool:
    """Return whether a name can be neither a model of open_clip nor ``owner/name`` on the Hub."""
    return name.startswith(("/", ".", "~")) or name.count("/") > 1 or name.endswith("/")


def _tried(
    subject: str, function: str, name: str, arguments: tuple[str | None, ...], *, load: bool
) -> Finding:
    if not load:
        return Finding(STAGE, "skipped", subject, f"{name}: was not loaded")
    try:
        absent: str | None = in_child("benchc.checking.try_encoder", function, *arguments)
    except InputError as error:
        return Finding(STAGE, "error", subject, reason(error))
    if absent is None:
        return Finding(STAGE, "ok", subject, f"{name}: can be loaded")
    if is_offline_mode():
        return Finding(STAGE, "error", subject, f"{absent}; HF_HUB_OFFLINE forbids downloads: unset it")
    return Finding(STAGE, "fetch", subject, f"{name}, from the Hub")
