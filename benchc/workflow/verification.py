"""Do the files of a run still match its record?"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchc.errors import InputError
from benchc.progress import track
from benchc.user_paths import relative_path
from benchc.workflow.run_record import FILE, hash_of, read_record


@dataclass
class Findings:
    """What no longer matches the record of a run.

    Attributes:
        recorded: the outputs that the record has
        missing: those that are not there, and inputs in the folder that are not
        changed: those whose content is not what a job wrote
        outdated: outputs by an input that has changed since they were made
        elsewhere: inputs outside the folder of the run that are not here, so that they cannot be compared
        links: files in the folder that are links, by what they lead to and is not here
    """

    recorded: int
    missing: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    outdated: dict[str, list[str]] = field(default_factory=dict)
    elsewhere: list[str] = field(default_factory=list)
    links: dict[Path, list[str]] = field(default_factory=dict)

    @property
    def matches(self) -> bool:
        return not (self.missing or self.changed or self.outdated or self.links)


def verified(folder: Path) -> Findings:
    """Compare the files in a run's folder, which may come from another machine, with its record.

    Inputs outside the folder are looked for from the working directory. Raises InputError where there is no
    record that can be read.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; give results/<name> of a run")
    record = read_record(folder)
    if not (folder / FILE).exists():
        raise InputError(
            f"{folder / FILE}: there is none; give a run that has ended, which writes it, and no copy by "
            "`benchc view --copy`, which leaves it out"
        )
    if "outputs" not in record:
        raise InputError(
            f"{folder / FILE}: is no record of a run that this version reads; a run writes it when it ends"
        )
    outputs = record["outputs"]
    inputs = {name for output in outputs.values() for name in output["inputs"]}
    recorded = {name: then for output in outputs.values() for name, then in output["inputs"].items() if then}
    recorded |= {name: output["hash"] for name, output in outputs.items()}
    hashes = dict(_hashes(folder, dict.fromkeys(inputs) | recorded))
    found = Findings(len(outputs))
    for name, output in outputs.items():
        if hashes[name] is None:
            found.missing.append(name)
        elif hashes[name] != output["hash"]:
            found.changed.append(name)
        for each, then in output["inputs"].items():
            if hashes[each] is None and _is_outside(each):
                found.elsewhere.append(each)
            elif hashes[each] is None:
                found.missing.append(each)
            elif hashes[each] != then:
                found.outdated.setdefault(each, []).append(name)
    found.elsewhere = sorted(set(found.elsewhere))
    missing, found.missing = sorted(set(found.missing)), []
    for name in missing:
        # Unlike those of pathlib, these take any name.
        if os.path.islink(folder / name) and not os.path.exists(folder / name):  # noqa: PTH110, PTH114
            found.links.setdefault(_absent(folder / name), []).append(name)
        else:
            found.missing.append(name)
    return found


def _absent(link: Path) -> Path:
    """Return what is missing of the path to which a link leads: its outermost folder, or the file."""
    # resolve() refuses a link to itself.
    target = Path(os.path.realpath(link))
    lost = (folder for folder in reversed(target.parents) if not os.path.exists(folder))  # noqa: PTH110
    return relative_path(next(lost, target), Path.cwd())


def _is_outside(name: str) -> bool:
    return name.startswith(("/", "./"))


def _hashes(folder: Path, recorded: Mapping[str, str | None]) -> Iterator[tuple[str, str | None]]:
    """Yield the hash of each file or folder, of the kind that is recorded; None where it is not there."""
    for name in track(sorted(recorded), label="verify", unit="files"):
        path = Path(name) if _is_outside(name) else folder / name
        then = recorded[name] or ""
        found = None
        try:
            # Reading a pipe or a device would not end.
            if path.is_file() or path.is_dir():
                found = hash_of(path, whole=not (then.startswith("sample:") or _is_outside(name)))
        except PermissionError:
            # It is there, and neither missing nor changed.
            if not _is_outside(name):
                raise
        except OSError:
            pass
        yield name, found
