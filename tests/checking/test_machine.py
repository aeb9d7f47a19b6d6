import shutil
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from benchc.checking import cost
from benchc.checking.cluster import check_cluster
from benchc.checking.cost import check_cost
from benchc.checking.folders import check_permissions
from benchc.checking.fonts import check_fonts
from benchc.checking.pool import PoolFound
from benchc.cluster.site import EXAMPLE, SITE, Request, read_site
from benchc.config.settings import RunSettings
from benchc.planning import dry_run
from benchc.planning.amounts import Amount
from benchc.planning.dry_run import PlannedJob
from benchc.rendering import labels
from tests.checking.collected import lines
from tests.checking.runs import config_of

pytestmark = pytest.mark.usefixtures("folder")

ROOT = Path(__file__).resolve().parents[2]
LOCAL = {"s": {"path": "s.tsv"}}


def test_folders_can_be_written_but_not_in_the_place_of_a_file(folder):
    assert lines(list(check_permissions("mine"))) == ["folders: results/mine and logs/mine can be written"]
    assert list(folder.iterdir()) == []
    (folder / "results").mkdir()
    (folder / "results/mine").touch()
    (found,) = check_permissions("mine")
    assert (found.level, found.subject) == ("error", "results/mine")
    assert found.text.startswith("cannot be written (Not a directory); correct its perm")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder that nobody can write to")
def test_a_folder_without_permission_is_an_error(folder):
    (folder / "logs").symlink_to("/proc")
    (error,) = lines(list(check_permissions("mine")), "error")
    assert error.startswith("logs/mine: cannot be written (")


def pool_of(task: str, question: str) -> PoolFound:
    rows = [("s/1", task, question, ["a", "b"]), ("s/2", "colour", "Red?", ["a", "b"])]
    texts = pl.DataFrame(rows, schema=["id", "task", "question", "options"], orient="row")
    return PoolFound(texts, None, pl.DataFrame(), 2)


PRIVATE = "\U000f0000"  # of no font


def test_names_and_texts_that_no_font_has_are_warnings(monkeypatch):
    models = {"m": {"path": ".", "label": "Model"}}
    found = list(check_fonts(config_of(LOCAL, models), pool_of("shape", "Round?")))
    assert [each.level for each in found] == ["ok"]
    models["m"]["label"] = f"Model {PRIVATE}"
    found = list(check_fonts(config_of(LOCAL, models), pool_of(f"shape {PRIVATE}", f"Round {PRIVATE}?")))
    names, texts = lines(found, "warning")
    private = f"fonts: no font has {PRIVATE} (U+F0000) of"
    assert names.startswith(f"{private} 2 names, such as Model {PRIVATE}, so that figures replace them")
    assert texts.startswith(f"{private} 1 item, such as s/1, so that ") and "DejaVu Sans" in texts
    assert texts.endswith("; use characters of DejaVu Sans")
    (found,) = check_fonts(config_of(LOCAL), pool_of("shape", "".join(map(chr, range(0xF0000, 0xF0006)))))
    assert "(U+F0004), … of 1 item" in found.text and "U+F0005" not in found.text
    monkeypatch.setattr(
        labels, "renderable", lambda letters: ["?" if each > "z" else each for each in letters]
    )
    (found,) = check_fonts(config_of(LOCAL), pool_of("shape", "の"))
    assert found.text.endswith("; install one of the fonts Noto Sans CJK SC, Noto Sans CJK JP, Noto Sans SC")


def gpus(number: int) -> list[tuple[str, str]]:
    config = config_of(LOCAL, {"m": {"path": ".", "gpus": number}})
    return [(each.level, each.text) for each in check_cluster(config)]


