"""Encoders that embed images and captions in one space: those of open_clip and sentence-transformers, BLIP-2.

The bits of a vector do not depend on the other images and texts: batches have one shape, or one text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch.nn import functional

from benchc.errors import InputError
from benchc.models.encoders.device import fitting, placed
from benchc.models.encoders.encoders import (
    ImageEncoder,
    Input,
    batches,
    load_open_clip,
    load_sentence_transformer,
    loading,
    open_clip_name,
    require_real_numbers,
)
from benchc.models.encoders.names import BATCH, Device, Library
from benchc.models.loading_report import require_weights
from benchc.pixels import Pixels

Vectors = npt.NDArray[np.float32]

NO_LANGUAGE = "has a tokenizer without languages; remove `language` of the encoder"


class ImageTextEncoder(Protocol):
    """Embeds images and texts, unnormalised; ``name`` is for messages."""

    @property
    def name(self) -> str: ...

    def encode_images(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
        """Yield the vectors of each image, float32[Q, d]: one, or one for each query of the encoder."""
        ...

    def encode_texts(self, texts: Iterable[str]) -> Iterator[Vectors]:
        """Yield the vector of each text, float32[d]."""
        ...

    def is_truncated(self, text: str) -> bool:
        """Return whether a text is longer than what the encoder reads."""
        ...


@dataclass(frozen=True)
class OpenClipEncoder:
    """Both towers of an open_clip model."""

    name: str
    images: ImageEncoder
    tokenizer: Any

    def encode_images(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
        for vector in self.images.encode(images):
            yield vector[None]

    def encode_texts(self, texts: Iterable[str]) -> Iterator[Vectors]:
        size, device = self.images.batch, self.images.device
        for batch in batches(texts, size):
            tokens = self.tokenizer(_filled(batch, size))
            with torch.inference_mode(), fitting(self.name, size, "caption"):
                features: Vectors = self.images.model.encode_text(tokens.to(device)).float().cpu().numpy()
            yield from features[: len(batch)]

    def is_truncated(self, text: str) -> bool:
        length = int(self.tokenizer.context_length)
        # With one more place, more of a longer text is there, or it ends in that place.
        tokens, longer = self.tokenizer([text])[0], self.tokenizer([text], context_length=length + 1)[0]
        filling = self.tokenizer([""], context_length=length + 1)[0, -1]
        return not torch.equal(tokens, longer[:-1]) or bool(longer[-1] != filling)


@dataclass(frozen=True)
class SentenceTransformersEncoder:
    """A CLIP of sentence-transformers, which knows its device."""

    name: str
    model: Any
    batch: int = BATCH

    def encode_images(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
        for batch in batches(images, self.batch):
            pictures = [Image.fromarray(image) for image in _filled(batch, self.batch)]
            for vector in self._encoded(pictures, "image")[: len(batch)]:
                yield vector[None]

    def encode_texts(self, texts: Iterable[str]) -> Iterator[Vectors]:
        for text in texts:
            # Alone, since a batch is as long as its longest text.
            yield self._encoded([text], "caption")[0]

    def is_truncated(self, text: str) -> bool:
        tokenizer = self.model.tokenizer
        tokens = getattr(tokenizer, "tokenizer", tokenizer)(text, truncation=False, verbose=False)[
            "input_ids"
        ]
        return len(tokens) > int(self.model.max_seq_length)

    def _encoded(self, inputs: Sequence[object], noun: str) -> Vectors:
        """Return the vectors of one batch."""
        with fitting(self.name, len(inputs), noun):
            vectors: Vectors = self.model.encode(
                inputs, batch_size=len(inputs), convert_to_numpy=True, show_progress_bar=False
            )
        return vectors.astype(np.float32)


@dataclass(frozen=True)
class Blip2Encoder:
    """BLIP-2's contrastive embeddings: one vector of an image for each query token.

    Captions are cut off as by linzhiqiu/t2v_metrics at 880a5b8, models/clipscore_models/blip2_itc_model.py;
    BLIP-2 was trained on 32 tokens.
    """

    MOST_TOKENS: ClassVar[int] = 35  # of a caption, two special ones included

    name: str
    model: Any
    tokenizer: Any
    image_processor: Any
    device: Device = "cpu"
    batch: int = BATCH

    def encode_images(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
        for batch in batches(images, self.batch):
            pictures = [Image.fromarray(image) for image in _filled(batch, self.batch)]
            pixels = self.image_processor(images=pictures, return_tensors="pt")["pixel_values"]
            with torch.inference_mode(), fitting(self.name, self.batch, "image"):
                seen = self.model.vision_model(pixel_values=pixels.to(self.device)).last_hidden_state
                queries = self.model.query_tokens.expand(len(seen), -1, -1)
                read = self.model.qformer(query_embeds=queries, encoder_hidden_states=seen).last_hidden_state
                vectors = functional.normalize(self.model.vision_projection(read), dim=-1).float().cpu()
            yield from vectors[: len(batch)].numpy()

    def encode_texts(self, texts: Iterable[str]) -> Iterator[Vectors]:
        for text in texts:
            # Alone, since a batch is as long as its longest text.
            tokens = self._tokens(text, truncation=True, max_length=self._most)
            with torch.inference_mode(), fitting(self.name, 1, "caption"):
                embedded = self.model.embeddings(input_ids=torch.tensor([tokens], device=self.device))
                read = self.model.qformer(query_embeds=embedded, query_length=0).last_hidden_state
                vector = functional.normalize(self.model.text_projection(read[:, 0]), dim=-1).float().cpu()
            yield vector[0].numpy()

    def is_truncated(self, text: str) -> bool:
        return len(self._tokens(text, truncation=False, verbose=False)) > self._most

    @property
    def _most(self) -> int:
        return min(self.MOST_TOKENS, int(self.model.config.qformer_config.max_position_embeddings))

    def _tokens(self, text: str, **options: object) -> list[int]:
        tokens: list[int] = self.tokenizer(text, **options)["input_ids"]
        return tokens


def load_image_text_encoder(
    library: Library,
    name: str,
    pretrained: str | None = None,
    commit: str | None = None,
    language: str | None = None,
    device: Device = "cpu",
    batch: int = BATCH,
) -> ImageTextEncoder:
    """Return an encoder of images and texts, in float32.

    Args:
        library: ``blip2`` is transformers' Blip2ForImageTextRetrieval. name: a folder, or a name on the Hub;
        of open_clip a folder or one of its models. pretrained: open_clip's tag of the weights, or a file of
        weights; None for a folder and other libraries. commit: of the repository on the Hub, 40 hex digits;
        None is what its default branch is now. language: of the texts, as its tokenizer calls it.
        device: where it computes. batch: images, and of open_clip texts, that pass through it at once.

    Raises InputError where it cannot be loaded or does not fit into the memory of the device, and for a
    language that is missing or not known.
    """
    import benchc.hugging_face  # noqa: F401, sets up transformers

    if library == "open_clip":
        return _open_clip(name, pretrained, commit, language, device, batch)
    what = f"encoder {name!r}"
    if language is not None:
        raise InputError(f"{what} {NO_LANGUAGE}")
    fix = "check the name and the network, or give a folder with its files"
    if library == "sentence_transformers":
        model = load_sentence_transformer(name, commit, what, fix)
        if "image" not in getattr(model, "modalities", ()):
            raise InputError(f"{what} does not embed images; give a CLIP of sentence-transformers")
        return SentenceTransformersEncoder(what, placed(model.eval(), device, what), batch)
    from benchc.hugging_face import transformers

    with loading(what, fix):
        options = {"revision": commit} if commit else {}
        tokenizer = transformers.Blip2Processor.from_pretrained(name, **options).tokenizer
        # As t2v_metrics resizes.
        image_processor = transformers.AutoImageProcessor.from_pretrained(name, backend="pil", **options)
        blip2, report = transformers.Blip2ForImageTextRetrieval.from_pretrained(
            name,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # so that the report names them
            **options,
        )
    require_weights(what, report)
    require_real_numbers(what, name, commit)
    model = placed(blip2.eval(), device, what)
    return Blip2Encoder(what, model, tokenizer, image_processor, device, batch)


def _open_clip(
    name: str, pretrained: str | None, commit: str | None, language: str | None, device: Device, batch: int
) -> OpenClipEncoder:
    what = open_clip_name(name, pretrained, "encoder")
    model, preprocess = load_open_clip(name, pretrained, commit, what, device)
    import open_clip

    with loading(what, "check the network, or give a folder with the files of its tokenizer"):
        tokenizer = open_clip.get_tokenizer(f"local-dir:{name}" if Path(name).is_dir() else name)
    _tell_language(tokenizer, language, what)
    return OpenClipEncoder(what, ImageEncoder(what, model, preprocess, device, batch), tokenizer)


def _tell_language(tokenizer: Any, language: str | None, what: str) -> None:
    """Tell a tokenizer of open_clip the language of all texts; raises InputError where it has no such one."""
    if not hasattr(tokenizer, "set_lang_fn"):
        if language is not None:
            raise InputError(f"{what} {NO_LANGUAGE}")
        return
    # Without, NLLB's takes every text for English.
    if language is None:
        raise InputError(
            f"{what} has a tokenizer that must know the language of the captions; give `language` of the "
            "encoder, such as eng_Latn or zho_Hans"
        )
    if language not in tokenizer.tokenizer.get_vocab():
        raise InputError(
            f"{what}: its tokenizer does not know the language {language!r}; give a code of its own, such as "
            "zho_Hans"
        )
    # What open_clip's set_language does is undone by each call of the tokenizer of transformers 5.
    tokenizer.tokenizer.src_lang = language


def _filled(batch: list[Input], size: int) -> list[Input]:
    """Return a batch of ``size`` inputs: the order of summation depends on its shape."""
    return batch + batch[:1] * (size - len(batch))
