"""Records of submitted jobs, which Snakemake itself makes only when a job has finished.

With them, a Snakemake that is started after another was killed takes over jobs that still run, and accepts
the outputs of those that have ended since (benchc/workflow/records.py).
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from snakemake.persistence.file import FilePersistence

from benchc.workflow.records import SUBMITTED, inputs_digest


class Submitted:
    """The jobs that were submitted. A group's jobs have a record each, and one id."""

    def __init__(self, dag: Any) -> None:
        # Its own folder beside Snakemake's, with records of the same form.
        self.records = FilePersistence(dag=dag, path=Path(SUBMITTED).absolute())

    def begin(self, job: Any) -> None:
        """Record a job that is about to be submitted."""
        for each in jobs_of(job):
            asyncio.run(self.records.finished(each))

    def add(self, job: Any, id_: str) -> None:
        """Record the id that SLURM gave a job, and the state of its inputs."""
        for each in jobs_of(job):
            self.records.started(each, f"{id_} {inputs_digest(each.input)}")

    def end(self, job: Any) -> None:
        """Forget a job that has ended."""
        for each in jobs_of(job):
            self.records.cleanup(each)

    def id_of(self, job: Any) -> str | None:
        """Return the id of a job that an earlier Snakemake submitted; None where there is none."""
        found = {text for each in jobs_of(job) for text in self.records.external_jobids(each)}
        ids = {text.partition(" ")[0] for text in found}
        return ids.pop() if len(ids) == 1 else None

    def is_same(self, job: Any) -> bool:
        """Return whether the job's code, settings and inputs are those with which it was submitted.

        Inputs are compared by their times and sizes.
        """
        records = self.records
        return not any(
            any(records.code_changed(each))
            or any(records.input_changed(each))
            or records.params_changed(each)
            or not records.has_metadata(each)
            or {text.partition(" ")[2] for text in records.external_jobids(each)}
            != {inputs_digest(each.input)}
            for each in jobs_of(job)
        )


def jobs_of(job: Any) -> Iterator[Any]:
    """Yield the jobs of a group, or the job itself."""
    yield from job.jobs if job.is_group() else [job]
