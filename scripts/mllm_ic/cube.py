"""Compute the accuracies of all models by scenario and capability, with intervals over pictures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from benchc.benchmarks.mllm_ic.metrics.cube import cube as cube_of
from benchc.benchmarks.mllm_ic.run_outcomes import read_run
from benchc.benchmarks.mllm_ic.schemas.cube import CUBE
from benchc.command_line import Json, PositiveInt
from benchc.schemas.parquet import write_table


def cube(
    *,
    outcomes: list[Path],
    capabilities: Path,
    labels: Annotated[Mapping[str, str], Json],
    corruption_categories: Annotated[Mapping[str, str], Json],
    levels: Annotated[Mapping[str, str], Json],
    draws: PositiveInt,
    seed: int,
    output: Path,
) -> None:
    """Compute the accuracies of all models by scenario and capability, with intervals over pictures.

    Args:
        outcomes: outcomes/{model}.parquet of all models
        capabilities: pool/capabilities.parquet
        labels: names of the models by id
        corruption_categories: of each corruption
        levels: of each category
        draws: resamples of the pictures
        seed: of the resamples
        output: ic_cube.parquet to write
    """
    run = read_run(outcomes, capabilities)
    write_table(cube_of(run, labels, corruption_categories, levels, draws, seed), output, CUBE)
