"""Time greedy selection against a matrix-vector loop that scores every row at every step.

    make bench-selection

Pools are random: kappas like means of a few dozen fractions, and for each modality (512 and 384 dimensions,
as of CLIP and MiniLM) unit vectors in clusters of unequal size around a common direction; with `--shapes
isotropic`, directions are uniform, and nothing can be pruned. The baseline keeps the sums of dot products
with all vectors picked so far and updates them by one float64 BLAS product per modality and step. Each size
runs in a separate process with one thread, after a warm-up on a small pool; peak memory is that of the
process, including the pool. Prints Markdown for docs/benchmarks.md.
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

from benchc.benchmarks.bench_c.selection.greedy import greedy
from benchc.randomness import generator_of

SIZES = (4_000, 16_000, 100_000, 1_000_000)
PEER_SIZES = (4_000, 16_000)
# Per modality: dimensions, mean cosine of two items, and of two items of one cluster.
MODALITIES = {"clustered": ((512, 0.5, 0.75), (384, 0.15, 0.5)), "isotropic": ((512, 0, 0), (384, 0, 0))}
CLUSTERS = 300
BLOCK = 65_536  # rows sampled at a time

Pool = tuple[npt.NDArray[np.float64], list[npt.NDArray[np.float32]]]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/selection.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="default: %(default)s")
    parser.add_argument(
        "--peer-sizes", type=int, nargs="*", default=list(PEER_SIZES), help="default: %(default)s"
    )
    parser.add_argument("--shapes", nargs="+", choices=MODALITIES, default=["clustered"])
    parser.add_argument("--one", nargs=3, metavar=("SHAPE", "SIZE", "PEER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        shape, size, peer = arguments.one
        print(json.dumps(measured(shape, int(size), peer == "1")))
        return
    print(f"{date.today()}, {processor()}, Python {platform.python_version()}, numpy {np.__version__}\n")
    print("| pool | items | greedy, s | peak memory, GB | matrix-vector loop, s | ratio | same order |")
    print("|---|---:|---:|---:|---:|---:|---|", flush=True)
    for shape in arguments.shapes:
        for size in arguments.sizes:
            command = [sys.executable, __file__, "--one", shape, str(size)]
            peer = "1" if size in arguments.peer_sizes else "0"
            answer = subprocess.run([*command, peer], check=True, capture_output=True, text=True).stdout
            found = json.loads(answer)
            cells = [shape, f"{size:,}", f"{found['greedy']:.2f}", f"{found['memory']:.2f}"]
            if peer == "1":
                same = f"{found['same']:,} of {size:,}"
                cells += [f"{found['peer']:.1f}", f"{found['peer'] / found['greedy']:.1f}", same]
            else:
                cells += ["", "", ""]
            print(f"| {' | '.join(cells)} |", flush=True)


def measured(shape: str, size: int, with_peer: bool) -> dict[str, float]:
    """Return seconds of both, the peak memory after ``greedy`` in 10^9 bytes, and how many picks agree.

    The two round differently, so near ties may be broken differently.
    """
    greedy(*pool(shape, 100))
    kappa, embeddings = pool(shape, size)
    start = time.perf_counter()
    found = greedy(kappa, embeddings)
    result = {
        "greedy": time.perf_counter() - start,
        "memory": peak_bytes() / 1e9,
    }
    if with_peer:
        doubles = [vectors.astype(np.float64) for vectors in embeddings]
        start = time.perf_counter()
        order = matrix_vector_loop(kappa, doubles)
        result["peer"] = time.perf_counter() - start
        result["same"] = int((order == found.order).sum())
    return result


def matrix_vector_loop(
    kappa: npt.NDArray[np.float64], embeddings: list[npt.NDArray[np.float64]]
) -> npt.NDArray[np.int64]:
    """Return the greedy order for unit vectors, by products of all rows with each picked one."""
    order = np.empty(len(kappa), dtype=np.int64)
    picked = np.zeros(len(kappa))
    sums = [np.zeros(vectors.shape[1]) for vectors in embeddings]
    products = [np.zeros(len(kappa)) for _ in embeddings]
    for step in range(len(kappa)):
        scores = kappa + len(embeddings) + picked
        for product, total in zip(products, sums, strict=True):
            length = np.linalg.norm(total)
            if length > 0:
                scores -= product / length
        best = int(scores.argmax())
        order[step], picked[best] = best, -np.inf
        for vectors, product, total in zip(embeddings, products, sums, strict=True):
            product += vectors @ vectors[best]
            total += vectors[best]
    return order


def pool(shape: str, size: int) -> Pool:
    """Return random kappas, float64[N], and the unit vectors of each modality, float32[N, d]."""
    random = generator_of("greedy selection", shape, size)
    kappa = random.binomial(57, random.beta(0.8, 4, size)) / 57 * 0.8 + random.random(size) * 0.02
    return kappa, [unit_vectors(random, size, *modality) for modality in MODALITIES[shape]]


def unit_vectors(
    random: np.random.Generator, size: int, dimensions: int, alike: float, within: float
) -> npt.NDArray[np.float32]:
    """Return random unit vectors with mean cosine ``alike``, and ``within`` in a cluster."""
    common, *centres = unit(random.normal(size=(1 + CLUSTERS, dimensions)))
    shares = 1 / np.arange(1, CLUSTERS + 1)
    cluster = random.choice(CLUSTERS, size, p=shares / shares.sum())
    result = np.empty((size, dimensions), dtype=np.float32)
    for start in range(0, size, BLOCK):
        rows = slice(start, start + BLOCK)
        own = unit(random.normal(size=(len(cluster[rows]), dimensions)))
        centre = np.stack(centres)[cluster[rows]]
        vectors = np.sqrt(alike) * common + np.sqrt(within - alike) * centre + np.sqrt(1 - within) * own
        result[rows] = unit(vectors)
    return result


def unit(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
