"""Check that the partitions of a cluster are described for a run that needs GPUs."""

from collections.abc import Iterator
from pathlib import Path

from benchc.checking.finding import Finding, Level
from benchc.config.load import Config
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.pluralize import pluralize

PARTITIONS = Path("slurm/partitions.yaml")
# As in the repository.
EXAMPLE = {"partitions": {"cpu": {"max_gpu": 0}, "gpu": {"max_gpu": 8}}}


def check_cluster(config: Config) -> Iterator[Finding]:
    """Yield what slurm/partitions.yaml lacks for jobs that need GPUs; nothing where none does."""
    gpus = config.most_gpus
    if not gpus:
        return
    needed, use = pluralize(gpus, "GPU"), "before you use --profile slurm"
    try:
        content = read_yaml(PARTITIONS)
        most = max(limits.get("max_gpu", 0) for limits in content["partitions"].values())
    except (OSError, YamlError, LookupError, TypeError, ValueError, AttributeError):
        yield _found("warning", f"does not describe partitions; restore it from the repository {use}")
        return
    if content == EXAMPLE:
        text = f"is still the example, and a job needs {needed}; describe your partitions {use}"
        yield _found("warning", text)
    elif most < gpus:
        yield _found(
            "warning", f"has no partition with {needed} for a job, which the run needs; add one {use}"
        )
    else:
        yield _found("ok", f"has a partition with {needed} for a job")


def _found(level: Level, text: str) -> Finding:
    return Finding("cluster", level, "partitions", f"{PARTITIONS} {text}")
