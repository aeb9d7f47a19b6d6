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

The functions are those of NVlabs/EAGLE at 4da63d0325b8463435e247e2ea9f1f6c816cd770:
eagle/model/builder.py, eagle/mm_utils.py, eagle/conversation.py, and ``forward`` of
eagle/model/language_model/eagle_llama.py, which takes ``images`` and ``image_sizes`` as ``generate``
does. The package loads the configurations of the vision encoders from their own repositories on the Hub,
which the commit of the checkpoint does not pin.
"""

from dataclasses import dataclass
from typing import Any

import torch
from PIL import Image

from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.remote_code import (
    Batch,
    RemoteCodeModel,
    package,
    package_code,
    package_digest,
    require_class,
    require_parameters,
)

INSTALL = (
    "set `env: transformers-4-37` in the model catalogue and run snakemake with "
    "--software-deployment-method conda"
)
CONVERSATION = "vicuna_v1"


@dataclass
class Eagle(RemoteCodeModel):
    """A loaded Eagle."""

    text_tokenizer: Any = None
    code: Any = None  # the package's modules, by name

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
            found, model, images, settings=settings, digest=digest, text_tokenizer=text_tokenizer, code=code
        )
