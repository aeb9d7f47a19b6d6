"""The averages of accuracies over capabilities. They are computed apart and never mixed."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from benchc.benchmarks.mllm_ic.capabilities import Capability
from benchc.statistics.resampling import Floats

# overall: the mean of the mid-level capabilities, each the mean of its low-level ones, as in the paper's
# tables; capabilities: the mean of all low-level ones; micro: over questions.
Rule = Literal["overall", "capabilities", "micro"]
RULES: tuple[Rule, ...] = get_args(Rule)


def mid_weights(names: Sequence[Capability]) -> dict[str, Floats]:
    """Return for each mid-level capability the weights of low-level ones, float64[capabilities]; sum 1."""
    mids = list(dict.fromkeys(each.mid for each in names))
    members = {mid: np.array([each.mid == mid for each in names], np.float64) for mid in mids}
    return {mid: own / own.sum() for mid, own in members.items()}


def rule_weights(rule: Rule, names: Sequence[Capability], questions: npt.NDArray[np.int64]) -> Floats:
    """Return the weight of each capability in an average, float64[capabilities]; their sum is 1.

    Args:
        rule: of the average.
        names: the capabilities that have questions.
        questions: int64[capabilities], their numbers of questions.
    """
    match rule:
        case "overall":
            own = mid_weights(names)
            return np.asarray(np.sum([*own.values()], axis=0) / len(own))
        case "capabilities":
            return np.full(len(names), 1 / len(names))
        case "micro":
            return np.asarray(questions / questions.sum())
