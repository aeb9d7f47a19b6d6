from pathlib import Path

import pytest

from tests.shared_data import REASON, SHARED


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip(REASON)
    return SHARED
