"""How a figure says by which readings its models are read."""

from collections.abc import Mapping, Sequence

from benchc.benchmarks.naturalbench.scored import RunScores
from benchc.benchmarks.naturalbench.tables.frames import READINGS
from benchc.pluralize import pluralize
from benchc.rendering.labels import renderable

MOST_NAMED = 3  # models of a reading; more are counted


def named_readings(scored: RunScores, readings: Mapping[str, str]) -> str:
    """Return the reading, or readings with the models of each: "Decoding (A, B); Deterministic (C)".

    ``readings``: of each model, by its id.
    """
    models: dict[str, list[str]] = {}
    for id_, reading in readings.items():
        models.setdefault(reading, []).append(scored.models[id_].label)
    if len(models) == 1:
        return READINGS[next(iter(models))]
    return "; ".join(f"{READINGS[reading]} ({_names(labels)})" for reading, labels in models.items())


def _names(labels: Sequence[str]) -> str:
    many = len(labels) > MOST_NAMED
    return pluralize(len(labels), "model") if many else ", ".join(renderable(labels))
