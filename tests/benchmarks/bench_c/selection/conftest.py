"""The small checkpoints with random weights, as the tests of models have them."""

from tests.models.conftest import checkpoints, scorers, variants

__all__ = ["checkpoints", "scorers", "variants"]
