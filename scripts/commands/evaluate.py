"""Evaluate models on the benchmark of a finished run."""

import inspect
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import yaml
from cyclopts import Parameter

from benchc.atomic import write_text
from benchc.command_line import NaturalInt
from benchc.config.benchmarks import module_of
from benchc.config.errors import ConfigError, shown
from benchc.config.evaluation import KEY, RECORD, part_of_record, read_record
from benchc.config.load import load
from benchc.config.new_entries import Entry, model_entry, served_entry, with_adapter
from benchc.config.new_files import catalogue_text
from benchc.config.raw import block, texts
from benchc.config.strict import SHARED_FOLDERS
from benchc.config.yaml_file import read_mapping
from benchc.errors import InputError
from benchc.export.manifest import is_export
from benchc.export.rebuild import REBUILT, rebuild
from benchc.export.trust import refuse_untrusted_model
from benchc.user_paths import relative_path
from benchc.workflow.run import Run
from scripts.commands.new import by_id, refuse_repeated
from scripts.commands.run import command_of

# Options with which Snakemake runs nothing.
DRY = {"-n", "--dry-run", "--dryrun"}
# Of two names, from 0 to 1: Snakemake's --jobname and our --name are 0.8.
NEAR = 0.81
LOCKS = Path(".snakemake/locks")
ADDRESS = ("http://", "https://")
MEND = "mend the file, or choose another --name"
# Keys that say which checkpoint a model is.
IDENTITY = ("path", "repo", "server", "adapter")
HEAD = """\
# Written by `benchc evaluate`. All other settings are those of the finished run; results/<name>/config.yaml
# records them. Paths are relative to the working directory. Keys: docs/evaluate.md.
"""


def _is_run_name(hint: Any, value: str | None) -> None:
    # As in a configuration: files and folders have it.
    if value is not None and not re.fullmatch("[a-z0-9][a-z0-9-]*", value):
        raise ValueError("a name has lower-case letters, digits and dashes")
    if value in SHARED_FOLDERS:
        raise ValueError("it is a folder that runs share")


def evaluate(
    *options: Annotated[str, Parameter(allow_leading_hyphen=True)],
    benchmark: Path,
    model: list[str],
    adapter: str | None = None,
    name: Annotated[str | None, Parameter(validator=_is_run_name)] = None,
    scoring: str | None = None,
    family: str | None = None,
    gpus: NaturalInt | None = None,
    api_key_env: str | None = None,
    full: bool = False,
    trust: bool = False,
) -> None:
    """Evaluate models on the benchmark of a finished run, and print them beside those that it has evaluated.

    The models answer its items, with its images, and tables and figures are made of all models. No selector
    is asked, and nothing of the finished run is changed. The command writes a configuration,
    config/NAME.yaml, and a model catalogue, config/NAME-models.yaml, unless they are there, and runs it.
    Given again, it goes on where it stopped, with the catalogue as it is then.

    Args:
        options: options of snakemake; default: --cores all
        benchmark: folder of the finished run, such as results/demo, or an export of one (docs/export.md),
            of which the run is made again below results/exported
        model: models to evaluate: folders in the Hub's format, ids on the Hub, ids of the catalogues in
            config or of the finished run, or addresses of servers (http://host:port, of one that serves
            several models http://host:port#MODEL)
        adapter: adapter of peft, such as LoRA, for the one --model: a folder, or an id on the Hub
        name: name of the new run; default: of the finished run and the model
        scoring: how options are scored, of models that no catalogue has: letter, text, … (docs/models.md);
            default: as of most models of the finished run
        family: family of folders and Hub ids (docs/models.md); by default, config.json decides
        gpus: GPUs per job of folders and Hub ids; default: 0, the CPU. Models of the catalogues have their
            own
        api_key_env: environment variable with the key of servers
        full: show all lines of Snakemake and of the jobs
        trust: use an export also where its author's code runs, or servers are asked that the author chose
    """
    refuse_mistyped(options)
    servers = [each for each in model if each.startswith(ADDRESS)]
    if (family or gpus) and servers == model:
        raise InputError(f"--{'family' if family else 'gpus'}: is of folders and Hub ids; leave it out")
    if api_key_env and not servers:
        raise InputError("--api-key-env: is of servers, and no --model is one; leave it out")
    root = Path.cwd()
    of_export = is_export(benchmark)
    # A run that was made from an export has its manifest, too.
    if of_export and benchmark.resolve().parent != (root / REBUILT).resolve():
        benchmark = rebuild(benchmark, root=root, trusted=trust)
    named = f"--benchmark is {shown(str(benchmark))}"
    settings, known = (read_record(benchmark / file, named) for file in (RECORD, part_of_record("models")))
    entries = {each: _entry(each, root, known, family, gpus or 0, api_key_env) for each in model}
    new = [
        each
        for each, entry in entries.items()
        if entry.catalogue is None and entry.content is not known.get(entry.id)
    ]
    for each, entry in entries.items():
        if of_export and not trust and entry.content is known.get(entry.id):
            refuse_untrusted_model(each, block(known, entry.id))
    options_of = {"scoring": scoring, "family": family, "gpus": gpus}
    given = [key for key, value in options_of.items() if value is not None]
    if given and not new:
        raise InputError(
            f"--{given[0]}: is of models that are in no catalogue, unlike {', '.join(model)}; leave it out"
        )
    if new:
        scoring = scoring or scoring_of(settings, known, benchmark)
        scored = {each: {**entries[each].content, "scoring": scoring} for each in new}
        entries |= {each: replace(entries[each], content=content) for each, content in scored.items()}
    if adapter is not None:
        if len(model) > 1 or entries[model[0]].content.get("server"):
            raise InputError(
                "--adapter: needs exactly one --model, which is no server; a server is given the adapter "
                "itself (docs/models.md)"
            )
        entries = {model[0]: with_adapter(entries[model[0]], adapter, root)}
    refuse_repeated("--model", model, entries)
    models = {id_: entry.content for id_, entry in by_id(entries).items()}
    name = name or _run_name(str(settings.get("name")), list(models))
    file, catalogue = Path("config", f"{name}.yaml"), Path("config", f"{name}-models.yaml")
    content = {
        "name": name,
        KEY: {"benchmark": str(relative_path(benchmark, root)), "models": list(models)},
        "catalogues": {"models": str(catalogue)},
    }
    written = {
        catalogue: catalogue_text(catalogue, "models", models, root),
        file: f"{HEAD}{yaml.safe_dump(content, sort_keys=False)}",
    }
    if catalogue.exists():
        refuse_other_models(catalogue, models)
        refuse_other_options(catalogue, {entries[each].id: entries[each].content for each in new}, given)
    results = Path("results", name)
    new_files = _write(written, content, root)
    code = 1
    try:
        code = called(command_of(file, options or ["--cores", "all"], full=full))
    finally:
        if code:
            _remove_unused(new_files, results)
    if code:
        sys.exit(code)
    workflow = module_of(str(settings["benchmark"]), "workflow").Workflow
    measured = {id_ for _, id_ in texts(settings.get(_settings_of(settings).MEASURED_KEY))}
    tables = [results / f"tables/{table}.md" for table in workflow.main_tables]
    if not DRY.intersection(options) and all(table.is_file() for table in tables):
        print(*(f"\n{table.read_text()}" for table in tables), sep="", end="")
        for id_ in sorted({*models} & known.keys() - measured):
            print(f"\n{id_} took part in making this benchmark, which may favour it, or the reverse")
        page = results / "index.html"
        shows = f"{page} shows all tables, figures and samples; " if page.is_file() else ""
        print(f"\n{shows}{file} is the run")


