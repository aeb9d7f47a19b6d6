"""Load an encoder where the Hub is offline. Imports torch."""

import logging
from collections.abc import Callable

import torch
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled

from benchc.errors import InputError
from benchc.models.encoders.encoders import load_image_encoder, load_text_encoder
from benchc.models.encoders.image_text import load_image_text_encoder
from benchc.models.encoders.names import Library, hub_id

CONFIG = "config.json"


def try_image_encoder(name: str, pretrained: str | None) -> str | None:
    """Return None if the encoder can be loaded, or why it is not on this machine.

    Raises InputError where it could not be loaded with a network either.
    """
    return _absence(lambda: load_image_encoder(name, pretrained))


def try_text_encoder(name: str) -> str | None:
    """Return and raise as :func:`try_image_encoder`."""
    return _absence(lambda: load_text_encoder(name))


def try_image_text_encoder(
    library: Library, name: str, pretrained: str | None, language: str | None = None
) -> str | None:
    """Return and raise as :func:`try_image_encoder`."""
    repo = hub_id(name)
    # transformers does not raise the errors of the Hub's client where a processor is not in its cache.
    if library == "blip2" and repo is not None and not isinstance(try_to_load_from_cache(repo, CONFIG), str):
        return f"encoder {name!r} cannot be loaded (it is not in the Hub's cache)"
    return _absence(lambda: load_image_text_encoder(library, name, pretrained, language=language))


def finds_gpu() -> bool:
    """Return whether torch finds a GPU of CUDA or ROCm."""
    return torch.cuda.is_available()


def _absence(load: Callable[[], object]) -> str | None:
    # The log of open_clip asks to check the network, which is off on purpose.
    disabled = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        load()
    except InputError as error:
        if _needs_network(error):
            return str(error)
        raise
    finally:
        logging.disable(disabled)
    return None


def _needs_network(error: BaseException | None) -> bool:
    """Return whether the Hub's client raised an error, or one of its causes, because it is offline."""
    while error is not None:
        if isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled):
            return True
        error = error.__cause__ or error.__context__
    return False
