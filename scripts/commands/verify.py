"""Compare the files of a run with the hashes in its record."""

import shlex
from collections.abc import Iterator, Sequence, Sized
from pathlib import Path

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.printable import printable
from benchc.workflow.run_record import CONFIGURATION, FILE, read_record
from benchc.workflow.verification import Findings, verified

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
    _print(
        "missing",
        [f"{absent}, to which {links[0]} is a link{_others(links)}" for absent, links in found.links.items()],
    )
    _print("changed after it was made", found.changed)
    _print(
        "changed after outputs were made from it",
        [f"{name} ({outputs[0]}{_others(outputs)})" for name, outputs in found.outdated.items()],
    )
    if found.elsewhere:
        number = pluralize(len(found.elsewhere), "input")
        first = printable(found.elsewhere[0])
        print(f"{number} outside the folder cannot be compared, as {first} is not here")
    if not found.matches:
        raise InputError(f"{run}: does not match its record; {'; '.join(_mends(run, found))}")
    print("all outputs match")


def _mends(run: Path, found: Findings) -> Iterator[str]:
    """Yield how a run is made to match its record again: what of its own differs, and its links."""
    name = str(read_record(run).get("run", run.name))
    made_again = [*found.missing, *found.changed]
    # A folder that was copied or renamed is no run of this working directory.
    if run.resolve() != Path("results", name).resolve():
        if found.outdated.keys() - {*found.changed}:
            yield "run it again where it was made, and copy it again"
        elif made_again:
            yield "copy it again from where it was made"
    elif made_again or found.outdated:
        steps = ["delete what was changed"] if found.changed else []
        if {*made_again} & {*CONFIGURATION}:
            # The copy in its folder cannot be run.
            steps.append("run again the configuration that it was made with")
        else:
            if made_again:
                steps.append(_made_by_name(name, found))
            if found.outdated:
                steps.append("run its configuration again")
        yield f"{', then '.join(steps)}, or copy it again if it is a copy"
    if found.links:
        need = printable(str(next(iter(found.links)))) + _others(found.links)
        yield f"its links need {need}: copy that, too, or copy the run with the files of its links (cp -aL)"


def _made_by_name(name: str, found: Findings) -> str:
    """Return how outputs of a run of this working directory that are missing, or were deleted, are made."""
    names = [*found.missing, *found.changed]
    folder = Path("results", name)
    files = [str(folder / file) for file in (CONFIGURATION[0], names[0])]
    command = shlex.join(["benchc", "run", *files, "--cores", "2"])
    such_as = "such as " if names[1:] else ""
    what = "what is missing" if found.missing else "it"
    return f"make {what} by name ({such_as}{printable(command)})"


def _others(names: Sized) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def _print(what: str, names: Sequence[str]) -> None:
    for name in names[:MOST]:
        print(f"{what}: {printable(name)}")
    if len(names) > MOST:
        print(f"{what}: {len(names) - MOST} more")