def called(command: Sequence[str]) -> int:
    """Run a command to its end, which an interrupt leaves to the command, and return its exit code."""
    previous = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.Popen(command).wait()
    finally:
        signal.signal(signal.SIGINT, previous)
    if code == -signal.SIGKILL:
        print("error: snakemake was killed; docs/rerun.md says how a killed run goes on", file=sys.stderr)
    return code if code >= 0 else 128 - code


def refuse_mistyped(options: Sequence[str]) -> None:
    """Raise InputError where an option, which would be one of Snakemake, is nearly one of this command."""
    own = [
        f"--{name.replace('_', '-')}"
        for name, each in inspect.signature(evaluate).parameters.items()
        if each.kind is each.KEYWORD_ONLY
    ]
    for option in options:
        name = option.partition("=")[0]
        if name.startswith("--") and (near := get_close_matches(name, own, n=1, cutoff=NEAR)):
            raise InputError(
                f"{name}: there is no such option (did you mean {near[0]}?); see benchc evaluate --help"
            )


def _remove_unused(files: Iterable[Path], results: Path) -> None:
    """Remove new files of a run that has made nothing, since a corrected command would be another run's.

    A folder that another Snakemake locks is unlocked by them.
    """
    if not results.exists() and not any(LOCKS.glob("*")):
        for file in files:
            file.unlink(missing_ok=True)


def _settings_of(settings: Mapping[str, Any]) -> Any:
    """Return the type of the settings of a run's benchmark."""
    return module_of(str(settings.get("benchmark")), "settings").Settings


def scoring_of(settings: Mapping[str, Any], known: Mapping[str, Any], benchmark: Path) -> str:
    """Return the scoring of most models that the finished run has evaluated; letter of equally many."""
    key = _settings_of(settings).MEASURED_KEY
    counts = Counter(str(block(known, id_).get("scoring")) for _, id_ in texts(settings.get(key)))
    if not counts:
        raise InputError(
            f"{benchmark / RECORD}: {key} has no models; finish the run again, or give --scoring"
        )
    found = max(sorted(counts), key=lambda scoring: counts[scoring])
    if len(counts) > 1:
        listed = " and ".join(f"{each} ({number})" for each, number in counts.most_common())
        print(
            f"the models of the finished run are scored by {listed}: new ones of no catalogue are scored by "
            f"{found}, unless --scoring is given",
            file=sys.stderr,
        )
    return found


