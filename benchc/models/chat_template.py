"""The chat template of a checkpoint: which it is, and what it makes of messages."""

import ctypes
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from benchc.models.protocol import ModelError

CORRECT_TEMPLATE = (
    "correct chat_template.jinja of the model, or `chat_template` if its entry in the catalogue has one"
)
SECONDS = 60.0


def chat_template(processor: Any, *, writes_images: bool) -> str | None:
    """Return the template for messages with images that came with a processor; None where there is none.

    ``writes_images``: whether it has a place for images; without, the processor writes them itself.
    """
    found: str | None = getattr(processor, "chat_template", None)
    of_tokenizer: str | None = getattr(processor.tokenizer, "chat_template", None)
    if found is not None or of_tokenizer is None:
        return found
    # Some processors do not take the checkpoint's template.
    if not writes_images:
        return of_tokenizer
    # That of a tokenizer may be for text alone.
    content = [{"type": "image"}, {"type": "text", "text": "text"}]
    try:
        rendered = apply_template(
            "", processor, [{"role": "user", "content": content}], chat_template=of_tokenizer
        )
    except ModelError:
        return None
    image = getattr(processor, "image_token", None)  # not all processors tell it
    return of_tokenizer if image is not None and str(image) in rendered else None


def apply_template(
    name: str, processor: Any, messages: Sequence[Mapping[str, Any]], mend: str = "", **options: Any
) -> str:
    """Return the text of messages in a processor's chat template.

    ``name`` is the model's in errors, ``mend`` what also mends them; ``options`` are those of
    ``apply_chat_template``. Raises ModelError where the template fails, or its loops take more than a minute.
    """
    try:
        with _time_limit():
            rendered: str = processor.apply_chat_template(messages, tokenize=False, **options)
    except Exception as error:  # jinja2's, and what a template's expressions raise
        raise ModelError(
            f"{name}: its chat template fails ({type(error).__name__}: {' '.join(str(error).split())}); "
            f"{CORRECT_TEMPLATE}{mend}"
        ) from error
    return rendered


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise TimeoutError in a block of Python code after SECONDS, in any thread."""
    thread = ctypes.c_ulong(threading.get_ident())
    running, lock = True, threading.Lock()

    def stop() -> None:
        with lock:
            if running:
                # Signals, the other way to end a loop, reach the main thread alone.
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeoutError))

    timer = threading.Timer(SECONDS, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    except TimeoutError as error:
        raise TimeoutError(f"it did not end in {SECONDS:g} s") from error
    finally:
        with lock:
            running = False
        timer.cancel()
