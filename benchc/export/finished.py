"""A finished run, as it is exported: its configuration, items and images."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

import polars as pl

from benchc.config.benchmarks import known_benchmarks, module_of
from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.config.errors import ConfigError, shown
from benchc.config.evaluation import RECORD, FinishedRun, part_of_record, read_record
from benchc.config.load import Config, validate
from benchc.config.raw import texts
from benchc.config.yaml_file import read_yaml
from benchc.errors import InputError
from benchc.models.folder import is_file
from benchc.schemas.assignment import read_assignment
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import image_levels, read_ids
from benchc.workflow.evaluation import inputs_of
from benchc.workflow.run import Run

POOL_FILE = "pool/items.parquet"
REFERENCES_FILE = "pool/references.parquet"
ASSIGNMENT_FILE = "pool/assignment.parquet"
# Of the run itself, or made again from the rows of the export.
NOT_COPIED = ("sources", "corrupted", "benchmark", "report.html", "index.html", "page", "run.json")
# Keys whose files are recorded elsewhere in the run, or are code.
NOT_INPUTS = ("name", "catalogues", "sources", "corruptions", "evaluate")
# Keys with paths of a server, or with texts for a model.
NO_PATHS = ("api_path", "prompt", "system_prompt", "instruction")
# In a command or an address.
ABSOLUTE_PATH = re.compile(r"""(?:^|[\s='"]|file://)(~[\w.-]*/[^\s'"]*|/[^\s'"/]+/[^\s'"]*)""")
# Columns with texts of items.
CONTENT = {"question", "english_question", "caption", "truth"}


@dataclass(frozen=True)
class Finished:
    """A finished run and the folder of its results.

    Attributes:
        folder: that of the results
        run: as Snakemake's rules know it
    """

    folder: Path
    run: Run

    @property
    def pool(self) -> Path:
        return self.folder / POOL_FILE

    @property
    def images_folder(self) -> str | None:
        """The folder of the corrupted images of the benchmark; None where jobs generate all of them."""
        stored = self.run.benchmark.stored_subset
        return self.run.images.folder(stored or "pool")

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the benchmark's items, in the pool's order: of all about which models are asked."""
        stored = self.run.benchmark.stored_subset
        files = [self._subset(name) for name in ([stored] if stored else self.run.benchmark.subsets)]
        if None in files:
            return read_ids(self.pool)
        found = {id_ for path in files if path is not None for id_ in read_ids(self.pool, path)}
        return [id_ for id_ in read_ids(self.pool) if id_ in found]

    @cached_property
    def other_ids(self) -> list[str]:
        """The ids of other items that models are asked about whose corrupted images are in files."""
        if self.images_folder != "corrupted" or self.run.benchmark.stored_subset is None:
            return []
        found: set[str] = set()
        for name in self.run.benchmark.subsets:
            path = self._subset(name)
            if path is not None and path.is_file():
                found.update(read_ids(self.pool, path))
        return [id_ for id_ in read_ids(self.pool) if id_ in found.difference(self.ids)]

    @cached_property
    def keys(self) -> dict[str, list[str]]:
        """The keys of the images of every item of the pool."""
        return dict(read_table(self.pool, POOL, ["id", "image_keys"]).iter_rows())

    @cached_property
    def pool_sources(self) -> set[str]:
        """The ids of the sources of the pool's items."""
        return {*read_table(self.pool, POOL, ["source"])["source"]}

    def levels(self, corruption: str, ids: Collection[str]) -> dict[str, list[int]]:
        """Return the severities of those of ``ids`` that are shown under a corruption."""
        severities = [*self.run.images.recipes[corruption].severities]
        path = self.folder / ASSIGNMENT_FILE
        if self.run.benchmark.assignment is None or severities == [0]:
            return dict.fromkeys(ids, severities)
        cells = read_assignment(path, {corruption: severities})[corruption]
        return {id_: [*cells[id_]] for id_ in ids if id_ in cells}

    def levels_of_images(self, corruption: str, ids: Collection[str]) -> dict[str, list[int]]:
        """Return the severities at which each image of ``ids`` is shown under a corruption."""
        levels = self.levels(corruption, ids)
        return image_levels(self.pool, levels.keys(), levels)

    def files(self) -> Iterator[str]:
        """Yield the files of the run by their paths, without what only a new run would use.

        Left out are records of jobs, items of whole sources, the report and tables of corrupted images.
        """
        for path in sorted(self.folder.rglob("*")):
            parts = path.relative_to(self.folder).parts
            hidden = any(part.startswith(".") for part in parts)
            if path.is_file() and not hidden and parts[0] not in NOT_COPIED:
                yield "/".join(parts)

    def inputs(self) -> list[str]:
        """Return the paths of the user's files in the configuration that are here, as it writes them.

        Code of corruptions is not among them: how images were corrupted is recorded with its path.
        """
        assert self.run.finished is not None
        own = {key: value for key, value in self.run.finished.settings.items() if key not in NOT_INPUTS}
        return sorted({text for text in _texts(own) if "/" in text and is_file(Path(text))})

    def absolute_paths(self) -> list[str]:
        """Return the absolute paths in the records of the configuration, also in commands, sorted."""
        names = (RECORD, part_of_record("sources"), part_of_record("models"))
        records = [read_yaml(self.folder / name) for name in names]
        found: set[str] = set()
        for text in _texts(records, NO_PATHS):
            whole = Path(text).is_absolute() and Path(text).exists()
            found |= {text} if whole else {*ABSOLUTE_PATH.findall(text)}
        return sorted(found)

    @cached_property
    def shows_items(self) -> set[str]:
        """The files of tables, figures and pages that may show questions or images of the pool.

        These are tables with columns of texts, and all figures and pages that are made from the pool.
        """
        content = tuple(
            f"<results>/{name}" for name in (POOL_FILE, REFERENCES_FILE, "corrupted/", "benchmark/")
        )
        found: set[str] = set()
        for output in self.run.outputs:
            given = [[each] if isinstance(each, str) else each for each in output.inputs.values()]
            from_pool = any(file.startswith(content) for several in given for file in several)
            if from_pool and (output.kind != "table" or self._has_texts(output.files)):
                found.update(output.files.values())
        return found | {file for file in self.files() if file.startswith("figures/contact_sheet_")}

    def _has_texts(self, files: Mapping[str, str]) -> bool:
        path = self.folder / files.get("csv", "")
        header = path.open(encoding="utf-8").readline() if path.is_file() else "question"
        return not CONTENT.isdisjoint(header.strip().split(","))

    def item_columns(self) -> pl.DataFrame:
        """Return what the benchmark adds to its items: a row for each of ``ids``, in order."""
        frame = pl.DataFrame({"id": self.ids}, schema={"id": pl.String})
        for file, columns in self.run.benchmark.item_columns.items():
            try:
                added = pl.read_parquet(self.folder / file, columns=["id", *columns], glob=False)
            except (OSError, pl.exceptions.PolarsError) as error:
                reason = str(error).splitlines()[0]
                raise InputError(
                    f"{self.folder / file}: cannot be read ({reason}); finish the run again"
                ) from error
            frame = frame.join(added, on="id", how="left", maintain_order="left")
        return frame

    def _subset(self, name: str) -> Path | None:
        path = self.run.benchmark.subsets[name]
        if path is None:
            return None
        return self.folder / path.removeprefix("<results>/").removeprefix(f"{self.run.results}/")


def _texts(value: object, left_out: Collection[str] = ()) -> Iterator[str]:
    """Yield all texts in the values of a configuration, but of keys that are left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            if key not in left_out:
                yield from _texts(each, left_out)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, left_out)


def read_finished(folder: Path) -> Finished:
    """Return the finished run in ``folder``, whose sources and models need not be here.

    Raises ConfigError or InputError where it is none, or lacks a table, figure or page.
    """
    named = f"RUN is {shown(str(folder))}"
    raw, sources, models = (
        read_record(folder / file, named)
        for file in (RECORD, part_of_record("sources"), part_of_record("models"))
    )
    benchmark = raw.get("benchmark")
    if benchmark not in known_benchmarks():
        raise InputError(
            f"{folder / RECORD}: there is no benchmark {shown(benchmark)}; export a finished run"
        )
    settings_type = module_of(str(benchmark), "settings").Settings
    config = _config(folder, raw, sources, models, settings_type)
    if not (folder / POOL_FILE).is_file():
        raise InputError(f"{folder} is not finished: {POOL_FILE} is missing; finish that run first")
    run = Run(config)
    # Snakemake does not miss them while the tables that were made of them are there.
    for output in run.outputs:
        for file in inputs_of(output) if output.wanted else []:
            if file.split("/")[0] not in NOT_COPIED and not (folder / file).exists():
                raise InputError(
                    f"{folder} is not complete: {file}, of which {output.name} was made, is missing; make it "
                    f"again: benchc run {quote(str(folder / RECORD))} {quote(str(folder / file))} --cores all"
                )
    return Finished(folder, run)


def _config(
    folder: Path,
    raw: Mapping[str, Any],
    sources: Mapping[str, Any],
    models: Mapping[str, Any],
    settings_type: Any,
) -> Config:
    errors: list[str] = []
    files = {name: str(folder / part_of_record(name)) for name in ("sources", "models")}
    settings = validate(settings_type, {**raw, "catalogues": files}, str(folder / RECORD), errors)
    known_sources = validate(SourceCatalogue, sources, files["sources"], errors)
    known_models = validate(ModelCatalogue, models, files["models"], errors)
    if settings is None or known_sources is None or known_models is None:
        raise ConfigError(errors)
    measured = [id_ for _, id_ in texts(raw.get(settings_type.MEASURED_KEY))]
    if missing := [id_ for id_ in settings.sources if id_ not in known_sources.root]:
        raise InputError(f"{files['sources']}: has no source {missing[0]}, which {RECORD} names; restore it")
    used = {id_: known_sources.root[id_] for id_ in settings.sources}
    others = {id_: source for id_, source in known_sources.root.items() if id_ not in used}
    finished = FinishedRun(str(folder), raw, models, measured, [])
    return Config(settings, used, known_models.root, others, finished)
