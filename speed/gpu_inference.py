"""Measure inference on a GPU with random weights of InternVL3-1B's and Qwen2.5-VL-7B's size.

    python speed/gpu_inference.py

For each model (`--measure` chooses):

job: predictions per second of a whole job: images decoded, corrupted on the fly and encoded by worker
    processes, against a loop that asks for one image at a time with `generate` of two tokens; how busy the
    GPU is meanwhile, by nvidia-smi; and the workers that it needs, by the time of one unit on one core and
    on the GPU.
probabilities: the largest difference of an option's probability from that on the CPU, in bfloat16 and in
    float32 without TF32.
passes: predictions per second of forward passes alone, by implementation of attention, side of the image and
    units that pass together, and the share of the GPU's peak in bfloat16 that they reach, by counted FLOPs.

It needs a GPU on which Qwen2.5-VL-7B has room in float32, 40 GB, and as much main memory, or half without
`probabilities`; and no network. Prints Markdown; `--json FILE` writes the figures after each measurement.
`--tiny` takes small models, on the GPU or else the CPU: it tries the script in a minute.
"""

import argparse
import copy
import gc
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
from card import busy_share, device_of, facts, peak_of, utilization
from loop import generated
from photographs import jpeg, photographs, scaled
from torch.utils.flop_counter import FlopCounterMode

from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import corruptions_of, recipe_of
from benchc.demo.tiny.processor import chat_template
from benchc.demo.tiny.tokenizer import train_tokenizer
from benchc.hugging_face import transformers
from benchc.images import decode
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.chat import ChatModel
from benchc.models.encoding import joined
from benchc.models.fast_images import accelerated
from benchc.models.gpu_memory import is_out_of_memory
from benchc.models.image_features import keep_image_features
from benchc.models.inference import infer
from benchc.models.inference import prediction_rows as rows_of_units
from benchc.models.items import Item
from benchc.models.job import UNITS_AHEAD
from benchc.models.letter import LetterScorer
from benchc.models.predict import Passes, encoded_groups, predict_units
from benchc.models.predictor import Predictor
from benchc.models.prepare import prepared_units
from benchc.models.question import Question, letter_prompt
from benchc.models.tf32 import forbid_tf32
from benchc.models.units import ImagesToCorrupt
from benchc.pixels import Pixels
from benchc.pluralize import pluralize
from benchc.prefetch import prefetch
from benchc.progress import track

