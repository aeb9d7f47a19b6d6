"""The Auto class of transformers that loads a checkpoint."""

from collections.abc import Mapping
from typing import Any

from benchc.hugging_face import transformers
from benchc.models.auto_class_names import AUTO_CLASSES, VQA_CLASS
from benchc.models.protocol import CheckpointSource, ModelError

_TABLES = transformers.models.auto.modeling_auto
_CHAT = _TABLES.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
# The class of each model type that an Auto class loads.
_MODEL_TYPES = {
    "AutoModelForImageTextToText": _CHAT,
    "AutoModelForMultimodalLM": _TABLES.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
    "AutoModelForCausalLM": _TABLES.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    VQA_CLASS: {
        model_type: name
        for model_type, name in _TABLES.MODEL_FOR_VISUAL_QUESTION_ANSWERING_MAPPING_NAMES.items()
        if name != _CHAT.get(model_type)
    },
}
# Most causal language models take no images: the catalogue or trusted code must say so.
_BY_DEFAULT = AUTO_CLASSES[:2]


def auto_class(source: CheckpointSource, config: Mapping[str, Any]) -> Any:
    """Return the Auto class that loads a checkpoint with this config.json.

    It is the source's, else the first of AUTO_CLASSES that the checkpoint's own trusted code names, else that
    of VQA heads where config.json names one, else the first that has the model type. Raises ModelError where
    there is none.
    """
    model_type, own = config.get("model_type"), config.get("auto_map")
    # Whether the code may run is decided by transformers, which refuses it unless it is trusted.
    code = [name for name in AUTO_CLASSES if isinstance(own, dict) and name in own]
    known = [name for name in AUTO_CLASSES if model_type in _MODEL_TYPES[name]]
    if source.auto_class is not None:
        if source.auto_class not in [*known, *code]:
            raise ModelError(
                f"{source.location}: {source.auto_class} does not load the model type {model_type!r} "
                f"(config.json); {_advice([*known, *code])}"
            )
        return getattr(transformers, source.auto_class)
    default = [name for name in known if name in _BY_DEFAULT]
    # Its model types may have another class, too, such as one that describes images.
    if VQA_CLASS in known and _MODEL_TYPES[VQA_CLASS][model_type] in str(config.get("architectures")):
        default = [VQA_CLASS]
    for name in [*code, *default] if source.trust_remote_code else [*default, *code]:
        return getattr(transformers, name)
    if own is None and model_type is not None and model_type not in transformers.CONFIG_MAPPING:
        raise ModelError(
            f"{source.location}: the model type {model_type!r} (config.json) is unknown to transformers "
            f"{transformers.__version__}; name an environment with a newer version (`env` in the model "
            "catalogue), or add a family (docs/models.md)"
        )
    if own is None and model_type is not None:
        raise ModelError(
            f"{source.location}: is no model for images and text: its model type is {model_type!r} "
            f"(config.json); {_advice(known)}{' if it reads images' if known else ''}"
        )
    return transformers.AutoModelForImageTextToText  # which says what is missing


def _advice(possible: list[str]) -> str:
    """Return what to do where another Auto class, one of ``possible``, would load the checkpoint."""
    if possible:
        return f"set `auto_class: {possible[0]}` in the model catalogue"
    return "choose another model, or add a family (docs/models.md)"
