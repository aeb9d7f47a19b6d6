"""The record of a run's configuration, which its job writes as it is here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchc.config.resolved import digest, resolved
from benchc.workflow.run import Run


def configuration_texts(run: Run) -> dict[str, str]:
    """Return the complete configuration of a run: the text of each file by its path."""
    return resolved(run.config, run.results, Path.cwd())


def configuration_params(texts: dict[str, str]) -> dict[str, str | Callable[..., Any]]:
    """Return the params of the rule: a digest, which is recorded, and the texts, which are not."""
    # A function, since Snakemake expands braces in strings as wildcards. It takes the output, so that the
    # texts are not recorded, nor printed where they change.
    return {"digest": digest(texts.values()), "texts": lambda wildcards, output: list(texts.values())}
