"""Labels, which tables and figures show in place of ids, so that no two may be equal."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchc.errors import InputError


def shared_labels(labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the ids of each two that have one label, the first that has it and another; ``labels``: by id."""
    owners: dict[str, str] = {}
    for id_, label in labels.items():
        if owners.setdefault(label, id_) != id_:
            yield owners[label], id_


def mistaken_labels(labels: Mapping[str, str]) -> Iterator[str]:
    """Yield the ids whose label is the id of another: tables name models by either."""
    yield from (id_ for id_, label in labels.items() if label != id_ and label in labels)


def check_labels(labels: Mapping[str, str], where: str) -> None:
    """Raise InputError where two models, by id, have one label, or one's label is the other's id.

    ``where``: they are from.
    """
    for first, other in shared_labels(labels):
        raise InputError(
            f"{where}: {first} and {other} have one label, {labels[first]!r}; give each model its own"
        )
    for id_ in mistaken_labels(labels):
        raise InputError(
            f"{where}: the label of {id_} is {labels[id_]!r}, the id of another model; give it another label"
        )


def files_by_name(files: Iterable[Path]) -> dict[str, Path]:
    """Return files of a model each by their names without endings, which are the models'.

    Raises InputError where two have one name, or one is given twice.
    """
    found: dict[str, Path] = {}
    for file in files:
        if file in found.values():
            raise InputError(f"{file} is given twice; give it once")
        if found.setdefault(file.stem, file) is not file:
            raise InputError(
                f"{found[file.stem]} and {file} would both be called {file.stem}; copy one under another name"
            )
    return found
