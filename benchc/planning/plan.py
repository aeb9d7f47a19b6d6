"""What a run costs, as its benchmark works it out and as it is printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchc.config.benchmarks import module_of
from benchc.config.load import Config
from benchc.planning.amounts import Amount
from benchc.planning.pictures import Pictures
from benchc.planning.stages import Done, Stage


@dataclass(frozen=True)
class Plan:
    """The stages and images of a run.

    ``origin``: a sentence that says where sizes come from. ``predictions`` and ``new``: what every model
    reads and what of that it computes, over all stages; these may be less than the sum of the stages' bounds.
    ``subsets`` and ``batches``: the folders of predictions, and the files of each model in them, whose jobs
    are measured. ``share``: the share of the pool that ``at_share`` of the stages assumes. ``added``: a
    sentence on predictions that were asked for beside the benchmark's own. ``notes`` returns the notes to the
    tables, given their text.
    """

    origin: str
    stages: Sequence[Stage]
    predictions: Mapping[str, Amount]
    new: Mapping[str, Amount]
    done: Done
    subsets: Sequence[str]
    batches: Sequence[str]
    pictures: Sequence[Pictures]
    share: str
    added: str
    notes: Callable[[str], list[str]]


def plan_of(config: Config, results: Path) -> Plan:
    """Return the plan of a run, whose tables are in the folder ``results`` as far as they are made.

    Raises InputError where the run's benchmark cannot be planned, or a table cannot be read.
    """
    plan: Plan = module_of(config.settings.benchmark, "planning.plan").plan_of(config, results)
    return plan
