"""What a run's finished inference jobs hold and took."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchc.planning.hours import Job, Prices
from benchc.schemas.parquet import read_footer

# The last line of an inference job's log.
COUNTS = re.compile(r"([\d,]+) predictions, [\d,]+ from the cache, ([\d,]+) computed")


def predictions_in(path: Path) -> int:
    """Return how many predictions a file of predictions holds; 0 where there is none."""
    return int(str(read_footer(path).get("predictions", 0))) if path.exists() else 0


def measured_jobs(
    models: Iterable[str], subsets: Iterable[str], batches: Iterable[str], results: Path, logs: Path
) -> dict[str, list[Job]]:
    """Return the finished inference jobs of every model whose time and predictions are on record.

    ``subsets`` are the folders of predictions; ``results`` and ``logs`` are the run's.
    """
    places = [(subset, batch) for subset in subsets for batch in batches]
    jobs: dict[str, list[Job]] = {}
    for model in models:
        for subset, batch in places:
            name = f"{subset}/{model}/{batch}"
            paths = (logs / f"benchmarks/infer/{name}.jsonl", logs / f"infer/{name}.log")
            if all(path.exists() for path in (*paths, results / f"predictions/{name}.parquet")):
                jobs.setdefault(model, []).extend(job_of(*paths))
    return jobs


def job_of(benchmark: Path, log: Path) -> list[Job]:
    """Return the job that Snakemake's benchmark file and the log are of; none where one does not say."""
    counts = COUNTS.findall(log.read_text(errors="replace"))
    lines = benchmark.read_text(errors="replace").splitlines()
    if not counts or not lines:
        return []
    predictions, computed = (int(text.replace(",", "")) for text in counts[-1])
    try:
        seconds = float(json.loads(lines[-1])["s"])
    except (ValueError, TypeError, KeyError):
        return []  # Cut off or edited: the job is not measured, and the plan does without.
    return [Job(seconds, predictions, computed)] if 0 < seconds < float("inf") else []


def measured_sentence(models: Sequence[str], prices: Prices, logs: Path) -> str:
    """Return where hours come from, or how to get them."""
    without = [model for model in models if model not in prices]
    if not prices:
        return (
            "hours: not known, for no inference job of this run is measured; give --seconds-per-prediction "
            "X, or "
            f"plan again when the first has ended and its time stands in {logs}/benchmarks/infer."
        )
    lacking = f" Not measured yet: {', '.join(without)}." if without else ""
    return (
        "hours: of one job at a time, its start included, by what this run's own jobs took "
        f"({logs}/benchmarks).{lacking}"
    )
