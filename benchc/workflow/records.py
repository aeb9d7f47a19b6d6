"""Snakemake's records of how outputs were made, kept beside the outputs so that results can be moved.

Without its records in .snakemake/metadata, Snakemake calls an output up to date whatever its code and
settings. A copy of the records of the outputs in results/{name} is kept in results/{name}/.provenance.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchc.pluralize import pluralize

RECORDS = Path(".snakemake/metadata")
INCOMPLETE = Path(".snakemake/incomplete")
# Records of jobs on a cluster as they were submitted, in folders of the same names.
SUBMITTED = Path(".snakemake/submitted")
# Folders of results/ with what all runs share.
SHARED = ("models", "generated")
# In an output that is a folder: its time, while the folder's own is that of its newest entry.
MARK = ".snakemake_timestamp"
CLOCK = 2  # seconds; some file systems and archives do not keep fractions of a time
# Clocks of machines that share a disk differ.
SECONDS_AHEAD = 60
# In which a job's outer Snakemake touches its outputs again, after the inner one has removed their marks.
SECONDS_TO_SETTLE = 600


def recorded_output(record: Path) -> Path | None:
    """Return the output of a record, given the record's path below its folder; None for another file."""
    try:
        # Snakemake encodes the output's path; a long one becomes folders that begin with @.
        return Path(urlsafe_b64decode("".join(part.lstrip("@") for part in record.parts)).decode())
    except ValueError:
        return None


def records_in(folder: Path) -> dict[Path, Path]:
    """Return the records below a folder by the outputs that they describe."""
    # A name with a dot is no record, but a copy that was interrupted.
    records = [path for path in folder.rglob("*") if path.is_file() and "." not in path.name]
    named = {recorded_output(path.relative_to(folder)): path for path in records}
    return {output: path for output, path in named.items() if output is not None}


def time_of(output: Path) -> float:
    """Return when an output was made or accepted, as Snakemake sees it; OSError where it is not there."""
    mark = output / MARK
    return (mark if mark.is_file() else output).lstat().st_mtime


def describes(record: Path, output: Path) -> bool:
    """Return whether a record is complete and of the output as it is: Snakemake records the output's time."""
    try:
        content = json.loads(record.read_bytes())
        return content["params"] is not None and abs(content["endtime"] - time_of(output)) < CLOCK
    except (OSError, ValueError, KeyError, TypeError):
        return False


def copy_record(source: Path, target: Path) -> None:
    """Copy a record, with its time."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name[:200]}.{os.getpid()}.tmp")
    try:
        shutil.copy2(source, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def save_records() -> str | None:
    """Copy Snakemake's records to the folders of the results that they describe.

    Returns what to say where a folder cannot be written: the results are complete, but cannot be moved yet.
    """
    try:
        _save_records()
    except OSError as error:
        return (
            f"the records of how results were made are not saved beside them ({error.strerror}: "
            f"{error.filename}), so the results cannot be moved; run the same command again when it can be "
            "written"
        )
    return None


def _save_records() -> None:
    for output, record in records_in(RECORDS).items():
        if output.parts[0] == "results" and len(output.parts) > 2 and describes(record, output):
            copy = Path(*output.parts[:2], ".provenance", record.relative_to(RECORDS))
            if not copy.exists() or copy.read_bytes() != record.read_bytes():
                copy_record(record, copy)


def restore_records() -> None:
    """Give Snakemake the records of results that were made elsewhere, and of those that a failed job removed.

    Snakemake records a job that fails as if it had made its outputs, which it removes. Where the job's
    settings had changed, it would then call all that was made of the old outputs up to date.
    """
    for folder in Path("results").glob("*/.provenance"):
        for output, record in records_in(folder).items():
            own = RECORDS / record.relative_to(folder)
            is_moved = describes(record, output) and not describes(own, output)
            is_removed = not os.path.lexists(output)
            if is_moved or (is_removed and not (own.exists() and own.read_bytes() == record.read_bytes())):
                copy_record(record, own)


def inputs_digest(paths: Iterable[object]) -> str:
    """Return a digest of the times and sizes of files; one that is not there is as if it were empty."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(map(str, paths)):
        try:
            found = Path(path).stat()
            digest.update(f"{path} {found.st_mtime_ns} {found.st_size}\n".encode())
        except OSError:
            digest.update(f"{path}\n".encode())
    return digest.hexdigest()


