"""Time the reading of a source's TSV against pandas.read_csv and the decoding of its images.

    make bench-sources

The file has base64 JPEG images of 640 x 480 pixels, cut from photographs, 1 GB of them. Both ways decode
every image, and keep nothing of it. `benchc.sources.vlmevalkit.opened_source` also checks each row, hashes
the pixels, and stores the image files on disk, from which all items are then read. The two alternate, each in
a process of its own; peak memory is that of the process above the one after its imports. Prints Markdown for
docs/benchmarks.md.
"""

import argparse
import base64
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date
from io import BytesIO
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from photographs import photographs
from PIL import Image
from run_summary import processor

WAYS = ("pandas", "benchc")
WIDTH, HEIGHT = 640, 480


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/sources.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the file; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions; default: %(default)s")
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        way, path = arguments.one
        print(json.dumps(measured(way, Path(path))))
        return
    # Not above: the memory of pandas would be measured beside that of the package.
    from benchc.sources.vlmevalkit import DECODERS

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "source.tsv"
        rows = write(path, arguments.megabytes * 10**6)
        found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
        for _ in range(arguments.rounds):
            for way in WAYS:
                found[way].append(run(way, path))
    print(f"{date.today()}, {processor()}, Python {platform.python_version()}; ", end="")
    print(f"{rows:,} rows, {arguments.megabytes:,} MB; medians of {arguments.rounds}; ", end="")
    print(f"pandas and the decoding beside it in one thread, benchc decodes in {DECODERS}\n")
    print("| way | rows/s | CPU, s | peak memory, MB |")
    print("|---|---:|---:|---:|")
    middle = {
        way: {key: median(each[key] for each in runs) for key in runs[0]} for way, runs in found.items()
    }
    for way, values in middle.items():
        print(f"| {way} | {rows / values['seconds']:.0f} | {values['cpu']:.1f} | {values['memory']:.0f} |")
    ratios = {key: middle["benchc"][key] / middle["pandas"][key] for key in middle["pandas"]}
    print(
        f"\nRatios of benchc to pandas: rows/s {1 / ratios['seconds']:.2f}, CPU {ratios['cpu']:.2f}, "
        f"memory {ratios['memory']:.3f}"
    )


def write(path: Path, size: int) -> int:
    """Write a TSV of about ``size`` bytes, and return its rows."""
    pictures = [Image.open(BytesIO(data)).convert("RGB") for _, data in photographs()]
    generator = np.random.default_rng(0)
    row = written = 0
    with path.open("w") as file:
        written += file.write("index\tquestion\tA\tB\tC\tD\tanswer\tcategory\timage\n")
        while written < size:
            picture = pictures[row % len(pictures)]
            scale = max(WIDTH / picture.width, HEIGHT / picture.height) * generator.uniform(1, 1.5)
            large = picture.resize((round(picture.width * scale) + 1, round(picture.height * scale) + 1))
            left, top = (
                int(generator.integers(0, most + 1)) for most in (large.width - WIDTH, large.height - HEIGHT)
            )
            encoded = BytesIO()
            large.crop((left, top, left + WIDTH, top + HEIGHT)).save(encoded, "JPEG", quality=90)
            image = base64.b64encode(encoded.getvalue()).decode()
            written += file.write(f"{row}\tWhat is shown?\ta\tb\tc\td\t{'ABCD'[row % 4]}\tobjects\t{image}\n")
            row += 1
    return row


def run(way: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", way, str(path)]
    return dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def measured(way: str, path: Path) -> dict[str, float]:
    """Read a file, and return the seconds, those of the processor, and the peak memory in MB."""
    if way == "pandas":
        import pandas as pd
    else:
        from benchc.sources.vlmevalkit import opened_source
    imported = peak_mb()
    began, cpu = time.monotonic(), time.process_time()
    if way == "pandas":
        frame = pd.read_csv(path, sep="\t", dtype=str)
        for text in frame["image"]:
            with Image.open(BytesIO(base64.b64decode(text))) as image:
                image.load()
    else:
        with opened_source(path, "source") as found:
            for _ in found.frames():
                pass
    return {
        "seconds": time.monotonic() - began,
        "cpu": time.process_time() - cpu,
        "memory": peak_mb() - imported,
    }


def peak_mb() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    main()
