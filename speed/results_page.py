"""Measure the results page with many samples: size, files, time to open, and memory of the browser.

    python speed/results_page.py [--samples 150 1000 4000] [--models 13] [--corruptions 4]

Answers are random, of 13 models under 19 corruptions at 5 severities. Images are photographs of 480 x 360,
under corruptions of four groups. 40 different ones stand for all: each is written under many names, so that
writing does not take hours. The page is opened from disk in a headless Chromium with an empty profile. The
time is from the start of loading to the first sample with its images; memory is that of the page's process
then, and after 300 samples were stepped through.

Prints Markdown for docs/benchmarks.md. Needs chromium and chromedriver (make browser).
"""

import argparse
import platform
import shutil
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import polars as pl
import psutil
from machine import processor
from photographs import photographs, scaled

from benchc.corruptions import corrupt
from benchc.corruptions.registry import corruptions_of, group_of
from benchc.corruptions.suites.imagenet_c import IMAGENET_C
from benchc.images import decode
from benchc.rendering import write_samples
from benchc.rendering.results_page.html import page_html
from benchc.rendering.results_page.pictures import picture_name, shown_corruptions, write_strip
from benchc.rendering.results_page.samples import Measure, Samples
from benchc.rendering.results_page.script import as_script
from tests.browser import chromium

