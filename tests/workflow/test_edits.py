"""What a dry run plans after one edit, with images in files and generated on the fly; no edit is run."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.workflow.checkout import Checkout

FLY = "config/fly.yaml"
EDITED = ("Snakefile", "rules", "scripts", "benchc", "config", "data")
Edit = Callable[[Checkout], object]


@pytest.fixture(scope="module")
def checkout(finished: Checkout) -> Checkout:
    """The finished run, and one that differs only in that jobs generate their images."""
    if not (finished.folder / FLY).exists():
        config = yaml.safe_load((finished.folder / finished.config).read_text())
        config |= {"name": "fly", "corruptions": {**config["corruptions"], "corrupted": "on_the_fly"}}
        (finished.folder / FLY).write_text(yaml.safe_dump(config, sort_keys=False))
    finished.snakemake("--configfile", FLY, "--cores", "2")
    return finished


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


def ruff_format(checkout: Checkout) -> None:
    command = ["ruff", "format", "--isolated", "--line-length", "60", "benchc", "scripts"]
    subprocess.run(command, cwd=checkout.folder, check=True)


def readme_in_a_model_folder(checkout: Checkout) -> None:
    (checkout.folder / "checkpoints/texts/README.md").write_text("About this model.\n")


def new_types(*types: str) -> Edit:
    return configure(lambda config: config["corruptions"].update(types=list(types)))


NOTHING: dict[str, Edit] = {
    "a comment in a module that all use": append("benchc/errors.py", "# A comment.\n"),
    "a comment in a script": append("scripts/infer.py", "# A comment.\n"),
    "a docstring": replace("benchc/models/chat.py", "A loaded chat model of", "The chat model of"),
    "ruff format": ruff_format,
    "a README in a model folder": readme_in_a_model_folder,
    "the same folder by an absolute path": absolute_folder,
    "keys of a catalogue in another order": lambda checkout: model()(checkout),
    "memory of a model's jobs": model(mem_mb=3000),
}


@pytest.mark.parametrize("config", ["config/small.yaml", FLY])
@pytest.mark.parametrize("name", NOTHING)
def test_harmless_edits_plan_nothing(unedited, name, config):
    NOTHING[name](unedited)
    try:
        assert unedited.plan("--configfile", config) == {}
    finally:
        (unedited.folder / "checkpoints/texts/README.md").unlink(missing_ok=True)
