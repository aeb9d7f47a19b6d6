"""The parts of the first hour on a GPU run apart, and its page has figures of a GPU alone."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# One of each kind. The others take minutes on a CPU, or run there in other tests (compile, 1b).
PARTS = ("bits", "attention")


@pytest.fixture
def hour(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the script as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "speed"))
    return importlib.import_module("first_gpu_hour")


def test_parts_run_on_a_cpu_with_small_models(
    hour: Any,
    python: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "executable", str(python))
    given = ["--tiny", "--device", "cpu", "--output", str(tmp_path), *PARTS, "memory"]
    monkeypatch.setattr(sys, "argv", ["first_gpu_hour.py", *given])
    hour.main()
    assert capsys.readouterr().out.endswith("memory: not run, since it needs a GPU\n")
    found = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in PARTS}
    assert {(each["error"], each["tiny"], each["facts"]["device"]) for each in found.values()} == {
        (None, True, "cpu")
    }
    assert found["bits"]["figures"] == {}
    passes = found["attention"]["figures"]["Qwen2.5-VL-7B"]["passes"]
    assert [each["rate"] is not None for each in passes] == [True, False, True] * 4


def run_parts(hour: Any, monkeypatch: pytest.MonkeyPatch, output: Path, **scripts: tuple[str, float]) -> str:
    """Run parts that are programs of Python, with minutes; return what the script ends with."""

    class Program(hour.Part):  # type: ignore[misc]
        def command(self, device: str, tiny: bool, found: Path) -> list[str]:
            return [sys.executable, "-c", self.about, str(found)]

    parts = {name: Program(script, minutes) for name, (script, minutes) in scripts.items()}
    monkeypatch.setattr(hour, "PARTS", parts)
    monkeypatch.setattr(sys, "argv", ["first_gpu_hour.py", "--tiny", "--device=cpu", f"--output={output}"])
    try:
        hour.main()
    except SystemExit as end:
        return str(end)
    return ""


def test_a_part_that_fails_or_hangs_hides_no_other(
    hour: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = "import json, sys; json.dump({'models': {'m': {'loop': 2}}}, open(sys.argv[1], 'w'))"
    # It has measured something, and has a process of its own.
    hangs = f"{figures}; sys.stdout.close(); import os, time; os.fork(); time.sleep(600)"
    end = run_parts(
        hour,
        monkeypatch,
        tmp_path,
        fails=("print('one'); raise SystemExit('error: two')", 1),
        hangs=(hangs, 0.03),
        passes=(figures, 1),
    )
    assert end.split("\n") == [
        "",
        f"fails: error: two; see {tmp_path}/fails.log",
        f"hangs: took more than 0.09 minutes; see {tmp_path}/hangs.log",
    ]
    lines = [line.split(" after ")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines[-3:] == ["fails: FAILED", "hangs: FAILED", "passes: passed"]
    found = {
        name: json.loads((tmp_path / f"{name}.json").read_text()) for name in ("fails", "hangs", "passes")
    }
    assert [each["figures"] for each in found.values()] == [{}, {"m": {"loop": 2}}, {"m": {"loop": 2}}]
    # Of one part alone, the others' results stay.
    assert run_parts(hour, monkeypatch, tmp_path, fails=("pass", 1)) == ""
    assert json.loads((tmp_path / "fails.json").read_text())["error"] is None
    assert (tmp_path / "passes.json").exists()


def test_a_part_takes_at_most_eleven_minutes_and_all_take_forty(hour: Any) -> None:
    minutes = [part.minutes for part in hour.PARTS.values()]
    assert max(minutes) <= 11 and sum(minutes) <= 40


def test_each_test_on_a_gpu_is_of_one_part(hour: Any, python: Path) -> None:
    words = [part.tests for part in hour.PARTS.values() if part.tests]
    command = [str(python), "-m", "pytest", hour.TESTS, "--device=cpu", "--collect-only", "-q"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    names = [line.split("::")[1] for line in listed.splitlines() if "::" in line]
    assert len(names) == 22
    counts = {name: sum(f"test_{word}" in name for word in words) for name in names}
    assert set(counts.values()) == {1}, counts


def pytest_says(*words: str, gpu: bool = False, python: Path, tmp_path: Path) -> str:
    """Return what pytest prints on a machine with or without a GPU."""
    (tmp_path / "machine.py").write_text(f"import torch\ntorch.cuda.is_available = lambda: {gpu}\n")
    command = [str(python), "-m", "pytest", "-p", "machine", "-p", "no:cacheprovider", *words]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


def summary(printed: str) -> str:
    """Return the counts of tests in pytest's last line, without that of warnings."""
    (counts,) = re.findall(r"^=+ (.*?)(?:, \d+ warnings?)? in .* =+$", printed, re.MULTILINE)
    return str(counts)


