"""Checks across the keys that only R-Bench has. Like the shared ones, they use raw values."""

from collections.abc import Iterator

from benchc.benchmarks.r_bench.judging.options import FEWEST
from benchc.config.answers_from import own_model_errors
from benchc.config.errors import unknown
from benchc.config.raw import block, texts
from benchc.config.settings import Raw
from benchc.pluralize import pluralize


def pair_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each key that does not fit ``pairs``."""
    if raw.get("pairs") == "released" and raw.get("released") is None:
        yield (
            f"{file}: released is missing, but pairs is released; name the distorted images that `benchc "
            "r-bench-pairs` wrote, or choose generated."
        )
    if raw.get("pairs") == "released" and raw.get("assignment"):
        yield (
            f"{file}: has assignment, but released pairs have their dimensions and strengths; remove it, or "
            "choose generated."
        )
    if raw.get("pairs") == "generated" and raw.get("released") is not None:
        yield f"{file}: has released, but pairs is generated; remove it, or choose released."


def task_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each source of ``tasks`` that the run does not have."""
    sources = [name for _, name in texts(raw.get("sources"))]
    for name in block(raw, "tasks"):
        if name not in sources:
            yield unknown(file, "tasks", name, sources, "id in sources")


def id_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each id of answers_from and judgements_from that another model of the run has."""
    yield from own_model_errors(raw, file)
    yield from own_model_errors(raw, file, "judgements_from")
    for name in sorted({*block(raw, "answers_from")} & {*block(raw, "judgements_from")}):
        yield f"{file}: {name} is in answers_from and in judgements_from; give one another id."


def people_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield a line for fewer people than are needed, and for each that is there twice."""
    people = [name for _, name in texts(raw.get("people"))]
    if 0 < len(people) < FEWEST:
        yield (
            f"{file}: people has {pluralize(len(people), 'file')}, but the best and the worst are left out; "
            f"give at least {FEWEST}, or none."
        )
    for name in sorted({name for name in people if people.count(name) > 1}):
        yield f"{file}: people has {name} twice; give each person's answers once."
