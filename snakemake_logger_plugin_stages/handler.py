"""The log handler: Snakemake's events become lines about stages."""

import os
import time
from collections.abc import Iterable
from logging import INFO, WARNING, LogRecord
from pathlib import Path
from textwrap import fill
from threading import Event, Thread

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from benchc.newer_files import newer_file
from benchc.pluralize import pluralize
from benchc.printable import printable
from benchc.redaction import redacted, remember_environment
from benchc.workflow.stopping import CANCELS_JOBS, WAITS_FOR_JOBS
from snakemake_logger_plugin_stages.logs import cause_of, error_of, is_waiting, shortened, warnings_of
from snakemake_logger_plugin_stages.settings import LogHandlerSettings
from snakemake_logger_plugin_stages.stages import Job, Stage, Stages

# Off a terminal, since the last line: until a job that ends shows its stage; until all that runs is shown.
SECONDS_BETWEEN_LINES = 30.0
SECONDS_WITHOUT_LINE = 60.0
WIDTH = 110
PAGE, START_WITH = "index.html", ("tables", "figures")  # of the results
NOTHING_TO_DO = "Nothing to be done"
# Other messages of no event are about Snakemake's own work.
SHOWN = (NOTHING_TO_DO, CANCELS_JOBS, "Shutting down", "Complete log")
# Rules without outputs, which are no jobs that a user waits for.
TARGETS = ("all", "fetch_models", "report")
# What Snakemake says at the end of a run with a job that failed.
FAILED = "WorkflowError:\nAt least one job"
END_OF_FAILURE = ("Shutting down", "Exiting because", "Complete log", FAILED)
CTRL_C, TERMINATED = "died with <Signals.SIGINT", "died with <Signals.SIGTERM"


