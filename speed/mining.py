"""Time the search for mismatched pairs against the bare matrix products that it needs.

    make bench-mining

Samples are random unit vectors of 768 dimensions, as of CLIP ViT-L: texts are turned towards their images by
as much as gives the wanted share of mismatches. The products are those of all blocks, float32, in the same
process and with one thread. Each line is a process of its own, after a warm-up on few samples; peak memory is
that of the process, including the vectors. Prints Markdown for docs/benchmarks.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy's libraries load
os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import numpy.typing as npt
from machine import peak_bytes, processor

from benchc.benchmarks.naturalbench.curation.mismatch import (
    BLOCK,
    EncoderVectors,
    find_mismatches,
    mismatch_frame,
)
from benchc.randomness import generator_of

DIMENSIONS = 768
SIZES = (10_000, 31_783, 100_000)  # 31,783: the images of Flickr30K
SHARES = (0.001, 0.3)  # of mismatches among all pairs
KEEP = 64
SAMPLE = 2000  # samples by which a share is set
TIMED = 36  # blocks of products


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/mining.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="default: %(default)s")
    parser.add_argument("--shares", type=float, nargs="+", default=list(SHARES), help="default: %(default)s")
    parser.add_argument("--keep-by", choices=["hash", "hardest"], default="hash", help="default: %(default)s")
    parser.add_argument("--one", nargs=2, metavar=("SIZE", "SHARE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        size, share = arguments.one
        print(json.dumps(measured(int(size), float(share), arguments.keep_by)))
        return
    print(f"{date.today()}, {processor()}, Python {platform.python_version()}, numpy {np.__version__}\n")
    print("| samples | mismatches | kept | mining, s | products, s | ratio | peak memory, GB |")
    print("|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for size in arguments.sizes:
        for share in arguments.shares:
            command = [sys.executable, __file__, "--keep-by", arguments.keep_by]
            command += ["--one", str(size), str(share)]
            answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            found = json.loads(answer)
            cells = [
                f"{size:,}",
                f"{found['mismatches'] / (size * (size - 1) / 2):.2%}",
                f"{found['kept']:,}",
                f"{found['mine']:.1f}",
                f"{found['products']:.1f}",
                f"{found['mine'] / found['products']:.2f}",
                f"{found['memory']:.2f}",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


def measured(size: int, share: float, keep_by: str) -> dict[str, float]:
    """Return the seconds of mining, its frame of kept pairs included, and of the products; what was found.

    ``memory``: the peak after mining, in 10^9 bytes.
    """
    towards = alignment(share)
    found_pairs(samples(100, towards), keep_by)
    encoder = samples(size, towards)
    start = time.perf_counter()
    mismatches, kept = found_pairs(encoder, keep_by)
    result = {
        "mine": time.perf_counter() - start,
        "memory": peak_bytes() / 1e9,
        "mismatches": mismatches,
        "kept": kept,
    }
    return {**result, "products": products(encoder)}


def found_pairs(encoder: EncoderVectors, keep_by: str) -> tuple[int, int]:
    """Return the numbers of mismatches and of kept ones."""
    ids = [f"flickr30k/{number:06d}.jpg" for number in range(len(encoder.texts))]
    found = find_mismatches(ids, ids, [encoder], keep=KEEP, keep_by=keep_by, seed=0)  # type: ignore[arg-type]
    return found.mismatches, mismatch_frame(ids, [encoder], found).height


def products(encoder: EncoderVectors) -> float:
    """Return the seconds of the similarities of all blocks on and above the diagonal, in both directions."""
    images, texts = encoder.images[:, 0], encoder.texts
    parts = [slice(first, first + BLOCK) for first in range(0, len(texts), BLOCK)]
    blocks = [(rows, columns) for number, rows in enumerate(parts) for columns in parts[number:]]
    start = time.perf_counter()
    for rows, columns in blocks[:TIMED]:
        images[rows] @ texts[columns].T
        texts[rows] @ images[columns].T
    return (time.perf_counter() - start) * len(blocks) / len(blocks[:TIMED])


def alignment(share: float) -> float:
    """Return the weight of the image in a text with which about ``share`` of the pairs are mismatched."""
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        encoder = samples(SAMPLE, middle)
        found = encoder.images[:, 0] @ encoder.texts.T
        own = np.diag(found)
        mismatched = np.maximum(found, found.T) > np.minimum(own[:, None], own)
        low, high = (middle, high) if np.triu(mismatched, 1).mean() * 2 > share else (low, middle)
    return low


def samples(size: int, towards: float) -> EncoderVectors:
    """Return random samples; texts are images times ``towards``, and a random direction."""
    random = generator_of("mining", size)
    images = unit(random.standard_normal((size, DIMENSIONS), dtype=np.float32))
    texts = unit(random.standard_normal((size, DIMENSIONS), dtype=np.float32))
    texts = unit(texts * np.float32(1 - towards) + images * np.float32(towards))
    return EncoderVectors("random", images[:, None], texts)


def unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    result: npt.NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return result


if __name__ == "__main__":
    main()
