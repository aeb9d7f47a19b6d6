"""Snakemake's records of how outputs were made, kept beside the outputs so that results can be moved. No rules.

Without its records in .snakemake/metadata, Snakemake calls an output up to date whatever its code and settings.

REQUIRED INPUTS: none
OUTPUTS: results/*/.provenance/    a copy of the records of the outputs in that folder
"""

import os
import shutil
from base64 import urlsafe_b64decode

RECORDS = Path(".snakemake/metadata")
INCOMPLETE = Path(".snakemake/incomplete")


def recorded_output(record):
    """Return the output of a record, given the record's path below its folder."""
    # Snakemake encodes the output's path; a long one becomes folders that begin with @.
    return Path(urlsafe_b64decode("".join(part.lstrip("@") for part in record.parts)).decode())


def records_in(folder):
    """Return the records below a folder by the outputs that they describe."""
    # A name with a dot is no record, but a copy that was interrupted.
    records = [path for path in folder.rglob("*") if path.is_file() and "." not in path.name]
    return {recorded_output(path.relative_to(folder)): path for path in records}


def copy_newer(source, target):
    """Copy a record, with its time, unless ``target`` is as new."""
    if not target.exists() or target.stat().st_mtime_ns < source.stat().st_mtime_ns:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{target.name[:200]}.{os.getpid()}.tmp")
        shutil.copy2(source, temporary)
        temporary.replace(target)


def save_records():
    """Copy Snakemake's new records to the folders of results that they describe."""
    for output, record in records_in(RECORDS).items():
        if output.parts[0] == "results" and len(output.parts) > 2:
            copy_newer(record, Path(*output.parts[:2], ".provenance", record.relative_to(RECORDS)))


def restore_records():
    """Give Snakemake the records of results that were made elsewhere."""
    for folder in Path("results").glob("*/.provenance"):
        for record in records_in(folder).values():
            copy_newer(record, RECORDS / record.relative_to(folder))


def check_records():
    """Raise WorkflowError for outputs of the run of which no record says how they were made."""
    known = records_in(RECORDS).keys() | records_in(INCOMPLETE).keys()
    unknown = [
        path
        for folder in (settings.name, "models", "generated")
        for path in sorted(Path("results", folder).rglob("*"))
        if path not in known
        and path.is_file()
        and not any(part.startswith(".") for part in path.parts)
        and any(output.match(str(path)) for rule in workflow.rules for output in rule.output)
    ]
    if unknown:
        raise WorkflowError(
            f"{len(unknown)} files have no record of the code and settings that made them, such as {unknown[0]}; "
            f"copy results with its folders .provenance, delete the files, or accept all as they are: "
            "snakemake --touch --forceall --cores 1"
        )


if workflow.is_main_process:
    restore_records()
    save_records()


onsuccess:
    save_records()


onerror:
    save_records()
