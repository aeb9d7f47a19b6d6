"""Transformers without a server and without this project: the oracle of prompts and scores."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from benchc.hugging_face import transformers


class Alone:
    """Transformers without a server and without this project."""

    def __init__(self, folder: Path) -> None:
        self.processor = transformers.AutoProcessor.from_pretrained(folder)
        images = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
        self.processor.image_processor = images
        self.folder = folder

    @cached_property
    def model(self) -> Any:
        return transformers.AutoModelForImageTextToText.from_pretrained(self.folder).eval()

    def inputs(self, text: str, image: np.ndarray, answer: str | None = None) -> Any:
        """Return the input of a chat of one message, or with the beginning of the answer."""
        user = [{"type": "image", "image": Image.fromarray(image)}, {"type": "text", "text": text}]
        messages = [{"role": "user", "content": user}]
        if answer is not None:
            messages.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
        return self.processor.apply_chat_template(
            messages,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            add_generation_prompt=answer is None,
            continue_final_message=answer is not None,
        )

    def tokens(self, text: str, image: np.ndarray, answer: str | None = None) -> list[int]:
        found: list[int] = self.inputs(text, image, answer)["input_ids"][0].tolist()
        return found

    @torch.inference_mode()
    def log_probabilities(self, text: str, image: np.ndarray, answer: str) -> list[float]:
        """Return the log-probability of each token of an answer."""
        inputs = self.inputs(text, image, answer)
        rows = self.model(**inputs).logits[0].log_softmax(-1)
        ids = inputs["input_ids"][0].tolist()
        begin = len(self.tokens(text, image))
        return [rows[place - 1, ids[place]].item() for place in range(begin, len(ids))]
