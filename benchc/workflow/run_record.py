"""The record of a run, results/{name}/run.json: what made each output, where, of which inputs, at what cost.

It is written when Snakemake ends, from its records and the facts that jobs leave. An output keeps the hashes
that its inputs had when it was made (:mod:`benchc.workflow.verification` compares them with the files).
"""

import hashlib
import json
import os
import platform
import shlex
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from benchc.atomic import write_text
from benchc.closure import content_sample
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.home import HOME
from benchc.redaction import redacted_command
from benchc.rendering.results_page.script import as_script
from benchc.workflow.job_facts import FOLDER as FACTS_FOLDER
from benchc.workflow.job_facts import facts_file, stage_words, tries_of
from benchc.workflow.leftovers import remove_leftovers
from benchc.workflow.records import CLOCK, INCOMPLETE, RECORDS, SHARED, describes, records_in

FILE, SCRIPT = "run.json", "page/run.js"
FORMAT = 1
CONFIGURATION = ("config.yaml", "config-sources.yaml", "config-models.yaml")
# Folders of what the results page shows with the inputs of each file.
SHOWN = ("tables", "figures", "pages")
# Set by benchc for the Snakemake that it starts: the command as the user typed it.
TYPED = "BENCHC_TYPED"
# Of a job's last try, as its facts have them.
FACTS = ("host", "gpus", "driver", "python", "versions", "peak_mb", "asked_mb", "slurm_job")
Record = dict[str, Any]
# Of a file such as weights, above which it is read at some places only.
WHOLE_BYTES = 10**9
# Between the times of a job's outputs that --touch accepts.
SECONDS_OF_TOUCH = 0.1
_call: Record = {}


def _inside(name: str) -> str:
    path = PurePath(name)
    if str(path) != name or not path.parts or path.is_absolute() or ".." in path.parts:
        raise ValueError("is no path in the folder of the run")
    return name


