"""Try a model on a few items, with the functions of an inference job. Imports torch."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchc.checking.trial import Trial
from benchc.models.identity import prediction_identity
from benchc.models.inference import Row, infer
from benchc.models.items import Item, read_items, refuse_open_questions
from benchc.models.letter import LetterScorer
from benchc.models.predict import load_model, predict
from benchc.models.prediction_cache import PredictionCache
from benchc.models.predictor import Predictor
from benchc.models.protocol import CheckpointSource, Scorer
from benchc.models.question import Question
from benchc.models.units import Recipes, Unit, units_of
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL

# After this time no further unit begins; a slow model is measured on fewer.
SECONDS_OF_PREDICTIONS = 30.0
CPU_MEMORY_SHARE = 0.7
GREY = 128


def try_model(
    source: CheckpointSource, scoring: str, pool: Path, images: Recipes, options: int, weights: int
) -> Trial | None:
    """Load a model and let it answer all items of a small ``pool``.

    Where the source's device is a GPU and there is none, the CPU is used; returns None where it has not the
    memory.

    Args:
        source: the checkpoint, with its family if the entry names one.
        scoring: a key of ``SCORINGS``.
        pool: a POOL table.
        images: the recipes to apply to its images; the first is the clean one.
        options: the most options of an item of the run, whose letters are tested.
        weights: bytes of the checkpoint's weights.

    Raises InputError where an inference job would.
    """
    family, threads = source.family, 1
    if source.device == "cuda" and not torch.cuda.is_available():
        if weights > CPU_MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
            return None
        # float16 overflows more often on a CPU; bfloat16 takes the same memory.
        dtype = "bfloat16" if source.dtype == "float16" else source.dtype
        source, threads = replace(source, device="cpu", dtype=dtype), os.cpu_count() or 1
    items = read_items(pool)
    refuse_open_questions(items)
    start = time.monotonic()
    scorer = load_model(source, family, scoring, threads)
    loading = time.monotonic() - start
    letters = _letters(scorer, items, options) if isinstance(scorer, LetterScorer) else ()
    keys = {id_: item.image_keys for id_, item in items.items()}
    # Not lazily: only the model's time is measured.
    units = [unit for _, found in units_of(pool, keys, images) for unit in found]
    clean, corrupted = units[: len(items)], units[len(items) :]
    with TemporaryDirectory() as folder:
        identity = prediction_identity(scorer, family, scoring)
        with PredictionCache(Path(folder), identity, "check") as cache:
            # The first predictions are slower than all others.
            rows = infer(Predictor(scorer, cache), items, clean)
            correct = _correct(pool, rows)
            start = time.monotonic()
            in_time = takewhile(lambda _: time.monotonic() - start < SECONDS_OF_PREDICTIONS, corrupted)
            measured = Predictor(scorer, cache)
            rows += infer(measured, items, in_time)
            seconds = time.monotonic() - start
    return Trial(
        source.device,
        loading,
        seconds / max(1, measured.computed),
        measured.computed,
        float(np.mean([row["label_mass"] for row in rows])),
        any(_uses_images(scorer, items[unit.item].question, unit) for unit in clean),
        letters,
        correct,
        len(clean),
        _peak_mb(),
        torch.cuda.max_memory_allocated() / 1e6 if source.device == "cuda" else None,
    )


def _letters(scorer: LetterScorer, items: Mapping[str, Item], options: int) -> tuple[int, ...]:
    """Return the token of each letter of ``options`` options; raises ModelError unless each has its own."""
    item = next(iter(items.values()))
    question = replace(item.question, options=tuple(map(str, range(options))))
    return tuple(scorer.letter_tokens(scorer.prompt(question, len(item.image_keys)), options).tolist())


def _correct(pool: Path, rows: Sequence[Row]) -> int:
    """Return the number of predictions whose largest logit is that of the answer."""
    answers = dict(read_table(pool, POOL, ["id", "answer"]).iter_rows())
    return sum(int(np.argmax(row["logits"])) == answers[row["id"]] for row in rows)


def _uses_images(scorer: Scorer, question: Question, unit: Unit) -> bool:
    """Return whether the logits change if the images of a clean unit become grey."""
    grey = [[np.full_like(image, GREY) for image in images] for images in unit.variants]
    scores, of_grey = (predict(scorer, question, variants)[0] for variants in (unit.variants, grey))
    return not np.array_equal(scores.logits, of_grey.logits)


def _peak_mb() -> float | None:
    # Not getrusage, whose maximum includes that of the parent process.
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 / 1e6 if found else None
