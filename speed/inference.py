"""Measure predictions per second against the loop of today's harnesses: one image at a time, and generate.

    make bench-inference

Both sides take the same checkpoint, prompts, corrupted images and thread, in memory. The loop calls the
model's processor with the image processor of transformers (PIL), and `generate` of two tokens for each image,
or of as many as an answer may have. benchc encodes the severities of an item and makes one forward pass for
them. Answers are those to the question without options, of benchc through its cache, which is empty at the
start of each round; for a VQA head with a closed list, the loop makes one forward pass for each image. The
sides alternate, item by item, and the ratio is the median over rounds.

Prints Markdown for docs/benchmarks.md: predictions and answers per second, the share of time outside the
model's forward passes, and the cost of a prediction by number of options, side of the image and images of an
item. The run must be finished, with its corrupted images in files. On a loaded machine only ratios count.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import geometric_mean, median
from tempfile import TemporaryDirectory
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before torch loads
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
from loop import classified, generated
from machine import processor
from photographs import scaled

from benchc.hugging_face import transformers
from benchc.models.cache.unit_cache import AnswerCache
from benchc.models.generation import Generation
from benchc.models.inference import groups_of
from benchc.models.items import read_items
from benchc.models.predict import (
    Passes,
    answer_units,
    load_classifying,
    load_generative,
    load_model,
    predict,
    predict_units,
)
from benchc.models.predictor import Answerer
from benchc.models.protocol import CheckpointSource, UnitInput
from benchc.models.question import Question
from benchc.models.units import Unit, units_of
from benchc.models.units_together import UNITS_TOGETHER, UnitsTogether
from benchc.workflow.made_once import FOLDER

MODELS = ("tiny-llava-l", "tiny-internvl-m", "tiny-idefics3-m")  # the demo's three architectures
PREDICTION_TOKENS = 2  # an answer and its end
ANSWER_TOKENS = 16
GENERATE, CLASSIFY = "generate", "classify"
SCORINGS = ("letter", "text", GENERATE)
CORRUPTIONS = ("fog", "gaussian_noise", "pixelate")
# Of the costs; the second of each is that of all other cells.
OPTIONS, SIDES, IMAGES = (2, 4, 6), (48, 96, 192), (1, 2, 4)

Group = Sequence[Unit]
Side = Callable[[Question, Group], object]


@dataclass
class Clock:
    """Seconds of a side, in all and in forward passes of the model, and seconds of each round."""

    seconds: float = 0.0
    forward: float = 0.0
    rounds: list[float] = field(default_factory=list)

    @property
    def outside(self) -> float:
        """The share of time outside forward passes, in [0, 1]."""
        return 1 - self.forward / self.seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/inference.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--run", type=Path, default=Path("results/demo"), help="a finished run [%(default)s]")
    add("--models", nargs="+", default=MODELS, help="tiny models of a demo [%(default)s]")
    add("--classifiers", nargs="*", default=[], help="the same, of VQA heads with a closed list")
    add("--corruptions", nargs="+", default=CORRUPTIONS, help="of the run [%(default)s]")
    add("--items", type=int, default=40, help="of the run [%(default)s]")
    add("--rounds", type=int, default=3, help="repetitions, of which the median counts [%(default)s]")
    add(
        "--together",
        nargs="+",
        choices=UNITS_TOGETHER,
        default=["never", "always"],
        help="`units_together` of benchc, one or more [%(default)s]",
    )
    arguments = parser.parse_args()
    pool = arguments.run / "pool/items.parquet"
    items = dict(islice(read_items(pool).items(), arguments.items))
    files = [arguments.run / f"corrupted/{name}.parquet" for name in arguments.corruptions]
    keys = {id_: item.image_keys for id_, item in items.items()}
    groups = list(groups_of(units_of(pool, keys, files)))
    questions = {id_: item.question for id_, item in items.items()}
    print(
        f"{date.today()}, one thread of {processor()}, Python {platform.python_version()}, torch "
        f"{torch.__version__}, transformers {transformers.__version__}; {len(items)} items under "
        f"{', '.join(arguments.corruptions)}: {count_of(groups)} predictions a round. Per second, and the "
        "share of time outside forward passes:\n"
    )
    header = ["model", "scoring", "loop", "outside"]
    for mode in arguments.together:
        header += [f"benchc, {mode} together", "ratio", "outside"]
    print(f"| {' | '.join(header)} |\n|---|---|{'---:|' * (len(header) - 2)}")
    ratios: dict[tuple[str, str], list[float]] = {}
    pairs = [(name, scoring) for name in arguments.models for scoring in SCORINGS]
    for name, scoring in [*pairs, *((name, CLASSIFY) for name in arguments.classifiers)]:
        folder = trained_folder(name)
        # VQA heads read one image.
        taken = groups if scoring != CLASSIFY else [group for group in groups if group[0].images == 1]
        asked = count_of(taken)
        loop, *ours = compared(folder, scoring, taken, questions, arguments.rounds, arguments.together)
        cells = [name, scoring, f"{asked / median(loop.rounds):,.0f}", f"{loop.outside:.0%}"]
        for mode, clock in zip(arguments.together, ours, strict=True):
            ratio = median(a / b for a, b in zip(loop.rounds, clock.rounds, strict=True))
            ratios.setdefault((scoring, mode), []).append(ratio)
            cells += [f"{asked / median(clock.rounds):,.0f}", f"{ratio:.1f}", f"{clock.outside:.0%}"]
        print(f"| {' | '.join(cells)} |", flush=True)
    for (scoring, mode), found in ratios.items():
        print(f"\nGeometric mean of the ratios, {scoring}, {mode} together: {geometric_mean(found):.1f}.")
    print("\nMilliseconds of a prediction with letters, five severities together:\n")
    print_costs(arguments.models, groups[0][0], next(iter(questions.values())), arguments.rounds)


def count_of(groups: Sequence[Group]) -> int:
    """Return the number of predictions on all units."""
    return sum(len(unit.variants) for group in groups for unit in group)


def compared(
    folder: Path,
    scoring: str,
    groups: Sequence[Group],
    questions: Mapping[str, Question],
    rounds: int,
    together: Sequence[UnitsTogether],
) -> list[Clock]:
    """Return the clocks of the loop, and of benchc in each mode, over all units; they alternate."""
    source = CheckpointSource(str(folder))
    asked: Any
    if scoring == GENERATE:
        asked = load_generative(source, None, Generation(ANSWER_TOKENS, lists_options=False))
    elif scoring == CLASSIFY:
        asked = load_classifying(source, None)
    else:
        asked = load_model(source, None, scoring)
    plain = transformers.AutoProcessor.from_pretrained(folder)
    plain.image_processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    if asked.chat.has_template:
        plain.chat_template = asked.chat.processor.chat_template
    tokens = ANSWER_TOKENS if scoring == GENERATE else PREDICTION_TOKENS
    modes = [Passes(mode) for mode in together]

    def loop(question: Question, group: Group) -> None:
        for unit in group:
            rendered = asked.prompt(question, unit.images)
            for images in unit.variants:
                if scoring == CLASSIFY:
                    classified(asked.chat.model, plain, rendered, images[0])
                else:
                    generated(asked.chat.model, plain, rendered, images, tokens)

    def ours(passes: Passes, stack: ExitStack) -> Side:
        if scoring not in (GENERATE, CLASSIFY):
            return lambda question, group: predict_units(
                asked, question, [UnitInput(unit.variants) for unit in group], passes
            )
        folder = Path(stack.enter_context(TemporaryDirectory()))
        cache = stack.enter_context(AnswerCache(folder, asked.identity(), "speed"))
        return Answerer(asked, cache, partial(answer_units, passes=passes)).ask

    clocks = [Clock() for _ in range(1 + len(modes))]
    for turn in range(rounds + 1):
        with ExitStack() as stack:
            sides: list[Side] = [loop, *(ours(passes, stack) for passes in modes)]
            if turn == 0:  # what is done only once
                for side in sides:
                    side(questions[groups[0][0].item], groups[0])
                continue
            before = [clock.seconds for clock in clocks]
            for group in groups:
                for clock, side in zip(clocks, sides, strict=True):
                    with timed(asked.chat.model, clock):
                        side(questions[group[0].item], group)
            for clock, start in zip(clocks, before, strict=True):
                clock.rounds.append(clock.seconds - start)
    return clocks


@contextmanager
def timed(model: torch.nn.Module, clock: Clock) -> Iterator[None]:
    """Add the time of the block to ``clock``, and that of the model's forward passes."""
    starts: list[float] = []
    ends: list[float] = []
    hooks = (
        model.register_forward_pre_hook(lambda *_: starts.append(time.perf_counter())),
        model.register_forward_hook(lambda *_: ends.append(time.perf_counter())),
    )
    start = time.perf_counter()
    try:
        yield
    finally:
        clock.seconds += time.perf_counter() - start
        clock.forward += sum(ends) - sum(starts)
        for hook in hooks:
            hook.remove()


