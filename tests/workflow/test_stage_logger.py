"""`benchc run`: its lines on a terminal and elsewhere, when a job fails, and when the user stops it."""

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from logging import INFO, LogRecord
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.exceptions import WorkflowError
from snakemake.io import IOFile
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings

from benchc.sources.report import Remark, report_frame, summary
from benchc.workflow.job_facts import FOLDER, facts_file, stage_words
from snakemake_logger_plugin_stages.handler import LogHandler
from snakemake_logger_plugin_stages.logs import error_of, warnings_of
from snakemake_logger_plugin_stages.settings import LogHandlerSettings
from snakemake_logger_plugin_stages.stages import Job, Stages
from snakemake_logger_plugin_stages.stopped import sentences_of
from tests.benchmarks.bench_c.trial import CONFIG
from tests.config.trial import MODELS, SOURCES
from tests.workflow.checkout import ROOT

SNAKEFILE = """
rule all:
    input: "last"

rule first:
    output: "{name}.first"
    log: "logs/{name}.log"
    message: "Making {wildcards.name}"
    shell: "(echo hello; bash ./job; touch {output}) 2>&1 | tee {log}"

rule last:
    input: expand("{name}.first", name=["a", "b", "c"])
    output: "last"
    shell: "cat {input} > {output}"
"""
TIME = r"\d\d:\d\d"


@pytest.fixture
def folder(tmp_path: Path, python: Path) -> Path:
    """A folder with a valid configuration, which the Snakefile ignores; `job` is what its jobs run."""
    for name, text in (("config", CONFIG), ("sources", SOURCES), ("models", MODELS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs/transformers.yaml").touch()
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "job").write_text("true")
    (tmp_path / "python").symlink_to(python)
    return tmp_path


def command(python: str | Path, *options: str) -> list[str]:
    # In place of benchc's own.
    chosen = ["--snakefile=Snakefile", *(options or ("--cores", "1"))]
    return [str(python), "-m", "scripts.benchc", "run", "config.yaml", *chosen]


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **changes}


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder / "python", *options),
        cwd=folder,
        env=environment(),
        text=True,
        capture_output=True,
        check=False,
    )


NO_RULE = (
    "No rule to produce nosuch; correct the target: a rule, or a file of this run (--list-rules, --summary)"
)
REFUSES = """
from benchc.errors import InputError
try:
    raise InputError("a.yaml: b is 1; correct it")
except InputError as error:
    raise WorkflowError(str(error))
"""


@pytest.mark.parametrize(
    ("options", "snakefile", "sentence"),
    [
        ("--cores 1 nosuch", SNAKEFILE, NO_RULE),
        ("--cores 1 --full nosuch", SNAKEFILE, NO_RULE),
        ("--cores x", SNAKEFILE, "Error parsing number of cores .*; correct the options .*"),
        (
            "--cores 1 --config nosuch",
            SNAKEFILE,
            "--config: Invalid config definition: .*; correct the option",
        ),
        ("--cores 1", REFUSES, r"a\.yaml: b is 1; correct it"),
        ("--cores 1", f'{SNAKEFILE}raise WorkflowError("a: b\\nc: d")', "c: d"),
        (
            "--cores 1",
            'rule all:\n    input: "nosuch"',
            "Missing input files for rule all: .* nosuch; restore .*",
        ),
        (
            "--cores 1",
            "rule all:\n    output: touch('locks')",
            r".*/\.snakemake/locks: cannot be .*\(File exists\).*",
        ),
        (
            "--cores 1",
            "rule all:\n    input: 'config.yaml'\n    output: 'a'\n"
            "    shell: 'touch {output}; touch -d tomorrow {input}'",
            r"a: its input config\.yaml has a time in the future; correct the clock, or touch .*",
        ),
        ("--cores 1", f"{SNAKEFILE}x = 1 / 0", "ZeroDivisionError: division by zero; see above"),
    ],
)
def test_the_last_line_says_why_snakemake_stopped(
    folder: Path, options: str, snakefile: str, sentence: str
) -> None:
    (folder / "Snakefile").write_text(snakefile)
    if "locks" in snakefile:
        (folder / ".snakemake").mkdir()
        (folder / ".snakemake/locks").touch()
    done = run(folder, *options.split())
    *before, last = done.stderr.splitlines()
    assert done.returncode == 1
    assert last == f"error: {sentence}" or re.fullmatch(f"error: {sentence}", last)
    assert "Traceback" not in done.stderr
    # What the sentence says is not there twice.
    assert not any(re.match("Missing ?Rule|.*a.yaml", line) for line in before)