QUESTION = Question(
    "Which of these is the largest object in the picture?", ("a cup", "a cat", "a car", "a cow")
)
SIDES = (448, 672, 896, 1344)
TINY_SIDES = (56, 112)
TINY_SECONDS = 5.0
TOGETHER = (1, 2, 4, 8)
SEVERITIES = (1, 2, 3, 4, 5)
SECONDS = 60.0  # of each measurement of a whole job
MEASURES = ("job", "probabilities", "passes")
ATTENTIONS = ("sdpa", "flash_attention_2", "eager")
# Of a model's weights: activations of a few images, and what CUDA itself takes.
ROOM = 1.1


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/gpu_inference.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--models", nargs="+", choices=MODELS, default=list(MODELS), help="default: all")
    add("--measure", nargs="+", choices=MEASURES, default=list(MEASURES), help="default: all")
    add("--attention", nargs="+", choices=ATTENTIONS, default=["sdpa"], help="of passes [sdpa]")
    add("--sides", type=int, nargs="+", help=f"of the images [{SIDES}; with --tiny {TINY_SIDES}]")
    add("--together", type=int, nargs="+", default=TOGETHER, help="units of a pass [%(default)s]")
    add("--device", choices=["cuda", "cpu"], help="default: a GPU, or with --tiny else the CPU")
    add("--tiny", action="store_true", help="small models and images, to try the script")
    add("--items", type=int, default=512, help="of the whole job [%(default)s]")
    add("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1), help="processes [%(default)s]")
    add("--seconds", type=float, help=f"at most, of a whole job [{SECONDS:g}; with --tiny {TINY_SECONDS:g}]")
    add("--peak", type=float, help="TFLOPS of the GPU in bfloat16; default: by its name, where known")
    add("--json", type=Path, help="file of the figures")
    arguments = parser.parse_args()
    tiny = arguments.tiny
    arguments.device = device_of(arguments.device, tiny=tiny)
    arguments.sides = arguments.sides or (TINY_SIDES if tiny else SIDES)
    arguments.seconds = arguments.seconds or (TINY_SECONDS if tiny else SECONDS)
    found: dict[str, Any] = {"facts": facts(arguments.device), "tiny": tiny, "models": {}}
    if arguments.device == "cuda":
        arguments.peak = arguments.peak or peak_of(found["facts"]["card"])
        require_memory(arguments)
    torch.set_num_threads(1)
    forbid_tf32()
    for name in arguments.models:
        figures = found["models"][name] = {}
        for _ in measure(name, arguments, figures):
            if arguments.json is not None:
                arguments.json.parent.mkdir(parents=True, exist_ok=True)
                arguments.json.write_text(json.dumps(found, indent=1))
            free_memory()
        free_memory()  # of what the last measurement used
        print(markdown(name, figures))


def require_memory(arguments: argparse.Namespace) -> None:
    """Raise SystemExit where the GPU has no room for a model."""
    free = torch.cuda.mem_get_info()[0] / 1e9
    dtype = torch.float32 if "probabilities" in arguments.measure else torch.bfloat16
    for name in arguments.models:
        with torch.device("meta"):
            model, _ = MODELS[name](arguments.tiny, dtype)
        needed = ROOM * sum(each.nbytes for each in model.parameters()) / 1e9
        if free < needed:
            raise SystemExit(
                f"error: {name} needs {needed:.1f} GB of the GPU's memory, of which {free:.1f} GB are "
                "free; use a larger or free GPU, or choose with --models and --measure"
            )


def free_memory() -> None:
    """Give back what the last model took."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def measure(name: str, arguments: argparse.Namespace, figures: dict[str, Any]) -> Iterator[None]:
    """Add the figures of a model, and yield after each measurement."""
    torch.manual_seed(1)
    photos = [decode(data) for _, data in photographs()]
    pictures = {side: [scaled(photo, side, side) for photo in photos] for side in arguments.sides}
    images = [each for side in arguments.sides for each in pictures[side]]
    if "probabilities" in arguments.measure:  # first, since it takes most memory
        figures["probabilities"] = {}
        for dtype in (torch.bfloat16, torch.float32):
            difference = difference_from_cpu(name, images[:2], arguments, dtype)  # of the smallest side
            figures["probabilities"][str(dtype).removeprefix("torch.")] = difference
            yield
    if not {"job", "passes"} & set(arguments.measure):
        return
    scorer, plain = scorer_of(name, arguments.tiny, arguments.device, torch.bfloat16)
    figures["parameters"] = sum(each.numel() for each in scorer.chat.model.parameters())
    if "job" in arguments.measure:
        figures["loop"] = loop_rate(scorer, plain, images, 1.0 if arguments.tiny else 10.0)
        yield
        with utilization() as samples:
            figures |= job_rate(scorer, images, arguments)
        figures |= {"busy": busy_share(samples), "workers": arguments.workers} | unit_seconds(
            scorer, images, arguments.tiny
        )
        yield
    if "passes" in arguments.measure:
        figures["passes"] = []
        for side in arguments.sides:
            for units in arguments.together:
                figures["passes"] += passes(scorer, side, pictures[side][0], units, arguments)
                yield


def markdown(name: str, figures: Mapping[str, Any]) -> str:
    """Return the figures of a model, as far as they were measured."""
    size = f", {figures['parameters'] / 1e9:.2f} billion parameters" if "parameters" in figures else ""
    lines = [f"### {name}{size}", ""]
    if "job" in figures:
        lines += [
            f"Loop: {figures['loop']:.2f} predictions/s. benchc with "
            f"{pluralize(figures['workers'], 'worker')}: {figures['job']:.2f} predictions/s, "
            f"{figures['job'] / figures['loop']:.1f} times. The job was in the model "
            f"{_share(figures['in_model'], 0)} of the time, and the GPU busy "
            f"{_share(figures['busy'] or None, 0)} (nvidia-smi). A unit takes {1000 * figures['unit_on_host']:.0f} ms on one core and "
            f"{1000 * figures['unit_on_device']:.0f} ms on the device, which needs "
            f"{pluralize(figures['workers_needed'], 'worker')}.",
            "",
        ]
    if "probabilities" in figures:
        cells = (f"{difference:.1e} in {dtype}" for dtype, difference in figures["probabilities"].items())
        lines += [
            f"Largest difference of an option's probability from that on the CPU: {', '.join(cells)}.",
            "",
        ]
    if "passes" in figures:
        lines += [
            "| attention | side | units together | rows | tokens a row | predictions/s | share of peak |",
            "|---|---:|---:|---:|---:|---:|---:|",
        ]
        for each in figures["passes"]:
            cells = [each[key] for key in ("attention", "side", "units", "rows", "tokens")]
            rate = each["failed"] or f"{each['rate']:.1f}"
            lines.append(f"| {' | '.join(map(str, cells))} | {rate} | {_share(each['share_of_peak'], 1)} |")
        lines.append("")
    return "\n".join(lines)


def _share(share: float | None, digits: int) -> str:
    return "–" if share is None else f"{share:.{digits}%}"


def scorer_of(name: str, tiny: bool, device: str, dtype: torch.dtype) -> tuple[LetterScorer, Any]:
    """Return a model with random weights on a device, and its processor without benchc's methods."""
    with torch.device(device):
        model, processor = MODELS[name](tiny, dtype)
    model.eval()
    keep_image_features(model)
    fast = copy.copy(processor)
    fast.image_processor = accelerated(processor.image_processor)
    return LetterScorer(ChatModel(model, fast, {"model": name, "device": device})), processor


def internvl(tiny: bool, dtype: torch.dtype) -> tuple[Any, Any]:
    """Return InternVL3-1B: InternViT of 0.3 billion parameters, and Qwen2.5 of 0.5 billion."""
    side = 56 if tiny else 448
    special = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    tokenizer = tokenizer_with(special)
    images = transformers.GotOcr2ImageProcessorPil(
        size={"height": side, "width": side},
        crop_to_patches=True,
        min_patches=1,
        max_patches=12,
        image_mean=[0.485, 0.456, 0.406],
        image_std=[0.229, 0.224, 0.225],
    )
    tokens = (side // 28) ** 2
    processor = transformers.InternVLProcessor(
        image_processor=images,
        tokenizer=tokenizer,
        image_seq_length=tokens,
        chat_template=chat_template("<IMG_CONTEXT>"),
        video_processor=transformers.InternVLVideoProcessor(size={"height": side, "width": side}),
    )
    vision = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    text = {**vision, "num_key_value_heads": 2, "vocab_size": len(tokenizer)}
    if not tiny:
        vision = {
            "hidden_size": 1024,
            "num_hidden_layers": 24,
            "num_attention_heads": 16,
            "intermediate_size": 4096,
        }
        text = {
            "hidden_size": 896,
            "num_hidden_layers": 24,
            "num_attention_heads": 14,
            "num_key_value_heads": 2,
            "intermediate_size": 4864,
            "vocab_size": 151_674,
        }
    config = transformers.InternVLConfig(
        vision_config=transformers.InternVLVisionConfig(
            image_size=[side, side], patch_size=[14, 14], **vision
        ),
        text_config=transformers.Qwen2Config(
            max_position_embeddings=32_768, tie_word_embeddings=not tiny, **text
        ),
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=tokens,
        downsample_ratio=0.5,
    )
    return transformers.AutoModelForImageTextToText.from_config(config, dtype=dtype), processor


def qwen(tiny: bool, dtype: torch.dtype) -> tuple[Any, Any]:
    """Return Qwen2.5-VL-7B."""
    special = {
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
        "vision_bos_token": "<|vision_start|>",
        "vision_eos_token": "<|vision_end|>",
    }
    tokenizer = tokenizer_with(special)
    image, video, start, end = tokenizer.convert_tokens_to_ids(list(special.values()))
    text: dict[str, Any] = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": len(tokenizer),
        "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
    }
    vision: dict[str, Any] = {
        "depth": 2,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 4,
        "out_hidden_size": 64,
        "fullatt_block_indexes": [1],
    }
    if not tiny:
        text = {
            "hidden_size": 3584,
            "intermediate_size": 18_944,
            "num_hidden_layers": 28,
            "num_attention_heads": 28,
            "num_key_value_heads": 4,
            "vocab_size": 152_064,
            "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
        }
        vision = {
            "depth": 32,
            "hidden_size": 1280,
            "intermediate_size": 3420,
            "num_heads": 16,
            "out_hidden_size": 3584,
            "fullatt_block_indexes": [7, 15, 23, 31],
        }
    config = transformers.Qwen2_5_VLConfig(
        text_config={**text, "max_position_embeddings": 128_000},
        vision_config={
            **vision,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "window_size": 112,
        },
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
    )
    processor = transformers.Qwen2_5_VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessorPil(min_pixels=3136, max_pixels=12_845_056),
        tokenizer=tokenizer,
        video_processor=transformers.Qwen2VLVideoProcessor(),
        chat_template=chat_template("<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return transformers.AutoModelForImageTextToText.from_config(config, dtype=dtype), processor


MODELS = {"InternVL3-1B": internvl, "Qwen2.5-VL-7B": qwen}


def tokenizer_with(special: dict[str, str]) -> Any:
    """Return a small tokenizer, in which each letter is a token of its own."""
    texts = [f"USER: \n{letter_prompt(QUESTION)} ASSISTANT:", *(f" {letter}" for letter in "ABCD")]
    return train_tokenizer(texts * 20, special)


def loop_rate(scorer: LetterScorer, plain: Any, images: Sequence[Pixels], seconds: float = 10.0) -> float:
    """Return the predictions per second of a loop over images, each through the processor and `generate`."""
    chat = scorer.chat
    rendered = scorer.prompt(QUESTION, 1)
    done, start = 0, 0.0
    for number, image in enumerate(cycle(images)):
        generated(chat.model, plain, rendered, [image], 2)
        if number < len(images):  # a round to warm up
            start = time.perf_counter()
            continue
        done += 1
        if done % len(images) == 0 and time.perf_counter() - start > seconds:
            break
    return done / (time.perf_counter() - start)


def job_rate(
    scorer: LetterScorer, images: Sequence[Pixels], arguments: argparse.Namespace
) -> dict[str, float]:
    """Return the predictions per second of a job with worker processes, from the first to the last unit.

    Also the share of this time in which the job waits for the model, and not for the workers.
    """
    files = [jpeg(image) for image in images]
    # Each with its own question, since equal images would else be answered from the cache.
    items = {
        f"s/{number}": Item(replace(QUESTION, question=f"{QUESTION.question} ({number})"), ("k",))
        for number in range(arguments.items)
    }
    until = time.perf_counter() + arguments.seconds

    def sources() -> Iterator[ImagesToCorrupt]:
        for item, data in zip(items, cycle(files), strict=False):
            for recipe in recipes_of(arguments.tiny):
                if time.perf_counter() > until:
                    return
                yield ImagesToCorrupt(recipe, {item: SEVERITIES}, 1, "drop", {item: [(f"{item}#0", data)]})

    done: list[tuple[float, float, int]] = []  # start and end of a call of the model, and predictions
    compute = partial(predict_units, passes=Passes())

    def timed(*given: Any) -> Any:
        start = time.perf_counter()
        found = compute(*given)
        done.append((start, time.perf_counter(), sum(len(scores.logits) for scores, _ in found)))
        return found

    with TemporaryDirectory() as folder, PredictionCache(Path(folder), {"model": "m"}, "s") as cache:
        predictor = Predictor(scorer, cache, timed)
        units = prefetch(prepared_units(sources(), scorer, items, cache, arguments.workers), UNITS_AHEAD)
        total = len(items) * len(recipes_of(arguments.tiny))
        infer(predictor, items, track(units, label="job", unit="units", total=total), rows_of_units)
    # Without the first tenth, in which the workers start and the device warms up.
    first = len(done) // 10
    if len(done) < first + 2:
        raise SystemExit(
            f"error: {len(done)} groups of units in {arguments.seconds:g} s; raise --seconds or --items"
        )
    seconds = done[-1][1] - done[first][1]
    return {
        "job": sum(count for *_, count in done[first + 1 :]) / seconds,
        "in_model": sum(end - start for start, end, _ in done[first + 1 :]) / seconds,
    }


def recipes_of(tiny: bool) -> list[Recipe]:
    """Return the corruptions of a job: two for small models, since each takes time to begin."""
    names = list(corruptions_of("imagenet-c"))
    return [recipe_of(each, "imagenet-c") for each in (names[:2] if tiny else names)]


def unit_seconds(scorer: LetterScorer, images: Sequence[Pixels], tiny: bool) -> dict[str, float]:
    """Return the seconds of a unit on one core of the host and on the device, and the workers needed."""
    files = cycle(jpeg(image) for image in images)
    host, device = [], []
    for recipe in recipes_of(tiny):
        for timed in (False, True):  # the first time compiles the kernels, on another image
            image = {"s/0": [("s/0#0", next(files))]}
            source = ImagesToCorrupt(recipe, {"s/0": SEVERITIES}, 1, "drop", image)
            start = time.perf_counter()
            (unit,) = source.units()
            groups = list(encoded_groups(scorer, QUESTION, unit.variants))
            ready = time.perf_counter()
            for group in groups:
                scorer.ask(QUESTION, group.encoded)
            if timed:
                host.append(ready - start)
                device.append(time.perf_counter() - ready)
    on_host, on_device = float(np.mean(host)), float(np.mean(device))
    return {
        "unit_on_host": on_host,
        "unit_on_device": on_device,
        "workers_needed": math.ceil(on_host / on_device),
    }


def difference_from_cpu(
    name: str, images: Sequence[Pixels], arguments: argparse.Namespace, dtype: torch.dtype
) -> float:
    """Return how far the options' probabilities are from those on the CPU with the same weights."""
    torch.manual_seed(1)
    on_device, _ = scorer_of(name, arguments.tiny, arguments.device, dtype)
    found = [probabilities(on_device, image) for image in images]
    moved = on_cpu(on_device)
    torch.set_num_threads(os.cpu_count() or 1)  # a large model takes minutes on one core
    expected = [probabilities(moved, image) for image in images]
    torch.set_num_threads(1)
    return float(max(np.abs(one - other).max() for one, other in zip(found, expected, strict=True)))


def on_cpu(scorer: LetterScorer) -> LetterScorer:
    """Move a scorer's model to the CPU, return a new scorer: the given one keeps tensors of its device."""
    chat = scorer.chat
    return LetterScorer(ChatModel(chat.model.to("cpu"), chat.processor, {**chat.identity, "device": "cpu"}))


def probabilities(scorer: LetterScorer, image: Pixels) -> Any:
    """Return the probabilities of the options."""
    logits = scorer.score(QUESTION, [[image], [np.flip(image, 1).copy()]]).logits.astype(np.float64)
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def passes(
    scorer: LetterScorer, side: int, image: Pixels, units: int, arguments: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yield rate and share of the peak of passes of several units, by implementation of attention."""

    def on_device(number: int) -> Any:
        """Return the input of other pixels for each pass, since the features of the last images are kept."""
        variants = [[image ^ np.uint8(5 * number + severity)] for severity in SEVERITIES]
        (group,) = encoded_groups(scorer, QUESTION, variants)
        together = joined([group.encoded] * units)
        return replace(together, inputs=scorer.chat.on_device(together.inputs))

    for attention in arguments.attention:
        row: dict[str, Any] = {"attention": attention, "side": side, "units": units, "rows": 5 * units}
        row |= {"tokens": None, "rate": None, "share_of_peak": None, "failed": None}
        if attention == "flash_attention_2" and not transformers.utils.is_flash_attn_2_available():
            yield row | {"failed": "not installed"}
            continue
        try:
            # FLOPs of the usual implementation, since those of other kernels are not counted.
            scorer.chat.model.set_attn_implementation("sdpa")
            inputs = on_device(0)
            row["tokens"] = inputs.tokens
            with FlopCounterMode(display=False) as counter:
                scorer.ask(QUESTION, inputs)
            scorer.chat.model.set_attn_implementation(attention)
            scorer.ask(QUESTION, on_device(6))
            others = [on_device(number) for number in range(1, 6)]
            start = time.perf_counter()
            for other in others:
                scorer.ask(QUESTION, other)  # returns when the logits are on the host
            seconds = (time.perf_counter() - start) / len(others)
            row["rate"] = inputs.rows / seconds
            if arguments.peak:
                row["share_of_peak"] = counter.get_total_flops() / seconds / arguments.peak / 1e12
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            row["failed"] = "out of memory"
        inputs = others = None
        free_memory()
        yield row


if __name__ == "__main__":
    main()