def trained_folder(name: str) -> Path:
    """Return the newest folder of a tiny model."""
    found = sorted(Path(FOLDER).glob(f"{name}-*"), key=lambda folder: folder.stat().st_mtime)
    if not found:
        sys.exit(f"error: {FOLDER} has no {name}; train it by `make demo`")
    return found[-1]


def print_costs(models: Sequence[str], unit: Unit, question: Question, rounds: int) -> None:
    """Print the cost of a prediction by number of options, side of the image, and images of an item."""
    varied = {
        **{f"{count} options": (count, SIDES[0], 1) for count in OPTIONS},
        **{f"{side} px": (4, side, 1) for side in SIDES[1:]},
        **{f"{count} images": (4, SIDES[0], count) for count in IMAGES[1:]},
    }
    print(f"| model | {' | '.join(varied)} |\n|---|{'---:|' * len(varied)}")
    for name in models:
        scorer = load_model(CheckpointSource(str(trained_folder(name))), None, "letter")
        cells = []
        for count, side, number in varied.values():
            asked = replace(question, options=tuple(f"thing {k}" for k in range(count)))
            variants = [[scaled(variant[0], side, side)] * number for variant in unit.variants]
            seconds = []
            for turn in range(max(rounds, 3) + 1):
                # Other pixels in each round, since the features of the last images are kept.
                pixels = [[image ^ np.uint8(turn) for image in images] for images in variants]
                start = time.perf_counter()
                predict(scorer, asked, pixels)
                seconds.append(time.perf_counter() - start)
            cells.append(f"{1000 * median(seconds[1:]) / len(variants):.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
