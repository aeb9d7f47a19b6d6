"""The label mass: the total probability of the options' letters in the whole vocabulary."""

from collections.abc import Sequence

import numpy as np

# Below, most of the probability is on other tokens than the options' letters.
LOW_LABEL_MASS = 0.5


def low_label_mass(scoring: str, masses: Sequence[float]) -> str | None:
    """Return what is wrong where the letters have a low mean mass; None where they have not.

    ``masses``: of each prediction, in [0, 1]. That of texts, which are whole answers, is always low.
    """
    if scoring != "letter" or not masses or (mean := float(np.mean(masses))) >= LOW_LABEL_MASS:
        return None
    return (
        f"the letters of the options have only {100 * mean:.0f} % of the probability: the model would answer "
        "with other words; check its chat template, or use `scoring: text`"
    )