DIFFERENT = 40  # images
SIZE = (360, 480)
SEVERITIES = [1, 2, 3, 4, 5]
GROUPS = {name: group_of(name, IMAGENET_C) for name in corruptions_of("imagenet-c")}
OPTIONS = ["a red car", "a blue bus", "a green bicycle", "none of these"]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/results_page.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--samples", type=int, nargs="+", default=[150, 1_000, 4_000])
    parser.add_argument("--images", type=Path, help="folder of photographs; default: those of scikit-image")
    parser.add_argument("--models", type=int, default=13)
    parser.add_argument("--corruptions", type=int, default=4)
    parser.add_argument("--size", type=int, nargs=2, default=SIZE, help="height and width of an image")
    arguments = parser.parse_args()
    print(f"{date.today()}, {processor()}, Python {platform.python_version()}; {arguments.models} models\n")
    print("| samples | files | folder | data | written in | open | memory | after 300 samples |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        photos = photographs(arguments.images)
        strips = _strips(Path(scratch) / "strips", photos, arguments.corruptions, tuple(arguments.size))
        for samples in arguments.samples:
            folder = Path(scratch) / str(samples)
            seconds = _write(folder, samples, arguments.models, strips)
            files = [path for path in folder.rglob("*") if path.is_file()]
            data = (folder / "page/samples.js").stat().st_size
            opened, first, later = _open(folder / "index.html", Path(scratch) / f"browser{samples}")
            size = sum(path.stat().st_size for path in files)
            print(
                f"| {samples:,} | {len(files):,} | {size / 1e6:,.0f} MB | {data / 1e6:.1f} MB "
                f"| {seconds:.0f} s | {opened:.2f} s | {first / 1e6:.0f} MB | {later / 1e6:.0f} MB |",
                flush=True,
            )
            shutil.rmtree(folder)


def _strips(
    folder: Path, photos: list[tuple[str, bytes]], corruptions: int, size: tuple[int, int]
) -> list[dict[str, bytes]]:
    """Return the strips of each different image by corruption."""
    folder.mkdir()
    names = shown_corruptions(GROUPS, dict.fromkeys(GROUPS, 5000 // corruptions))[:corruptions]
    found = []
    for number in range(DIFFERENT):
        crop = scaled(decode(photos[number % len(photos)][1]), size[1], size[0])
        found.append({})
        for name in names:
            frames = [crop, *(corrupt(crop, name, severity, seed=number) for severity in SEVERITIES)]
            write_strip(folder, str(number), name, frames, 480)
            found[-1][name] = (folder / f"{picture_name(str(number))}_{name}.webp").read_bytes()
    return found


def _write(folder: Path, samples: int, models: int, strips: list[dict[str, bytes]]) -> float:
    """Write a page of random answers, and return how long its data took, without images."""
    images = folder / "page/images"
    images.mkdir(parents=True)
    listed = {}
    for number in range(samples):
        name = picture_name(f"s/{number}#0")
        listed[name] = dict.fromkeys(strips[0], SEVERITIES)
        for corruption, data in strips[number % len(strips)].items():
            (images / f"{name}_{corruption}.webp").write_bytes(data)
    content = {"corruptions": [*strips[0]], "strips": listed, "withheld": []}
    (images / "images.js").write_text(as_script("images", content))
    start = time.perf_counter()
    write_samples.write(_samples(samples, models), prefix=folder / "page/samples")
    (folder / "index.html").write_text(page_html("speed", "speed", [{"base": "", "name": "speed"}], None))
    return time.perf_counter() - start


def _samples(number: int, models: int) -> Samples:
    ids = [f"s/{each}" for each in range(number)]
    rng = np.random.default_rng(1)
    questions = pl.DataFrame(
        {
            "id": ids,
            "sample": ids,
            "source": [f"source {each % 6}" for each in range(number)],
            "task": [f"task {each % 20}" for each in range(number)],
            "question": [
                f"What is number {each} in the middle of the picture, left of the tree?"
                for each in range(number)
            ],
            "hint": [None] * number,
            "options": [OPTIONS] * number,
            "answer": rng.integers(0, len(OPTIONS), number),
            "truths": [[]] * number,
            "image_keys": [[f"{id_}#0"] for id_ in ids],
            "name": [""] * number,
        },
        schema_overrides={"hint": pl.String, "truths": pl.List(pl.String)},
    )
    cells = [("clean", 0), *((name, level) for name in GROUPS for level in SEVERITIES)]

    def answers(model: str) -> pl.DataFrame:
        draw = np.random.default_rng(int(model))
        rows = number * len(cells)
        probabilities = draw.dirichlet(np.ones(len(OPTIONS)), rows)
        return pl.DataFrame(
            {
                "id": np.repeat(ids, len(cells)),
                "corruption": [name for name, _ in cells] * number,
                "severity": [level for _, level in cells] * number,
                "grade": draw.integers(0, 2, rows).astype(np.float32),
                "probabilities": probabilities.tolist(),
                "ras": draw.normal(0, 0.2, rows),
                "entropy": draw.random(rows),
                "state": draw.choice(["degraded", "overconfident", "hesitant", "stable"], rows),
            }
        )

    return Samples(
        questions=questions,
        facts=questions.select("sample", κ=pl.Series(rng.random(number))),
        answers=answers,
        labels={str(each): f"Model {each}" for each in range(models)},
        corruptions=GROUPS,
        severities=SEVERITIES,
        measures=[Measure("ras", "RAS", change=True), Measure("entropy", "Δ entropy")],
        states=["degraded", "overconfident", "hesitant", "stable"],
        state_label="regime",
        candidates=number,
    )


READY = (
    "const image = document.querySelector('#detail .frame img');"
    "return document.getElementById('viewer').dataset.ready === 'true' && !!image && image.complete"
)


def _open(page: Path, profile: Path) -> tuple[float, int, int]:
    """Return the seconds until a sample is shown, and the bytes of memory then and after 300 samples."""
    profile.mkdir()
    with chromium(profile) as browser:
        start = time.perf_counter()
        browser.open(page)
        while not browser.run(READY):
            time.sleep(0.01)
        seconds = time.perf_counter() - start
        first = _memory(profile)
        body = browser.find("body")
        for _ in range(300):
            browser.press(body, "j")
        time.sleep(1)
        return seconds, first, _memory(profile)


def _memory(profile: Path) -> int:
    """Return the memory of the page's process: its own, and its share of what it shares."""
    found = [
        process.memory_full_info().pss
        for process in psutil.process_iter(["cmdline"])
        if "--type=renderer" in (process.info["cmdline"] or [])
        and "--extension-process" not in process.info["cmdline"]
    ]
    return max(found)


if __name__ == "__main__":
    main()
