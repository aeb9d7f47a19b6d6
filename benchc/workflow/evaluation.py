"""A run that evaluates models on the benchmark of a finished one, whose files it takes."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from benchc.config.evaluation import FinishedRun
from benchc.errors import InputError
from benchc.rendering.declaration import Output
from benchc.workflow.sources import local
from benchc.workflow.stage import as_json

# Files of tables, figures and pages, and those that describe all models of a run or the run itself.
SHOWN = re.compile(r"(tables|figures|pages)/|models\.json$|config[^/]*\.yaml$")
# Figures of the pool, which no benchmark declares.
OF_POOL = re.compile(r"figures/contact_sheet_")
RESULTS = "<results>/"


def taken_files(
    finished: FinishedRun, outputs: Collection[Output], made_from: tuple[str, ...]
) -> dict[str, str]:
    """Return the files of a finished run that another one may take, by their paths in its folder.

    These are all but what belongs to the models that are evaluated now, the record of the configuration, and
    tables, figures and pages of all models. ``outputs``: the declarations of the run; ``made_from``: folders
    of predictions from which the benchmark is made, also by models that are evaluated now. Raises InputError
    where the finished run lacks a table, figure or page.
    """
    folder = Path(local(finished.folder))
    wanted = [file for output in outputs if output.wanted for file in output.files.values()]
    if missing := [file for file in wanted if not (folder / file).is_file()]:
        raise InputError(
            f"{folder} is not finished: {missing[0]} is missing; finish that run first: benchc run "
            f"{folder}/config.yaml --cores all"
        )

    def is_new(file: str) -> bool:
        return not new.isdisjoint(Path(file).parts) and not file.startswith(made_from)

    new = {name for id_ in finished.new for name in (id_, f"{id_}.parquet", f"{id_}.json", f"{id_}.csv")}
    unchanged = _unchanged(finished, outputs, is_new)
    files = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        file: str(folder / file)
        for file in files
        if (file in unchanged or OF_POOL.match(file) or not SHOWN.match(file))
        and not is_new(file)
        and not any(part.startswith(".") for part in Path(file).parts)
    }


def _unchanged(finished: FinishedRun, outputs: Collection[Output], is_new: Callable[[str], bool]) -> set[str]:
    """Return the files of outputs that need no model which is evaluated now, nor another output that does."""
    left = list(outputs)
    unknown = [id_ for id_ in finished.new if id_ not in finished.models]
    while True:
        files = {file for output in left for file in output.files.values()}

        def is_unchanged(output: Output, files: Collection[str] = files) -> bool:
            given = [[each] if isinstance(each, str) else each for each in output.inputs.values()]
            inputs = [each.removeprefix(RESULTS) for several in given for each in several]
            return not any(
                is_new(each) or (SHOWN.match(each) and each not in files) for each in inputs
            ) and not any(id_ in as_json(output.settings) for id_ in unknown)

        kept = [output for output in left if is_unchanged(output)]
        if len(kept) == len(left):
            return files
        left = kept


def faults_of_evaluation(
    finished: FinishedRun, results: str, jobs: Iterable[tuple[str, Collection[str], Sequence[str]]]
) -> Iterator[str]:
    """Yield why a run may not begin: a job would make a part of the benchmark, or ask a model of that run.

    ``jobs``: of each that is going to run its rule, the values of its wildcards, and its outputs;
    ``results``: the folder of the run.
    """
    for rule, values, outputs in jobs:
        own = [
            Path(output).relative_to(results).as_posix()
            for output in outputs
            if output.startswith(f"{results}/")
        ]
        lacking = [file for file in own if not SHOWN.match(file)]
        if lacking and rule != "take" and not set(finished.new) & set(values):
            yield (
                f"{finished.folder} lacks {lacking[0]}, which is needed to evaluate models on its benchmark "
                f"and which the rule {rule} would make; make it there first: benchc run "
                f"{finished.folder}/config.yaml --cores all {finished.folder}/{lacking[0]}"
            )
            return
