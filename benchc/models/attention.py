"""Load a model of transformers with the attention that its entry in the catalogue asks for."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchc.hugging_face import transformers
from benchc.models.attentions import FLASH, misfit
from benchc.models.protocol import CheckpointSource, ModelError

# Of PreTrainedModel, where a class does not support what it is asked for.
REFUSALS = ("Flash Attention", "scaled_dot_product_attention")


def attention_options(source: CheckpointSource) -> dict[str, Any]:
    """Return the arguments of ``from_pretrained`` that choose the attention; none for the class's own.

    Raises ModelError where it cannot compute with the source's precision, device or packages.
    """
    if source.attention is None:
        return {}
    reason = misfit(source.attention, source.dtype, on_gpu=source.device == "cuda")
    if reason is not None:
        raise ModelError(f"{source.location}: {reason} in the model catalogue")
    # Where `kernels` is installed, transformers would take other code from the Hub instead.
    if source.attention == FLASH and not transformers.utils.is_flash_attn_2_available():
        raise ModelError(
            f"{source.location}: `attention: {FLASH}` needs the package flash_attn, 2.3.3 or later, which is "
            "not installed; install it, name an environment that has it (`env`), or remove the key in the "
            "model catalogue"
        )
    return {"attn_implementation": source.attention}


@contextmanager
def supported_attention(source: CheckpointSource) -> Iterator[None]:
    """Turn the error of a class that does not support the attention into a ModelError of one line."""
    try:
        yield
    except ValueError as error:
        if source.attention is None or not any(words in str(error) for words in REFUSALS):
            raise
        raise _unsupported(source, str(error).split()[0]) from error


def require_attention(model: Any, source: CheckpointSource) -> None:
    """Raise ModelError unless all parts of a model, vision tower and language model, have the attention."""
    if source.attention is None:
        return
    for part in model.modules():
        if not isinstance(part, transformers.PreTrainedModel):
            continue
        # transformers records it for a model of timm, which goes on with its own, torch's.
        is_ignored = part.config.model_type == "timm_wrapper" and source.attention == "eager"
        if is_ignored or part.config._attn_implementation != source.attention:
            raise _unsupported(source, type(part).__name__)


def _unsupported(source: CheckpointSource, part: str) -> ModelError:
    return ModelError(
        f"{source.location}: {part} does not support `attention: {source.attention}`; choose another, or "
        "remove the key in the model catalogue"
    )
