"""Compare the files of a run with the hashes in its record."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.printable import printable
from benchc.workflow.run_record import CONFIGURATION, FILE, read_record
from benchc.workflow.verification import verified

MOST = 10  # lines of a kind


def verify(run: Path, /) -> None:
    """Compare the files of a run with the hashes in its record, run.json.

    It names outputs that are missing or were changed after they were made, and inputs that were changed since
    outputs were made from them. The folder may come from another machine; inputs outside it that are not here
    are counted. The command fails where anything no longer matches.

    Args:
        run: results/{name} of a run
    """
    found = verified(run)
    last = read_record(run)["calls"][-1]
    code = (last["revision"] or "no commit")[:12] + (" with changes" if last["modified"] else "")
    number = pluralize(found.recorded, "output")
    print(printable(f"{run}: {number} in {FILE}; its last call was by benchc {last['benchc']}, {code}"))
    _print("missing", found.missing)
    _print("changed after it was made", found.changed)
    _print(
        "changed after outputs were made from it",
        [
            f"{name} ({outputs[0]}{f' and {len(outputs) - 1} more' if outputs[1:] else ''})"
            for name, outputs in found.outdated.items()
        ],
    )
    if found.elsewhere:
        number = pluralize(len(found.elsewhere), "input")
        first = printable(found.elsewhere[0])
        print(f"{number} outside the folder cannot be compared, as {first} is not here")
    if not found.matches:
        mends = ["run it again"] if found.outdated else []
        if made_again := [*found.missing, *found.changed]:
            config, target = run / CONFIGURATION[0], run / made_again[0]
            # A folder that was copied to another place is no run of this working directory.
            here = config.is_file() and run.resolve().parent == Path("results").resolve()
            again = shlex.join(
                ["benchc", "run", str(config), str(target), "--cores", "2"] if here else [str(target)]
            )
            mends.insert(
                0, f"delete what was changed and make it, or what is missing, by name ({printable(again)})"
            )
        mends[-1] += ", or copy it again from where it was made"
        raise InputError(f"{run}: does not match its record; {' and '.join(mends)}")
    print("all outputs match")


def _print(what: str, names: Sequence[str]) -> None:
    for name in names[:MOST]:
        print(f"{what}: {printable(name)}")
    if len(names) > MOST:
        print(f"{what}: {len(names) - MOST} more")
