"""The seed of the random moments at which tests disturb a run."""

import pytest


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of --seed, which a failure shows."""
    found: int = request.config.getoption("seed")
    print(f"--seed {found}")
    return found
