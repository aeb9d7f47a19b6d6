"""The small checkpoints of the models' tests."""

from tests.models.conftest import checkpoints, scorers, variants  # noqa: F401
