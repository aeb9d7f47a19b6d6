"""A model in the job's own process."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchc.errors import InputError
from benchc.models.adapter_files import NO_ADAPTER
from benchc.models.asking import Answering, AskedModel, Scoring
from benchc.models.generation import Generation
from benchc.models.hub.cached import require_cached
from benchc.models.identity import prediction_identity
from benchc.models.loaded import LoadedModel
from benchc.models.pass_limit import PassLimit
from benchc.models.predict import (
    Passes,
    answer_units,
    batch_difference,
    load_classifying,
    load_generative,
    load_model,
    predict_units,
)
from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import CheckpointSource, Variants
from benchc.models.question import Question
from benchc.models.registry import ANSWERING, CLASSIFY, scorer_modules
from benchc.pluralize import pluralize

# What the identity of predictions says of a model that is asked about each variant alone.
ONE_BY_ONE = "one by one"


@contextmanager
def opened(
    asked: AskedModel,
    source: CheckpointSource,
    scoring: Scoring | Answering,
    generation: Generation | None,
    first: Iterable[tuple[Question, Variants]],
) -> Iterator[LoadedModel[Any, Any]]:
    """Load the checkpoint of an inference job.

    Args:
        generation: where the scoring is ``generate``.
        first: the first question that the job asks, and the variants of its images; empty where it asks none.
    """
    family, threads = asked.family, asked.threads
    adapter = source.adapter not in (None, NO_ADAPTER)
    code = prediction_code(scorer_modules(family, scoring, adapter=adapter))
    if not Path(source.location).is_dir():
        require_cached(source.location, source.revision)
    model: Any
    if generation is not None:
        model = load_generative(source, family, generation, threads)
    elif scoring == CLASSIFY:
        model = load_classifying(source, family, threads)
    else:
        model = load_model(source, family, scoring, threads)
    identity = prediction_identity(model, family, scoring)
    if identity["code"] != code:
        raise InputError("the code was edited while the model was loaded; run snakemake again")
    together = asked.units_together
    # Of the job's first unit, cached or not, so that a job that goes on decides the same.
    difference = max((batch_difference(model, *each) for each in first), default=0.0)
    model.one_by_one = difference > 0
    if model.one_by_one:
        identity["variants"], together = ONE_BY_ONE, "never"
        print(
            f"warning: {asked.label}: its logits of an image differ by up to {difference:.2g} with the other "
            "severities that pass through the model together; each passes alone, which takes longer",
            file=sys.stderr,
        )
    if together != "never":
        # The last bits depend on the units that pass together, or may, after the passes that are checked.
        identity["units_together"] = together

    def say(text: str) -> None:
        print(f"{asked.label}: {text} (`units_together`)", file=sys.stderr)

    gpus = range(source.gpus) if asked.device == "cuda" and together != "never" else ()
    limit = PassLimit(gpus, say)
    passes = Passes(together, limit)
    compute = partial(answer_units if scoring in ANSWERING else predict_units, passes=passes)
    yield LoadedModel(
        model,
        identity,
        compute,
        at_once=1,
        prefetches=asked.device == "cuda",
        encodes=model.encodes_on_host,
        together=together,
    )
    if together == "if_equal":
        if not passes.checked:
            text = "no units passed together"
        elif passes.differ:
            checked = f"pass {passes.checked:,}, whose bits differ if they pass together"
            text = f"units passed one by one after {checked}"
        else:
            checked = f"in the {passes.checked:,} passes that were checked, no bit differs"
            text = f"units passed together; {checked}"
        say(text)
    if limit.lowered:
        times = pluralize(limit.lowered, "time")
        say(f"passes did not fit, so that their limit was halved {times}, to {limit.most:,} tokens")
