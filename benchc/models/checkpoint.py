"""Load a checkpoint by the Auto classes of transformers."""

import hashlib
import importlib
import json
from importlib.metadata import version
from typing import Any

import torch

from benchc.hugging_face import transformers
from benchc.models.attention import attention_options, require_attention, supported_attention
from benchc.models.auto_class import auto_class
from benchc.models.auto_class_names import VQA_CLASS
from benchc.models.chat import ChatModel
from benchc.models.chat_template import chat_template as own_template
from benchc.models.checkpoint_files import check_files, loading
from benchc.models.compilers import require_compilers
from benchc.models.fast_images import accelerated
from benchc.models.image_features import keep_image_features
from benchc.models.image_processor import apply_settings, check_settings, load_image_processor
from benchc.models.loading_report import require_floats, require_vocabulary, require_weights
from benchc.models.own_end import ChameleonModel, FuyuModel
from benchc.models.pinned import checkpoint_facts, file_times, pinned_adapter, pinned_commit
from benchc.models.placement import conversions_that_fit, division, place
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.quantised import check_head, check_quantised, quantisation_facts
from benchc.models.registry import ADAPTER, NEED_FAMILY, has_own_module
from benchc.models.snapshot import checkpoint_folder
from benchc.models.vqa import BlipModel, ClosedListModel
from benchc.models.whole_prompt import OneImageModel, WholePromptModel

# Model types whose processor or forward pass needs more than a chat model's.
_WRAPPERS: dict[str, type[ChatModel]] = {
    "blip-2": OneImageModel,
    "chameleon": ChameleonModel,
    "fuyu": FuyuModel,
    "instructblip": OneImageModel,
    "kosmos-2": OneImageModel,
}
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def load(source: CheckpointSource, *, chat_template: str | None = None) -> ChatModel:
    """Load a model and its processor; raises ModelError where this fails.

    ``chat_template`` is used where the checkpoint comes without one and ``source`` has none.
    """
    if source.compile:
        require_compilers(source.location, source.device)
    commit, adapter = pinned_commit(source), pinned_adapter(source)
    merging: Any = None
    if adapter is not None:
        merging = importlib.import_module(ADAPTER)
        merging.check_adapter(*adapter, str(source.adapter))
    config = check_files(source, commit)
    check_quantised(source, config)
    if source.family is None and config.get("model_type") in NEED_FAMILY:
        raise ModelError(
            f"{source.location}: is a {config['model_type']}, which needs more than its class of "
            f"transformers; set `family: {config['model_type']}` in the model catalogue"
        )
    quantisation = quantisation_facts(config)
    options = {"revision": commit, "trust_remote_code": source.trust_remote_code}
    part: dict[str, Any] = {}
    if "thinker_config" in config:  # an omni model: its other parts speak
        with loading(source, commit):
            part = {
                "config": transformers.AutoConfig.from_pretrained(source.location, **options).thinker_config
            }
        config = {"model_type": part["config"].model_type}
    model_class = auto_class(source, config)
    before = file_times(source)
    attention = attention_options(source)
    # Of a folder that has an adapter, too, transformers would apply it, and load the base that it names.
    alone = {"adapter_kwargs": {"subfolder": "none"}} if source.adapter is not None else {}

    def loaded(dtype: str) -> tuple[Any, dict[str, Any]]:
        found: tuple[Any, dict[str, Any]] = model_class.from_pretrained(
            source.location,
            dtype=DTYPES[dtype],
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # so that the report names them
            **options,
            **part,
            **attention,
            **alone,
            **division(source),
        )
        return found

    with loading(source, commit), supported_attention(source), conversions_that_fit():
        processor = transformers.AutoProcessor.from_pretrained(source.location, **options)
        # The two backends resize differently, which shows in the fourth decimal of a logit.
        processor.image_processor = accelerated(load_image_processor(source, options))
        exact, report = loaded(source.dtype if adapter is None else "float32")
        model = exact if adapter is None or source.dtype == "float32" else loaded(source.dtype)[0]
    require_attention(model, source)
    require_weights(source.location, report, quantised=bool(quantisation))
    if quantisation:
        check_head(model, source)
    else:
        require_floats(source.location, checkpoint_folder(source.location, commit))
    require_vocabulary(source.location, model, processor.tokenizer)
    if adapter is not None:
        exact = merging.merged(exact, adapter[0], str(source.adapter))
        if exact is not model:
            # Into the model as its class loads it in this type, which keeps some tensors in float32.
            model.load_state_dict(exact.state_dict())
    del exact
    if getattr(model.config, "is_encoder_decoder", False):
        raise ModelError(
            f"{source.location}: {type(model).__name__} reads the prompt with an encoder, but "
            "scoring needs a decoder that continues it; choose another model, or add a family"
        )
    check_settings(processor.image_processor, source, options)
    apply_settings(processor, source)
    kind = _wrapper_class(model, model_class)
    if kind.has_template and not isinstance(model, transformers.GenerationMixin):
        raise ModelError(
            f"{source.location}: {type(model).__name__} writes no token after another, as scoring needs; "
            "choose another model"
        )
    if kind.has_template:
        processor.chat_template = (
            source.chat_template
            or own_template(processor, writes_images=kind.numbers_of_images is None)
            or chat_template
        )
    if kind.has_template and processor.chat_template is None:
        raise ModelError(f"{source.location}: has no chat template for images; {_family_with_one(model)}")
    for key in ("system_prompt", "chat_template"):
        if not kind.has_template and getattr(source, key) is not None:
            raise ModelError(
                f"{source.location}: {type(model).__name__} has no chat template, and so no system prompt; "
                f"remove `{key}` of the model in the catalogue"
            )
    _require_text(source, processor)
    if file_times(source) != before:
        raise ModelError(f"{source.location}: its files changed while it was loaded; run snakemake again")
    if part and model.generation_config.eos_token_id is None:
        # The whole model's `generate` names the end of a turn.
        model.generation_config.eos_token_id = processor.tokenizer.eos_token_id
    place(model, source)
    model.eval()
    keep_image_features(model)
    identity = _identity(source, commit, model, processor) | quantisation
    return kind(model, processor, identity, source.system_prompt)


