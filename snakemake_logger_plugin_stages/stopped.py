"""What stopped Snakemake, in sentences that say how to go on."""

import re
import sys
import traceback
from logging import Filter, LogRecord
from pathlib import Path

import snakemake
from snakemake.exceptions import (
    ApiError,
    CliException,
    LockException,
    MissingInputException,
    MissingRuleException,
    ProtectedOutputException,
    WorkflowError,
)

from benchc.errors import InputError, of_file

# Of a run with jobs that failed, each of which has its own line.
FAILED_JOBS = "At least one job did not complete successfully."
# Where a job that has run is undone, since it would be run again.
CLOCK = re.compile(r"Output (\S+) has older modification time .* than input (\S+) ")
# Of two runs that begin at nearly the same moment, one plans while the other removes what it makes again.
REMOVED = re.compile(r"Unable to obtain modification time of file (.+) although it existed before")
OF_SNAKEMAKE = str(Path(snakemake.__file__).parent)
INVALID_OPTION = "Invalid config definition"
FIXES = {
    MissingRuleException: "correct the target: a rule, or a file of this run (--list-rules, --summary)",
    MissingInputException: "restore the files, or correct the path to them",
    ProtectedOutputException: "make the files writable (chmod u+w)",
    CliException: "correct the options (snakemake --help)",
    ApiError: "correct the options (snakemake --help)",
}


class Stopped(Filter):
    """Keeps why Snakemake stopped, of each exception that it logs; one that is all told is not logged.

    Snakemake logs an exception where it handles it, so that it is the present one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sentences: list[str] = []
        self.undone: list[str] = []  # of a job

    def filter(self, record: LogRecord) -> bool:
        error = sys.exc_info()[1]
        if error is None or getattr(record, "exception", None) != type(error).__name__:
            return True
        found = sentences_of(error)
        if CLOCK.match(str(error)):
            self.undone = found
        # The last exception says only that there was one.
        self.sentences = found or self.undone
        return not _is_told(error)

    def end(self) -> None:
        """Raise InputError where there is something to say."""
        if self.sentences:
            raise InputError(*self.sentences)


def sentences_of(error: BaseException) -> list[str]:
    """Return one line for each thing that stopped Snakemake; none where the lines of jobs say it."""
    if isinstance(error, OSError) and error.errno is not None:
        # A failed write names no file.
        error.filename = error.filename or ".snakemake or standard output"
        return [of_file(error)]
    text = str(error).partition(" (if you use input functions")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fix = next((FIXES[kind] for kind in type(error).__mro__ if kind in FIXES), None)
    if fix is not None:
        return [f"{' '.join(lines).rstrip('.')}; {fix}"]
    if found := CLOCK.match(text):
        output, input_ = found.groups()
        fix = f"correct the clock, or touch {input_}, and run it again"
        return [f"{output}: its input {input_} has a time in the future; {fix}"]
    if found := REMOVED.match(text):
        fix = "if another run of this configuration makes it, wait until that ends; then run this one again"
        return [f"{found[1]}: was removed while this run was planned; {fix}"]
    if isinstance(error, WorkflowError | InputError):
        return [] if lines == [FAILED_JOBS] else lines
    if _is_told(error):
        return [f"--config: {' '.join(lines).rstrip('.')}; correct the option"]
    return [f"{type(error).__name__}: {' '.join(lines)}; see above"]


def _is_told(error: BaseException) -> bool:
    """Return whether the sentences say all of an exception, so that what Snakemake logs says no more."""
    if isinstance(error, OSError):
        return error.errno is not None
    told = isinstance(error, CliException | ApiError | MissingRuleException | LockException | InputError)
    # What the Snakefile and its rules raise themselves has all that is to be said.
    where = [frame.filename for frame in traceback.extract_tb(error.__traceback__)][-1:]
    ours = isinstance(error, WorkflowError) and not any(path.startswith(OF_SNAKEMAKE) for path in where)
    return told or ours or isinstance(error.__context__, InputError) or str(error).startswith(INVALID_OPTION)
