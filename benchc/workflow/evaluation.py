"""A run that evaluates models on the benchmark of a finished one, whose files it takes."""

import json
import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from benchc.config.evaluation import FinishedRun
from benchc.errors import InputError
from benchc.rendering.declaration import Output
from benchc.workflow.sources import local
from benchc.workflow.stage import as_json

# Files of tables, figures and pages, and those that describe all models of a run or the run itself.
SHOWN = r"(?:tables|figures|pages|page)/|index\.html$|models\.json$|run\.json$|config[^/]*\.yaml$"
# Figures of the pool, which no benchmark declares.
OF_POOL = r"figures/contact_sheet_.+"
RESULTS = "<results>/"
WHOLE_SOURCES = "sources/"
EXPORT = "manifest.json"  # of a run that was made from an export (benchc/export)


def taken_pattern(finished: FinishedRun, outputs: Collection[Output], made_from: tuple[str, ...]) -> str:
    """Return the pattern of the files that a run takes from a finished one, by their paths in its folder.

    These are all but what belongs to the models that are evaluated now, the record of the configuration, and
    tables, figures and pages of all models. ``outputs``: the declarations of the run; ``made_from``: folders
    of predictions from which the benchmark is made, also by models that are evaluated now. Raises InputError
    where the finished run lacks a table, figure or page.
    """
    folder = Path(local(finished.folder))
    absent = not_passed_on(folder)
    outputs = [output for output in outputs if absent.isdisjoint(output.files.values())]
    wanted = [file for output in outputs if output.wanted for file in output.files.values()]
    if missing := [file for file in wanted if not (folder / file).is_file()]:
        raise InputError(f"{folder} is not finished: {missing[0]} is missing; {_advice(finished)}")
    if clash := sorted(set(finished.new) & _names(folder, {*finished.models, *finished.measured})):
        raise InputError(
            f"evaluate.models has {clash[0]}, which is the name of a file or folder of {folder}; give the "
            "model another id"
        )
    new = "|".join(map(re.escape, finished.new))
    of_new_model = rf"(?:.*/)?(?:{new})(?:\.parquet|\.json|\.csv)?(?:/|$)"
    unchanged = sorted(_unchanged(finished, outputs, made_from, of_new_model))
    of_pool = [] if any(re.fullmatch(OF_POOL, file) for file in absent) else [OF_POOL]
    patterns = [*map(re.escape, unchanged), *of_pool, *(f"{re.escape(made)}.+" for made in made_from)]
    return "|".join([*patterns, f"(?!{SHOWN})(?!{of_new_model}).+"])


def outputs_made_of(finished: FinishedRun, outputs: Iterable[Output]) -> list[Output]:
    """Return the outputs whose inputs are here.

    A run that was made from an export has no whole sources, so some of the outputs that were not passed on,
    since they show items of withheld sources, cannot be made again.
    """
    folder = Path(local(finished.folder))
    absent = not_passed_on(folder)
    return [
        output
        for output in outputs
        if absent.isdisjoint(output.files.values())
        or all((folder / file).exists() for file in inputs_of(output) if file.startswith(WHOLE_SOURCES))
    ]


def not_passed_on(folder: Path) -> set[str]:
    """Return the tables, figures and pages that a run which was made from an export does not have."""
    path = folder / EXPORT
    return set(json.loads(path.read_text(encoding="utf-8"))["left_out"]) if path.is_file() else set()


def _names(folder: Path, models: Collection[str]) -> set[str]:
    """Return the names in all folders of results but those with one of the ``models``, without suffixes."""
    found: set[str] = set()
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]  # such as the records of jobs
        names = {re.sub(r"\.(parquet|json|csv)$", "", name) for name in (*folders, *files)}
        found |= set() if names & set(models) else names
    return found


def taken_file(finished: FinishedRun, file: str) -> str:
    """Return a file of the finished run, given its path in that run's folder.

    Raises InputError where it is absent.
    """
    folder = Path(local(finished.folder))
    if not (folder / file).exists():
        raise InputError(
            f"{folder} lacks {file}, which is needed to evaluate models on its benchmark; {_advice(finished)}"
        )
    return str(folder / file)


def _unchanged(
    finished: FinishedRun, outputs: Collection[Output], made_from: tuple[str, ...], of_new_model: str
) -> set[str]:
    """Return the files of outputs that need no model which is evaluated now, nor another output that does."""
    left = list(outputs)
    unknown = [id_ for id_ in finished.new if id_ not in finished.models]
    while True:
        files = {file for output in left for file in output.files.values()}

        def changes(file: str, files: Collection[str] = files) -> bool:
            if file.startswith(made_from):
                return False
            return bool(re.match(of_new_model, file) or (re.match(SHOWN, file) and file not in files))

        kept = [
            output
            for output in left
            if not any(map(changes, inputs_of(output)))
            and not any(f'"{id_}"' in as_json(output.settings) for id_ in unknown)
        ]
        if len(kept) == len(left):
            return files
        left = kept


def inputs_of(output: Output) -> list[str]:
    """Return the inputs of an output, those of the run by their paths in its folder."""
    given = [[each] if isinstance(each, str) else each for each in output.inputs.values()]
    return [each.removeprefix(RESULTS) for several in given for each in several]


def _advice(finished: FinishedRun) -> str:
    """Return what to do about a file that the finished run lacks."""
    made = Path("results", str(finished.settings.get("name")))
    if Path(local(finished.folder)) == made:
        return f"finish that run first: benchc run {made}/config.yaml --cores all"
    return f"copy all files from where the run {made.name} was made"
