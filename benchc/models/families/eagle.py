"""Eagle-X5-7B: the package ``eagle`` of NVlabs/EAGLE, which envs/transformers-4-37.yaml installs.

The upstream call, of open-compass/VLMEvalKit at 0e180883aa97b78bcf64e19f875f8066517c89e3,
vlmeval/vlm/eagle_x.py::

    tokenizer, model, image_processor, context_len = load_pretrained_model(
        model_path, None, model_name, False, False, device='cpu')
    prompt = DEFAULT_IMAGE_TOKEN * len(images) + '\\n' + prompt
    conv = conv_templates['vicuna_v1'].copy(); conv.append_message(conv.roles[0], prompt); ...
    image_tensor = process_images(images, image_processor, model.config)
    input_ids = tokenizer_image_token(prompt, tokenizer, IMAGE_TOKEN_INDEX, return_tensors='pt')
    model.generate(input_ids.unsqueeze(0), images=image_tensor, image_sizes=[img.size for img in images], ...)

The functions are those of NVlabs/EAGLE at 43a4f74a5e2194f0b776514b1d072192b59f18a1:
eagle/model/builder.py, eagle/mm_utils.py, eagle/conversation.py, and ``forward`` of
eagle/model/language_model/eagle_llama.py, which takes ``images`` and ``image_sizes`` as ``generate``
does.

The classes of the vision encoders (eagle/model/multimodal_encoder/) load published weights from other
repositories, about 10 GB, which those of the checkpoint then replace. Here they are built from the
settings in these repositories; the weights of all encoders must be in the checkpoint.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from PIL import Image

from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.remote_code import (
    Batch,
    Loading,
    RemoteCodeModel,
    package,
    package_code,
    package_digest,
    require_class,
    require_parameters,
)
from benchc.models.remote_code_families import SETTINGS_OF
from benchc.models.snapshot import snapshot_folder

INSTALL = (
    "set `env: transformers-4-37` in the model catalogue and run snakemake with "
    "--software-deployment-method conda"
)
CONVERSATION = "vicuna_v1"
# Where the package loads vision encoders with weights of their own, by module.
ENCODERS = {
    "hr_clip_encoder": "CLIPVisionModel",
    "sam_encoder": "SamModel",
    "pix2struct_encoder": "Pix2StructForConditionalGeneration",
}


@dataclass
class Eagle(RemoteCodeModel):
    """A loaded Eagle."""

    text_tokenizer: Any = None
    code: Any = None  # the package's modules, by name
    encoders: str = ""  # the repositories of the vision encoders' settings, with their commits

    @property
    def tokenizer(self) -> Any:
        return self.text_tokenizer

    def prompt(self, text: str, images: int) -> str:
        constants = self.code["constants"]
        marks = constants.DEFAULT_IMAGE_TOKEN * images
        if self.model.config.mm_use_im_start_end:
            marks = constants.DEFAULT_IM_START_TOKEN + marks + constants.DEFAULT_IM_END_TOKEN
        conversation = self.code["conversation"].conv_templates[CONVERSATION].copy()
        conversation.append_message(conversation.roles[0], f"{marks}\n{text}")
        conversation.append_message(conversation.roles[1], None)
        rendered: str = conversation.get_prompt()
        return rendered

    def row(self, text: str, rendered: str, images: list[Image.Image]) -> Batch:
        pixels = self.code["mm_utils"].process_images(images, self.processor, self.model.config)
        if not isinstance(pixels, torch.Tensor):
            raise ModelError(
                f"{self.name}: images of one item have different numbers of tiles, which is not supported"
            )
        ids = self.code["mm_utils"].tokenizer_image_token(
            rendered, self.tokenizer, self.code["constants"].IMAGE_TOKEN_INDEX, return_tensors="pt"
        )
        sizes = torch.tensor([image.size for image in images])
        return {"input_ids": ids.unsqueeze(0), "images": pixels, "image_sizes": sizes}

    def positions(self, batch: Batch) -> int:
        ids = batch["input_ids"]
        images = int((ids[0] == self.code["constants"].IMAGE_TOKEN_INDEX).sum())
        each: int = self.model.get_vision_tower().num_patches
        return ids.shape[1] + images * (each - 1)

    def context(self) -> int | None:
        # Beyond it, the code cuts the prompt's end off without a word.
        cut = getattr(self.model.config, "tokenizer_model_max_length", None)
        limits = [limit for limit in (cut, super().context()) if limit is not None]
        return min(limits, default=None)

    def facts(self) -> dict[str, str]:
        return super().facts() | {"encoders": self.encoders}

    def call(self, batch: Batch, *, last_only: bool) -> torch.Tensor:
        logits: torch.Tensor = self.model(
            input_ids=batch["input_ids"],
            images=batch["images"],
            image_sizes=batch["image_sizes"].tolist(),
            use_cache=False,
            return_dict=True,
        ).logits
        return logits


def load(source: CheckpointSource) -> Eagle:
    """Load a checkpoint of the family."""
    names = ("model.builder", "mm_utils", "conversation", "constants")
    with package_code(source) as found:
        settings = found.settings()
        code = {name.split(".")[-1]: package(f"eagle.{name}", INSTALL, source.location) for name in names}
        with _only_the_checkpoints_weights(found, code["builder"]):
            # "eagle" in the third argument decides that the vision encoders are loaded.
            text_tokenizer, model, images, _ = code["builder"].load_pretrained_model(
                found.folder(), None, "eagle", False, False, device="cpu"
            )
        require_class(source.location, model, "EagleLlamaForCausalLM")
        require_parameters(
            source.location, model.forward, "images", "image_sizes", "use_cache", "return_dict"
        )
        # The package loads float16.
        model.to(source.device, getattr(torch, source.dtype)).eval()
        digest = package_digest(package("eagle", INSTALL, source.location))
        return Eagle.of(
            found,
            model,
            images,
            settings=settings,
            digest=digest,
            text_tokenizer=text_tokenizer,
            code=code,
            encoders=", ".join(f"{repo}@{_loaded_commit(repo)}" for repo in SETTINGS_OF["eagle"]),
        )


def _loaded_commit(repo: str) -> str:
    """Return the commit of a repository's default branch in the Hub's cache, which transformers has read."""
    return (snapshot_folder(repo, "main").parents[1] / "refs/main").read_text()


class _FromSettings:
    """A class of transformers that loads settings alone, in place of weights that are replaced later."""

    def __init__(self, model_class: Any) -> None:
        self._class = model_class

    def from_pretrained(self, name: str) -> Any:
        return self._class(self._class.config_class.from_pretrained(name))


class _Complete:
    """A class of transformers whose checkpoint must have all weights."""

    def __init__(self, model_class: Any, found: Loading) -> None:
        self._class, self._found = model_class, found

    def from_pretrained(self, folder: str, **options: Any) -> Any:
        model, report = self._class.from_pretrained(folder, output_loading_info=True, **options)
        self._found.require_weights(model, report)
        return model


@contextmanager
def _only_the_checkpoints_weights(found: Loading, builder: Any) -> Iterator[None]:
    """Let the package load no weights but those of the checkpoint, which must be complete."""
    where, encoders = found.source.location, "eagle.model.multimodal_encoder"
    with ExitStack() as stack:
        for module_name, class_name in ENCODERS.items():
            module = package(f"{encoders}.{module_name}", INSTALL, where)
            stack.enter_context(_replaced(module, class_name, _FromSettings(getattr(module, class_name))))
        module = package(f"{encoders}.convnext_encoder", INSTALL, where)
        convnext = module.convnext_xxlarge
        stack.enter_context(_replaced(module, "convnext_xxlarge", lambda _: convnext(pretrained=False)))
        name = "EagleLlamaForCausalLM"
        stack.enter_context(_replaced(builder, name, _Complete(getattr(builder, name), found)))
        yield


@contextmanager
def _replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
