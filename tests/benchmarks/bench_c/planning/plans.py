"""Settings and sizes of runs for the tests of plans."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from benchc.benchmarks.bench_c.settings import Settings

ROOT = Path(__file__).resolve().parents[4]


def settings_of(name: str, **blocks: Any) -> Settings:
    """Return the settings of config/{name}.yaml with whole keys replaced."""
    return Settings.model_validate(_read(name) | blocks)


@cache  # reading takes longer than most tests of plans
def _read(name: str) -> dict[str, Any]:
    raw: dict[str, Any] = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())
    return raw


def diagnostics(
    random_subset: int | str | None, option_order: int | None, *generated_answers: str
) -> dict[str, Any]:
    counts = {"random_subset": random_subset, "option_order": option_order}
    return {**counts, "generated_answers": list(generated_answers)}
