"""Load the image processor of a checkpoint, with the settings that the model catalogue overrides."""

from collections.abc import Mapping
from typing import Any

from benchc.hugging_face import transformers
from benchc.models.fast_images import gives_equal_values
from benchc.models.image_backends import ImageBackend
from benchc.models.protocol import CheckpointSource, ModelError

# The key of preprocessor_config.json that names the class: in `processor`, one in place of the checkpoint's.
CLASS = "image_processor_type"
# How names of classes end that have a backend, and the `image_backend` of it.
BACKENDS_IN_NAMES: Mapping[str, ImageBackend] = {"Pil": "pil", "Fast": "torchvision"}
# Every class accepts these, also where it has no use for them.
_OF_ALL_CLASSES = transformers.processing_utils.ImagesKwargs.__annotations__


def load_image_processor(source: CheckpointSource, options: Mapping[str, Any]) -> Any:
    """Return the image processor of a checkpoint with ``source.processor``; ``options``: of from_pretrained.

    Raises ModelError for a class that transformers does not have, and errors of transformers.
    """
    return _loaded(source, options, source.processor)


def check_settings(image_processor: Any, source: CheckpointSource, options: Mapping[str, Any]) -> None:
    """Raise ModelError for a setting of ``source.processor`` that the processor does not have or not read.

    transformers would ignore both.
    """
    known = type(image_processor).valid_kwargs.__annotations__
    what = f"{source.location}: its image processor {type(image_processor).__name__}"
    fix = "of the model in the catalogue"
    for name in source.processor:
        if name == CLASS:
            continue
        if name not in known and not hasattr(image_processor, name):
            raise ModelError(f"{what} has no setting {name!r}; correct `processor` {fix}")
        if name in _OF_ALL_CLASSES and _is_ignored(name, image_processor, source, options):
            raise ModelError(
                f"{what} does not read {name!r}, and images are the same without it; remove it from "
                f"`processor` {fix}, or name a class there that reads it ({CLASS})"
            )


def apply_settings(processor: Any, source: CheckpointSource) -> None:
    """Let a processor call its image processor with the settings of ``source.processor``.

    Some classes give defaults of their own with each call, which replace the image processor's settings.
    Raises ModelError for a setting that is still replaced.
    """
    defaults = getattr(processor, "images_kwargs", {})
    own = {name: value for name, value in source.processor.items() if name in defaults}
    if own:
        processor.images_kwargs = {**defaults, **own}
    given = processor._merge_kwargs(return_tensors="pt")["images_kwargs"] if source.processor else {}
    for name, value in source.processor.items():
        if given.get(name, value) != value:
            raise ModelError(
                f"{source.location}: {type(processor).__name__} calls its image processor with "
                f"{name} = {given[name]!r}, whatever is set; remove it from `processor` of the model in the "
                "catalogue"
            )


def _is_ignored(
    name: str, image_processor: Any, source: CheckpointSource, options: Mapping[str, Any]
) -> bool:
    """Return whether a setting is another one than the checkpoint's, and images are the same."""
    others = {key: value for key, value in source.processor.items() if key != name}
    without = _loaded(source, options, others)
    changed = getattr(image_processor, name, None) != getattr(without, name, None)
    return changed and gives_equal_values(image_processor, without)


def _loaded(source: CheckpointSource, options: Mapping[str, Any], settings: Mapping[str, object]) -> Any:
    given = {name: value for name, value in settings.items() if name != CLASS}
    if CLASS not in settings:
        return transformers.AutoImageProcessor.from_pretrained(
            source.location, backend=source.image_backend, **options, **given
        )
    given_name = str(settings[CLASS])
    for ending, backend in BACKENDS_IN_NAMES.items():
        if given_name.endswith(ending):
            raise ModelError(
                f"{source.location}: {CLASS} in `processor` names a backend, which `image_backend` decides; "
                f"set `{CLASS}: {given_name.removesuffix(ending)}`, and `image_backend: {backend}`, of the "
                "model in the catalogue"
            )
    name = f"{given_name}{'Pil' if source.image_backend == 'pil' else ''}"
    found = getattr(transformers, name, None)
    if found is None or not hasattr(found, "valid_kwargs"):
        raise ModelError(
            f"{source.location}: transformers has no image processor {name}; correct {CLASS} in `processor` "
            "of the model in the catalogue, or its `image_backend`"
        )
    return found.from_pretrained(source.location, **options, **given)
