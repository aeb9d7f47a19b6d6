"""Every block of commands is run on a small folder, or parsed by the programs that it calls."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest
from PIL import Image

from scripts.benchc import app_with, commands
from scripts.command import command_line
from scripts.stage import stage_function
from tests.corruptions.photos import photo
from tests.docs.blocks import PAGES, ROOT, Block, all_blocks, blocks_of, example, text_of

RUN = "run"
DEMO = "needs a finished run; tests/workflow, tests/export and make check-demo call the same commands"
HOURS = "a run of hours or minutes; tests/workflow and the demos of make check-demo run the same rules"
INSTALLS = "installs packages; make and tests/test_installed.py do"
CLUSTER = "needs a cluster; tests/workflow/slurm has a real SLURM"
MODELS = "needs weights, a network or a GPU; tests/checking, tests/models, tests/workflow have small models"
PUBLISHED = "needs the published files; the tests of its benchmark have small ones"
RECIPE = "its recipe is not in the repository; tests/workflow/test_new_benchmark.py and others follow one"
ITSELF = "runs tests, or writes files of the repository that tests compare"

# Each block by page and first command: that it is run below, or why it is only parsed.
TREATED = {
    "README.md": {
        "git clone <this repository> benchc": INSTALLS,
        "benchc evaluate --benchmark results/demo --model checkpoints/my-model": DEMO,
        "pip install benchc-*.whl": RUN,
        "make demo CONFIG=config/demo-r-bench.yaml": HOURS,
        "benchc new config/mine.yaml --source my.tsv --model checkpoints/my-model owner/their-model "
        "qwen2.5-vl-7b --gpus 1": MODELS,
    },
    "CONTRIBUTING.md": {
        "make install": INSTALLS,
        "python -m scripts.stage write_corruption_reference": ITSELF,
        "python -m pytest -q tests/corruptions/test_registry.py tests/corruptions/test_corrupt.py "
        "tests/corruptions/test_reference.py": ITSELF,
        "python -m scripts.stage contact_sheet --suite imagenet-c --corruptions darken --image photo.jpg "
        "--output-prefix sheet": RECIPE,
        "python -m pytest -q tests/config/test_shipped.py tests/test_envs.py": ITSELF,
        "snakemake results/trial/scores/my-model.parquet --configfile config/trial.yaml --cores 2": RECIPE,
        "python -m scripts.stage read_source --tsv my.tsv --source my-source --parquet items.parquet "
        "--report report.csv": RUN,
        "python -m pytest -q tests/config/test_shipped.py": ITSELF,
        "snakemake results/trial/pool/items.parquet --configfile config/trial.yaml --cores 1": HOURS,
        "snakemake kept_tasks --configfile config/trial.yaml --cores 1": RECIPE,
        "python -m pytest -q tests/workflow/test_captions.py tests/workflow/test_outputs.py": ITSELF,
        "python -m scripts.stage bench_c.count --selected results/trial/selection/selected.parquet "
        "--output counts.csv": RECIPE,
        "python -m scripts.stage write_config_reference": ITSELF,
        "python -m pytest -q tests/test_layout.py tests/config tests/benchmarks/my_bench": ITSELF,
    },
    "docs/cluster.md": {"benchc site --account my_project": CLUSTER},
    "docs/compare.md": {"benchc compare results/mine results/mine-2": DEMO},
    "docs/corruptions.md": {
        "benchc corrupt photos --corruption fog --output corrupted --seed 1": RUN,
        "benchc image results/demo drawn-charts/2 fog 3 --output foggy.png": DEMO,
    },
    "docs/evaluate.md": {"benchc evaluate --benchmark results/demo --model checkpoints/my-model": DEMO},
    "docs/export.md": {"benchc export results/demo my-export --repo OWNER/NAME": DEMO},
    "docs/first-run.md": {". .venv/bin/activate": RUN},
    "docs/install.md": {
        "make install": INSTALLS,
        "pip install benchc-*.whl": INSTALLS,
        "pip uninstall opencv-python": INSTALLS,
    },
    "docs/mllm-ic.md": {"benchc run config/demo-mllm-ic.yaml --cores 2": HOURS},
    "docs/models.md": {
        "vllm serve Qwen/Qwen2.5-VL-7B-Instruct --enable-lora --lora-modules mine=loras/mine "
        "--max-lora-rank 64": MODELS,
        "snakemake fetch_models --configfile config/mine.yaml --cores 1": MODELS,
        "benchc models list": MODELS,
        "python -c \"from benchc.schemas.parquet import read_footer; print(read_footer('results/demo/"
        "predictions/selected/tiny-llava-l/all.parquet'))\"": DEMO,
        "benchc cache prune --model Qwen/Qwen2.5-VL-7B-Instruct": MODELS,
    },
    "docs/naturalbench.md": {
        "benchc run config/naturalbench.yaml --cores 9": HOURS,
        "benchc naturalbench-tsv train-*.parquet --output naturalbench.tsv": PUBLISHED,
        "benchc run config/naturalbench-curate.yaml --cores 8": HOURS,
        "benchc run config/my-photos.yaml --cores 2": HOURS,
    },
    "docs/own-data.md": {
        "hf download OWNER/NAME --repo-type dataset --include 'data/test-*' --local-dir /data/name": PUBLISHED
    },
    "docs/own-run.md": {". .venv/bin/activate": MODELS},
    "docs/r-bench.md": {
        "benchc run config/demo-r-bench.yaml --cores 2": HOURS,
        "benchc r-bench-pairs data/*.parquet --tsv=results/r-bench/released.tsv "
        "--images=results/r-bench/released.parquet": PUBLISHED,
    },
    "docs/reproduce.md": {"benchc check config/r-bench.yaml": MODELS},
    "docs/results-page.md": {
        "benchc view results/demo": DEMO,
        "benchc view results/demo results/demo-tiny-llava-s": DEMO,
    },
    "docs/rerun.md": {"benchc what-reruns config/mine.yaml": HOURS},
    "docs/vqa-robustness.md": {
        "benchc run config/demo-vqa-robustness.yaml --cores 2": HOURS,
        "snakemake references results/<name>/corrupted/{clean,shot_noise,snow}.parquet --configfile FILE "
        "--cores 8": HOURS,
        "benchc vre errors.csv --output vre": RUN,
    },
}
# Files that a reader writes.
WRITTEN = {f"config/{name}.yaml" for name in ("mine", "trial", "my-bench", "my-photos")} | {"FILE"}
WRITTEN |= {"tests/benchmarks/my_bench", "bench_c.count"}
OUTSIDE = {"git", "vllm", "hf", "cat", "cd", "."}

SH = blocks_of("sh")
PYTHON = f"exec {sys.executable}"
PROGRAMS = {"benchc": f"{PYTHON} -m scripts.benchc", "python": PYTHON, "pip": "true"}


PIP = """
import sys
from pip._internal.commands import create_command
create_command(sys.argv[1]).parse_args(sys.argv[2:])
"""


def commands_of(block: Block) -> list[str]:
    """Return the commands of a block, without comments and continued lines."""
    text = block.text.replace("\\\n", "")
    lines = (re.sub(r"(^|\s+)# .*", "", line) for line in text.splitlines())
    return [" ".join(part.split()) for line in lines for part in line.split(" && ") if part.strip()]


def test_every_block_of_commands_has_an_entry_and_every_entry_a_block() -> None:
    entries = [(page, first) for page, firsts in TREATED.items() for first in firsts]
    found = [(block.page, commands_of(block)[0]) for block in SH]
    missing = set(found) - set(entries)
    advice = "say in TREATED that it is run, and run it below, or why it is only parsed"
    assert not missing, f"{advice}: {missing}"
    assert sorted(found) == sorted(entries)
    languages = {"sh", "python", "yaml", "json", "text", "console", "{eval-rst}"}
    assert {block.language for block in all_blocks()} <= languages


@pytest.mark.parametrize("block", SH, ids=lambda block: block.place)
def test_commands_are_accepted_by_their_parsers(block: Block) -> None:
    for command in commands_of(block):
        parse(shlex.split(command))


def parse(words: list[str]) -> None:
    program, *arguments = words
    if program == "pip":
        # Not here: an import of pip switches setuptools off, without which torch compiles nothing.
        subprocess.run([sys.executable, "-c", PIP, *arguments], check=True)
    elif program == "pre-commit":
        assert arguments == ["install"]
    elif program in PARSERS:
        PARSERS[program](arguments)
    else:
        assert program in OUTSIDE, f"parse {program} here"


def parse_benchc(arguments: list[str]) -> None:
    app = app_with(arguments[:1])
    if arguments == ["--install-completion"]:
        assert "--install-completion" in app
        return
    _, bound, _ = app.parse_args(arguments, exit_on_error=False, print_error=False)
    if arguments[0] in ("run", "what-reruns", "evaluate"):
        parse_snakemake(list(bound.arguments.get("options", ())))
    config = bound.arguments.get("config")
    assert config is None or str(config) in WRITTEN or (ROOT / config).is_file(), config


def parse_snakemake(arguments: list[str]) -> None:
    from snakemake.cli import get_argument_parser

    parsed = get_argument_parser().parse_args(arguments)
    for file in parsed.configfile or ():
        assert str(file) in WRITTEN or (ROOT / file).is_file(), file
    for profile in [parsed.profile or []]:
        assert all((ROOT / name / "profile.yaml").is_file() for name in profile)


def parse_make(arguments: list[str]) -> None:
    text = (ROOT / "Makefile").read_text()
    for word in arguments:
        name, _, value = word.partition("=")
        if value:
            assert re.search(rf"^{name} \?=|\$\({name}\)|\$\(if \$\({name}\)", text, re.MULTILINE), word
            assert not value.startswith("config/") or (ROOT / value).is_file()
        else:
            assert re.search(rf"^\.PHONY:.* {name}( |$)", text, re.MULTILINE), word


def parse_python(arguments: list[str]) -> None:
    match arguments:
        case ["-m", "scripts.stage", stage, *options]:
            if stage not in WRITTEN:
                app = command_line(stage)
                app.default(stage_function(stage))
                app.parse_args(options, exit_on_error=False, print_error=False)
        case ["-m", "pytest", *files]:
            for file in files:
                assert file == "-q" or file in WRITTEN or (ROOT / file).exists(), file
        case ["-m", module]:
            assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file()
        case ["-c", code]:
            resolve_imports(code)
        case _:
            raise AssertionError(f"parse python {arguments} here")


def resolve_imports(code: str) -> None:
    """Check that code can be parsed, and that what it imports of the project is there."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("benchc"):
            module = import_module(str(node.module))
            for name in node.names:
                # Of a package, it may be a module.
                if not hasattr(module, name.name):
                    import_module(f"{node.module}.{name.name}")


