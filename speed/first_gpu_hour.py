"""Check and measure on a GPU that no one has tried yet, in parts that can be repeated singly.

    make first-gpu-hour                           # all parts: at most 40 minutes on a GPU
    make first-gpu-hour PART="memory compile"     # some
    make first-gpu-hour TINY=1                    # small models, without a GPU on the CPU, to try the parts

Each part is a process of its own with a time limit, so that it begins with a free GPU and none hides another.
It writes PART.json and PART.log, by default in results/speed/first-gpu-hour. The exit status is 1 if a part
failed. `--page` writes these figures into docs/benchmarks.md in place of running parts; it refuses those of
a CPU or of small models.

{parts}
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

from card import device_of, facts

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results/speed/first-gpu-hour"
PAGE = ROOT / "docs/benchmarks.md"
BEGIN = "<!-- first hour on a GPU: begin, written by speed/first_gpu_hour.py -->\n"
END = "<!-- first hour on a GPU: end -->\n"
TESTS = "tests/models/test_on_gpu.py"
SCRIPT = "speed/gpu_inference.py"
ONE, SEVEN = "InternVL3-1B", "Qwen2.5-VL-7B"
TINY = ("--tiny", "--items", "20", "--sides", "56", "112", "--together", "1", "2")
PASSES = ("--measure", "passes", "--sides", "448", "896", "--together", "1", "4", "--attention")


@dataclass(frozen=True)
class Part:
    """A part of the hour: tests of ``TESTS`` by a word in their names, or options of ``SCRIPT``."""

    about: str
    minutes: float  # at most
    tests: str = ""
    options: Sequence[str] = ()
    needs_gpu: bool = False

    def command(self, device: str, tiny: bool, found: Path) -> list[str]:
        """Return what to run; it writes ``found``."""
        if self.tests:
            own = [TESTS, f"-k=test_{self.tests}", f"--device={device}", f"--junitxml={found}"]
            return [sys.executable, "-m", "pytest", *own, "-p", "no:cacheprovider", "-p", "no:xdist"]
        small = TINY if tiny else ()
        return [sys.executable, SCRIPT, *self.options, *small, "--device", device, "--json", str(found)]


# Trials on a CPU, which others may use, have so many times the minutes.
CPU_SLOWER = 3

PARTS = {
    "agreement": Part("six classes in float32: logits within 1e-4 of the CPU's", 3, "agreement"),
    "bits": Part("a job again, and with 4 workers: equal bits", 2, "bits"),
    "memory": Part(
        "too little for units together, for a unit, for a variant, for a model", 3, "memory", (), True
    ),
    "together": Part("jobs whose units pass together: bits or last bits of those alone", 1.5, "together"),
    "compile": Part("letters and texts: within 1e-4 of the plain model", 4, "compile"),
    "processes": Part("three jobs on one card: equal bits", 2.5, "processes"),
    "bfloat16": Part("six classes: probabilities and label mass near those of float32", 3, "bfloat16"),
    "1b": Part(f"{ONE}: against a loop, share of the peak, busy, workers needed", 5, "", ("--models", ONE)),
    "7b": Part(f"{SEVEN}: the same", 11, "", ("--models", SEVEN)),
    "attention": Part(
        f"{SEVEN}: implementations of attention",
        5,
        "",
        ("--models", SEVEN, *PASSES, "sdpa", "flash_attention_2", "eager"),
    ),
}


def main() -> None:
    width = max(map(len, PARTS))
    listed = "\n".join(f"{name:{width}}  {part.about}" for name, part in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="python speed/first_gpu_hour.py",
        description=str(__doc__).format(parts=listed),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("parts", nargs="*", metavar="PART", help="default: all")
    add("--tiny", action="store_true", help="small models")
    add("--device", choices=["cuda", "cpu"], help="default: a GPU, or with --tiny else the CPU")
    add("--output", type=Path, default=RESULTS, help="folder of the results [results/speed/first-gpu-hour]")
    add("--page", action="store_true", help="write the page in place of running parts")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; choose of {', '.join(PARTS)}")
    if arguments.page:
        write_page(arguments.output, PAGE)
        return
    if arguments.device == "cpu" and not arguments.tiny:
        parser.error("--device=cpu is for small models alone; add --tiny")
    device = device_of(arguments.device, tiny=arguments.tiny)
    arguments.output.mkdir(parents=True, exist_ok=True)
    machine = facts(device)
    print(" ".join(f"{key}: {value}" for key, value in machine.items() if isinstance(value, str)), flush=True)
    failed = []
    for name in arguments.parts or PARTS:
        if PARTS[name].needs_gpu and device == "cpu":
            print(f"{name}: not run, since it needs a GPU", flush=True)
            continue
        found = run(name, PARTS[name], device, arguments.tiny, arguments.output, machine)
        outcome = "passed" if found["error"] is None else "FAILED"
        print(f"{name}: {outcome} after {found['seconds']:.0f} s", flush=True)
        if found["error"] is not None:
            failed.append(f"{name}: {found['error']}; see {arguments.output / name}.log")
    if failed:
        raise SystemExit("\n".join(["", *failed]))


def run(
    name: str, part: Part, device: str, tiny: bool, output: Path, machine: Mapping[str, Any]
) -> dict[str, Any]:
    """Run a part in a process of its own, write its JSON, and return that."""
    start, minutes = time.monotonic(), part.minutes * (CPU_SLOWER if device == "cpu" else 1)
    with TemporaryDirectory() as folder, (output / f"{name}.log").open("w") as log:
        file = Path(folder) / "found"
        process = subprocess.Popen(
            part.command(device, tiny, file), cwd=ROOT, stdout=log, stderr=log, start_new_session=True
        )
        try:
            status: int | None = process.wait(60 * minutes)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:  # with its own processes
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        figures = read_figures(file, tests=bool(part.tests))
    error = None if status == 0 else f"took more than {minutes:g} minutes"
    if status:
        lines = (output / f"{name}.log").read_text(errors="replace").split("\n")
        error = next((line.strip() for line in reversed(lines) if line.strip()), f"exit status {status}")
    found = {
        "part": name,
        "about": part.about,
        "tiny": tiny,
        "error": error,
        "seconds": time.monotonic() - start,
        "facts": dict(machine),
        "figures": figures,
    }
    (output / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    return found


def read_figures(file: Path, *, tests: bool) -> dict[str, Any]:
    """Return what a part measured, also one that was ended; of tests the properties that they recorded."""
    if not file.is_file():
        return {}
    if not tests:
        models: dict[str, Any] = json.loads(file.read_text())["models"]
        return models
    properties = ElementTree.parse(file).iter("property")
    return {str(each.get("name")): each.get("value") for each in properties}


def write_page(results: Path, page: Path) -> None:
    """Write the figures of all parts that have run on a GPU between the marks of a page."""
    from gpu_inference import markdown

    found = [json.loads((results / f"{name}.json").read_text()) for name in PARTS if _ran(results, name)]
    wrong = [each["part"] for each in found if each["tiny"] or each["facts"]["device"] != "cuda"]
    if not found or wrong:
        what = f"{', '.join(wrong)} ran with small models or on a CPU" if wrong else "no part has run"
        raise SystemExit(f"error: {results}: {what}; run `make first-gpu-hour` on a GPU first")
    blocks = [_machine(found), _table(found)]
    for each in found:
        if not PARTS[each["part"]].tests:
            blocks += [markdown(name, figures) for name, figures in each["figures"].items()]
    before, begin, rest = page.read_text().partition(BEGIN)
    page.write_text(before + begin + "\n" + "\n".join(blocks) + END + rest.partition(END)[2])


def _ran(results: Path, name: str) -> bool:
    return (results / f"{name}.json").is_file()


def _machine(found: Sequence[Mapping[str, Any]]) -> str:
    """Return a paragraph for each machine and version that parts ran with."""
    lines: dict[str, list[str]] = {}
    for each in found:
        given = each["facts"]
        packages = ", ".join(f"{name} {number}" for name, number in given["packages"].items() if number)
        text = (
            f"{given['date']}, commit {given['commit']}, {given['card']} ({given['memory_gb']:.0f} GB, "
            f"driver {given['driver']}, CUDA {given['cuda']}, ROCm {given['hip']}), {given['processor']}, "
            f"Python {given['python']}, {packages}"
        )
        lines.setdefault(text, []).append(each["part"])
    return "".join(f"{text}: {', '.join(parts)}.\n\n" for text, parts in lines.items())


def _table(found: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| part | | result | seconds | figures |", "|---|---|---|---:|---|"]
    for each in found:
        tests = bool(PARTS[each["part"]].tests)
        figures = "; ".join(f"{key}: {value}" for key, value in each["figures"].items()) if tests else "below"
        error = str(each["error"]).replace("|", "\\|")
        result = "passed" if each["error"] is None else f"failed: {error}"
        lines.append(f"| {each['part']} | {each['about']} | {result} | {each['seconds']:.0f} | {figures} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
