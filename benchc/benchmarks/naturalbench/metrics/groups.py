"""The four accuracies of groups of two questions about two images (paper, section 4)."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Whether each question is right on both images, each image on both questions, and all four.
OUTCOMES = ("q0", "q1", "i0", "i1", "g")
MEASURES = ("acc", "q_acc", "i_acc", "g_acc")
# Of a reader that answers by a coin, and of one that orders the four probabilities at random.
CHANCE = {"acc": 1 / 2, "q_acc": 1 / 4, "i_acc": 1 / 4, "g_acc": 1 / 16}
CHANCE_SAMPLE = {"q_acc": 1 / 2, "i_acc": 1 / 2, "g_acc": 1 / 6}


def outcomes(right: Bools) -> Bools:
    """Return the ``OUTCOMES``, bool[..., 5], of right or wrong answers, bool[..., 2 questions, 2 images]."""
    questions, images = right.all(axis=-1), right.all(axis=-2)
    return np.concatenate([questions, images, np.asarray(right.all(axis=(-2, -1)))[..., None]], axis=-1)


def group_values(right: Bools) -> Floats:
    """Return the ``MEASURES`` of each group, float64[..., 4] in [0, 1], whose means are the accuracies.

    ``right``: bool[..., 2 questions, 2 images]. The mean over N groups is the share of right answers / 4N
    (Acc), of questions right on both images / 2N (Q-Acc), of images with both questions right / 2N (I-Acc),
    and of groups with four right answers / N (G-Acc).
    """
    found = outcomes(right)
    parts = (right.mean(axis=(-2, -1)), found[..., :2].mean(axis=-1), found[..., 2:4].mean(axis=-1))
    return np.stack([*parts, found[..., 4].astype(np.float64)], axis=-1)


def violated(accuracies: Mapping[str, float], tolerance: float = 0.0) -> list[str]:
    """Return the inequalities that ``accuracies``, in [0, 1] by measure, violate by more than ``tolerance``.

    They hold for any answers: a group that is right has its questions and images right, and a wrong answer
    spoils one question, one image and one group.
    """
    acc, q, i, g = (accuracies[measure] for measure in MEASURES)
    smaller_first = {
        "G-Acc <= Q-Acc": (g, q),
        "G-Acc <= I-Acc": (g, i),
        "Q-Acc <= Acc": (q, acc),
        "I-Acc <= Acc": (i, acc),
        "2 Acc - 1 <= Q-Acc": (2 * acc - 1, q),
        "2 Acc - 1 <= I-Acc": (2 * acc - 1, i),
        "Q-Acc + I-Acc - 1 <= G-Acc": (q + i - 1, g),
    }
    return [text for text, (small, large) in smaller_first.items() if small > large + tolerance]
