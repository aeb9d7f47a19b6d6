"""Measure predictions per second against the loop of today's harnesses: one image at a time, and generate.

    python speed/inference.py [--run results/demo] [--models tiny-llava-l tiny-internvl-m tiny-idefics3-m]

Both sides take the same checkpoint, processor, prompt, corrupted images and thread, in memory. The loop calls
the processor and `generate` of two tokens for each image. benchc makes one forward pass for the severities of
an item. The two alternate, item by item, and the ratio is the median over rounds.

Prints Markdown for docs/benchmarks.md: predictions per second, the share of time outside the model's forward
passes, and the cost of a prediction by number of options, side of the image and images of an item. The run must
be finished, with its corrupted images in files (`make demo`). On a loaded machine only ratios are meaningful.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before torch loads
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
import transformers
from PIL import Image
from run_summary import processor

from benchc.models.items import read_items
from benchc.models.predict import load_model, predict
from benchc.models.protocol import CheckpointSource, Scorer
from benchc.models.question import Question
from benchc.models.units import Unit, load_units

MODELS = ("tiny-llava-l", "tiny-internvl-m", "tiny-idefics3-m")  # the demo's three architectures
NEW_TOKENS = 2  # an answer and its end
SCORINGS = ("letter", "text")
OPTIONS, SIDES, IMAGES = (2, 4, 8), (48, 96, 192), (1, 2, 4)


@dataclass
class Clock:
    """Seconds of a side, and those in forward passes of the model."""

    seconds: float = 0.0
    forward: float = 0.0
    rounds: list[float] = field(default_factory=list)

    @property
    def outside(self) -> float:
        """Return the share of time outside forward passes, in [0, 1]."""
        return 1 - self.forward / self.seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/inference.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--run", type=Path, default=Path("results/demo"), help="a finished run [%(default)s]")
    add("--models", nargs="+", default=MODELS, help="folders in results/models [%(default)s]")
    add("--corruption", default="fog", help="of the run, in files [%(default)s]")
    add("--items", type=int, default=40, help="of the run [%(default)s]")
    add("--rounds", type=int, default=3, help="repetitions, of which the median counts [%(default)s]")
    arguments = parser.parse_args()
    items = read_items(arguments.run / "pool/items.parquet")
    chosen = dict(list(items.items())[: arguments.items])
    keys = {id_: item.image_keys for id_, item in chosen.items()}
    units = list(load_units(arguments.run / f"corrupted/{arguments.corruption}.parquet", keys))
    questions = {id_: item.question for id_, item in chosen.items()}
    print(
        f"{date.today()}, one thread of {processor()}, Python {platform.python_version()}, torch "
        f"{torch.__version__}, transformers {transformers.__version__}; {len(units)} items under "
        f"{arguments.corruption}, {sum(len(unit.variants) for unit in units)} predictions a model\n"
    )
    print(
        "| model | scoring | loop, predictions/s | benchc, predictions/s | ratio | outside the forward pass: loop | benchc |"
    )
    print("|---|---|---:|---:|---:|---:|---:|")
    ratios: dict[str, list[float]] = {scoring: [] for scoring in SCORINGS}
    for name in arguments.models:
        for scoring in SCORINGS:
            scorer = load_model(CheckpointSource(str(Path("results/models") / name)), None, scoring)
            slow, fast = compared(scorer, units, questions, arguments.rounds)
            ratio = median(a / b for a, b in zip(slow.rounds, fast.rounds, strict=True))
            ratios[scoring].append(ratio)
            count = sum(len(unit.variants) for unit in units)
            rates = (count / median(clock.rounds) for clock in (slow, fast))
            cells = " | ".join(f"{rate:,.0f}" for rate in rates)
            print(
                f"| {name} | {scoring} | {cells} | {ratio:.1f} | {slow.outside:.0%} | {fast.outside:.0%} |",
                flush=True,
            )
    for scoring in SCORINGS:
        print(f"\nGeometric mean of the ratios, {scoring}: {geometric_mean(ratios[scoring]):.1f}.")
    print("\nMilliseconds of a prediction with letters, five severities together:\n")
    print_costs(arguments.models, units[0], next(iter(questions.values())), arguments.rounds)


def compared(
    scorer: Scorer, units: Sequence[Unit], questions: dict[str, Question], rounds: int
) -> tuple[Clock, Clock]:
    """Return the clocks of the loop and of benchc over all units, which alternate."""
    slow, fast = Clock(), Clock()
    sides: tuple[tuple[Clock, Callable[[Unit], object]], ...] = (
        (slow, lambda unit: looped(scorer, questions[unit.item], unit)),
        (fast, lambda unit: predict(scorer, questions[unit.item], unit.variants)),
    )
    for _, ask in sides:  # what is only done once
        ask(units[0])
    for _ in range(rounds):
        before = slow.seconds, fast.seconds
        for unit in units:
            for clock, ask in sides:
                with timed(scorer, clock):
                    ask(unit)
        for clock, start in zip((slow, fast), before, strict=True):
            clock.rounds.append(clock.seconds - start)
    return slow, fast


def looped(scorer: Any, question: Question, unit: Unit) -> list[str]:
    """Return the answers of a loop over images, each through the processor and `generate` alone."""
    chat = scorer.chat
    rendered = scorer.prompt(question, len(unit.variants[0]))
    answers = []
    for images in unit.variants:
        inputs = chat.processor(
            text=[rendered], images=[[Image.fromarray(image) for image in images]], return_tensors="pt"
        )
        with torch.inference_mode():
            tokens = chat.model.generate(**inputs, max_new_tokens=NEW_TOKENS, do_sample=False)
        new = tokens[0, inputs["input_ids"].shape[1] :]
        answers.append(chat.tokenizer.decode(new, skip_special_tokens=True))
    return answers


@contextmanager
def timed(scorer: Any, clock: Clock) -> Iterator[None]:
    """Add the time of the block to ``clock``, and that of the model's forward passes."""
    model, starts = scorer.chat.model, []
    hooks = (
        model.register_forward_pre_hook(lambda *_: starts.append(time.perf_counter())),
        model.register_forward_hook(lambda *_: ends.append(time.perf_counter())),
    )
    ends: list[float] = []
    start = time.perf_counter()
    try:
        yield
    finally:
        clock.seconds += time.perf_counter() - start
        clock.forward += sum(ends) - sum(starts)
        for hook in hooks:
            hook.remove()