LEFT_OUT = "not run: tests/models/test_on_gpu.py"


def test_tests_on_a_gpu_are_skipped_with_one_line_where_there_is_none(
    hour: Any, python: Path, tmp_path: Path
) -> None:
    found = pytest_says(hour.TESTS, python=python, tmp_path=tmp_path)
    (line,) = (line for line in found.splitlines() if "torch finds no GPU" in line)
    assert line == "22 tests skipped: torch finds no GPU; --device cpu tries those that can run"
    assert summary(found) == "22 skipped" and LEFT_OUT not in found


def test_tests_on_a_gpu_run_there_without_an_option(hour: Any, python: Path, tmp_path: Path) -> None:
    name = f"{hour.TESTS}::test_bfloat16_is_near_float32[gemma3]"
    found = pytest_says(name, gpu=True, python=python, tmp_path=tmp_path)
    # Where the GPU is pretended, the model cannot be loaded there.
    assert summary(found) == "1 passed" or (summary(found) == "1 failed" and "device = 'cuda'" in found)


def test_other_tests_leave_those_on_a_gpu_out_and_skip_none(python: Path, tmp_path: Path) -> None:
    # Of the other files, two of the shortest.
    few = ("tests/models", "--ignore-glob=*/test_[!co]*", "--ignore-glob=*/test_c[!o]*")
    found = pytest_says("--collect-only", *few, python=python, tmp_path=tmp_path)
    assert "test_compilers.py" in found and "Module test_on_gpu.py" not in found
    assert LEFT_OUT in found and "skipped" not in found


MACHINE = {
    "date": "2026-12-01",
    "commit": "abc1234",
    "device": "cuda",
    "card": "NVIDIA H200",
    "memory_gb": 150.1,
    "driver": "570.1",
    "cuda": "12.8",
    "hip": None,
    "processor": "16 cores of a processor",
    "python": "3.11.7",
    "packages": {"torch": "2.13.0", "flash-attn": None},
}


def test_the_page_has_figures_of_a_gpu_alone(hour: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{hour.BEGIN}old\n{hour.END}after\n")

    def result(part: str, **changes: Any) -> None:
        found = {"part": part, "about": hour.PARTS[part].about, "tiny": False, "error": None, "seconds": 61.4}
        text = json.dumps(found | {"facts": MACHINE, "figures": {}} | changes)
        (tmp_path / f"{part}.json").write_text(text)

    with pytest.raises(SystemExit, match=r"no part has run; run `make first-gpu-hour` on a GPU first"):
        hour.write_page(tmp_path, page)
    result("bits", figures={"a": "1"}, error="it | failed")
    passes = {"attention": "sdpa", "side": 448, "units": 1, "rows": 5, "tokens": 300}
    passes |= {"rate": 40.0, "share_of_peak": 0.321, "failed": None}
    result("attention", figures={"Qwen2.5-VL-7B": {"passes": [passes]}})
    for change in ({"tiny": True}, {"facts": MACHINE | {"device": "cpu"}}):
        result("memory", **change)
        with pytest.raises(SystemExit, match=r"error: .*: memory ran with small models or on a CPU; run"):
            hour.write_page(tmp_path, page)
        assert "old" in page.read_text()
    (tmp_path / "memory.json").unlink()
    hour.write_page(tmp_path, page)
    written = page.read_text()
    assert written.startswith(f"before\n{hour.BEGIN}") and written.endswith(f"{hour.END}after\n")
    assert "old" not in written
    assert "2026-12-01, commit abc1234, NVIDIA H200 (150 GB, driver 570.1, CUDA 12.8" in written
    assert "Python 3.11.7, torch 2.13.0: bits, attention." in written
    assert f"| bits | {hour.PARTS['bits'].about} | failed: it \\| failed | 61 | a: 1 |" in written
    assert "| sdpa | 448 | 1 | 5 | 300 | 40.0 | 32.1% |" in written
    assert hour.PAGE.read_text().count(hour.BEGIN) == hour.PAGE.read_text().count(hour.END) == 1


def test_large_models_are_not_begun_on_a_cpu(
    hour: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["first_gpu_hour.py", "--device=cpu"])
    with pytest.raises(SystemExit):
        hour.main()
    assert "--device=cpu is for small models alone; add --tiny" in capsys.readouterr().err
