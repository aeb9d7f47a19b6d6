from pathlib import Path

import polars as pl
import pytest
import yaml

from benchc.benchmarks.vqa_robustness.planning.plan import plan_of
from benchc.benchmarks.vqa_robustness.settings import Settings
from benchc.config.load import Config, read_config
from benchc.planning.amounts import Amount
from benchc.planning.size import RunSize, run_size
from benchc.planning.stages import work_of

ROOT = Path(__file__).resolve().parents[4]
NOWHERE = Path("a-run-without-results")


def config_of(**corruptions: object) -> Config:
    raw = yaml.safe_load((ROOT / "config/vqa-robustness.yaml").read_text())
    raw["corruptions"] |= corruptions
    return Config(Settings.model_validate(raw), {}, {})


def test_answers_are_those_of_each_model_on_each_item_in_each_variant():
    config = config_of(types=["snow", "shot_noise", "zoom_blur"])
    plan = plan_of(config, NOWHERE, RunSize(Amount(7)))
    work = work_of(plan.stages, NOWHERE, {})
    assert [each.model for each in work] == config.settings.models
    assert {each.left.value for each in work} == {7 * (1 + 3 * 5)}
    assert plan.notes == ["answers of an item: 1 clean + 3 corruptions × 5 severities."]
    # One job a group of corruptions: snow, noise, blur.
    assert [len(stage.outputs) for stage in plan.stages] == [3]


@pytest.mark.parametrize(("corrupted", "written"), [("on_the_fly", 0), ("files", 2 * (1 + 14 * 5))])
def test_images_are_written_only_with_files(corrupted, written):
    rows = [("a", "s://1", 100), ("b", "s://1", 100), ("c", "s://2", 50)]
    images = pl.DataFrame(rows, schema=["id", "image_key", "pixels"], orient="row")
    size = RunSize(Amount(3), {"a": 0, "b": 0, "c": 0}, images)
    plan = plan_of(config_of(corrupted=corrupted), NOWHERE, size)
    # Two items show one image.
    assert plan.images.written == Amount(written)
    assert plan.images.disk.value == pytest.approx(written / 2 * 150 * 1.11)


def test_the_published_run_is_planned_before_its_source_is_here():
    # The notebook of the paper has multiples of 1/16,000: about all questions of 3,000 images.
    size = run_size(read_config(Path("config/vqa-robustness.yaml")), NOWHERE)
    assert size.pool.kind == "estimate" and round(size.pool.value / 1000) == 16
