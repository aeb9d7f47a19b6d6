"""The folder of published tables, real images and questions, which a clone may lack."""

import os
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("BENCHC_SHARED", ROOT / ".." / "shared")).resolve()
REASON = f"there is no folder {SHARED} of published tables and real items; set BENCHC_SHARED to it"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=REASON)


def write_empty_sources(folder: Path) -> str:
    """Write an empty file for each source of config/real-sources.yaml; return the value of BENCHC_SHARED."""
    catalogue = yaml.safe_load((ROOT / "config/real-sources.yaml").read_text())
    for source in catalogue.values():
        path = folder / Path(source["path"]).relative_to("${BENCHC_SHARED}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return str(folder)
