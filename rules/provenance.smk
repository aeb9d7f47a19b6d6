"""Snakemake's records of how outputs were made, kept beside the outputs so that results can be moved. No rules.

Without its records in .snakemake/metadata, Snakemake calls an output up to date whatever its code and settings.

REQUIRED INPUTS: none
OUTPUTS: results/*/.provenance/    a copy of the records of the outputs in that folder
"""

import json
import os
import shutil
from base64 import urlsafe_b64decode

RECORDS = Path(".snakemake/metadata")
INCOMPLETE = Path(".snakemake/incomplete")
CLOCK = 2  # seconds; some file systems and archives do not keep fractions of a time


def recorded_output(record):
    """Return the output of a record, given the record's path below its folder; None where the name is no output's."""
    try:
        # Snakemake encodes the output's path; a long one becomes folders that begin with @.
        return Path(urlsafe_b64decode("".join(part.lstrip("@") for part in record.parts)).decode())
    except ValueError:
        return None


def records_in(folder):
    """Return the records below a folder by the outputs that they describe."""
    # A name with a dot is no record, but a copy that was interrupted.
    records = [path for path in folder.rglob("*") if path.is_file() and "." not in path.name]
    named = {recorded_output(path.relative_to(folder)): path for path in records}
    return {output: path for output, path in named.items() if output is not None}


def describes(record, output):
    """Return whether a record is complete and of the output as it is: Snakemake records the output's time."""
    try:
        content = json.loads(record.read_bytes())
        return content["params"] is not None and abs(content["endtime"] - output.stat().st_mtime) < CLOCK
    except (OSError, ValueError, KeyError, TypeError):
        return False


def copy_record(source, target):
    """Copy a record, with its time."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name[:200]}.{os.getpid()}.tmp")
    shutil.copy2(source, temporary)
    temporary.replace(target)


def save_records():
    """Copy Snakemake's records to the folders of the results that they describe."""
    for output, record in records_in(RECORDS).items():
        if output.parts[0] == "results" and len(output.parts) > 2 and describes(record, output):
            copy = Path(*output.parts[:2], ".provenance", record.relative_to(RECORDS))
            if not copy.exists() or copy.read_bytes() != record.read_bytes():
                copy_record(record, copy)


def restore_records():
    """Give Snakemake the records of results that were made elsewhere."""
    for folder in Path("results").glob("*/.provenance"):
        for output, record in records_in(folder).items():
            own = RECORDS / record.relative_to(folder)
            if describes(record, output) and not describes(own, output):
                copy_record(record, own)


def check_records():
    """Raise WorkflowError for outputs of which no record says how they were made as they are."""
    records = records_in(RECORDS)
    incomplete = records_in(INCOMPLETE)
    unknown = [
        path
        for folder in (settings.name, "models", "generated")
        for path in sorted(Path("results", folder).rglob("*"))
        if path not in incomplete
        and path.is_file()
        and not (path in records and describes(records[path], path))
        and not any(part.startswith(".") for part in path.parts)
        and not any(path.is_relative_to(folder) for folder in CHANGED_BY_PEOPLE)
        and any(output.match(str(path)) for rule in workflow.rules for output in rule.output)
    ]
    if unknown:
        config = " ".join(str(file) for file in workflow.configfiles)
        raise WorkflowError(
            f"{len(unknown)} files have no record of the code and settings that made them, or changed since, such "
            f"as {unknown[0]}; copy a run with its times and its folder .provenance (cp -a), delete the files, or "
            f"accept all as they are: snakemake --configfile {config} --touch --forceall --cores 1"
        )


if workflow.is_main_process:
    restore_records()
    save_records()


onsuccess:
    save_records()


onerror:
    save_records()
    for line in [line for lines in AT_ERROR for line in lines()]:
        print(line, file=sys.stderr)