def matches(lines: list[str], patterns: list[str]) -> bool:
    return len(lines) == len(patterns) and all(map(re.fullmatch, patterns, lines))


def test_a_file_that_is_removed_while_snakemake_plans_is_named() -> None:
    with pytest.raises(WorkflowError) as caught:
        asyncio.run(IOFile("gone").mtime_uncached())
    assert sentences_of(caught.value) == [
        "gone: was removed while this run was planned; if another run of this configuration makes it, wait "
        "until that ends; then run this one again"
    ]


def test_a_log_has_a_line_when_a_stage_starts_and_ends(folder: Path) -> None:
    (folder / "results/trial/tables").mkdir(parents=True)
    done = run(folder)
    assert (done.returncode, done.stdout) == (0, "")
    expected = [
        r"4 jobs: 3 first, last",
        r"\[0/4\] first: 0 of 3 jobs; now: Making [abc]",
        rf"\[3/4\] first: 3 jobs took {TIME} in total",
        r"\[3/4\] last: last",
        rf"\[4/4\] last: 1 job took {TIME}",
        rf"4 of 4 jobs done in {TIME}",
        r"results: results/trial \(start with tables/\)",
    ]
    assert matches(done.stderr.splitlines(), expected), done.stderr
    again = run(folder).stderr.splitlines()
    assert again[0].startswith("Nothing to be done") and again[1:] == [
        "results: results/trial (start with tables/)"
    ]


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        ([], None),
        (["results/trial"], "results: results/trial"),
        (["results/trial/figures"], "results: results/trial (start with figures/)"),
        (
            ["results/trial/figures", "results/trial/tables"],
            "results: results/trial (start with tables/ and figures/)",
        ),
    ],
)
def test_the_last_line_names_the_results(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folders: list[str],
    expected: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in folders:
        (tmp_path / name).mkdir(parents=True)
    clock = Clock(LogHandlerSettings("results/trial"))
    clock.send(LogEvent.RUN_INFO, stats={"infer": 1, "total": 1})
    clock.start("infer", 0)
    clock.end(0)
    clock.handler.close()
    clock.handler.close()
    lines = capsys.readouterr().err.splitlines()
    assert lines[3].startswith("1 of 1 job done") and lines[4:] == ([expected] if expected else [])


def test_all_lines_are_shown_on_request(folder: Path) -> None:
    done = run(folder, "--cores", "1", "--full")
    assert done.returncode == 0
    assert done.stdout.count("hello") == 3
    assert done.stderr.count("Reason: Missing output files:") == 3


@pytest.mark.parametrize(
    "options",
    [
        "a.first b.first --cores 1",
        "a.first b.first --cores 1 --full",
        "--cores 1 --forcerun first -- a.first b.first",
    ],
)
def test_targets_may_be_anywhere_after_the_configuration(folder: Path, options: str) -> None:
    done = run(folder, *options.split())
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.glob("*.first")) == ["a.first", "b.first"]
    assert not (folder / "last").exists()


def test_a_failed_job_shows_its_log_and_ends_with_its_error(folder: Path) -> None:
    (folder / "job").write_text("echo progress; echo 'error: x.tsv: no column; add it'; exit 1")
    (folder / "Snakefile").write_text(SNAKEFILE.replace("; touch", " && touch"))
    (folder / "results/trial").mkdir(parents=True)
    done = run(folder)
    assert done.returncode == 1
    assert "log: logs/" in done.stderr and "hello\nprogress\nerror: x.tsv: no column; add it\n" in done.stderr
    *_, summary, failed = done.stderr.splitlines()
    assert re.fullmatch(rf"0 of 4 jobs done in {TIME}", summary)
    assert re.fullmatch(r"error: job first: x\.tsv: no column; add it; see logs/[abc]\.log", failed)


