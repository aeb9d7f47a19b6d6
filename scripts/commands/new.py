"""Write a small configuration for your own data and models."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from benchc.atomic import write_text
from benchc.command_line import Json, NaturalInt
from benchc.config.benchmarks import benchmarks_with, known_benchmarks, module_of
from benchc.config.errors import ConfigError, shown
from benchc.config.load import load
from benchc.config.new_entries import TASK_COLUMNS, Entry, model_entry, source_entry, with_adapter
from benchc.config.new_files import catalogue_text, config_text
from benchc.config.settings import Inference
from benchc.config.strict import unique
from benchc.config.yaml_file import read_mapping
from benchc.errors import InputError
from benchc.home import shipped
from benchc.pluralize import pluralize
from benchc.sources.tsv import RENAMED
from benchc.suggestion import suggestion
from benchc.user_paths import relative_path

DEMO = "config/demo.yaml"


def new(
    file: Path,
    /,
    *,
    source: list[str],
    model: tuple[str, ...] = (),
    selector: tuple[str, ...] = (),
    name: str | None = None,
    task_column: str | None = None,
    image_column: str | None = None,
    reader: Annotated[dict[str, Any] | None, Json] = None,
    family: str | None = None,
    gpus: NaturalInt = 0,
    scoring: str | None = None,
    adapter: str | None = None,
    benchmark: str | None = None,
) -> None:
    """Write a small configuration for your own data and models, which snakemake runs as it is.

    Sources are TSV files in VLMEvalKit's format, csv, JSON Lines or Parquet files with the same columns, or
    folders with one of these; models are folders in the Hub's format, or ids on the Hub. Both may also be ids
    of the catalogues in config. Without --model, the run trains tiny models of the demo, for a trial without
    downloads. Catalogues of what is your own are written beside FILE. FILE may lie anywhere, and no file is
    overwritten.

    Args:
        file: configuration to write, such as config/mine.yaml
        source: data files, folders with one, or ids of a catalogue
        model: models to evaluate: folders or ids
        selector: models that decide which items are selected; default: the first three of --model
        name: name of the run; default: that of FILE
        task_column: column of the files with the task type: category, or l2_category (or l2-category). No
            other name is accepted: rename the column, or name it by --reader. Default: the first of these
            that a file has
        image_column: column of the files that names a row's image: rows with one name share an image;
            default: each row has its own
        reader: keys of the files' reader (docs/configuration.md), such as '{"answer_form": "index",
            "columns": {"category": "subject"}}'
        family: family of folders and Hub ids (docs/models.md); rarely needed: by default, config.json decides
        gpus: GPUs per job of folders and Hub ids; 0: the CPU. Models of the catalogues have their own
        scoring: how options are scored, of folders and Hub ids: letter, text, … (docs/models.md)
        adapter: adapter of peft, such as LoRA, for the one --model that is a folder or Hub id: a folder, or
            owner/name of the Hub, with @REVISION unless it is the default branch
        benchmark: the benchmark of the run; for those whose configuration this command does not write, copy
            their file from config/; default: that of config/demo.yaml
    """
    root = Path.cwd()
    demo = read_mapping(shipped(DEMO, root), "mend or restore it", DEMO)
    if absent := [key for key in ("benchmark", "selectors", "targets", "demo") if key not in demo]:
        raise InputError(f"{DEMO}: {absent[0]} is missing; mend or restore it")
    supported = benchmarks_with("new")
    benchmark = benchmark or str(demo["benchmark"])
    if benchmark not in (known := known_benchmarks()):
        raise InputError(
            f"--benchmark: there is no benchmark {shown(benchmark)}{suggestion(benchmark, known)}; give "
            f"{' or '.join(supported)}, or copy the configuration of another one from config/"
        )
    if benchmark not in supported:
        raise InputError(
            f"--benchmark {benchmark}: its configuration is not written by this command; copy "
            f"config/{benchmark}.yaml and edit name, catalogues, sources and models (docs/{benchmark}.md)"
        )
    part = module_of(benchmark, "new")
    roles = part.roles(model, selector, demo)
    columns = None if task_column is None else known_task_column(task_column), image_column, reader
    sources = {each: source_entry(each, root, *columns) for each in source}
    models = {
        each: model_entry(each, root, family, gpus)
        for each in dict.fromkeys(chain.from_iterable(roles.values()))
    }
    if all(entry.catalogue is not None for entry in models.values()):
        for option, given in {"gpus": gpus, "family": family, "scoring": scoring}.items():
            if given:
                raise InputError(
                    f"--{option}: all models of the run are in a catalogue, whose entries have their own; "
                    f"leave the option out, and set `{option}` in the entries"
                )
    if scoring is not None:
        models |= {
            each: replace(entry, content={**entry.content, "scoring": scoring})
            for each, entry in models.items()
            if entry.catalogue is None
        }
    if adapter is not None:
        base = adapted_model(model)
        models[base] = with_adapter(models[base], adapter, root)
    entries_of = {"sources": by_id(sources), "models": by_id(models)}
    refuse_repeated("--source", source, sources)
    refuse_repeated("--model", model, models)
    refuse_repeated("--selector", selector, models)
    texts: dict[Path, str] = {}
    catalogues = {}
    for kind, entries in entries_of.items():
        files = {entry.catalogue for entry in entries.values()}
        catalogue = files.pop() if len(files) == 1 else None
        if catalogue is None:
            own = file.with_name(f"{file.stem}-{kind}.yaml")
            catalogue = str(relative_path(own, root))
            texts[own] = catalogue_text(
                own, kind, {id_: entry.content for id_, entry in entries.items()}, root
            )
        catalogues[kind] = catalogue
    target = ""
    settings: dict[str, Any] = {
        "benchmark": benchmark,
        "name": name or run_name(file),
        "catalogues": catalogues,
        "sources": [entry.id for entry in sources.values()],
        **{key: [models[each].id for each in names] for key, names in roles.items()},
    }
    if any({"train", "generated"} & set(entry.content) for entry in [*sources.values(), *models.values()]):
        settings |= part.TRIAL | {"demo": demo["demo"]}
        # It is of the selectors.
        target = "" if model else f" {part.TRIAL_TARGET}"
    texts[file] = config_text(file, settings, part.COMMENTS, root)
    try:
        write_valid(texts, settings, file, root)
    except ConfigError as error:
        # The file, which does not exist now, has the option's value.
        raise ConfigError([line.replace(f"{file}: name ", "--name ", 1) for line in error.errors]) from error
    counts = f"{pluralize(len(sources), 'source')}, {pluralize(len(models), 'model')}"
    print(f"wrote {', '.join(map(str, texts))}: {counts}; results will be in results/{settings['name']}")
    path = shlex.quote(str(file))
    # A run's own models are trained by it.
    quick = "" if any("train" not in entry.content for entry in models.values()) else " --no-models"
    # A job on a GPU has cores for the processes that prepare its images, too.
    on_gpu = any(entry.content.get("gpus") for entry in models.values())
    cores = 1 + Inference().workers if on_gpu else 2
    print(f"next: benchc check {path}{quick}\nthen: benchc run {path} --cores {cores}{target}")


def adapted_model(models: Iterable[str]) -> str:
    """Return the one model that is a folder or a Hub id; InputError for none or several."""
    found = [name for name in dict.fromkeys(models) if Path(name).is_dir() or "/" in name]
    if len(found) != 1:
        raise InputError(
            f"--adapter: needs exactly one --model that is a folder or a Hub id, but there are {len(found)}; "
            "add the key `adapter` to the entries in the catalogue by hand"
        )
    return found[0]


def known_task_column(name: str) -> str:
    """Return a column of TASK_COLUMNS, as the reader of TSV files calls it; InputError for another name."""
    column = RENAMED.get(name, name)
    if column not in TASK_COLUMNS:
        raise InputError(
            f"--task-column: {name!r} is not {' or '.join(TASK_COLUMNS)}, the only names of a column with "
            """the task type; rename the column in the file, or give --reader '{"columns": {"category": """
            f"""{json.dumps(name)}}}}}'"""
        )
    return column


