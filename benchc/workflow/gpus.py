"""Whether the jobs that run side by side on this machine may need more GPUs than it has."""

from collections.abc import Iterable

from benchc.models.gpus import count_gpus


def unlimited_gpus(jobs: Iterable[tuple[int, int]], cores: int) -> str | None:
    """Return what to say of jobs whose number at once is limited by cores alone; None where they fit.

    ``jobs``: threads and GPUs of each.
    """
    used = needed = together = 0
    for threads, gpus in sorted(job for job in jobs if job[1]):
        used += threads
        if used > cores:
            break
        together, needed = together + 1, needed + gpus
    here = count_gpus() if together > 1 else 0
    if together < 2 or 0 < needed <= here:
        return None
    return (
        f"{together} jobs with {needed} GPUs fit into {cores} cores at once, and Snakemake is not told how "
        f"many GPUs there are: add --resources gpu={here or 'N'}, or jobs wait for each other's GPUs."
    )