def test_a_run_that_waits_for_people_ends_with_the_line_that_says_so(folder: Path) -> None:
    waiting = SNAKEFILE.replace("; touch", " && touch")
    at_error = """
onerror:
    for line in open("logs/a.log"):
        print(line, end="", file=sys.stderr)
"""
    (folder / "Snakefile").write_text(f"import sys\n{waiting}{at_error}")
    job = "echo '  first: no file'; echo 'waiting for first to review, then run again'; "
    (folder / "job").write_text(f"{job} exit 1")
    done = run(folder, "--cores", "1", "a.first")
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert lines[-2:] == ["  first: no file", "waiting for first to review, then run again"]
    assert not any(
        word in done.stderr for word in ("failed", "Error", "Exception", "Exiting", "Complete log")
    )
    # Beside a job that waits, one that fails is an error.
    (folder / "Snakefile").write_text(waiting)
    (folder / "job").write_text(f"[ -e once ] && exit 1; touch once; {job} exit 1")
    lines = run(folder, "--cores", "1", "--keep-going", "last").stderr.splitlines()
    assert [line.partition(";")[0] for line in lines if line.startswith("error")] == ["error: job first"] * 2
    assert sum(line.startswith("Error in rule first") for line in lines) == 2


def test_an_invalid_configuration_is_one_line(folder: Path) -> None:
    (folder / "config.yaml").write_text(CONFIG.replace("seed: 1\ncatalogues", "seed: x\ncatalogues"))
    done = run(folder)
    assert done.returncode == 1
    assert re.fullmatch(r"error: config\.yaml: seed .*\n", done.stderr)


def test_a_terminal_shows_what_runs_until_the_user_stops_it(folder: Path) -> None:
    (folder / "job").write_text("test -e second && sleep 60; touch second")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(sys.executable, command(sys.executable), environment(TERM="xterm", COLUMNS="80"))
    shown = ""
    while not re.search(rf"first: 1 of 3 jobs(, {TIME} left)?; now: Making [abc]", shown):
        shown += os.read(terminal, 4096).decode()
    assert re.search(rf"1 of 4 jobs done in {TIME}", shown)
    os.write(terminal, b"\x03")
    try:
        while data := os.read(terminal, 4096):
            shown += data.decode()
    except OSError:  # Linux: the other end is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    assert "Terminating processes on user request" in shown
    # Not as a job that has failed.
    assert re.search(r"stopped: 1 job was cancelled; the same command goes on\s*$", shown)
    assert not re.search("Error|failed", shown)
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "the cursor stays hidden"


def test_a_run_that_is_asked_to_stop_says_so_at_once_and_at_its_end(folder: Path) -> None:
    (folder / "job").write_text("touch began; sleep 5")
    process = subprocess.Popen(
        command(sys.executable), cwd=folder, env=environment(), text=True, stderr=subprocess.PIPE
    )
    while not (folder / "began").exists():
        time.sleep(0.1)
    process.terminate()
    assert process.stderr is not None
    asked = next(line for line in process.stderr if "asked to stop" in line)
    assert process.poll() is None, "it says so only when the jobs have ended"
    rest = process.stderr.read()
    assert process.wait() == 1
    text = "waits for 1 job already started; Ctrl-C cancels what runs; the same command goes on"
    assert asked == f"[0/4] asked to stop: {text}\n"
    *_, done, last = rest.splitlines()
    assert re.fullmatch(rf"1 of 4 jobs done in {TIME}", done)
    assert last == "stopped: the same command goes on" and "Error" not in rest and "asked to" not in rest


