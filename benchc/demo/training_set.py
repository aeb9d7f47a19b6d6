"""The training set of the tiny models and the image encoder, and its file: small images with questions."""

import json
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from benchc.atomic import atomic_write
from benchc.demo.tiny.size import IMAGE_SIDE
from benchc.errors import InputError
from benchc.models.question import Question

# Averaging would remove most noise, and of all corruptions only blur would affect the models.
RESAMPLING = Image.Resampling.NEAREST
MAX_IMAGES = 2


@dataclass(frozen=True)
class TrainingSet:
    """N items with P images."""

    images: npt.NDArray[np.uint8]  # [P, IMAGE_SIDE, IMAGE_SIDE, 3]
    item_images: npt.NDArray[np.int64]  # [N, MAX_IMAGES], rows of `images`; -1 for no image
    item_question: npt.NDArray[np.int64]  # [N], index into `questions`
    item_answer: npt.NDArray[np.int64]  # [N], index into the question's options
    questions: tuple[Question, ...]


def shrink(image: Image.Image) -> npt.NDArray[np.uint8]:
    """Resize an image of any size and mode to uint8 [IMAGE_SIDE, IMAGE_SIDE, 3]; alpha is dropped."""
    return np.asarray(image.convert("RGB").resize((IMAGE_SIDE, IMAGE_SIDE), RESAMPLING))


def save_training_set(training_set: TrainingSet, path: Path) -> None:
    """Write the set as an .npz file, or leave ``path`` as it was."""
    questions = [
        {"question": q.question, "options": list(q.options), "hint": q.hint} for q in training_set.questions
    ]
    with atomic_write(path) as file:
        np.savez_compressed(
            file,
            images=training_set.images,
            item_images=training_set.item_images,
            item_question=training_set.item_question,
            item_answer=training_set.item_answer,
            questions=np.array(json.dumps(questions)),
        )


def load_training_set(path: Path) -> TrainingSet:
    """Read what :func:`save_training_set` wrote. Raises InputError where the file is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            questions = json.loads(str(file["questions"]))
            return TrainingSet(
                images=file["images"],
                item_images=file["item_images"],
                item_question=file["item_question"],
                item_answer=file["item_answer"],
                questions=tuple(Question(q["question"], tuple(q["options"]), q["hint"]) for q in questions),
            )
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: there is no such file; write it with the stage generate_training_set"
        ) from error
    # Of a cut file or another one; TypeError where it is a single array.
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, TypeError) as error:
        raise InputError(
            f"{path}: is not a complete training set; delete it and run snakemake again"
        ) from error
