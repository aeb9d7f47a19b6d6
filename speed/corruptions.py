"""Time benchc's corruptions of ImageNet-C against the imagecorruptions package, one thread each.

    make bench-corruptions

For every type and severity of the default set, at every size, the two are called alternately in one process,
on one photograph, after a warm-up call of each. `benchc.corruptions.corrupt` is called with default
arguments and a new seed every time; sampling its noise is included. Prints medians as Markdown for
docs/benchmarks.md and stores them as JSON. On a loaded machine only ratios are meaningful.

Working memory: for every type and package, a separate process imports what it needs, loads the photograph at
the largest size, and applies all severities once, while another process samples its resident memory every
millisecond; the result is the peak above the value after the imports.
"""

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy's libraries load
os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import cv2
import psutil
from machine import processor
from photographs import photographs, scaled

from benchc.atomic import write_text
from benchc.corruptions.registry import corruptions_of, kernel_module
from benchc.images import Pixels, decode

Engine = Callable[[Pixels, str, int, int], object]  # image, type, severity, seed
Cell = dict[str, float]  # seconds of both, and the number of calls

SIZES = ("224x224", "640x480", "1920x1080")  # width x height
SEVERITIES = (1, 2, 3, 4, 5)
LEAST, MOST = 3, 15  # calls of each package per cell
SECONDS = 2.0  # per cell and package
ENGINES = ("benchc", "imagecorruptions")
SAMPLING = 0.001  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/corruptions.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), help="WIDTHxHEIGHT; default: %(default)s")
    parser.add_argument("--types", nargs="+", default=list(corruptions_of("imagenet-c")), help="default: 19")
    parser.add_argument("--photos", type=Path, help="folder, of which the first photograph is used")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="per cell; default: %(default)s")
    parser.add_argument("--no-memory", action="store_true", help="times only")
    parser.add_argument("--output", type=Path, default=Path("results/speed/corruptions.json"))
    parser.add_argument("--measured", nargs=2, metavar=("ENGINE", "TYPE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cv2.setNumThreads(1)
    photo = decode(photographs(arguments.photos)[0][1])
    sizes = {size: tuple(map(int, size.split("x"))) for size in arguments.sizes}
    largest = max(sizes.values(), key=lambda size: size[0] * size[1])
    if arguments.measured:
        apply_on_signal(*arguments.measured, scaled(photo, *largest))
        return
    result: dict[str, object] = {
        "date": str(date.today()),
        "processor": processor(),
        "python": platform.python_version(),
        "peer": f"imagecorruptions-imaug {version('imagecorruptions-imaug')}",
    }
    print(f"{result['date']}, {result['processor']}, Python {result['python']}, {result['peer']}\n")
    times: dict[str, dict[str, dict[int, Cell]]] = {}
    for size, shape in sizes.items():
        image = scaled(photo, *shape)
        times[size] = {}
        for name in arguments.types:
            progress(f"{size}: {name}")
            times[size][name] = {
                severity: cell(image, name, severity, arguments.seconds) for severity in SEVERITIES
            }
        print_times(size, times[size])
    result["seconds"] = times
    if not arguments.no_memory:
        peaks = {
            engine: {name: working_memory(engine, name, arguments) for name in arguments.types}
            for engine in ENGINES
        }
        print_memory("x".join(map(str, largest)), peaks)
        result["megabytes"] = peaks
    write_text(arguments.output, json.dumps(result, indent=1) + "\n")
    progress(f"stored in {arguments.output}")


def engine_of(name: str) -> Engine:
    """Return one of the two packages as a function of image, type, severity and seed."""
    if name == "benchc":
        ours = importlib.import_module("benchc.corruptions").corrupt
        return lambda image, type_, severity, seed: ours(image, type_, severity, seed=seed)
    peer = importlib.import_module("imagecorruptions").corrupt
    return lambda image, type_, severity, _: peer(image, corruption_name=type_, severity=severity)


def cell(image: Pixels, name: str, severity: int, enough: float) -> Cell:
    """Return the median seconds of both packages for one type at one severity."""
    engines = {engine: engine_of(engine) for engine in ENGINES}
    seconds: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    for engine in engines.values():
        engine(image, name, severity, 0)
    for call in range(MOST):
        for engine, function in engines.items():
            start = time.perf_counter()
            function(image, name, severity, call)
            seconds[engine].append(time.perf_counter() - start)
        if call + 1 >= LEAST and max(map(sum, seconds.values())) > enough:
            break
    return {engine: median(found) for engine, found in seconds.items()} | {"calls": len(seconds["benchc"])}


def print_times(size: str, times: dict[str, dict[int, Cell]]) -> None:
    """Print, by type, the sums over severities of both packages, and the ratios."""
    print(f"### {size}\n")
    print("Milliseconds, summed over the five severities; the smallest ratio is of a single severity.\n")
    print("| type | imagecorruptions | benchc | ratio | smallest ratio |")
    print("|---|---:|---:|---:|---:|")
    sums = {
        name: tuple(1000 * sum(cell[engine] for cell in cells.values()) for engine in ENGINES)
        for name, cells in times.items()
    }
    for name, (ours, peer) in sums.items():
        least = min(cell["imagecorruptions"] / cell["benchc"] for cell in times[name].values())
        print(f"| {name} | {peer:,.1f} | {ours:,.1f} | {peer / ours:.1f} | {least:.2f} |")
    ours, peer = (sum(column) for column in zip(*sums.values(), strict=True))
    print(f"| **all** | {peer:,.0f} | {ours:,.0f} | **{peer / ours:.1f}** | |")
    slowest = sorted(sums, key=lambda name: -sums[name][0])[:5]
    shares = ", ".join(f"{name} {sums[name][0] / ours:.0%}" for name in slowest)
    print(f"\nSlowest five of benchc, share of the sum: {shares}.\n", flush=True)


def print_memory(size: str, peaks: dict[str, dict[str, float]]) -> None:
    """Print the working memory of both packages by type."""
    print(f"### Working memory at {size}\n")
    print("Peak above the process after its imports, MB.\n")
    print("| type | imagecorruptions | benchc |")
    print("|---|---:|---:|")
    for name in peaks["benchc"]:
        print(f"| {name} | {peaks['imagecorruptions'][name]:.0f} | {peaks['benchc'][name]:.0f} |")
    largest = max(peaks["benchc"], key=lambda name: peaks["benchc"][name])
    print(f"\nLargest of benchc: {largest}, {peaks['benchc'][largest]:.0f} MB.\n", flush=True)


def working_memory(engine: str, name: str, arguments: argparse.Namespace) -> float:
    """Return the peak memory of one type in a separate process, above that after the imports, in MB."""
    progress(f"working memory: {engine}, {name}")
    command = [sys.executable, __file__, "--measured", engine, name, "--sizes", *arguments.sizes]
    if arguments.photos:
        command += ["--photos", str(arguments.photos)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None and child.stdout is not None
    if child.stdout.readline() != "ready\n":
        raise SystemExit(f"{' '.join(command)}: ended before it was measured; run it to see why")
    process = psutil.Process(child.pid)
    before = peak = process.memory_info().rss
    child.stdin.close()
    while child.poll() is None:
        peak = max(peak, process.memory_info().rss)
        time.sleep(SAMPLING)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)}: ended with status {child.returncode}")
    return (peak - before) / 1e6


def apply_on_signal(engine: str, name: str, image: Pixels) -> None:
    """Import, print "ready", wait for the end of standard input, and apply a type at every severity."""
    function = engine_of(engine)
    if engine == "benchc":
        importlib.import_module(kernel_module(name))
    print("ready", flush=True)
    sys.stdin.read()
    for severity in SEVERITIES:
        function(image, name, severity, 0)


def progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
