"""Load a model, and let it answer a few items; with a source, measure its accuracy."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from benchc.checking.check_items import check_items
from benchc.checking.finding import Finding, Findings
from benchc.checking.locate import LocalModel, locate
from benchc.checking.model_facts import require_folder
from benchc.checking.models import try_local
from benchc.checking.server import ask_server
from benchc.checking.trial import Trial
from benchc.checking.try_server import try_server
from benchc.command_line import PositiveInt
from benchc.config.benchmarks import known_benchmarks, module_of
from benchc.config.catalogue import Model
from benchc.config.model_catalogue import CATALOGUES, listed_model, listed_models
from benchc.config.settings import DEFAULT_SUITE
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.errors import InputError
from benchc.letters import LETTERS
from benchc.models.hub.offline import work_offline
from benchc.models.units import Recipes
from benchc.pluralize import pluralize
from benchc.printable import printable
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL

CORRUPTION = "gaussian_noise"


def check(
    id: str,
    /,
    *,
    source: str | None = None,
    items: PositiveInt = 100,
    catalogue: tuple[Path, ...] = CATALOGUES,
) -> None:
    """Load a model, and let it answer a few generated items: letters, label mass, speed, memory.

    With --source it answers items of your own, and its accuracy is printed. The model must be on this
    machine, or its Hub's cache (benchc models fetch). A model on a server is asked there; where jobs start
    the server, it is started and stopped. Nothing is written but the output of such a server:
    logs/models_check/ID.log.

    Args:
        id: id of the model in the catalogue
        source: items: a TSV file, the id of a source whose file is here, or pool/items.parquet of a run
        items: of --source, at most so many
        catalogue: model catalogues; of several entries with one id, the first is taken
    """
    work_offline()
    model = listed_model(id, listed_models(catalogue)).model
    require_folder(id, model)
    found = _found(id, model)
    asked = check_items(source, items)
    if found is not None:
        adapter = model.adapter_repo or model.adapter_folder
        print(f"{id}: {found.folder}{f' with the adapter {adapter}' if adapter else ''}", flush=True)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.parquet"
        write_table(asked, path, POOL)
        recipe = recipe_of(CORRUPTION, suite_with(DEFAULT_SUITE, []), "benchc")
        options = int(asked["options"].list.len().to_numpy().max())
        images = Recipes([clean_recipe(), recipe], 0, "drop")
        findings = (
            try_local(id, model, found, path, images, options)
            if model.server is None and found is not None
            else try_server(id, model, path, images, None if found is None else found.source.revision)
        )
        failed, trial = shown_findings(findings)
    if trial is not None and not failed:
        for line in lines(model, asked, trial, given=source is not None):
            print(line)
    if failed:
        raise SystemExit(1)


def _found(id_: str, model: Model) -> LocalModel | None:
    """Return where a model is; None, after a line about the server, where a running one has it.

    Raises InputError where the model is not here, or its server does not answer.
    """
    if model.server is not None and model.server.url is not None:
        # Without the many attempts and the patience of a job.
        answers = next(ask_server(id_, model, model.server, model.server.url))
        print(printable(f"{answers.level}: {answers.text}"), flush=True)
        return None
    found = locate(id_, model, None)
    if isinstance(found, Finding):
        raise InputError(f"{id_}: {found.text}; a model that a run trains is checked in the run")
    return found


def shown_findings(findings: Findings[Trial | None]) -> tuple[bool, Trial | None]:
    """Print findings as they are made; return whether one is an error, and the trial."""
    failed = False
    while True:
        try:
            finding = next(findings)
        except StopIteration as stop:
            return failed, stop.value
        failed = failed or finding.level == "error"
        print(printable(f"{finding.level}: {finding.text}"), flush=True)


def lines(model: Model, items: pl.DataFrame, trial: Trial, *, given: bool) -> list[str]:
    """Return what a trial measured that its findings do not say."""
    found = []
    if trial.letters:
        pairs = zip(LETTERS, trial.letters, strict=False)
        found.append(f"letters: {', '.join(f'{letter} is token {token}' for letter, token in pairs)}")
    chance = float(np.mean(1 / items["options"].list.len().to_numpy()))
    what = "clean accuracy" if given else "generated items"
    found.append(
        f"{what}: {trial.correct} of {pluralize(trial.answered, 'item')} correct "
        f"({100 * trial.correct / trial.answered:.1f} %, chance is {100 * chance:.1f} %)"
    )
    if given:
        found += published(model.label)
    return found


def published(label: str) -> list[str]:
    """Return the accuracies of a model that benchmarks publish, which are on other items."""
    found = []
    for benchmark in known_benchmarks():
        try:
            part = module_of(benchmark, "published.accuracy")
        except InputError:  # it publishes none
            continue
        if (text := part.published_accuracy(label)) is not None:
            found.append(f"published: {text}")
    return found
