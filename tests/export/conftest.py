"""Exports of the small run of the pipeline."""

from pathlib import Path

import pytest

from benchc.export.finished import Finished, read_finished
from benchc.export.write import write_export
from tests.workflow.checkout import Checkout
from tests.workflow.conftest import checkpoints, finished  # noqa: F401  (fixtures)

REPO = "me/small"


@pytest.fixture(scope="session")
def small(finished: Checkout) -> Finished:  # noqa: F811
    """The finished run; read only."""
    return finished_run(finished)


def finished_run(checkout: Checkout, name: str = "small") -> Finished:
    """Return a finished run of a checkout, which it reads without being in its folder."""
    return read_finished(checkout.folder / "results" / name)


@pytest.fixture(scope="session")
def exported(small: Finished, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export with all items; read only."""
    folder = tmp_path_factory.mktemp("exported") / "all"
    write_export(small, folder, repo=REPO, redistribute=["shapes"])
    return folder


@pytest.fixture(scope="session")
def withheld(small: Finished, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export without the questions and images of a source that states no licence; read only."""
    folder = tmp_path_factory.mktemp("withheld") / "some"
    write_export(small, folder, repo=REPO)
    return folder
