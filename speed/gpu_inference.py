"""Measure inference on a GPU with random weights of InternVL3-1B's and Qwen2.5-VL-7B's size.

    python speed/gpu_inference.py

Prints Markdown for docs/benchmarks.md, for each model:

1. Predictions per second of a whole job: images decoded, corrupted on the fly and encoded by worker
   processes, under all corruptions, against a loop that asks for one image at a time with `generate` of two
   tokens.
2. The largest difference of an option's probability from that on the CPU, in bfloat16 and in float32 without
   TF32.
3. Predictions per second of forward passes alone, by side of the image and units that pass together, and the
   share of the GPU's peak in bfloat16 that they reach, by counted FLOPs.

Needs one GPU with 40 GB or more, and no network. `--tiny --device cpu` tries the script.
"""

import argparse
import copy
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
from loop import generated
from photographs import jpeg, photographs, scaled
from torch.utils.flop_counter import FlopCounterMode

from benchc.corruptions.registry import corruptions_of, recipe_of
from benchc.demo.tiny.processor import chat_template
from benchc.demo.tiny.tokenizer import train_tokenizer
from benchc.hugging_face import transformers
from benchc.images import decode
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.chat import ChatModel
from benchc.models.encoding import joined
from benchc.models.fast_images import accelerated
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
from benchc.models.units import ImagesToCorrupt
from benchc.pixels import Pixels
from benchc.prefetch import prefetch
from benchc.progress import track

