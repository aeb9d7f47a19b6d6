"""What a run refuses and warns of before its first job."""

from pathlib import Path

import pytest
import yaml

from benchc.benchmarks.vqa_robustness.workflow import Workflow
from benchc.config.load import load
from benchc.errors import InputError
from tests.benchmarks.vqa_robustness.test_settings import CONFIG
from tests.config.trial import MODELS, SOURCES


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sources.yaml").write_text(SOURCES)
    (tmp_path / "models.yaml").write_text(MODELS)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "transformers.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def workflow(root: Path, **changes: object) -> Workflow:
    return Workflow(load({**yaml.safe_load(CONFIG), **changes}, root))


def imported(label: str) -> dict[str, dict[str, str]]:
    return {"mine": {"label": label, "file": "mine.csv"}}


def test_an_imported_model_with_the_label_of_another_is_refused(root: Path) -> None:
    with pytest.raises(
        InputError, match=r"^answers_from and the model catalogue: small and mine have one label"
    ):
        workflow(root, answers_from=imported("Small"))


def test_absent_answers_of_another_program_are_a_warning(root: Path) -> None:
    found = workflow(root, answers_from=imported("Mine"))
    assert list(found.labels) == ["small", "large", "mine"]
    (warning,) = found.warnings()
    assert warning.startswith("1 file of answers_from not here yet") and "mine (mine.csv)" in warning
    (root / "mine.csv").touch()
    assert found.warnings() == []
