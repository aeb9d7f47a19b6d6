"""Every class of transformers that docs/models.md lists passes what its table says.

After a change of what passes: ``python -m tests.models.classes.table``.
"""

import pytest

from tests.models.classes.builders import BUILDERS, Loaded, load, save
from tests.models.classes.checks import CHECKS, outcome
from tests.models.classes.table import committed


@pytest.fixture(scope="module", params=BUILDERS)
def model_type(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def tested(model_type: str, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp(model_type)
    save(model_type, folder)
    return load(model_type, folder)


@pytest.mark.parametrize("check", CHECKS)
def test_a_class_passes_what_the_table_says(model_type: str, tested: Loaded, check: str) -> None:
    reason, cells = outcome(tested, check), committed()[model_type]
    assert cells[check] == ("yes" if reason is None else "no"), reason
    assert reason is None or reason in cells["why not"]
    assert cells["class"] == f"`{tested.class_name}`"


def test_the_table_has_these_classes() -> None:
    assert list(committed()) == list(BUILDERS)