QUESTION = Question(
    "Which of these is the largest object in the picture?", ("a cup", "a cat", "a car", "a cow")
)
SIDES = (448, 672, 896, 1344)
TOGETHER = (1, 2, 4, 8)
SEVERITIES = (1, 2, 3, 4, 5)
PEAK_TFLOPS = 989.0  # of an H100 SXM or H200 in bfloat16, dense
SECONDS = 60.0  # of each measurement of a whole job


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/gpu_inference.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--models", nargs="+", choices=MODELS, default=list(MODELS), help="default: all")
    add("--device", default="cuda", choices=["cuda", "cpu"], help="[%(default)s]")
    add("--tiny", action="store_true", help="small models and images, to try the script")
    add("--items", type=int, default=512, help="of the whole job [%(default)s]")
    add("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1), help="processes [%(default)s]")
    add("--seconds", type=float, default=SECONDS, help="at most, of a whole job [%(default)s]")
    add("--peak", type=float, default=PEAK_TFLOPS, help="TFLOPS of the GPU in bfloat16 [%(default)s]")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("error: torch finds no GPU; run this where there is one, or try --tiny --device cpu")
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    device = torch.cuda.get_device_name() if arguments.device == "cuda" else "CPU"
    print(f"{date.today()}, {device}, torch {torch.__version__}, transformers {transformers.__version__}\n")
    for name in arguments.models:
        measure(name, arguments)


def measure(name: str, arguments: argparse.Namespace) -> None:
    """Print the three measurements of a model."""
    torch.manual_seed(1)
    sides = (56, 112) if arguments.tiny else SIDES
    photos = [decode(data) for _, data in photographs()]
    pictures = {side: [scaled(photo, side, side) for photo in photos] for side in sides}
    scorer, plain = scorer_of(name, arguments.tiny, arguments.device, torch.bfloat16)
    parameters = sum(each.numel() for each in scorer.chat.model.parameters())
    print(f"### {name}, {parameters / 1e9:.2f} billion parameters\n")
    images = [each for side in sides for each in pictures[side]]
    loop, batched = loop_rate(scorer, plain, images), job_rate(scorer, images, arguments)
    print(
        f"Loop: {loop:.2f} predictions/s. benchc: {batched:.2f} predictions/s, {batched / loop:.1f} times.\n"
    )
    print_probabilities(name, images[:2], arguments)  # of the smallest side
    print("| side | units together | rows | tokens a row | predictions/s | share of peak |")
    print("|---:|---:|---:|---:|---:|---:|")
    for side in sides:
        for units in TOGETHER:
            print_shape(scorer, side, pictures[side][0], units, arguments.peak)
    print()


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


def job_rate(scorer: LetterScorer, images: Sequence[Pixels], arguments: argparse.Namespace) -> float:
    """Return the predictions per second of a job with worker processes, from the first to the last unit."""
    files = [jpeg(image) for image in images]
    items = {f"s/{number}": Item(QUESTION, ("k",)) for number in range(arguments.items)}
    recipes = [recipe_of(each, "imagenet-c") for each in corruptions_of("imagenet-c")]
    until = time.perf_counter() + arguments.seconds

    def sources() -> Iterator[ImagesToCorrupt]:
        for item, data in zip(items, cycle(files), strict=False):
            for recipe in recipes:
                if time.perf_counter() > until:
                    return
                yield ImagesToCorrupt(recipe, SEVERITIES, 1, "drop", {item: [(f"{item}#0", data)]})

    done: list[tuple[float, int]] = []  # time, and predictions
    compute = partial(predict_units, passes=Passes())

    def timed(*given: Any) -> Any:
        found = compute(*given)
        done.append((time.perf_counter(), sum(len(scores.logits) for scores, _ in found)))
        return found

    with TemporaryDirectory() as folder, PredictionCache(Path(folder), {"model": "m"}, "s") as cache:
        predictor = Predictor(scorer, cache, timed)
        units = prefetch(prepared_units(sources(), scorer, items, cache, arguments.workers), UNITS_AHEAD)
        total = len(items) * len(recipes)
        infer(predictor, items, track(units, label="job", unit="units", total=total), rows_of_units)
    # Without the first tenth, in which the workers start and the device warms up.
    first = len(done) // 10
    if len(done) < first + 2:
        raise SystemExit(
            f"error: {len(done)} groups of units in {arguments.seconds:g} s; raise --seconds or --items"
        )
    return sum(count for _, count in done[first + 1 :]) / (done[-1][0] - done[first][0])


def print_probabilities(name: str, images: Sequence[Pixels], arguments: argparse.Namespace) -> None:
    """Print how far the options' probabilities are from those on the CPU with the same weights."""
    cells = []
    for dtype in (torch.bfloat16, torch.float32):
        torch.manual_seed(1)
        on_device, _ = scorer_of(name, arguments.tiny, arguments.device, dtype)
        model = on_device.chat.model
        found = [probabilities(on_device, image) for image in images]
        on_cpu = replace(on_device, chat=replace(on_device.chat, model=model.to("cpu")))
        torch.set_num_threads(os.cpu_count() or 1)  # a large model takes minutes on one core
        expected = [probabilities(on_cpu, image) for image in images]
        torch.set_num_threads(1)
        difference = max(np.abs(one - other).max() for one, other in zip(found, expected, strict=True))
        cells.append(f"{difference:.1e} in {str(dtype).removeprefix('torch.')}")
    print(f"Largest difference of an option's probability from that on the CPU: {', '.join(cells)}.\n")


def probabilities(scorer: LetterScorer, image: Pixels) -> Any:
    """Return the probabilities of the options."""
    logits = scorer.score(QUESTION, [[image], [np.flip(image, 1).copy()]]).logits.astype(np.float64)
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def print_shape(scorer: LetterScorer, side: int, image: Pixels, units: int, peak: float) -> None:
    """Print the rate of passes of several units, and the share of the peak that they reach."""

    def on_device(number: int) -> Any:
        """Return the input of other pixels for each pass, since the features of the last images are kept."""
        variants = [[image ^ np.uint8(5 * number + severity)] for severity in SEVERITIES]
        (group,) = encoded_groups(scorer, QUESTION, variants)
        together = joined([group.encoded] * units)
        return replace(together, inputs=scorer.chat.on_device(together.inputs))

    inputs = on_device(0)
    rate = flops = 0.0
    try:
        with FlopCounterMode(display=False) as counter:
            scorer.ask(QUESTION, inputs)
        flops = float(counter.get_total_flops())
        others = [on_device(number) for number in range(1, 6)]
        start = time.perf_counter()
        for other in others:
            scorer.ask(QUESTION, other)  # returns when the logits are on the host
        seconds = (time.perf_counter() - start) / len(others)
        rate = inputs.rows / seconds
        cells = [f"{rate:.1f}", f"{flops / seconds / peak / 1e12:.1%}"]
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        cells = ["out of memory", "–"]
    print(f"| {side} | {units} | {inputs.rows} | {inputs.tokens} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