def _time(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("is no time with its zone")
    return text


# What readers of a record take for granted; it may come from another machine, or have been edited.
class _Call(BaseModel, strict=True):
    result: str | None
    benchc: str
    revision: str | None
    modified: list[str] | None


class _Output(BaseModel, strict=True):
    rule: str
    job: str
    seconds: float
    made: Annotated[str, AfterValidator(_time)]
    hash: str | None
    inputs: dict[str, str | None]
    host: str | None = None
    gpus: list[str] | None = None
    peak_mb: int | None = None
    asked_mb: int | None = None


class _File(BaseModel, strict=True):
    bytes: int
    time_ns: int
    hash: str


class _Record(BaseModel, strict=True):
    format: int
    calls: Annotated[list[_Call], Field(min_length=1)]
    outputs: dict[Annotated[str, AfterValidator(_inside)], _Output] = {}
    files: dict[str, _File] = {}


def begin(name: str, command: Sequence[str], executor: str) -> str | None:
    """Record that Snakemake begins to run jobs; return what to say where it cannot.

    ``command``: that of Snakemake, which is recorded unless the user typed one of benchc.
    """
    # Jobs do not inherit it.
    typed = shlex.split(os.environ.pop(TYPED, ""))
    _call.update(
        command=shlex.join(redacted_command(typed or command)),
        host=socket.gethostname(),
        process=os.getpid(),
        executor=executor,
        began=time.time(),
        start=_iso(time.time()),
        end=None,
        result=None,
        benchc=version("benchc"),
        python=platform.python_version(),
        snakemake=version("snakemake"),
        **code_revision(),
    )

    def add(record: Record, folder: Path) -> None:
        record |= {"format": FORMAT, "run": name, "calls": [*record.get("calls", []), _call]}

    return _change(name, add)


def began() -> float:
    """Return when this call began, in seconds since 1970."""
    return float(_call.get("began", 0.0))


def finish(name: str, result: str, changed_by_people: Collection[Path] = (), retries: int = 0) -> str | None:
    """Complete the record when Snakemake ends; return what to say where it cannot be written.

    ``changed_by_people``: folders with outputs that are not compared later. ``retries``: how often Snakemake
    started jobs again.
    """
    if _call:
        tries = [
            (file, each)
            for file in sorted(FACTS_FOLDER.glob("*.jsonl"))
            for each in tries_of(file)
            if each.get("start", 0.0) >= _call["began"]
        ]
        jobs = len({file for file, _ in tries})
        # A job that was cancelled before its stage began left no facts; what SLURM itself starts again is
        # no retry of Snakemake.
        again = max(len(tries) - jobs, retries)
        ended = {"end": _iso(time.time()), "result": result, "jobs": jobs, "tried_again": again}

        def end(record: Record, folder: Path) -> None:
            for call in record.get("calls", []):
                if all(call.get(key) == _call[key] for key in ("host", "process", "began")):
                    call |= ended

        # Before the hashes, which may take long.
        if line := _change(name, end):
            return line
    return _change(name, lambda record, folder: _complete(record, folder, changed_by_people))


def complete_killed(name: str, changed_by_people: Collection[Path]) -> str | None:
    """Complete the record of a call that was killed, while no Snakemake works in this folder.

    Files that it was writing are removed where no job of it may still run.
    """
    calls = read_record(Path("results", name)).get("calls") or [{"result": "finished"}]
    if calls[-1]["result"] is not None:
        return None
    if not any(records_in(INCOMPLETE)):
        # Else the end of the next run does it, which is none where nothing is to be done. What runs share,
        # another checkout may write now.
        own = [output for output in records_in(RECORDS) if output.is_relative_to(Path("results", name))]
        remove_leftovers(own, time.time())

    def end(record: Record, folder: Path) -> None:
        record["calls"][-1]["result"] = "killed"
        _complete(record, folder, changed_by_people)

    return _change(name, end)


def _complete(record: Record, folder: Path, changed_by_people: Collection[Path]) -> None:
    hashes = Hashes(folder, record.get("files", {}))
    before = record.get("outputs", {})
    outputs = dict(_outputs(folder, before, hashes, changed_by_people))
    # Of a file that was changed by hand, what it was remains, and of one that was deleted, while there are
    # others of its job: Snakemake does not make it again unless something needs it.
    outputs |= {
        name: each
        for name, each in before.items()
        if name not in outputs and ((folder / name).exists() or _made_with(each, outputs.values()))
    }
    made = [*outputs.values(), *_shared(outputs.values())]
    record |= {"configuration": _configuration(folder), "stages": stages_of(made)}
    record |= {"outputs": outputs, "files": hashes.known}


def _made_with(output: Record, others: Iterable[Record]) -> bool:
    """Return whether one of the others was made by the same job at the same time."""
    end = datetime.fromisoformat(output["made"])
    return any(
        (each["rule"], each["job"]) == (output["rule"], output["job"])
        and datetime.fromisoformat(each["made"]) - timedelta(seconds=each["seconds"] + CLOCK) <= end
        for each in others
    )


def read_record(folder: Path) -> Record:
    """Return the record in the folder of a run's results; empty where there is none that can be read."""
    try:
        # NaN, which is no JSON, is no number of a record.
        record: Record = json.loads((folder / FILE).read_text(encoding="utf-8"), parse_constant=int)
        _Record.model_validate(record)
    except (OSError, ValueError, RecursionError):
        return {}
    return record if record["format"] == FORMAT else {}


def code_revision() -> Record:
    """Return the commit of the code and its files that differ from it; null where it is no checkout."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(HOME), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    try:
        if Path(git("rev-parse", "--show-toplevel").strip()) != HOME.resolve():
            return {"revision": None, "modified": None}
        revision = git("rev-parse", "HEAD").strip()
        changed = git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return {"revision": None, "modified": None}
    return {"revision": revision, "modified": [line[3:] for line in changed.splitlines()]}


class Hashes:
    """Hashes of files, which are computed again only where size or time of a file changed.

    ``known``: size, time and hash by the name of a file: its path in ``folder``; of others, their absolute
    path or, behind ``./``, the one from the working directory.
    """

    def __init__(self, folder: Path, known: Mapping[str, Record]) -> None:
        self.folder = folder
        self._before = known
        self.known: dict[str, Record] = {}

    def name(self, path: Path) -> str:
        if path.is_relative_to(self.folder):
            return str(path.relative_to(self.folder))
        return str(path) if path.is_absolute() else f"./{path}"

    def of(self, path: Path) -> str | None:
        """Return the hash of a file, or of all files in a folder; None where it is not there."""
        name = self.name(path)
        if name not in self.known:
            try:
                size, time_ns = size_and_time(path)
            except OSError:
                return None
            found = self._before.get(name)
            if found is None or (found["bytes"], found["time_ns"]) != (size, time_ns):
                whole = path.is_relative_to(self.folder)
                found = {"bytes": size, "time_ns": time_ns, "hash": hash_of(path, whole=whole)}
            self.known[name] = found
        return str(self.known[name]["hash"])


def size_and_time(path: Path) -> tuple[int, int]:
    """Return the bytes of a file, and its time in nanoseconds; of a folder, the sum and the latest."""
    stats = [file.stat() for file in _files_of(path)]
    return sum(each.st_size for each in stats), max((each.st_mtime_ns for each in stats), default=0)


def hash_of(path: Path, *, whole: bool) -> str:
    """Return the SHA-256 of a file, or a digest of those of all files in a folder.

    Without ``whole``, and above WHOLE_BYTES, files are read at some places only.
    """
    if path.is_dir():
        lines = [f"{file.relative_to(path)} {hash_of(file, whole=whole)}" for file in _files_of(path)]
        return f"folder:{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"
    if not whole or path.stat().st_size > WHOLE_BYTES:
        return f"sample:{content_sample(path)}"
    with path.open("rb") as opened:
        return f"sha256:{hashlib.file_digest(opened, 'sha256').hexdigest()}"


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))


def _outputs(
    folder: Path, before: Mapping[str, Record], hashes: Hashes, left_out: Collection[Path]
) -> Iterator[tuple[str, Record]]:
    """Yield the outputs in a folder that are as a job of Snakemake made them, and what made them."""
    for output, file in sorted(records_in(RECORDS).items()):
        if not output.is_relative_to(folder) or not (output.is_dir() or describes(file, output)):
            continue
        try:
            content = json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue
        if content.get("endtime") is None or any(output.is_relative_to(each) for each in left_out):
            continue
        name, made, same = hashes.name(output), _iso(content["endtime"]), before.get(hashes.name(output))
        if same is not None and same["made"] == made:
            # What a job wrote, even if it was changed by hand since.
            yield name, same
            continue
        found, facts = hashes.of(output), _facts(content)
        accepted = _is_accepted(content, facts)
        if same is not None and same["hash"] == found and accepted:
            yield name, {**same, "made": made}
        else:
            yield name, {"hash": found, "made": made, **_origin(content, facts, accepted, hashes)}


def _shared(outputs: Iterable[Record]) -> Iterator[Record]:
    """Yield what made the models and data, shared by runs, of which a run's outputs are made."""
    records, folders = records_in(RECORDS), [Path("results", name) for name in SHARED]
    waiting, seen = [Path(name) for output in outputs for name in output["inputs"]], set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen or path not in records or not any(map(path.is_relative_to, folders)):
            continue
        seen.add(path)
        with suppress(OSError, ValueError):
            content = json.loads(records[path].read_bytes())
            if content.get("endtime") is not None:
                yield _cost(content, _facts(content))
                waiting += map(Path, content["input"])


def _facts(content: Record) -> Record:
    """Return the facts of the last try of an output's job; empty where it left none."""
    called = stage_words(content.get("shellcmd") or "")
    tries = tries_of(facts_file(called)) if called else []
    return tries[-1] if tries and {"start", "end"} <= {*tries[-1]} else {}


def _is_accepted(content: Record, facts: Record) -> bool:
    """Return whether Snakemake has no job of an output, but touched it (--touch)."""
    if facts:
        return bool(facts["start"] < content["starttime"] - CLOCK)
    return bool(content["endtime"] - content["starttime"] < SECONDS_OF_TOUCH)


def _origin(content: Record, facts: Record, accepted: bool, hashes: Hashes) -> Record:
    """Return the rule of an output, its inputs with their hashes, and the facts of its job.

    ``accepted``: whether its inputs were accepted, too, as they are.
    """
    then = content["endtime"] if accepted else _times(content, facts)[0]
    inputs = sorted({Path(name) for name in content["input"]})
    return {
        **_cost(content, facts),
        "inputs": {hashes.name(path): _hash_then(path, then, hashes) for path in inputs},
    }


def _times(content: Record, facts: Record) -> tuple[float, float]:
    """Return when the job of an output started and ended."""
    # Snakemake's own start of a job on a cluster is when it was submitted.
    return (facts["start"], facts["end"]) if facts else (content["starttime"], content["endtime"])


def _cost(content: Record, facts: Record) -> Record:
    """Return the rule of an output, and the facts of its job."""
    start, end = _times(content, facts)
    command = content.get("shellcmd") or ""
    return {
        "rule": content["rule"],
        "job": facts_file(stage_words(command) or shlex.split(command)).stem,
        "seconds": round(end - start, 1),
        **{name: value for name, value in facts.items() if name in FACTS and value is not None},
    }


def _hash_then(path: Path, start: float, hashes: Hashes) -> str | None:
    """Return the hash that an input had when a job started; None where it was changed since."""
    with suppress(OSError):
        if size_and_time(path)[1] / 1e9 <= start + CLOCK:
            return hashes.of(path)
    return None


def stages_of(outputs: Iterable[Record]) -> dict[str, Record]:
    """Return number, time, memory, hosts and GPUs of the jobs of each rule. Times are in seconds."""
    jobs: defaultdict[str, dict[str, Record]] = defaultdict(dict)
    for output in outputs:
        jobs[output["rule"]][output["job"]] = output

    def most(own: Iterable[Record], name: str) -> int | None:
        return max((each[name] for each in own if each.get(name) is not None), default=None)

    return {
        rule: {
            "jobs": len(own),
            "seconds": round(sum(each["seconds"] for each in own.values()), 1),
            "longest_seconds": max(each["seconds"] for each in own.values()),
            "peak_mb": most(own.values(), "peak_mb"),
            "asked_mb": most(own.values(), "asked_mb"),
            "hosts": sorted({each["host"] for each in own.values() if each.get("host")}),
            "gpus": sorted({gpu for each in own.values() for gpu in each.get("gpus") or ()}),
        }
        for rule, own in sorted(jobs.items())
    }


def _configuration(folder: Path) -> Record:
    found = {}
    for name in CONFIGURATION:
        with suppress(OSError, YamlError):
            found[name] = read_yaml(folder / name)
    return found


def _change(name: str, change: Callable[[Record, Path], None]) -> str | None:
    folder = Path("results", name)
    record = read_record(folder)
    try:
        if not record and (folder / FILE).is_file():
            (folder / FILE).replace(folder / f"{FILE}.unreadable")
        change(record, folder)
        text = json.dumps(record, indent=1, ensure_ascii=False, default=str) + "\n"
        # An argument that is not UTF-8 has surrogates, which become JSON's own escapes.
        write_text(folder / FILE, text.encode(errors="backslashreplace").decode())
        if (folder / "index.html").is_file():
            write_text(folder / SCRIPT, as_script("run", _shown(record)))
    except OSError as error:
        return f"{folder / FILE} is not written ({error.strerror}: {error.filename})"
    return None


def _shown(record: Record) -> Record:
    """Return what the results page shows."""
    outputs = {
        name: {"rule": output["rule"], "inputs": output["inputs"]}
        for name, output in record.get("outputs", {}).items()
        if Path(name).parts[0] in SHOWN
    }
    return {"calls": record.get("calls", []), "stages": record.get("stages", {}), "outputs": outputs}


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
