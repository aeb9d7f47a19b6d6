"""The installed package, and runs in other folders than the checkout's."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from PIL import Image

from benchc.workflow.code import code_of

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILT_FROM = (
    *("Snakefile", "rules", "scripts", "benchc", "config", "envs", "slurm", "snakemake_logger_plugin_stages"),
    *("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"),
)
BUILD = "import sys; from setuptools import build_meta as b; b.build_{}(sys.argv[1])"
COMMAND = "from benchc.console import main; main()"
MODELS = "results/demo/models.json"


def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": "", **environment},
        text=True,
        capture_output=True,
        check=False,
    )


def built(kind: str, source: Path, folder: Path) -> Path:
    folder.mkdir()
    done = run(sys.executable, "-c", BUILD.format(kind), folder, cwd=source)
    assert done.returncode == 0, done.stderr
    return next(folder.iterdir())


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for part in BUILT_FROM:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / part, source / part)
    return built("wheel", source, folder / "built")


@pytest.fixture(scope="module")
def site(wheel: Path) -> Path:
    """The folder in which the wheel is installed, alone."""
    folder = wheel.parents[1] / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def required(requirements: Iterable[str]) -> set[str]:
    """Return the distributions that are installed for requirements, without extras, transitively."""
    found: set[str] = set()
    pending = [Requirement(line) for line in requirements]
    while pending:
        requirement = pending.pop()
        if requirement.name in found or (
            requirement.marker and not requirement.marker.evaluate({"extra": ""})
        ):
            continue
        try:
            pending += map(Requirement, distribution(requirement.name).requires or ())
        except PackageNotFoundError:  # the lock leaves out the desktop OpenCV
            continue
        found.add(requirement.name)
    return found


@pytest.fixture(scope="module")
def light(site: Path) -> list[str]:
    """Python with the wheel and what its light installation requires, and nothing else."""
    folder = site.parent / "light"
    folder.mkdir()
    for name in required(PROJECT["dependencies"]):
        files = distribution(name).files or ()
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            link = folder / top
            if not link.exists():
                link.symlink_to(distribution(name).locate_file(top))
    return [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {[str(site), str(folder)]}\n"]


def light_python(
    light: list[str], code: str, *arguments: object, cwd: Path
) -> subprocess.CompletedProcess[str]:
    *options, prepared = light
    return run(*options, prepared + code, *arguments, cwd=cwd)


def test_the_wheel_has_the_pipeline_as_data_and_no_package_scripts(wheel: Path) -> None:
    found = names(wheel)
    tops = {name.split("/")[0] for name in found}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "benchc",
        "snakemake_logger_plugin_stages",
    }
    tracked = subprocess.run(
        ["git", "ls-files", "Snakefile", "rules", "scripts", "envs", "slurm", "config"],
        cwd=ROOT, text=True, capture_output=True, check=True,
    ).stdout.split()  # fmt: skip
    assert {f"benchc/pipeline/{file}" for file in tracked} <= found
    files = subprocess.run(
        ["git", "ls-files", "benchc"], cwd=ROOT, text=True, capture_output=True, check=True
    ).stdout.split()
    assert set(files) <= found


def test_the_source_archive_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = built("sdist", wheel.parents[1] / "source", tmp_path / "sdist")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "source", filter="data")
    again = built("wheel", next((tmp_path / "source").iterdir()), tmp_path / "wheel")
    assert names(again) == names(wheel)


def test_no_heavy_package_is_required_by_a_light_installation() -> None:
    assert not required(PROJECT["dependencies"]) & {"torch", "transformers", "snakemake", "pydantic"}


def test_a_light_installation_corrupts_and_scores(light: list[str], tmp_path: Path) -> None:
    def call(*arguments: object) -> str:
        done = light_python(light, COMMAND, *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "photos").mkdir()
    pixels = np.random.default_rng(1).integers(0, 256, (40, 50, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photos/a.png")
    call("corrupt", "photos", "--corruption", "brightness", "--severities", 2, "--output", "out", "--seed", 4)
    code = (
        "import numpy as np\nfrom benchc.corruptions import corrupt\n"
        "import benchc.corruptions.one_image\nfrom benchc.corruptions import corrupt as same\n"
        "assert corrupt is same\n"
        "pixels = np.random.default_rng(1).integers(0, 256, (40, 50, 3), np.uint8)\n"
        "np.save('brighter.npy', corrupt(pixels, 'brightness', 2, seed=4))"
    )
    assert light_python(light, code, cwd=tmp_path).stderr == ""
    # No random numbers decide this corruption.
    written = np.asarray(Image.open(tmp_path / "out/brightness/2/a.png"))
    assert np.array_equal(written, np.load(tmp_path / "brighter.npy")) and not np.array_equal(written, pixels)
    errors = ROOT / "benchc/benchmarks/vqa_robustness/published/table_a1.csv"
    assert "| ViLT " in call("vre", errors, "--output", "vre")
    assert (tmp_path / "vre/figure_accuracy.png").is_file()


def test_commands_of_the_pipeline_name_the_extra(light: list[str], tmp_path: Path) -> None:
    for command in (["run", "config/demo.yaml"], ["check"], ["models", "list"]):
        done = light_python(light, COMMAND, *command, cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr == "error: this command needs the pipeline; pip install 'benchc[pipeline]'\n"


def installed(site: Path, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-c", COMMAND, *arguments, cwd=cwd, PYTHONPATH=str(site))


def test_an_installed_package_runs_in_any_folder(site: Path, tmp_path: Path) -> None:
    source = "results/demo/sources/drawn-text.parquet"
    done = installed(site, "run", "config/demo.yaml", "--cores", 2, MODELS, source, "--full", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"results", "logs", ".snakemake"}
    assert (tmp_path / MODELS).is_file() and (tmp_path / source).is_file()
    # The records are those of a checkout.
    code = "from benchc.workflow.code import code_of; print(*code_of('scripts/pool.py'), sep='\\n')"
    found = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(site)).stdout
    assert found.splitlines() == code_of("scripts/pool.py")
    again = installed(site, "what-reruns", "config/demo.yaml", MODELS, source, cwd=tmp_path)
    assert "nothing to rerun" in again.stdout, again.stderr


def test_a_configuration_is_written_where_the_user_is(site: Path, tmp_path: Path) -> None:
    done = installed(site, "new", "mine.yaml", "--source", "drawn-text", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"mine.yaml"}


def test_a_folder_with_a_package_that_would_hide_the_code_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/__init__.py").touch()
    done = snakemake("--directory", tmp_path, "-n", cwd=ROOT)
    assert done.returncode == 1
    assert (
        "scripts/__init__.py: would be imported in place of benchc's own scripts" in done.stdout + done.stderr
    )


def snakemake(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "snakemake", *arguments, cwd=cwd)


def test_a_checkout_writes_to_another_directory(tmp_path: Path) -> None:
    there = ROOT / MODELS  # of a run in the checkout, if there is one
    before = there.stat().st_mtime_ns if there.exists() else None
    chosen = ["--directory", tmp_path, "--configfile", "config/demo.yaml", "--cores", 1]
    done = snakemake(MODELS, *chosen, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"results", "logs", ".snakemake"}
    assert (there.stat().st_mtime_ns if there.exists() else None) == before
    assert "Nothing to be done" in snakemake(MODELS, *chosen, "-n", cwd=ROOT).stdout


def test_another_workflow_uses_the_rules(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(f'''\
import yaml
from pathlib import Path


module benchc:
    snakefile:
        "{ROOT}/Snakefile"
    config:
        yaml.safe_load(Path("{ROOT}/config/demo.yaml").read_text())


use rule * from benchc as benchc_*


rule size:
    default_target: True
    input:
        "{MODELS}",
    output:
        "size.txt",
    shell:
        "wc -c < {{input}} > {{output}}"
''')
    done = snakemake("--cores", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert int((tmp_path / "size.txt").read_text()) == (tmp_path / MODELS).stat().st_size
    # The paper's tables are not the other workflow's target.
    assert {path.name for path in (tmp_path / "results/demo").iterdir()} == {"models.json"}
    file = tmp_path / "Snakefile"
    file.write_text(
        file.read_text().replace("    config:\n", '    prefix:\n        "elsewhere"\n    config:\n')
    )
    refused = snakemake("-n", cwd=tmp_path)
    assert "prefix does not change the paths in settings" in refused.stdout + refused.stderr
