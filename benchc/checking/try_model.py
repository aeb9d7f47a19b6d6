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

from benchc.checking.trial import AnswersTrial, Trial
from benchc.corruptions.recipe import clean_recipe
from benchc.judges.option_reply import option_of
from benchc.models.generation import Generation
from benchc.models.identity import prediction_identity
from benchc.models.inference import Row, infer, predict_unit
from benchc.models.items import Item, read_items, refuse_open_questions
from benchc.models.letter import LetterScorer
from benchc.models.predict import answer, load_generative, load_model, predict
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
    placed = _placed(source, weights)
    if placed is None:
        return None
    (source, threads), family = placed, source.family
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
            rows = infer(Predictor(scorer, cache, predict), items, clean, predict_unit)
            correct = _correct(pool, rows)
            start = time.monotonic()
            in_time = takewhile(lambda _: time.monotonic() - start < SECONDS_OF_PREDICTIONS, corrupted)
            measured = Predictor(scorer, cache, predict)
            rows += infer(measured, items, in_time, predict_unit)
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


def try_answers(
    source: CheckpointSource, generation: Generation, pool: Path, weights: int
) -> AnswersTrial | None:
    """Load a model that only generates, and let it answer all items of a small ``pool``, clean.

    Arguments, result and errors are as for :func:`try_model`.
    """
    placed = _placed(source, weights)
    if placed is None:
        return None
    source, threads = placed
    items = read_items(pool)
    start = time.monotonic()
    model = load_generative(source, source.family, generation, threads)
    loading = time.monotonic() - start
    keys = {id_: item.image_keys for id_, item in items.items()}
    units = [unit for _, found in units_of(pool, keys, Recipes([clean_recipe()], 0)) for unit in found]
    start = time.monotonic()
    replies = {unit.item: answer(model, items[unit.item].question, unit.variants)[0][0] for unit in units}
    seconds = (time.monotonic() - start) / max(1, len(replies))
    chosen = [option_of(reply.text, items[id_].question.options).option for id_, reply in replies.items()]
    return AnswersTrial(
        source.device,
        loading,
        seconds,
        len(replies),
        sum(option is not None for option in chosen),
        sum(reply.finish == "length" for reply in replies.values()),
    )


def _placed(source: CheckpointSource, weights: int) -> tuple[CheckpointSource, int] | None:
    """Return a source and threads for this machine; None where a CPU has not the memory for ``weights``."""
    if source.device != "cuda" or torch.cuda.is_available():
        return source, 1
    if weights > CPU_MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        return None
    # float16 overflows more often on a CPU; bfloat16 takes the same memory.
    dtype = "bfloat16" if source.dtype == "float16" else source.dtype
    return replace(source, device="cpu", dtype=dtype), os.cpu_count() or 1


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
