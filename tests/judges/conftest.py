import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = Path(os.environ.get("BENCHC_SHARED", ROOT / ".." / "shared"))
    if not folder.is_dir():
        pytest.skip("the folder of BENCHC_SHARED is absent")
    return folder