def adopt_submitted(incomplete: Collection[Path]) -> None:
    """Give outputs of jobs on a cluster that ended without a Snakemake their records, as they were submitted.

    A job removes its marks when it has made all of its outputs. It is adopted where all of them are there and
    its inputs are those with which it was submitted, and again where they were touched soon after.
    ``incomplete``: outputs with such marks, and those of a Snakemake that runs.
    """
    began = records_in(SUBMITTED / INCOMPLETE.name)
    jobs: dict[str, list[tuple[Path, Path, dict[str, Any]]]] = {}
    for output, record in records_in(SUBMITTED / RECORDS.name).items():
        try:
            content = json.loads(record.read_bytes())
        except (OSError, ValueError):
            continue  # cut off
        jobs.setdefault(str(content["shellcmd"]), []).append((output, record, content))
    for outputs in jobs.values():
        try:
            is_whole = all(_is_made(output, began.get(output), content) for output, _, content in outputs)
        except (OSError, ValueError):
            continue
        if not is_whole or any(output in incomplete for output, _, _ in outputs):
            continue
        changed = [
            (own, output, content)
            for output, record, content in outputs
            if not describes(own := RECORDS / record.relative_to(SUBMITTED / RECORDS.name), output)
        ]
        again = all(_is_next(own, output, began[output], content) for own, output, content in changed)
        for own, output, content in changed if again else ():
            own.parent.mkdir(parents=True, exist_ok=True)
            # Not by a temporary file, whose name could be too long; Snakemake writes records so, too.
            own.write_text(json.dumps({**content, "endtime": time_of(output)}))
        age = time.time() - max(time_of(output) for output, _, _ in outputs)
        if not again or age > SECONDS_TO_SETTLE:
            for output, record, _ in outputs:
                record.unlink(missing_ok=True)
                began[output].unlink(missing_ok=True)


def _is_next(own: Path, output: Path, began: Path, content: Mapping[str, Any]) -> bool:
    """Return whether a job that was submitted made an output after Snakemake's ``own`` record of it.

    Or the record is of this job, and the output was touched soon after.
    """
    try:
        before = json.loads(own.read_bytes())
        is_earlier = before["endtime"] is None or before["endtime"] < began.stat().st_mtime - CLOCK
    except (OSError, ValueError, KeyError):
        return True
    is_same = {**before, "endtime": None} == {**content, "endtime": None}
    return is_earlier or (is_same and time_of(output) < before["endtime"] + SECONDS_TO_SETTLE)


def _is_made(output: Path, began: Path | None, content: Mapping[str, Any]) -> bool:
    """Return whether a submitted job has made an output of inputs that are as they were then.

    ``began``: the file that says when it was submitted. Raises OSError for an output that is not there.
    """
    if began is None or time_of(output) < began.stat().st_mtime - CLOCK:
        return False
    _, _, digest = str(json.loads(began.read_bytes())["external_jobid"]).partition(" ")
    return digest == inputs_digest(content["input"])


def restored(
    run: str,
    is_output: Callable[[Path], bool],
    changed_by_people: Collection[Path],
    command: str,
    made_elsewhere: Collection[Path] = (),
) -> str | None:
    """Restore and save the records of all runs; return why a run must not begin, None where it may.

    It must not where an output has no record that says how it was made as it is, or a time in the future, by
    which Snakemake would take it for newer than what is made now. ``is_output``: whether a
    rule makes a file; ``changed_by_people``: folders with outputs that may be changed; ``command``: the call
    of Snakemake for the run; ``made_elsewhere``: outputs that another Snakemake makes.
    """
    incomplete = {*records_in(INCOMPLETE), *made_elsewhere}
    restore_records()
    adopt_submitted(incomplete)
    save_records()
    records = records_in(RECORDS)
    found = [
        path
        for folder in (run, *SHARED)
        for path in sorted(Path("results", folder).rglob("*"))
        if path not in incomplete
        and path.is_file()
        and not any(part.startswith(".") for part in path.parts)
        and not any(path.is_relative_to(other) for other in changed_by_people)
    ]
    latest = time.time() + SECONDS_AHEAD
    unrecorded = [path for path in found if not (path in records and describes(records[path], path))]
    if unrecorded := [*filter(is_output, unrecorded)]:
        were = "it was" if len(unrecorded) == 1 else "they were"
        return (
            f"{pluralize(len(unrecorded), 'file')} without a record of how {were} made, or changed since, "
            f"such as {unrecorded[0]}; copy a run with its times and its folder .provenance (cp -a), delete "
            "each such file and make it by name, or accept all as they are: "
            f"{command} --touch --forceall --cores 1"
        )
    later = [path for path in found if _time(path) > latest and is_output(path)]
    if later and _time(later[0]) > _clock_of(Path("results")) + SECONDS_AHEAD:
        return (
            f"{pluralize(len(later), 'file')} with times in the future, such as {later[0]}: the clock was "
            "set back, and files that are made now would seem older; correct the clock, or accept all as "
            f"they are, and delete those that this leaves: {command} --touch --forceall --cores 1"
        )
    return None


def _time(path: Path) -> float:
    """Return when a file was changed; 0 where it is gone."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _clock_of(folder: Path) -> float:
    """Return the time that a new file in a folder has, which a file server gives it."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".") as file:
            return os.fstat(file.fileno()).st_mtime
    except OSError:
        return time.time()