def test_jobs_that_are_terminated_together_with_snakemake_have_not_failed(folder: Path) -> None:
    """As scancel and systemd do it."""
    (folder / "job").write_text("touch began; sleep 60")
    process = subprocess.Popen(
        command(sys.executable),
        **{"cwd": folder, "env": environment(), "text": True, "stderr": subprocess.PIPE},
        start_new_session=True,
    )
    while not (folder / "began").exists():
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGTERM)
    text = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and "error" not in text.lower()
    assert text.splitlines()[-1] == "stopped: 1 job was cancelled; the same command goes on"


class Clock:
    """A logger's handler, the events that it is sent, and the time that it reads."""

    def __init__(self, settings: LogHandlerSettings | None = None) -> None:
        self.now = 0.0
        self.handler = LogHandler(MockOutputSettings(), settings)
        self.handler.start = self.handler.last_line = self.now

    def send(self, event: LogEvent, **fields: object) -> None:
        record = LogRecord("snakemake", INFO, "file", 1, "", (), None)
        record.__dict__.update(event=event, **fields)
        self.handler.handle(record)

    def start(self, rule: str, job: int, does: str = "", command: str = "", *, local: bool = True) -> None:
        fields = {"rule_name": rule, "jobid": job, "rule_msg": does, "output": ["file"], "log": []}
        self.send(LogEvent.JOB_INFO, **fields, local=local, shellcmd=command)

    def say(self, text: str, **fields: object) -> None:
        record = LogRecord("snakemake", INFO, "file", 1, text, (), None)
        record.__dict__.update(fields)
        self.handler.handle(record)

    def end(self, job: int) -> None:
        self.send(LogEvent.JOB_FINISHED, job_id=job)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr("time.monotonic", lambda: clock.now)
    yield clock
    clock.handler.close()


