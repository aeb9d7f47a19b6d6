import pytest

from benchc.demo.training_items import generate_training_set, training_groups
from benchc.demo.training_set import TrainingSet


@pytest.fixture(scope="session")
def every_kind() -> TrainingSet:
    """A small training set with all categories; read only."""
    return generate_training_set(training_groups(12), seed=1)
