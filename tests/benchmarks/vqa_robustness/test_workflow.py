from pathlib import Path

import pytest
import yaml

from benchc.benchmarks.vqa_robustness.workflow import Workflow
from benchc.config.load import load
from benchc.errors import InputError
from tests.benchmarks.vqa_robustness.test_settings import CONFIG
from tests.config.trial import MODELS, SOURCES
from tests.workflow.declared import outputs_of


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


def test_an_imported_model_with_the_label_of_another_is_refused_and_absent_answers_warned_of(root):
    message = r"^answers_from and the model catalogue: small and mine have one label"
    with pytest.raises(InputError, match=message):
        workflow(root, answers_from=imported("Small"))
    found = workflow(root, answers_from=imported("Mine"))
    assert list(found.labels) == ["small", "large", "mine"]
    (warning,) = found.warnings()
    assert warning.startswith("1 file of answers_from not here yet") and "mine (mine.csv)" in warning
    (root / "mine.csv").touch()
    assert found.warnings() == []


@pytest.mark.parametrize("config", ["config/vqa-robustness.yaml", "config/demo-vqa-robustness.yaml"])
def test_every_table_and_figure_of_the_supplement_is_made(config: str) -> None:
    made = {output.name: output for output in outputs_of(config)}
    named = {
        **{"table_a1": "Table A.1", "table_a2": "Table A.2", "table_a3": "Table A.3"},
        **{"figure_a1": "figure A.1", "figure_a2": "figure A.2", "figure_classes": "figure A.3"},
    }
    # The paper has no results on greyscale images.
    named |= {"figure_a4": "figure A.4"} if config.startswith("config/demo") else {}
    for name, title in named.items():
        assert title in made[name].caption
    assert ("figure_a4" in made) == ("colour_questions" in made) == ("figure_a4" in named)
    # The taxonomy is that of the paper, whatever a run measures or stores: 14 with results, and seven more.
    taxonomy = made["figure_a1"].settings
    assert len(taxonomy["groups"]) == 21 and len(taxonomy["measured"]) == 14
    assert taxonomy["groups"].keys() == taxonomy["recipes"].keys() > set(taxonomy["measured"])