def test_a_long_stage_has_a_line_every_30_seconds(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    clock.send(LogEvent.RUN_INFO, stats={"infer": 9, "total": 9})
    for job in range(6):
        clock.start("infer", job)
        clock.now += 20
        clock.end(job)
    assert capsys.readouterr().err.splitlines() == [
        "9 jobs: 9 infer",
        "[0/9] infer: 0 of 9 jobs; now: infer",
        "[2/9] infer: 2 of 9 jobs, 02:20 left",
        "[4/9] infer: 4 of 9 jobs, 01:40 left",
        "[6/9] infer: 6 of 9 jobs, 01:00 left",
    ]


def test_jobs_of_slurm_run_when_their_own_records_say_so(
    clock: Clock, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three jobs of one job of SLURM, one after another."""
    monkeypatch.chdir(tmp_path)
    FOLDER.mkdir(parents=True)
    commands = [f"python -m scripts.stage corrupt --kind={job} 2>&1 | tee log" for job in range(3)]

    def record(job: int, **facts: object) -> None:
        with facts_file(stage_words(commands[job])).open("a") as file:
            file.write(json.dumps(facts) + "\n")

    clock.send(LogEvent.RUN_INFO, stats={"corrupt": 3, "all": 1, "total": 4})
    now = time.time()
    for job in range(3):
        record(job, start=now - 900, slurm_job="6")  # and was killed
        clock.start("corrupt", job, f"Writing {job}", commands[job], local=False)
    clock.say("submitted: corrupt (3 jobs) as SLURM job 7 to cpu", slurm_job="7", jobs=[0, 1, 2])
    stage = clock.handler.stages.by_name["corrupt"]
    clock.now = 300.0
    clock.handler.progress(stage)
    record(0, start=now - 80, slurm_job="7")
    record(0, end=now - 65)
    record(1, start=now - 65, slurm_job="7")
    clock.now += 6
    clock.handler.progress(stage)
    for job in (1, 2):
        record(job, start=now - 65 + 20 * job, slurm_job="7")
        record(job, end=now - 65 + 20 * job + 10)
    for job in range(3):
        clock.end(job)
    assert capsys.readouterr().err.splitlines() == [
        "3 jobs: 3 corrupt",
        "[0/3] submitted: corrupt (3 jobs) as SLURM job 7 to cpu",
        "[0/3] corrupt: 0 of 3 jobs; 3 submitted",
        "[0/3] corrupt: 0 of 3 jobs; now: Writing 1 (01:05); 2 submitted",
        "[3/3] corrupt: 3 jobs took 00:35 in total",
    ]


def test_ctrl_c_on_a_cluster_counts_the_jobs_that_it_cancels(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    clock.send(LogEvent.RUN_INFO, stats={"infer": 4, "total": 4})
    for job in range(3):
        clock.start("infer", job, local=False)
    for text in ("Will exit after finishing currently running jobs (scheduler).",) * 2:
        clock.say(text)
    clock.say("Terminating processes on user request, this might take some time.")
    clock.handler.close()
    asked, *_, last = capsys.readouterr().err.splitlines()[1:]
    assert asked == (
        f"[0/4] asked to stop: waits for 3 jobs already started; Ctrl-C or kill -INT {os.getpid()} cancels "
        "what runs; the same command goes on"
    )
    assert last == "stopped: 3 jobs were cancelled; the same command goes on"


def test_no_line_has_a_secret(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_0123456789")
    clock = Clock()
    clock.start("fetch hf_0123456789", 1, "from https://me:pass@host/a")
    assert "fetch ***" in (shown := capsys.readouterr().err) and "from https://***@host/a" in shown
    clock.handler.close()
    assert "0123456789" not in shown + capsys.readouterr().err


def test_what_runs_is_shown_every_minute_without_a_line(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    clock.send(LogEvent.RUN_INFO, stats={"train": 2, "embed": 1, "infer": 4, "total": 7})
    clock.start("train", 0, "Training small")
    clock.start("embed", 1, "Embedding")
    clock.now = 59.0
    time.sleep(1.5)  # longer than the thread waits
    assert len(capsys.readouterr().err.splitlines()) == 3
    for minute, shown in ((60.0, "01:00"), (120.0, "02:00")):
        clock.now = minute
        lines = [
            f"[0/7] train: 0 of 2 jobs; now: Training small ({shown})",
            f"[0/7] embed: Embedding ({shown})",
        ]
        assert shown_in_5_seconds(capsys, 2) == lines
    clock.end(0)
    clock.end(1)
    clock.now = 200.0
    time.sleep(1.5)
    assert capsys.readouterr().err == "[2/7] embed: 1 job took 02:00\n"


def shown_in_5_seconds(capsys: pytest.CaptureFixture[str], number: int) -> list[str]:
    """Return the lines shown, as soon as there are so many."""
    shown = ""
    for _ in range(50):
        shown += capsys.readouterr().err
        if shown.count("\n") >= number:
            break
        time.sleep(0.1)
    return shown.splitlines()


def test_a_job_that_is_retried_has_not_failed() -> None:
    stages = Stages({"infer": 2}, 2)
    stages.start("infer", 7, Job("Evaluating", 0.0))
    stages.end(7, 5.0, "infer; its.log")
    assert (stages.done, stages.failed, stages.running) == (0, {7: "infer; its.log"}, [])
    stage = stages.start("infer", 7, Job("Evaluating", 5.0))
    assert stage.text(5.5) == "infer: 0 of 2 jobs; now: Evaluating"
    stages.end(7, 65.0)
    assert (stages.done, stages.failed) == (1, {})
    assert stage.text(70.0) == "infer: 1 of 2 jobs, 01:00 left"


def test_a_stage_takes_the_running_time_of_its_jobs() -> None:
    stages = Stages({"infer": 5, "train": 1}, 6)
    stage = stages.start("infer", 0, Job("job 0", 0.0))
    stages.end(0, 20.0)
    stages.start("train", 9, Job("training", 20.0))
    stages.end(9, 320.0)
    assert stage.text(320.0) == "infer: 1 of 5 jobs, 01:20 left"
    for job in (1, 2):
        stages.start("infer", job, Job(f"job {job}", 320.0))
    # 4 jobs of 20 seconds, two at once, which have run for 5.
    assert stage.text(325.0) == "infer: 1 of 5 jobs, 00:35 left; now: job 1 (00:05); job 2 (00:05)"
    for job in (1, 2):
        stages.end(job, 340.0)
    stages.start("infer", 3, Job("job 3", 340.0))
    stages.end(3, 360.0)
    # One job cannot run twice at once.
    stages.start("infer", 4, Job("job 4", 360.0))
    assert stage.text(360.0) == "infer: 4 of 5 jobs, 00:20 left; now: job 4"
    # How long a job that is slower than the others still takes is unknown.
    assert stage.text(400.0) == "infer: 4 of 5 jobs; now: job 4 (00:40)"
    stages.end(4, 400.0)
    assert stage.text(500.0) == "infer: 5 jobs took 02:00 in total"


def test_many_running_jobs_are_counted() -> None:
    stages = Stages({"infer": 9}, 9)
    for job in range(5):
        stage = stages.start("infer", job, Job(f"job {job}", 0.0))
    assert stage.text(0.5) == "infer: 0 of 9 jobs; now: job 0; job 1 and 3 more"


def test_warnings_are_shown_and_counted_at_the_end(folder: Path) -> None:
    (folder / "job").write_text(
        "echo 'warning: 10 items are too few; use a larger pool'; echo 'no warning: x'"
    )
    lines = run(folder, "a.first", "b.first", "--cores", "1").stderr.splitlines()
    shown = [line for line in lines if re.match(r"(\d+ )?warning", line)]
    assert sorted(shown[:2]) == [
        f"warning: 10 items are too few; use a larger pool; logs/{name}.log" for name in "ab"
    ]
    assert re.fullmatch(r"2 warnings in logs/[ab]\.log, logs/[ab]\.log", shown[2])
    assert shown[2:] == lines[-1:]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # As of a job that SLURM refused.
        (None, "; its log LOG has no line"),
        ("", "; its log LOG has no line"),
        ("progress\n", "; see LOG"),
        ("error: a; b\nerror: c; d\nend\n", ": c; d; see LOG"),
    ],
)
def test_a_failed_job_is_known_by_its_log(tmp_path: Path, content: str | None, expected: str) -> None:
    log = tmp_path / "a.log"
    if content is not None:
        log.write_text(content)
    assert error_of([str(log)]) == expected.replace("LOG", str(log))


def test_rejected_rows_are_one_warning(tmp_path: Path) -> None:
    log = tmp_path / "mine.log"
    reasons = ["no answer", "no image", "no answer", "no options", "no question", "two answers"]
    remarks = [Remark("mine/1", 2, "rejected", reason) for reason in reasons]
    log.write_text(summary("mine", 35, report_frame([Remark("mine/0", 1, "excluded", "split"), *remarks])))
    assert list(warnings_of(str(log))) == [
        "warning: mine: 35 items; 2 rejected: no answer; 1 rejected: no image; 1 rejected: no options; "
        "2 more reasons"
    ]
    log.write_text(summary("mine", 35, report_frame(remarks[:-1])))
    (line,) = warnings_of(str(log))
    assert line.endswith("; 1 more reason")
    log.write_text(summary("mine", 35, report_frame([Remark("mine/0", 1, "excluded", "split")])))
    assert list(warnings_of(str(log))) == []
    assert list(warnings_of(str(tmp_path / "none.log"))) == []


@pytest.mark.parametrize(
    ("free", "text", "says"),
    [
        (0, "", ": {log}: cannot be read or written (No space left"),
        (0, "a", "; see {log}"),
        (1, "", "; its log {log} has no line"),
    ],
)
def test_an_empty_log_on_a_full_disk_is_named(
    free: int, text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=free, used=1))
    log = tmp_path / "a.log"
    log.write_text(text)
    assert error_of([str(log)]).startswith(says.format(log=log))


def test_no_line_changes_a_terminal(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    clock.handler.print("warning: \x1b[2J\u202ea\nb")
    assert capsys.readouterr().err == "warning: \\x1b[2J\\u202ea\nb\n"