def _entry(
    name: str, root: Path, known: Mapping[str, Any], family: str | None, gpus: int, api_key_env: str | None
) -> Entry:
    """Return the entry of a model; ``known``: those of the finished run, which take precedence."""
    if name.startswith(ADDRESS):
        try:
            return served_entry(name, api_key_env)
        except ConfigError:
            raise
        except InputError as error:
            # Of keys in a catalogue.
            raise InputError(*(_by_options(str(line)) for line in error.args)) from error
    if name in known and not Path(name).is_dir():
        if not isinstance(known[name], Mapping):
            raise InputError(f"--model {name}: its entry in the finished run is no mapping; name another")
        return Entry(name, known[name])
    return model_entry(name, root, family, gpus)


def _by_options(line: str) -> str:
    return line.replace("`url`", "--model").replace("give no `api_key_env`", "leave out --api-key-env")


def _run_name(finished: str, models: Sequence[str]) -> str:
    words = [finished, models[0], *([f"and-{len(models) - 1}"] if len(models) > 1 else [])]
    return re.sub(r"[^a-z0-9]+", "-", "-".join(words))


def refuse_other_models(catalogue: Path, models: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise InputError where an id of the catalogue, which stays, is another checkpoint than in ``models``.

    Two folders whose last names are equal have one id.
    """
    kept = read_mapping(catalogue, MEND)
    for id_, content in models.items():
        for key in IDENTITY:
            found, wanted = block(kept, id_).get(key), content.get(key)
            if id_ in kept and found != wanted:
                raise InputError(
                    f"{catalogue}: {id_} has {key}: {shown(found)}, and the model given now has "
                    f"{shown(wanted)}; choose another --name for the run"
                )


def refuse_other_options(
    catalogue: Path, models: Mapping[str, Mapping[str, Any]], given: Sequence[str]
) -> None:
    """Raise InputError where the catalogue, which stays, has other values of the keys ``given`` as options.

    ``models``: the entries by these options. One that an option does not concern lacks its key.
    """
    kept = read_mapping(catalogue, MEND)
    for id_, content in models.items():
        for key in given:
            found, wanted = block(kept, id_).get(key), content.get(key)
            if key == "gpus" and "server" not in content:
                # A model on the CPU has no such key.
                found, wanted = found or 0, wanted or 0
            elif key not in content:
                continue
            if found != wanted:
                raise InputError(
                    f"{catalogue}: {id_} has {key}: {shown(found)}, and --{key} is {shown(wanted)}; edit the "
                    "file, or choose another --name"
                )


def _of_option(line: str, file: Path, catalogue: Path, gone: Collection[Path]) -> str:
    """Return a line of an error by the option whose value it names, where the file that has it is gone."""
    if file in gone:
        line = re.sub(rf"^{re.escape(str(file))}: [\w.]+\[\d+\] is ", "--model is ", line)
        line = line.removeprefix(f"{file}: ").replace("list it elsewhere, or choose", "its scoring should be")
    if catalogue in gone:
        line = re.sub(rf"^{re.escape(str(catalogue))}: \S+\.(scoring|family|gpus) is ", r"--\1 is ", line)
        line = line.removeprefix(f"{catalogue}: ").replace(f" in {catalogue} ", " ")
    return line


def _write(written: Mapping[Path, str], content: dict[str, Any], root: Path) -> list[Path]:
    """Write a configuration and its catalogue, unless they are there, and return those that were not.

    Raises InputError where the configuration is another one, and leaves no new file where the run would be
    invalid. A catalogue that differs is the user's edit, and stays.
    """
    catalogue, file = written
    new = [path for path in written if not path.exists()]
    if file not in new and read_mapping(file, MEND) != content:
        raise InputError(f"{file}: is of another run, and nothing is overwritten; choose another --name")
    # Of a run whose configuration has another name, or was deleted.
    record = Path("results", content["name"]) / RECORD
    if file in new and record.is_file() and read_mapping(record, MEND).get(KEY) != content[KEY]:
        raise InputError(
            f"{record.parent}: is of another run, and nothing is overwritten; choose another --name"
        )
    if catalogue not in new and catalogue.read_text() != written[catalogue]:
        print(
            f"{catalogue}: is used as it is; it differs from what these options would write", file=sys.stderr
        )
    try:
        for path in new:
            write_text(path, written[path])
        # Also refuses a finished run that lacks files.
        Run(load(content, root, file=str(file)))
    except ConfigError as error:
        for path in new:
            path.unlink(missing_ok=True)
        # Files that are gone have the option's value.
        raise ConfigError([_of_option(line, file, catalogue, new) for line in error.errors]) from error
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise
    return new
