"""Whether the user stopped Snakemake, which otherwise tells only that a run has failed."""

from logging import Filter, LogRecord

# What Snakemake logs after SIGTERM, and after Ctrl-C or SIGINT.
WAITS_FOR_JOBS, CANCELS_JOBS = "Will exit after finishing currently running jobs", "Terminating processes"


class Stopping(Filter):
    """Notes what Snakemake logs when it is stopped. ``is_asked``: whether it was."""

    is_asked = False

    def filter(self, record: LogRecord) -> bool:
        self.is_asked |= record.getMessage().startswith((WAITS_FOR_JOBS, CANCELS_JOBS))
        return True
