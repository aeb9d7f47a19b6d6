"""Options and fixtures of the whole suite."""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from benchc import redaction
from benchc.models.hub.offline import OFFLINE
from benchc.pluralize import pluralize
from tests.workflow.preloaded import preloaded_python

# With more threads than free cores, those of torch wait for each other: a test of seconds takes minutes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Where transformers copies a checkpoint's code before it imports it: one folder for each process, since the
# package `transformers_modules` keeps the folder of its first import.
MODULES = tempfile.TemporaryDirectory(prefix="benchc-modules-")
os.environ["HF_MODULES_CACHE"] = MODULES.name

ON_GPU = "test_on_gpu.py"

# A busy machine is no failure. The examples are the same each time, so that a failure is due to a change.
settings.register_profile("benchc", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=20_000)
settings.load_profile("benchc")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run", type=Path, help="a finished run whose promises the tests of demo_run check")
    parser.addoption("--device", choices=("cpu", "cuda"), help=f"where the tests of {ON_GPU} run")
    parser.addoption("--seed", type=int, default=0, help="of the random moments of make test-faults")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("device") == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise pytest.UsageError("--device cuda: torch finds no GPU; run the tests where there is one")


def pytest_report_header(config: pytest.Config) -> str | None:
    left = config.getoption("device") is None and not any(ON_GPU in argument for argument in config.args)
    return f"not run: tests/models/{ON_GPU}, which `make first-gpu-hour` runs on a GPU" if left else None


@pytest.fixture(scope="session")
def python() -> Iterator[Path]:
    """A python that starts faster, for many jobs; without it, Checkout runs the ordinary one."""
    environment = {**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    with preloaded_python(environment) as program:
        yield program


@pytest.fixture
def preloaded_stages(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the stages that tests.stages starts run in the python that starts faster."""
    monkeypatch.setattr("tests.stages.PYTHON", str(python))


@pytest.fixture(autouse=True)
def hub_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what a job of a test's process does: it forbids downloads."""
    before = os.environ.get(OFFLINE)
    monkeypatch.setenv(OFFLINE, before or "0")
    if (constants := sys.modules.get("huggingface_hub.constants")) is not None:
        monkeypatch.setattr(constants, OFFLINE, constants.HF_HUB_OFFLINE)
    yield
    if constants is None and (imported := sys.modules.get("huggingface_hub.constants")) is not None:
        imported.HF_HUB_OFFLINE = False


@pytest.fixture(autouse=True)
def no_secret_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the keys of earlier tests, which would be removed from all texts of this one."""
    monkeypatch.setattr(redaction, "_known", set())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests of demo_run to `make check-demo`, and those of a GPU to `make first-gpu-hour`."""
    needed = {"demo_run": "--run", ON_GPU: "--device"}.get(collection_path.name)
    return True if needed is not None and config.getoption(needed) is None else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the longest files first, so that parallel processes end at about the same time."""
    # A file that is named is not ignored.
    named = [item for item in items if item.path.name == ON_GPU]
    if named and config.getoption("device") is None:
        import torch

        if torch.cuda.is_available():
            config.option.device = "cuda"
        else:
            for item in named:
                item.add_marker(pytest.mark.skip("torch finds no GPU; --device cpu tries those that can run"))
    items.sort(key=lambda item: not {"speed", "workflow", "refusals"} & set(item.path.parts))


def pytest_sessionstart(session: pytest.Session) -> None:
    manager = session.config.pluginmanager
    if not hasattr(session.config, "workerinput"):  # a process of pytest-xdist has no terminal
        manager.register(Failures(manager.getplugin("terminalreporter")))


class Failures:
    """Failures, shown when they occur: a run that is ended from outside shows no summary."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self.terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.terminal.ensure_newline()
            self.terminal.write_line(
                f"failed: {report.nodeid} ({report.when})\n{report.longreprtext[-3000:]}"
            )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line how many tests were skipped and why."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    if reasons:
        parts = (f"{pluralize(count, 'test')} skipped: {reason}" for reason, count in reasons.most_common())
        terminalreporter.write_line("; ".join(parts))
