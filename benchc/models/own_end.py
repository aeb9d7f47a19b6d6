"""Models whose processor writes a special token after the prompt, which is where the answer begins."""

from dataclasses import dataclass
from typing import ClassVar

from benchc.models.chat import ChatModel
from benchc.models.fast_images import PilBackend
from benchc.models.protocol import ModelError


class ChameleonModel(ChatModel):
    """A Chameleon, whose processor ends the user's turn.

    As ``tokens_from_ui`` of facebookresearch/chameleon at e3b711e, chameleon/inference/chameleon.py: text and
    images, then the token of END-OF-TURN, then the answer, tokenized by itself.
    """

    def processor_end(self, images: int) -> str:
        return str(self.tokenizer.sep_token)


@dataclass
class FuyuModel(ChatModel):
    """A Fuyu, whose processor writes the patches of one image, BOS, the prompt, and what begins an answer."""

    numbers_of_images: ClassVar[tuple[int, ...] | None] = (0, 1)

    def __post_init__(self) -> None:
        if isinstance(self.processor.image_processor, PilBackend):
            raise ModelError(
                f"{self.name}: {type(self.processor).__name__} takes images of torchvision alone; set "
                "`image_backend: torchvision` of the model in the catalogue"
            )

    def processor_end(self, images: int) -> str:
        return "<0x04>" if images else ""