def _require_text(source: CheckpointSource, processor: Any) -> None:
    """Raise ModelError where the system prompt has what stands for an image in the model's prompt."""
    for name in ("image_token", "boi_token"):  # Gemma's template writes the second
        token = getattr(processor, name, None)
        if token is not None and str(token) in (source.system_prompt or ""):
            raise ModelError(
                f"{source.location}: `system_prompt` of the model in the catalogue has {str(token)!r}, which "
                "stands for an image of a question; remove it there"
            )


def _wrapper_class(model: Any, model_class: Any) -> type[ChatModel]:
    if model_class.__name__ == VQA_CLASS:
        return BlipModel if model.can_generate() else ClosedListModel
    crosses = hasattr(model.config.get_text_config(), "cross_attention_layers")
    return WholePromptModel if crosses else _WRAPPERS.get(model.config.model_type, ChatModel)


def _family_with_one(model: Any) -> str:
    model_type = str(model.config.model_type)
    if has_own_module(model_type):
        return f"set `family: {model_type}` in the model catalogue"
    return "give it one by `chat_template` of the model in the catalogue (docs/models.md)"


def _identity(source: CheckpointSource, commit: str | None, model: Any, processor: Any) -> dict[str, str]:
    return {
        **checkpoint_facts(source, commit),
        "class": type(model).__name__,
        "compile": str(source.compile),
        # Some classes have one image processor, whatever is asked for. The oldest name none, and use Pillow.
        "image_backend": getattr(processor.image_processor, "backend", "pil"),
        "processor": _digest(json.dumps(processor.to_dict(), sort_keys=True, default=str).encode()),
        "chat_template": _digest(str(processor.chat_template).encode()),
        "system_prompt": source.system_prompt or "",
        **{name: version(name) for name in ("torch", "transformers", "tokenizers", "pillow", "numpy")},
    }


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