SHOWN = "benchc plan shows of what"
EXAMPLE_LEFT = "slurm/site.yaml is still the example, and a job needs 1 GPU"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, EXAMPLE_LEFT),
        ("", "slurm/site.yaml: partitions is missing"),
        ("[", "slurm/site.yaml: line 1 is not YAML"),
        ("partitions: {}", "slurm/site.yaml: partitions is {}, but should"),
        ("partitions: [a]", "slurm/site.yaml: partitions is"),
        ("partitions: {a: 1}", "slurm/site.yaml: partitions.a is 1, but should be a mapping"),
        ("partitions: {a: {max_gpus: 1}}", "slurm/site.yaml: unknown key partitions.a.max_gpus"),
        ("partitions: {a: {max_runtime: soon}}", "slurm/site.yaml: partitions.a.max_runtime"),
    ],
)
def test_a_cluster_without_description_is_a_warning_if_a_model_needs_gpus(folder, content, reason):
    if content is not None:
        (folder / "slurm").mkdir()
        (folder / SITE).write_text(content)
    # Without GPUs, an invalid file is one, too.
    assert gpus(0) == ([] if content is None else gpus(1))
    ((level, text),) = gpus(1)
    assert level == "warning" and text.startswith(reason) and text.count("\n") == 0
    fix = "call benchc site" if content is None else "correct it"
    assert text.endswith(f"; {fix} before you use --profile slurm")


def test_the_example_and_too_few_gpus_are_warnings(folder, monkeypatch):
    assert read_site(ROOT / SITE) == EXAMPLE
    shutil.copytree(ROOT / "slurm", folder / "slurm")
    assert gpus(0) == []
    advice = "call benchc site before you use --profile slurm"
    assert gpus(1) == [("warning", f"{EXAMPLE_LEFT}; {advice}")]
    (folder / SITE).write_text("partitions: {main: {}, a100: {max_gpu: 2}}")
    assert gpus(2) == [("ok", "slurm/site.yaml has a partition with 2 GPUs for a job")]
    ((_, text),) = gpus(3)
    assert text.startswith("slurm/site.yaml has no partition with 3 GPUs for a job, which the run needs; add")
    # An encoder on a GPU needs a partition that has one.
    (folder / SITE).unlink()
    monkeypatch.setattr(RunSettings, "encoder_gpus", 1)
    ((level, text),) = gpus(0)
    assert level == "warning" and text.startswith(EXAMPLE_LEFT)


@pytest.mark.parametrize(
    ("limits", "level", "text"),
    [
        ("{}", "ok", "each of 2 jobs that are left fits a partition"),
        ("{max_mem_mb: 3000}", "warning", f"1 job of 2 get less than they need (infer); {SHOWN}"),
    ],
)
def test_jobs_without_gpus_are_compared_with_a_described_cluster(folder, limits, level, text, monkeypatch):
    (folder / "slurm").mkdir()
    (folder / SITE).write_text(f"partitions: {{cpu: {limits}}}")
    asked = Request(threads=1, mem_mb=2000, minutes=5, gpus=0)
    jobs = [
        PlannedJob("pool", [], ["a"], [], asked=asked),
        PlannedJob("infer", [], ["b"], [], asked=asked.model_copy(update={"mem_mb": 4000})),
        PlannedJob("score", [], ["c"], []),
    ]
    monkeypatch.setattr(dry_run, "dry_run", lambda file: dry_run.DryRun(jobs, 3, False))
    (found,) = check_cluster(config_of(LOCAL, {"m": {"path": "."}}), Path("config.yaml"))
    assert (found.level, found.text) == (level, f"slurm/site.yaml: {text}")


def test_the_time_of_models_without_a_trial_is_unknown():
    work = [SimpleNamespace(model=id_, rate=None, left=Amount(None)) for id_ in ("small", "large", "small")]
    found = cost._time(None, work, cost.Writing(0, Amount(0)), None, "answers", generated=False)  # type: ignore[arg-type]
    assert [each.text for each in found] == [
        "time unknown for models that were not timed where their jobs run: small, large"
    ]


def test_the_cost_of_a_benchmark_without_a_plan_is_skipped():
    (found,) = check_cost(config_of(LOCAL, benchmark="none"), pool_of("shape", "Round?"), {})
    assert found.level == "skipped" and found.text.startswith('there is no benchmark "none"; there are')