def run_name(file: Path) -> str:
    """Return the name of the run that a configuration is for. Raises InputError where it is no YAML file."""
    name = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")
    if file.suffix not in (".yaml", ".yml") or not name:
        raise InputError(f"{file}: is no name of a YAML file; name it like config/mine.yaml")
    return name


def by_id(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return entries, which are by the user's names, by id.

    Raises InputError where two different ones would have one id or label.
    """
    owners: dict[str, tuple[str, Entry]] = {}
    for name, entry in entries.items():
        for text in (f"id {entry.id}", f"label {entry.content.get('label')}"):
            other, first = owners.setdefault(text, (name, entry))
            if first != entry:
                raise InputError(f"{other} and {name} would have the same {text}; rename one of them")
    return {entry.id: entry for entry in entries.values()}


def refuse_repeated(option: str, names: Iterable[str], entries: Mapping[str, Entry]) -> None:
    """Raise InputError where two names of an option are of one entry."""
    try:
        unique([entries[name].id for name in names])
    except ValueError as error:
        raise InputError(f"{option} {error}") from error


def write_valid(texts: Mapping[Path, str], settings: Mapping[str, Any], file: Path, root: Path) -> None:
    """Write new files. Raises InputError, and leaves none, where one exists or the run would be invalid."""
    for path in texts:
        if path.exists():
            named = "" if path == file else ", after which it is named"
            raise InputError(
                f"{path}: exists already, and nothing is overwritten; choose another FILE than {file}{named}"
            )
    results = Path("results") / settings["name"]
    if (root / results).exists():
        raise InputError(f"{results}: exists already, and nothing is overwritten; choose another --name")
    try:
        for path, text in texts.items():
            write_text(path, text)
        load(settings, root, file=str(file))
    except BaseException:
        for path in texts:
            path.unlink(missing_ok=True)
        raise
