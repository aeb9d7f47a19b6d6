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
            mends.insert(0, _made_again(run, made_again))
        mends[-1] += ", or copy it again from where it was made"
        raise InputError(f"{run}: does not match its record; {' and '.join(mends)}")
    print("all outputs match")


def _made_again(run: Path, names: Sequence[str]) -> str:
    """Return how outputs of a run that are missing or changed are made again."""
    if configuration := sorted({*names} & {*CONFIGURATION}):
        return f"run the configuration that made {printable(str(run / configuration[0]))}"
    name = read_record(run)["run"]
    target = Path("results", name, names[0])
    # A folder that was copied or renamed is no run of this working directory.
    here = run.resolve() == Path("results", name).resolve()
    command = shlex.join(
        ["benchc", "run", str(Path("results", name, CONFIGURATION[0])), str(target), "--cores", "2"]
    )
    such_as = "such as " if names[1:] else ""
    example = printable(command if here else str(run / names[0]))
    return f"delete what was changed and make it, or what is missing, by name ({such_as}{example})"


def _print(what: str, names: Sequence[str]) -> None:
    for name in names[:MOST]:
        print(f"{what}: {printable(name)}")
    if len(names) > MOST:
        print(f"{what}: {len(names) - MOST} more")