class LogHandler(LogHandlerBase):
    """On a terminal one live line for each running stage; elsewhere a line when a stage starts and ends.

    Errors are shown as Snakemake writes them, and warnings of jobs when they end. Written to standard error.
    """

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        # Imported here because Snakemake imports this module in every job too.
        from rich.console import Console, Group
        from rich.live import Live
        from rich.text import Text

        remember_environment()
        self.console = Console(stderr=True)
        self.live: Live | None = None
        self.stages = Stages({}, 0)
        self.logs: dict[int, list[str]] = {}  # of running jobs, by id
        self.warned: list[str] = []  # the log of each warning
        self.start = self.last_line = time.monotonic()
        self.is_up_to_date = False
        self.is_silent = True
        self.unshown: list[str] = []  # Snakemake's other messages
        self.exception = ""  # of a job whose error follows
        self.waits = False  # for people: how such a run ends is no error
        self.is_remote = False
        self.is_stopped = self.is_cancelled = False  # by the user
        self.cancelled = 0  # jobs
        self.closed = Event()
        self.reminder: Thread | None = None

        def lines() -> Group:
            now = time.monotonic()
            self.stages.look(now)
            texts = [stage.text(now) for stage in self.stages.running]
            if self.stages.total:
                texts.append(self.stages.text(now - self.start))
            return Group(*(Text(text, no_wrap=True, overflow="ellipsis") for text in texts))

        if self.console.is_terminal and not self.console.is_dumb_terminal:
            self.live = Live(get_renderable=lines, console=self.console, transient=True, refresh_per_second=2)
            self.live.start()

    def emit(self, record: LogRecord) -> None:
        try:
            self.handle_event(getattr(record, "event", None), record)
        except Exception:
            self.handleError(record)

    def handle_event(self, event: LogEvent | None, record: LogRecord) -> None:
        fields, message = record.__dict__, record.getMessage()
        if event == LogEvent.RUN_INFO and not self.stages.total:  # a dry run sends it twice
            totals = dict(fields["stats"])
            left_out = sum(totals.pop(rule, 0) for rule in TARGETS)
            self.stages = Stages(totals, totals.pop("total") - left_out)
            self.print(fill(self.stages.statistics(), WIDTH, subsequent_indent="  "))
        elif event == LogEvent.JOB_INFO and fields["output"] and not self.common_settings.dryrun:
            rule = fields["rule_name"]
            self.logs[fields["jobid"]] = fields["log"]
            runs = fields["local"]
            self.is_remote |= not runs
            job = Job(fields["rule_msg"] or rule, time.monotonic(), fields["shellcmd"] or "", runs)
            self.job_starts(rule, fields["jobid"], job)
        elif event == LogEvent.JOB_FINISHED:
            if stage := self.stages.end(fields["job_id"], time.monotonic()):
                self.show_warnings(self.logs.pop(fields["job_id"]))
                self.job_ends(stage)
        elif slurm := fields.get("slurm_job"):
            self.stages.submit(fields["jobs"], slurm)
            self.counted(message)
        elif event == LogEvent.JOB_ERROR and (self.is_cancelled or self.is_signalled()):
            self.cancelled += not self.is_cancelled
            self.stages.forget(fields["jobid"])
            self.exception = ""
        elif event == LogEvent.JOB_ERROR:
            failed = f"job {fields['rule_name']}{cause_of(fields['rule_msg'])}{error_of(fields['log'])}"
            self.stages.end(fields["jobid"], time.monotonic(), failed)
            if is_waiting(fields["log"]):
                self.waits = True
                del self.stages.failed[fields["jobid"]]
            else:
                self.print(shortened("\n".join([*filter(None, [self.exception]), self.format(record)])))
            self.exception = ""
        elif event == LogEvent.ERROR and message.startswith("RuleException"):
            self.exception = self.format(record)
        elif message.startswith(WAITS_FOR_JOBS):
            self.say_what_it_waits_for()
        elif message.startswith(self.unsaid()):
            pass
        elif record.levelno >= WARNING or (event is None and message.startswith(SHOWN)):
            self.print(shortened(self.format(record)))
            self.is_up_to_date |= message.startswith(NOTHING_TO_DO)
            if message.startswith(CANCELS_JOBS):
                self.is_stopped = self.is_cancelled = True
                self.cancelled += self.stages.started
        elif event is None and record.levelno >= INFO:
            self.unshown.append(self.format(record))

    def is_signalled(self) -> bool:
        """Return whether a job died of the signal that also stops Snakemake, which may say so later."""
        return CTRL_C in self.exception or (self.is_stopped and TERMINATED in self.exception)

    def unsaid(self) -> tuple[str, ...]:
        """Return how messages begin that the last lines replace."""
        if self.waits and not self.stages.failed:
            return END_OF_FAILURE
        if self.is_complete:
            return ("Complete log",)
        return (FAILED,) if self.is_stopped else ()

    def say_what_it_waits_for(self) -> None:
        """Say once, since Snakemake logs this again whenever a job ends."""
        if not self.is_stopped:
            ends = f"Ctrl-C or kill -INT {os.getpid()} cancels" if self.is_remote else "Ctrl-C cancels"
            waits = f"waits for {pluralize(self.stages.started, 'job')} already started"
            self.counted(f"asked to stop: {waits}; {ends} what runs; the same command goes on")
        self.is_stopped = True

    def job_starts(self, rule: str, id_: int, job: Job) -> None:
        is_first = rule not in self.stages.by_name
        stage = self.stages.start(rule, id_, job)
        # Of others, the executor says that they are submitted.
        if is_first and job.runs and self.live is None:
            self.progress(stage)
        if self.reminder is None and self.live is None:
            self.reminder = Thread(target=self.remind, daemon=True)
            self.reminder.start()

    def remind(self) -> None:
        """Show what runs whenever no line has been for a while, until the handler is closed."""
        while not self.closed.wait(timeout=1):
            self.acquire()  # as while an event is handled
            try:
                if time.monotonic() - self.last_line >= SECONDS_WITHOUT_LINE:
                    for stage in self.stages.running:
                        self.progress(stage)
            finally:
                self.release()

    def job_ends(self, stage: Stage) -> None:
        is_due = self.live is None and time.monotonic() - self.last_line >= SECONDS_BETWEEN_LINES
        if stage.finished or is_due:
            self.progress(stage)

    def show_warnings(self, logs: Iterable[str]) -> None:
        for log in logs:
            for line in warnings_of(log):
                self.print(f"{line}; {log}")
                self.warned.append(log)

    def progress(self, stage: Stage) -> None:
        now = time.monotonic()
        self.stages.look(now)
        self.counted(stage.text(now))

    def counted(self, text: str) -> None:
        """Print a line behind the number of jobs that are done."""
        self.last_line = time.monotonic()
        total = self.stages.total
        self.print(f"[{self.stages.done:{len(str(total))}}/{total}] {text}")

    def print(self, text: str) -> None:
        self.is_silent = False
        # Lines of logs may have control codes of a server, a model or a data set.
        lines = "\n".join(map(printable, redacted(text).split("\n")))
        self.console.print(lines, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        is_first = not self.closed.is_set()  # Python closes handlers again when it ends
        self.closed.set()
        if self.live is not None:
            self.live.stop()
        if is_first:
            self.show_end()
        super().close()

    @property
    def is_complete(self) -> bool:
        """Whether all jobs are done, or none was needed."""
        return self.is_up_to_date or bool(self.stages.by_name and self.stages.done == self.stages.total)

    def show_end(self) -> None:
        if self.is_silent:  # an option such as --lint or --unlock is for what they say
            for message in self.unshown:
                self.print(message)
        # The last line is the workflow's, which says for whom the run waits.
        if self.stages.by_name and (not self.waits or self.stages.failed):
            self.print(self.stages.text(time.monotonic() - self.start))
        if self.warned:
            where = ", ".join(dict.fromkeys(self.warned))
            self.print(f"{pluralize(len(self.warned), 'warning')} in {where}")
        if self.exception and not self.is_stopped:
            self.print(self.exception)
        for failed in self.stages.failed.values():
            self.print(f"error: {failed}")
        if self.is_stopped:
            were = "job was" if self.cancelled == 1 else "jobs were"
            cancelled = f"{self.cancelled} {were} cancelled; " if self.cancelled else ""
            self.print(f"stopped: {cancelled}the same command goes on")
        if self.is_complete:
            self.show_results()

    def show_results(self) -> None:
        given = self.settings.results if isinstance(self.settings, LogHandlerSettings) else ""
        page = Path(given) / PAGE
        if given and page.is_file() and newer_file(page) is None:
            self.print(f"results: {page}")
        elif given and Path(given).is_dir():
            folders = [f"{name}/" for name in START_WITH if (Path(given) / name).is_dir()]
            start = f" (start with {' and '.join(folders)})" if folders else ""
            self.print(f"results: {given}{start}")
