"""Checks across keys and files. They read raw values, so that they also run where types are at fault."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchc.config.faults import shown, suggestion, unknown
from benchc.config.raw import block, texts
from benchc.config.settings import Raw, RunSettings
from benchc.corruptions.registry import IMGAUG_SUITE, SUITES, all_corruptions_of, corruptions_of
from benchc.demo.sources import GENERATED_SOURCES

Entries = Mapping[str, Any]

# Folders beside those of the runs, which hold what runs share.
SHARED_FOLDERS = ("models", "generated", "downloads")


def cross_faults(
    settings: type[RunSettings],
    raw: Raw,
    file: str,
    sources: Entries | None,
    models: Entries | None,
    catalogues: Mapping[str, str],
) -> list[str]:
    """Return one sentence for each value of ``raw`` that does not go with another.

    ``settings`` are those of the run's benchmark, which add checks of their own. ``sources`` and ``models``
    are the raw catalogues, None where they could not be read; ``catalogues`` holds their names. Values of a
    wrong type are passed over: they are reported by the models of the settings.
    """
    return [
        *_name(raw, file),
        *_ids(raw, file, "sources", sources, catalogues.get("sources", "")),
        *(
            fault
            for key in settings.MODEL_KEYS
            for fault in _ids(raw, file, key, models, catalogues.get("models", ""))
        ),
        *_labels(raw, ("sources",), sources, catalogues.get("sources", "")),
        *_labels(raw, settings.MODEL_KEYS, models, catalogues.get("models", "")),
        *_drawn(sources, catalogues.get("sources", "")),
        *_corruptions(raw, file),
        *settings.own_faults(raw, file),
        *_demo(settings, raw, file, sources, models),
    ]


def _name(raw: Raw, file: str) -> Iterator[str]:
    if raw.get("name") in SHARED_FOLDERS:
        yield (
            f"{file}: name is {shown(raw['name'])}, which is the name of a folder that runs share; choose "
            "another one."
        )


def _ids(raw: Raw, file: str, key: str, entries: Entries | None, catalogue: str) -> Iterator[str]:
    yield from _repeated(file, key, texts(raw.get(key)))
    if entries is not None:
        for position, id_ in texts(raw.get(key)):
            if id_ not in entries:
                yield unknown(file, f"{key}[{position}]", id_, map(str, entries), f"id in {catalogue}")


def _labels(raw: Raw, keys: Sequence[str], entries: Entries | None, catalogue: str) -> Iterator[str]:
    ids = dict.fromkeys(id_ for key in keys for _, id_ in texts(raw.get(key)))
    owners: dict[str, str] = {}
    for id_ in ids:
        label = block(entries or {}, id_).get("label")
        if isinstance(label, str) and owners.setdefault(label, id_) != id_:
            yield (
                f"{catalogue}: {id_}.label is {shown(label)}, and so is {owners[label]}.label; figures and "
                "tables of a run that uses both need two labels."
            )


def _drawn(sources: Entries | None, catalogue: str) -> Iterator[str]:
    for id_ in sources or {}:
        if _has(sources, id_, "drawn") and id_ not in GENERATED_SOURCES:
            yield (
                f"{catalogue}: {id_} has drawn, but a run can draw no source of this id; "
                f"{suggestion(str(id_), GENERATED_SOURCES)}."
            )


def _corruptions(raw: Raw, file: str) -> Iterator[str]:
    chosen = block(raw, "corruptions")
    suite, types = chosen.get("suite"), texts(chosen.get("types"))
    yield from _repeated(file, "corruptions.types", types)
    if isinstance(suite, str) and suite not in SUITES:
        yield unknown(file, "corruptions.suite", suite, SUITES, "suite")
    elif isinstance(suite, str):
        names = all_corruptions_of(suite)
        for position, name in types:
            if name not in names:
                yield unknown(file, f"corruptions.types[{position}]", name, names, f"corruption of {suite}")
            elif chosen.get("engine") == "imgaug" and (
                suite != IMGAUG_SUITE or name not in corruptions_of(IMGAUG_SUITE)
            ):
                yield (
                    f"{file}: corruptions.types[{position}] is {shown(name)}, which the engine imgaug does "
                    f"not have: it has the {len(corruptions_of(IMGAUG_SUITE))} corruptions of "
                    f"{IMGAUG_SUITE}; set corruptions.engine to benchc."
                )
    severities = chosen.get("severities")
    if isinstance(severities, list) and all(isinstance(severity, int) for severity in severities):
        known = SUITES[suite].severities if isinstance(suite, str) and suite in SUITES else (1, 2, 3, 4, 5)
        for position, severity in enumerate(severities):
            # Numbers beyond 5 are in no suite, which the type of the key says already.
            if severity in (1, 2, 3, 4, 5) and severity not in known:
                listed = ", ".join(map(str, known))
                yield (
                    f"{file}: corruptions.severities[{position}] is {severity}, but {suite} has the "
                    f"severities {listed}."
                )
        ascending = sorted(set(severities))
        if severities != ascending:
            yield (
                f"{file}: corruptions.severities is {shown(severities)}, but must be ascending without "
                f"repetition: {shown(ascending)}."
            )


def _demo(
    settings: type[RunSettings],
    raw: Raw,
    file: str,
    sources: Entries | None,
    models: Entries | None,
) -> Iterator[str]:
    if raw.get("demo") is not None:
        return
    reasons = [id_ for _, id_ in texts(raw.get("sources")) if _has(sources, id_, "drawn")]
    for key in settings.MODEL_KEYS:
        reasons += [id_ for _, id_ in texts(raw.get(key)) if _has(models, id_, "train")]
    reasons += settings.own_training(raw)
    if reasons:
        yield (
            f"{file}: demo is missing, but must say how the run makes {', '.join(dict.fromkeys(reasons))} "
            "(config/demo.yaml shows it)."
        )


def _repeated(file: str, key: str, texts: Sequence[tuple[int, str]]) -> Iterator[str]:
    seen: set[str] = set()
    for position, text in texts:
        if text in seen:
            yield f"{file}: {key}[{position}] is {shown(text)}, which is in the list already; name it once."
        seen.add(text)


def _has(entries: Entries | None, id_: str, key: str) -> bool:
    return entries is not None and block(entries, id_).get(key) is not None
