"""Folders that cannot be written, missing fonts, and a cluster that is not described."""

import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

from benchc.checking.cluster import check_cluster
from benchc.checking.cost import check_cost
from benchc.checking.folders import check_permissions
from benchc.checking.fonts import check_fonts
from benchc.checking.pool import PoolFound
from benchc.cluster.site import EXAMPLE, SITE, read_site
from benchc.config.settings import RunSettings
from tests.checking.collected import lines
from tests.checking.runs import config_of

ROOT = Path(__file__).resolve().parents[2]
LOCAL = {"s": {"path": "s.tsv"}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_folders_that_do_not_exist_yet_can_be_written(folder: Path) -> None:
    assert lines(list(check_permissions("mine"))) == ["folders: results/mine and logs/mine can be written"]
    assert list(folder.iterdir()) == []


def test_a_file_in_the_place_of_a_folder_is_an_error(folder: Path) -> None:
    (folder / "results").mkdir()
    (folder / "results/mine").touch()
    found = list(check_permissions("mine"))
    assert [each.level for each in found] == ["error"]
    assert lines(found)[0].startswith("results/mine: cannot be written (Not a directory); correct its perm")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder that nobody can write to")
def test_a_folder_without_permission_is_an_error(folder: Path) -> None:
    (folder / "logs").symlink_to("/proc")
    (error,) = lines(list(check_permissions("mine")), "error")
    assert error.startswith("logs/mine: cannot be written (")


def pool_of(task: str, question: str) -> PoolFound:
    texts = pl.DataFrame(
        {
            "id": ["s/1", "s/2"],
            "task": [task, "colour"],
            "question": [question, "Red?"],
            "options": [["a", "b"]] * 2,
        }
    )
    return PoolFound(texts, None, pl.DataFrame(), 2)


PRIVATE = "\U000f0000"  # of no font


def test_names_and_texts_that_no_font_has_are_warnings() -> None:
    models = {"m": {"path": ".", "label": "Model"}}
    found = list(check_fonts(config_of(LOCAL, models), pool_of("shape", "Round?")))
    assert [each.level for each in found] == ["ok"]
    models["m"]["label"] = f"Model {PRIVATE}"
    found = list(check_fonts(config_of(LOCAL, models), pool_of(f"shape {PRIVATE}", f"Round {PRIVATE}?")))
    names, texts = lines(found, "warning")
    private = f"fonts: no font has {PRIVATE} (U+F0000) of"
    assert names.startswith(f"{private} 2 names, such as Model {PRIVATE}, so that figures replace them")
    assert texts.startswith(f"{private} 1 item, such as s/1, so that ") and "DejaVu Sans" in texts
    assert "for Chinese, Japanese and Korean characters, install one of the fonts Noto Sans CJK SC" in texts
    (found,) = check_fonts(config_of(LOCAL), pool_of("shape", "".join(map(chr, range(0xF0000, 0xF0006)))))
    assert "(U+F0004), … of 1 item" in found.text and "U+F0005" not in found.text


def gpus(number: int) -> list[tuple[str, str]]:
    config = config_of(LOCAL, {"m": {"path": ".", "gpus": number}})
    return [(each.level, each.text) for each in check_cluster(config)]


def test_an_encoder_on_a_gpu_needs_a_partition_that_has_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunSettings, "encoder_gpus", 1)
    (found,) = check_cluster(config_of(LOCAL, {"m": {"path": "."}}))
    assert found.level == "warning" and found.text.startswith(
        "slurm/site.yaml is still the example, and a job needs 1 GPU"
    )


def test_the_example_is_that_of_the_repository() -> None:
    assert read_site(ROOT / SITE) == EXAMPLE


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "slurm/site.yaml is still the example, and a job needs 1 GPU"),
        ("", "slurm/site.yaml: partitions is missing"),
        ("[", "slurm/site.yaml: line 1 is not YAML"),
        ("partitions: {}", "slurm/site.yaml: partitions is {}, but should"),
        ("partitions: [a]", "slurm/site.yaml: partitions is"),
        ("partitions: {a: 1}", "slurm/site.yaml: partitions.a is 1, but should be a mapping"),
        ("partitions: {a: {max_gpus: 1}}", "slurm/site.yaml: unknown key partitions.a.max_gpus"),
        ("partitions: {a: {max_runtime: soon}}", "slurm/site.yaml: partitions.a.max_runtime"),
    ],
)
def test_a_cluster_without_description_is_a_warning_if_a_model_needs_gpus(
    folder: Path, content: str | None, reason: str
) -> None:
    if content is not None:
        (folder / "slurm").mkdir()
        (folder / SITE).write_text(content)
    assert gpus(0) == []
    ((level, text),) = gpus(1)
    assert level == "warning" and text.startswith(reason) and text.count("\n") == 0
    assert text.endswith("; call benchc site before you use --profile slurm")


def test_the_example_and_too_few_gpus_are_warnings(folder: Path) -> None:
    shutil.copytree(ROOT / "slurm", folder / "slurm")
    assert gpus(0) == []
    assert gpus(1) == [
        (
            "warning",
            "slurm/site.yaml is still the example, and a job needs 1 GPU; call benchc site before you use "
            "--profile slurm",
        )
    ]
    own = {"partitions": {"main": {}, "a100": {"max_gpu": 2}}}
    (folder / SITE).write_text(yaml.safe_dump(own))
    assert gpus(2) == [("ok", "slurm/site.yaml has a partition with 2 GPUs for a job")]
    assert gpus(3)[0][1].startswith(
        "slurm/site.yaml has no partition with 3 GPUs for a job, which the run needs; add one"
    )


def test_the_cost_of_a_benchmark_without_a_plan_is_skipped() -> None:
    (found,) = check_cost(config_of(LOCAL, benchmark="none"), pool_of("shape", "Round?"), {})
    assert found.level == "skipped" and found.text.startswith(
        'there is no benchmark "none"; there are bench-c'
    )
