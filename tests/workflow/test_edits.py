"""What a dry run plans after one edit, with images in files and generated on the fly; no edit is run."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.workflow import test_rerun
from tests.workflow.checkout import Checkout
from tests.workflow.conftest import FLY

EDITED = ("Snakefile", "rules", "scripts", "benchc", "config", "envs", "data")
Edit = Callable[[Checkout], object]


@pytest.fixture(scope="module")
def checkout(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return finished.copy(tmp_path_factory.mktemp("edits") / "benchc")


@pytest.fixture
def unedited(checkout: Checkout, tmp_path: Path) -> Iterator[Checkout]:
    """The checkout; its files are as before afterwards, with their times."""
    for part in EDITED:
        subprocess.run(["cp", "-a", checkout.folder / part, tmp_path], check=True)
    yield checkout
    for part in EDITED:
        path = checkout.folder / part
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        subprocess.run(["cp", "-a", tmp_path / part, checkout.folder], check=True)


def append(file: str, text: str) -> Edit:
    def edit(checkout: Checkout) -> None:
        path = checkout.folder / file
        path.write_text(path.read_text() + text)

    return edit


def replace(file: str, old: str, new: str) -> Edit:
    return lambda checkout: checkout.edit(file, old, new)


def configure(change: Callable[[dict], object]) -> Edit:
    """Return the edit of both configurations; ``change`` edits one in place."""

    def edit(checkout: Checkout) -> None:
        for file in (checkout.config, FLY):
            path = checkout.folder / file
            config = yaml.safe_load(path.read_text())
            change(config)
            path.write_text(yaml.safe_dump(config, sort_keys=False))

    return edit


def model(**entry: object) -> Edit:
    def edit(checkout: Checkout) -> None:
        path = checkout.folder / "config/small-models.yaml"
        models = yaml.safe_load(path.read_text())
        models["texts"] |= entry
        path.write_text(yaml.safe_dump(models))

    return edit


def absolute_folder(checkout: Checkout) -> None:
    model(path=str(checkout.folder / "checkpoints/texts"))(checkout)


def touch_all(checkout: Checkout) -> None:
    for part in EDITED:
        path = checkout.folder / part
        for file in [path] if path.is_file() else path.rglob("*"):
            file.touch()


def ruff_format(checkout: Checkout) -> None:
    command = ["ruff", "format", "--isolated", "--line-length", "60", "benchc", "scripts"]
    subprocess.run(command, cwd=checkout.folder, check=True)


def readme_in_a_model_folder(checkout: Checkout) -> None:
    (checkout.folder / "checkpoints/texts/README.md").write_text("About this model.\n")


def new_types(*types: str) -> Edit:
    return configure(lambda config: config["corruptions"].update(types=list(types)))


NOTHING: dict[str, Edit] = {
    "new times of all files": touch_all,
    "a comment in a module that all use": append("benchc/errors.py", "# A comment.\n"),
    "a comment in a script": append("scripts/infer.py", "# A comment.\n"),
    "the runner of the stages": append("scripts/stage.py", "ADDED = 1\n"),
    "a docstring": replace("benchc/models/chat.py", "A loaded chat model of", "The chat model of"),
    "ruff format": ruff_format,
    "a README in a model folder": readme_in_a_model_folder,
    "the same folder by an absolute path": absolute_folder,
    "keys of a catalogue in another order": lambda checkout: model()(checkout),
    "memory of a model's jobs": model(mem_mb=3000),
    "a key with its default": configure(lambda config: config.pop("scores")),
    "an encoder by keys": configure(
        lambda config: config["selection"].update(text_encoder={"name": "all-MiniLM-L6-v2"})
    ),
}


@pytest.mark.parametrize("config", ["config/small.yaml", FLY])
def test_harmless_edits_plan_nothing(unedited, config):
    for edit in NOTHING.values():
        edit(unedited)
    try:
        assert unedited.plan("--configfile", config) == {}, f"one of: {', '.join(NOTHING)}"
    finally:
        (unedited.folder / "checkpoints/texts/README.md").unlink(missing_ok=True)


# From the images on; without the benchmark's own images, which the clean ones are one file of.
FROM_IMAGES, SETTING = test_rerun.FROM_IMAGES, test_rerun.SETTING
IMAGES = {"corrupt": 4}
REORDERED = {"figure6": 1, "figure10": 1, "claims": 1}
SWAPPED = new_types("gaussian_noise", "impulse_noise", "gaussian_blur")
EMBEDDED = {"embed": 1, **test_rerun.FROM_SELECTION}
ONE_MODEL = {"kappa": 1, **test_rerun.FROM_SELECTION, "infer": 5}

# The edit, and the jobs that it plans with images in files. On the fly all images of the benchmark follow.
PLANNED: dict[str, tuple[Edit, dict[str, int]]] = {
    "seed": (
        configure(lambda config: config.update(seed=config["seed"] + 1)),
        {**SETTING, **FROM_IMAGES, **IMAGES},
    ),
    "alpha": (
        configure(lambda config: config["corruptions"].update(alpha="white")),
        {**SETTING, **FROM_IMAGES, **IMAGES, "embed": 1},
    ),
    "a severity less": (
        configure(lambda config: config["corruptions"].update(severities=[1, 2, 3, 5])),
        {**SETTING, **FROM_IMAGES, "corrupt": 3},
    ),
    "types of one module swapped": (SWAPPED, {**SETTING, **FROM_IMAGES, "corrupt": 1}),
    "a type less": (new_types("gaussian_noise", "gaussian_blur"), {**SETTING, **FROM_IMAGES}),
    "a type more": (
        new_types("gaussian_noise", "shot_noise", "gaussian_blur", "snow"),
        {**SETTING, **FROM_IMAGES, "corrupt": 1},
    ),
    "types in another order": (
        new_types("gaussian_blur", "shot_noise", "gaussian_noise"),
        SETTING | REORDERED,
    ),
    "sources in another order": (
        configure(lambda config: config.update(sources=config["sources"][::-1])),
        {**SETTING, "figure7": 1},
    ),
    "a kernel": (
        replace("benchc/corruptions/kernels/noise.py", test_rerun.EDITED, test_rerun.EDIT),
        {**FROM_IMAGES, "corrupt": 2},
    ),
    "a number of a corruption": (
        replace(
            "benchc/corruptions/suites/imagenet_c.py",
            "published(_CODE, 60, 25, 12, 5, 3)",
            test_rerun.PHOTONS,
        ),
        {**FROM_IMAGES, "corrupt": 1},
    ),
    "the device of a selector": (model(gpus=1), SETTING | ONE_MODEL),
    "the device of the image encoder": (
        configure(lambda config: config["selection"]["image_encoder"].update(gpus=1)),
        SETTING | EMBEDDED,
    ),
    "the batch of the image encoder": (
        configure(lambda config: config["selection"]["image_encoder"].update(batch=64)),
        SETTING | EMBEDDED,
    ),
    "the batch of the text encoder": (
        configure(
            lambda config: config["selection"].update(text_encoder={"name": "all-MiniLM-L6-v2", "batch": 8})
        ),
        SETTING | EMBEDDED,
    ),
    "the library of a selector's image processor": (
        model(image_backend="torchvision"),
        SETTING | ONE_MODEL,
    ),
    "the compilation of a selector": (model(compile=True), SETTING | ONE_MODEL),
    "the letter scorer": (
        replace("benchc/models/letter.py", "vocabulary[:, tokens]  #", "0.9 * vocabulary[:, tokens]  #"),
        ONE_MODEL,
    ),
}


def test_a_job_gets_its_gpus_and_workers(unedited):
    model(gpus=2, compile=True, image_backend="torchvision", attention="sdpa")(unedited)
    commands = unedited.snakemake("-n", "-p", "--cores", "9").stdout
    asked = "--model.device=cuda --model.image-backend=torchvision --model.compile=true"
    assert re.search(rf"{asked} .*--model.attention=sdpa .*--job.workers=8 --job.gpus=2", commands)


@pytest.mark.parametrize("name", PLANNED)
def test_an_edit_plans_the_same_jobs_in_both_modes(unedited, name):
    edit, expected = PLANNED[name]
    edit(unedited)
    assert unedited.plan() == expected
    if "infer" in expected:
        # The benchmark's images depend on the selection.
        expected = {**expected, **IMAGES, "corrupt": 1 + len(types_of(unedited))}
    assert unedited.plan("--configfile", FLY) == expected


def types_of(checkout: Checkout) -> list[str]:
    return yaml.safe_load((checkout.folder / FLY).read_text())["corruptions"]["types"]


def test_a_dry_run_names_the_edited_file(unedited):
    file = "benchc/benchmarks/bench_c/metrics/ras.py"
    append(file, "ADDED = 1\n")(unedited)
    (before, after) = {
        line for line in unedited.snakemake("-n").stdout.split("'") if line.startswith(f"{file} ")
    }
    assert before != after
    append("benchc/errors.py", "ADDED = 1\n")(unedited)
    assert "'benchc/errors.py " in unedited.snakemake("-n").stdout


SHOWN = {
    "per_task": (
        configure(lambda config: config["pool"].update(per_task=4)),
        ("'per_task=3'", "'per_task=4'"),
    ),
    "dtype": (model(dtype="bfloat16"), ("<nothing exclusive>", "'model.dtype=\"bfloat16\"'")),
}


@pytest.mark.parametrize("config", ["config/small.yaml", FLY])
@pytest.mark.parametrize("name", SHOWN)
def test_a_dry_run_shows_what_changed_alone(unedited, config, name):
    edit, change = SHOWN[name]
    edit(unedited)
    output = unedited.snakemake("-n", "--configfile", config).stdout
    changes = set(re.findall(r"before: (.*?) now: (.*?) *$", output, re.MULTILINE))
    shown = {(before, now) for before, now in changes if "record of the configuration" not in before}
    assert shown == {change}


def what_reruns(checkout: Checkout) -> list[str]:
    command = [checkout.python, "-m", "scripts.benchc", "what-reruns", checkout.config]
    done = subprocess.run(
        command, cwd=checkout.folder, env=checkout.environment, text=True, stdout=subprocess.PIPE
    )
    assert done.returncode == 0
    return done.stdout.splitlines()


def test_what_reruns_names_the_edits_and_agrees_with_the_dry_run(unedited):
    (line,) = what_reruns(unedited)
    found = re.fullmatch(rf"{unedited.config}: nothing to rerun; all (\d+) jobs of run small .*", line)
    assert found
    append("benchc/models/letter.py", "ADDED = 1\n")(unedited)
    configure(lambda config: config["selection"].update(alpha_kappa=2.0))(unedited)
    model(scoring="text_mean")(unedited)
    header, *lines, predictions = what_reruns(unedited)
    jobs = sum(unedited.plan(with_page=True).values())
    assert header == f"{unedited.config}: {jobs} of {found[1]} jobs of run small would run"
    assert lines[:9] == [
        "  code of benchc/models/letter.py",
        "    1 infer (pool/letters/all)",
        "  record of the configuration",
        "    configuration",
        '  scoring: "text" -> "text_mean"',
        "    1 infer (pool/texts/all)",
        "  selection.alpha_kappa: 1.0 -> 2.0",
        "    select, 1 table (selection_stability)",
        "  downstream of these",
    ]
    assert lines[9].startswith("    11 figures, 11 tables, 4 infer, ")
    assert re.fullmatch(r"new predictions: ≤ [\d,]+, less those in the cache", predictions)


def test_a_copied_run_knows_how_it_was_made(checkout, tmp_path):
    copy = checkout.copy(tmp_path / "copy", ".snakemake")
    assert copy.plan() == {}
    append("benchc/benchmarks/bench_c/figures/figure8.py", "ADDED = 1\n")(copy)
    assert copy.plan() == {"figure8": 1}


def test_results_without_their_records_are_refused_until_they_are_accepted(checkout, tmp_path):
    copy = checkout.copy(tmp_path / "copy", ".snakemake", ".provenance")
    result = copy.snakemake("-n", check=False)
    assert result.returncode == 1
    assert "without a record of how they were made, or changed since," in result.stdout
    copy.snakemake("--touch", "--forceall", "--cores", "1")
    assert copy.plan() == {}
    append("benchc/benchmarks/bench_c/figures/figure8.py", "ADDED = 1\n")(copy)
    assert copy.plan() == {"figure8": 1}


def test_a_run_that_was_accepted_still_matches_its_record(checkout, tmp_path):
    copy = checkout.copy(tmp_path / "copy")
    copy.snakemake("--touch", "--forceall", "--cores", "1")
    # The next call begins with the records that are saved beside the results.
    assert copy.plan() == {}
    append("benchc/benchmarks/bench_c/figures/figure8.py", "ADDED = 1\n")(copy)
    copy.make()
    assert "all outputs match" in copy.module("scripts.benchc", "verify", "results/small").stdout
    folders = json.loads((copy.folder / "results/small/run.json").read_text())["outputs"]
    inputs = [
        each["inputs"] for name, each in folders.items() if (copy.folder / "results/small" / name).is_dir()
    ]
    assert inputs and not any(None in each.values() for each in inputs)


def test_a_file_that_changed_since_its_record_is_refused(checkout, tmp_path):
    copy = checkout.copy(tmp_path / "copy")
    os.utime(copy.folder / "results/small/selection/selected.parquet", (1, 1))
    result = copy.snakemake("-n", check=False)
    assert result.returncode == 1
    assert "or changed since, such as results/small/selection/selected.parquet" in " ".join(
        result.stdout.split()
    )


def test_damaged_records_are_replaced_by_their_copies(checkout, tmp_path):
    copy = checkout.copy(tmp_path / "copy")
    for record in (copy.folder / ".snakemake/metadata").iterdir():
        record.write_text("")
    assert copy.plan() == {}
    append("benchc/benchmarks/bench_c/figures/figure8.py", "ADDED = 1\n")(copy)
    assert copy.plan() == {"figure8": 1}


def test_a_users_file_that_is_replaced_by_an_older_one_is_noticed(unedited):
    tsv = unedited.folder / "data/shapes.tsv"
    tsv.write_bytes(tsv.read_bytes().replace(b"?", b"!", 1))
    os.utime(tsv, (1, 1))
    assert unedited.plan()["read_source"] == 1


def test_kappa_follows_the_seed_in_both_modes(checkout):
    """Once the selectors' predictions stayed as they were where their images are in no file.

    The last test, since the runs stay edited.
    """
    files = ("results/small/selection/kappa.parquet", "results/fly/selection/kappa.parquet")
    before = [(checkout.folder / file).read_bytes() for file in files]
    PLANNED["seed"][0](checkout)
    checkout.make("kappa")
    checkout.make("kappa", "--configfile", FLY)
    small, fly = ((checkout.folder / file).read_bytes() for file in files)
    assert before[0] == before[1] != small == fly
