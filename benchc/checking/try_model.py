"""Try a model on a few items, with the functions of an inference job. Imports torch."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchc.checking.measure import measure_answers, measure_predictions
from benchc.checking.trial import AnswersTrial, Trial
from benchc.models.attentions import FLASH
from benchc.models.cards import check_cards
from benchc.models.generation import Generation
from benchc.models.gpus import TooFewGpusError, take_gpus
from benchc.models.identity import prediction_identity
from benchc.models.items import Item, read_items, refuse_open_questions
from benchc.models.label_prompt import LabelPrompt
from benchc.models.letter import LetterScorer
from benchc.models.loaded import LoadedModel
from benchc.models.predict import (
    Passes,
    answer_units,
    batch_difference,
    encoded_groups,
    load_classifying,
    load_generative,
    load_model,
    predict_units,
)
from benchc.models.protocol import CheckpointSource
from benchc.models.question import Question
from benchc.models.question_template import QuestionTemplate
from benchc.models.registry import CLASSIFY
from benchc.models.units import Recipes, units_of

CPU_MEMORY_SHARE = 0.7


def try_model(
    source: CheckpointSource,
    scoring: str,
    pool: Path,
    images: Recipes,
    options: int,
    weights: int,
    form: LabelPrompt | None = None,
    labelled: Sequence[Question] = (),
    drawn: Path | None = None,
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
        form: the run's prompt with labels; None for the usual prompts.
        labelled: with ``form``, questions as they are asked, whose labels are tested in place of letters.
        drawn: a POOL table of the items on which time is measured; None: ``pool``.

    Raises InputError where an inference job would.
    """
    placed = _placed(source, weights)
    if placed is None:
        return None
    (source, threads), family = placed, source.family
    items = read_items(pool, prompt=form)
    refuse_open_questions(items)
    start = time.monotonic()
    scorer = load_model(source, family, scoring, threads)
    loading = time.monotonic() - start
    letters: tuple[int, ...] = ()
    if isinstance(scorer, LetterScorer):
        # With labels, each is tested, and none is shown.
        letters = _letters(scorer, items, options) if form is None else ()
        for question in labelled:
            scorer.letter_tokens(scorer.prompt(question, 1), question.letters)
    # As a job does.
    keys = {id_: item.image_keys for id_, item in items.items()}
    first = next(units_of(pool, keys, images))
    scorer.one_by_one = batch_difference(scorer, items[first.item].question, first.variants) > 0
    identity = prediction_identity(scorer, family, scoring)
    model = LoadedModel(
        scorer, identity, partial(predict_units, passes=Passes()), at_once=1, prefetches=False
    )
    # A model's own code may keep the input of the last unit alone.
    encode = encoded_groups if scorer.encodes_on_host else None
    timed = None if drawn is None else (read_items(drawn, prompt=form), drawn)
    trial = measure_predictions(
        model, items, pool, images, device=source.device, loading=loading, encode=encode, timed=timed
    )
    gpu_mb = None
    if source.device == "cuda":
        gpu_mb = max(map(torch.cuda.max_memory_allocated, range(source.gpus))) / 1e6
    return replace(trial, letters=letters, peak_mb=_peak_mb(), gpu_mb=gpu_mb, one_by_one=scorer.one_by_one)


def try_answers(
    source: CheckpointSource,
    scoring: str,
    generation: Generation,
    pool: Path,
    images: Recipes,
    weights: int,
    drawn: Path | None = None,
    templates: Mapping[str, QuestionTemplate] | None = None,
) -> AnswersTrial | None:
    """Load a model that scores no options, and let it answer all items of a small ``pool``.

    ``scoring``: a key of ``ANSWERING``; ``templates``: prompts by item, default: the usual ones; a closed
    list has none. Other arguments, result and errors are as for :func:`try_model`.
    """
    placed = _placed(source, weights)
    if placed is None:
        return None
    source, threads = placed
    prompts = templates if templates and scoring != CLASSIFY else {}
    items = _templated(read_items(pool), prompts)
    start = time.monotonic()
    generator: Any = (
        load_classifying(source, source.family, threads)
        if scoring == CLASSIFY
        else load_generative(source, source.family, generation, threads)
    )
    loading = time.monotonic() - start
    identity = prediction_identity(generator, source.family, scoring)
    model = LoadedModel(
        generator, identity, partial(answer_units, passes=Passes()), at_once=1, prefetches=False
    )
    encode = encoded_groups if generator.encodes_on_host else None
    timed = None if drawn is None else (_templated(read_items(drawn), prompts), drawn)
    trial = measure_answers(
        model, items, pool, images, device=source.device, loading=loading, encode=encode, timed=timed
    )
    chat, most = generator.chat, generation.max_new_tokens
    longer = chat.generates and chat.search(most + 1)["max_new_tokens"] > most
    return replace(trial, bare=not chat.has_template, may_be_longer=longer)


def _templated(items: Mapping[str, Item], templates: Mapping[str, QuestionTemplate]) -> dict[str, Item]:
    """Return items with the prompts of ``templates``, which has all of them or none."""
    if not templates:
        return dict(items)
    return {
        id_: item._replace(question=templates[id_].asked(item.question, item.category))
        for id_, item in items.items()
    }


def _placed(source: CheckpointSource, weights: int) -> tuple[CheckpointSource, int] | None:
    """Return a source and threads for this machine; None where a CPU has not the memory for ``weights``."""
    if source.device != "cuda":
        return source, 1
    if torch.version.cuda or torch.version.hip:
        try:
            # Before torch counts them, which may fix the GPUs that this process sees (MIG, ROCm).
            held = take_gpus(source.gpus, source.location)
        except TooFewGpusError:
            held = None  # the CPU is used
        if held is not None and torch.cuda.device_count() >= source.gpus:
            check_cards(held.gpus, source.location, source)
            return source, 1
    if weights > CPU_MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        return None
    # float16 overflows more often on a CPU; bfloat16 takes the same memory.
    dtype = "bfloat16" if source.dtype == "float16" else source.dtype
    attention = None if source.attention == FLASH else source.attention
    return replace(source, device="cpu", dtype=dtype, attention=attention), os.cpu_count() or 1


def _letters(scorer: LetterScorer, items: Mapping[str, Item], options: int) -> tuple[int, ...]:
    """Return the token of each letter of ``options`` options; raises ModelError unless each has its own."""
    item = next(iter(items.values()))
    question = replace(item.question, options=tuple(map(str, range(options))))
    rendered = scorer.prompt(question, len(item.image_keys))
    return tuple(scorer.letter_tokens(rendered, question.letters).tolist())


def _peak_mb() -> float | None:
    # Not getrusage, whose maximum includes that of the parent process.
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 / 1e6 if found else None
