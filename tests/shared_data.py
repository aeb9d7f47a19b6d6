"""The folder of published tables, real images and questions, which a clone may lack."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("BENCHC_SHARED", ROOT / ".." / "shared")).resolve()
REASON = "the folder of BENCHC_SHARED is absent"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=REASON)
