"""What `benchc what-reruns` says of new predictions, against what the jobs then compute."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.workflow.checkout import Checkout
from tests.workflow.test_edits import PLANNED, what_reruns
from tests.workflow.test_rerun import SEVERITIES, change_an_item, kept, pool, prediction_files

JOBS = ("infer", "infer_orders")


# The edit, and the line of what-reruns that names it.
CASES: dict[str, tuple[Callable[[Checkout], object], str]] = {
    "one parameter": (
        PLANNED["a number of a corruption"][0],
        "  shot_noise: photons 3 -> 2 at severity 5 in benchc/corruptions/suites/imagenet_c.py",
    ),
    "one item": (change_an_item, "  content of data/shapes.tsv"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_predictions_said_are_within_a_factor_2_of_those_computed(finished, tmp_path, name):
    checkout = finished.copy(tmp_path / "benchc")
    edit, cause = CASES[name]
    edit(checkout)
    lines = what_reruns(checkout)
    assert cause in lines
    said = said_of(lines)
    logs = [log for job in JOBS for log in checkout.folder.glob(f"logs/small/{job}/**/*.log")]
    for log in logs:
        log.unlink()
    checkout.make(*prediction_files(checkout), *orders(checkout))
    computed = sum(map(computed_of, checkout.folder.glob("logs/small/infer*/**/*.log")))
    print(f"{name}: {said:,} said, {computed:,} computed")
    assert computed
    assert 1 / 2 <= said / computed <= 2


def test_the_predictions_of_one_target_are_those_of_another(finished, tmp_path):
    """Its answers are in no cache, and the items stay the same."""
    checkout = finished.copy(tmp_path / "benchc")
    checkout.configure(targets=["other", "trained", "more"])
    lines = what_reruns(checkout)
    assert "  targets: + more" in lines
    logs = checkout.folder / "logs/small"
    of_other = [*logs.glob("infer/*/other/all.log"), logs / "infer_orders/other.log"]
    assert said_of(lines) == sum(map(computed_of, of_other)) > 0


def orders(checkout: Checkout) -> list[str]:
    """Return the files of the answers in other orders of the options."""
    config = yaml.safe_load((checkout.folder / checkout.config).read_text())
    return [f"results/small/orders/{model}.parquet" for model in config["targets"]]


def said_of(lines: list[str]) -> int:
    """Return the first number of the last line, an estimate or exact."""
    found = re.match(r"new predictions: (?:≈ )?([\d,]+)", lines[-1])
    assert found, lines[-1]
    return int(found[1].replace(",", ""))


def computed_of(log: Path) -> int:
    found = re.search(r"([\d,]+) computed", log.read_text())
    return int(found[1].replace(",", "")) if found else 0


def test_an_unchanged_kernel_of_an_edited_file_counts_nothing(finished, tmp_path):
    """Shot noise is in the file of gaussian noise; its images are made again, with the same pixels."""
    checkout = finished.copy(tmp_path / "benchc")
    PLANNED["a kernel"][0](checkout)
    selectors = 2 * len(pool(checkout)) * SEVERITIES
    lines = what_reruns(checkout)
    assert "  code of benchc/corruptions/kernels/noise.py" in lines
    said = said_of(lines)
    assert said >= selectors + 2 * len(kept(checkout)) * SEVERITIES
    assert said < 2 * selectors + 2 * len(pool(checkout)) * SEVERITIES