PARSERS = {"benchc": parse_benchc, "snakemake": parse_snakemake, "make": parse_make, "python": parse_python}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An own folder with what the blocks that are run need, and programs that are those of this checkout."""
    (tmp_path / "bin").mkdir()
    for name, call in PROGRAMS.items():
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\n{call} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    activate = tmp_path / ".venv/bin/activate"
    activate.parent.mkdir(parents=True)
    activate.touch()
    (tmp_path / "photos").mkdir()
    Image.fromarray(photo("cat", 96, 128)).save(tmp_path / "photos/cat.png")
    for name in ("sales", "before", "after"):
        shutil.copy(tmp_path / "photos/cat.png", tmp_path / f"{name}.png")
    shutil.copy(ROOT / "benchc/benchmarks/vqa_robustness/published/table_a1.csv", tmp_path / "errors.csv")
    return tmp_path


def run(folder: Path, text: str) -> str:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-euo", "pipefail", "-c", text]
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def block_that_begins(page: str, first: str) -> str:
    (found,) = (block for block in SH if block.page == page and commands_of(block)[0] == first)
    assert TREATED[page][first] == RUN
    return found.text


def test_a_folder_is_corrupted_and_errors_are_scored(folder: Path) -> None:
    run(folder, block_that_begins("README.md", "pip install benchc-*.whl"))
    written = {str(path.relative_to(folder / "corrupted")) for path in folder.glob("corrupted/*/*/*.png")}
    assert {f"fog/{severity}/cat.png" for severity in range(1, 6)} <= written
    assert len(written) == 5 + 28 * 3
    again = "benchc corrupt photos --corruption fog --output corrupted --seed 1"
    shutil.rmtree(folder / "corrupted")
    run(folder, block_that_begins("docs/corruptions.md", again))
    assert len(list(folder.glob("corrupted/fog/*/cat.png"))) == 5
    scored = block_that_begins("docs/vqa-robustness.md", "benchc vre errors.csv --output vre")
    assert "| ViLT " in run(folder, scored)
    assert (folder / "vre/figure_accuracy.png").is_file()


def test_own_data_become_items_and_a_trial(folder: Path) -> None:
    run(folder, f"python - <<'END'\n{example('docs/own-data.md', 'python', 'my.tsv')}END")
    (read,) = (text for text in TREATED["CONTRIBUTING.md"] if "read_source" in text)
    assert "3" in run(folder, block_that_begins("CONTRIBUTING.md", read))
    assert (folder / "items.parquet").is_file()
    trial = block_that_begins("docs/first-run.md", ". .venv/bin/activate")
    # The same run, of which Snakemake only says what it would do.
    shown = run(folder, trial.replace("figure1a\n", "figure1a --full -n\n"))
    assert "figure1a" in shown and (folder / "config/trial.yaml").is_file()


@pytest.mark.parametrize("block", blocks_of("python"), ids=lambda block: block.place)
def test_python_can_be_parsed_and_its_imports_are_there(block: Block) -> None:
    if re.search(r"^(rule|module) ", block.text, re.MULTILINE):
        from snakefmt.formatter import Formatter
        from snakefmt.parser.parser import Snakefile

        whole = re.sub(r"^ +\.\.\.\n|, \.\.\.", "", block.text, flags=re.MULTILINE)
        assert Formatter(Snakefile(StringIO(whole))).get_formatted()
    else:
        resolve_imports(block.text)


def test_spans_of_code_name_commands_that_exist() -> None:
    known = {*commands(), "COMMAND"}
    for page in PAGES:
        for span in re.findall(r"`benchc\s+([^`]+)`", text_of(page)):
            name = span.split()[0]
            assert name in known or name.startswith("--"), f"{page}: benchc {span}"
