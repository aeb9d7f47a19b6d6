"""R_a and R_r of models in paired resamples of the items, and what is computed from them."""

from typing import NamedTuple

import numpy as np

from benchc.statistics.ranks import rank_shares, ranks
from benchc.statistics.resampling import Floats

# The ends of the 90 % intervals of Figure 4a.
TAILS_90 = np.array([0.05, 0.95])


class Draws(NamedTuple):
    """Means in the sample itself, row 0, and in resamples: float64[1 + draws, models, parts].

    The replies to the distorted and to the reference image of an item are drawn together, and the same items
    for all models. NaN where a resample has no item of a part.

    Attributes:
        absolute: R_a, of the score of replies to distorted images (equation 1)
        ref: of the score of replies to reference images
        relative: R_r, of the score of the reply to the reference image times that of the reply to the
            distorted one against it (equation 2)
    """

    absolute: Floats
    ref: Floats
    relative: Floats

    @property
    def ranking(self) -> Floats:
        """Return what models are ranked by, (R_a + R_r) / 2."""
        return (self.absolute + self.relative) / 2

    @property
    def effect(self) -> Floats:
        """Return by how much the scores of replies to reference images are higher, in [-1, 1]."""
        return self.ref - self.absolute

    @property
    def kept(self) -> Floats:
        """Return the share of the score on reference images that is kept; NaN where that score is 0."""
        none = np.full_like(self.ref, np.nan)
        return np.divide(self.absolute, self.ref, out=none, where=self.ref > 0)


def order(values: Floats) -> tuple[list[int | None], list[float | None]]:
    """Return ranks, 1 for the highest, and their stability: the share of resamples with the same rank.

    ``values``: float64[1 + draws, models], the sample first; NaN for a model without rank.
    """
    own, shares = ranks(-values[0]), rank_shares(-values[1:])
    stable = [float(shares[row, rank - 1]) if rank else None for row, rank in enumerate(own)]
    return [int(rank) or None for rank in own], stable
