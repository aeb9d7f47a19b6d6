"""Labels, which tables and figures show in place of ids, so that no two may be equal."""

from collections.abc import Iterator, Mapping

from benchc.errors import InputError


def shared_labels(labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the ids of each two that have one label, the first that has it and another; ``labels``: by id."""
    owners: dict[str, str] = {}
    for id_, label in labels.items():
        if owners.setdefault(label, id_) != id_:
            yield owners[label], id_


def check_labels(labels: Mapping[str, str], where: str) -> None:
    """Raise InputError where two models, by id, have one label; ``where`` they are from."""
    for first, other in shared_labels(labels):
        raise InputError(
            f"{where}: {first} and {other} have one label, {labels[first]!r}; give each model its own"
        )
