"""Try the encoders by which a selection measures diversity."""

from collections.abc import Iterator

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
        name = " ".join(filter(None, arguments))
        if not load:
            yield Finding(STAGE, "skipped", subject, f"{name}: was not loaded")
            continue
        try:
            absent: str | None = in_child("benchc.checking.try_encoder", function, *arguments)
        except InputError as error:
            yield Finding(STAGE, "error", subject, reason(error))
            continue
        if absent is None:
            yield Finding(STAGE, "ok", subject, f"{name}: can be loaded")
        elif is_offline_mode():
            text = f"{absent}; HF_HUB_OFFLINE forbids downloads: unset it"
            yield Finding(STAGE, "error", subject, text)
        else:
            yield Finding(STAGE, "fetch", subject, f"{name}, from the Hub")