def print_costs(models: Sequence[str], unit: Unit, question: Question, rounds: int) -> None:
    """Print the cost of a prediction by number of options, side of the image, and images of an item."""
    varied = {
        **{f"{count} options": (count, SIDES[0], 1) for count in OPTIONS},
        **{f"{side} px": (4, side, 1) for side in SIDES[1:]},
        **{f"{count} images": (4, SIDES[0], count) for count in IMAGES[1:]},
    }
    print(f"| model | {' | '.join(varied)} |\n|---|{'---:|' * len(varied)}")
    for name in models:
        scorer = load_model(CheckpointSource(str(Path("results/models") / name)), None, "letter")
        cells = []
        for count, side, images in varied.values():
            asked = replace(question, options=tuple(f"thing {k}" for k in range(count)))
            picture = unit.variants[0][0]
            square = torch.from_numpy(picture.copy()).permute(2, 0, 1)[None].float()
            resized = torch.nn.functional.interpolate(square, (side, side))[0].permute(1, 2, 0).byte().numpy()
            variants = [[resized] * images] * len(unit.variants)
            predict(scorer, asked, variants)
            seconds = []
            for _ in range(max(rounds, 3)):
                start = time.perf_counter()
                predict(scorer, asked, variants)
                seconds.append(time.perf_counter() - start)
            cells.append(f"{1000 * median(seconds) / len(variants):.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
