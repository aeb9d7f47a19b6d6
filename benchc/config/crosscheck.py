"""Checks across keys and files. They read raw values, so that they also run where types are at fault."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchc.config.faults import shown, suggestion, unknown
from benchc.corruptions.registry import PEER_SUITE, SUITES, all_corruptions_of, corruptions_of
from benchc.demo.sources import DRAWN_SOURCES

Entries = Mapping[str, Any]

# Folders beside those of the runs, which hold what runs share.
SHARED_FOLDERS = ("models", "drawn", "downloads")


def cross_faults(
    raw: Mapping[str, Any],
    file: str,
    sources: Entries | None,
    models: Entries | None,
    catalogues: Mapping[str, str],
) -> list[str]:
    """Return one sentence for each value of ``raw`` that does not go with another.

    ``sources`` and ``models`` are the raw catalogues, None where they could not be read; ``catalogues`` holds
    their names. Values of a wrong type are passed over: they are reported by the models of the settings.
    """
    return [
        *_name(raw, file),
        *_ids(raw, file, "sources", sources, catalogues.get("sources", "")),
        *_ids(raw, file, "selectors", models, catalogues.get("models", "")),
        *_ids(raw, file, "targets", models, catalogues.get("models", "")),
        *_labels(raw, ("sources",), sources, catalogues.get("sources", "")),
        *_labels(raw, ("selectors", "targets"), models, catalogues.get("models", "")),
        *_drawn(sources, catalogues.get("sources", "")),
        *_corruptions(raw, file),
        *_figures(raw, file),
        *_encoder(raw, file),
        *_demo(raw, file, sources, models),
    ]


def _name(raw: Mapping[str, Any], file: str) -> Iterator[str]:
    if raw.get("name") in SHARED_FOLDERS:
        yield (
            f"{file}: name is {shown(raw['name'])}, which is the name of a folder that runs share; choose "
            "another one."
        )


def _ids(
    raw: Mapping[str, Any], file: str, key: str, entries: Entries | None, catalogue: str
) -> Iterator[str]:
    yield from _repeated(file, key, _texts(raw.get(key)))
    if entries is not None:
        for position, id_ in _texts(raw.get(key)):
            if id_ not in entries:
                yield unknown(file, f"{key}[{position}]", id_, map(str, entries), f"id in {catalogue}")


def _labels(
    raw: Mapping[str, Any], keys: Sequence[str], entries: Entries | None, catalogue: str
) -> Iterator[str]:
    ids = dict.fromkeys(id_ for key in keys for _, id_ in _texts(raw.get(key)))
    owners: dict[str, str] = {}
    for id_ in ids:
        label = _block(entries or {}, id_).get("label")
        if isinstance(label, str) and owners.setdefault(label, id_) != id_:
            yield (
                f"{catalogue}: {id_}.label is {shown(label)}, and so is {owners[label]}.label; figures and "
                "tables of a run that uses both need two labels."
            )


def _drawn(sources: Entries | None, catalogue: str) -> Iterator[str]:
    for id_ in sources or {}:
        if _has(sources, id_, "drawn") and id_ not in DRAWN_SOURCES:
            yield (
                f"{catalogue}: {id_} has drawn, but a run can draw no source of this id; "
                f"{suggestion(str(id_), DRAWN_SOURCES)}."
            )


def _corruptions(raw: Mapping[str, Any], file: str) -> Iterator[str]:
    block = _block(raw, "corruptions")
    suite, types = block.get("suite"), _texts(block.get("types"))
    yield from _repeated(file, "corruptions.types", types)
    if isinstance(suite, str) and suite not in SUITES:
        yield unknown(file, "corruptions.suite", suite, SUITES, "suite")
    elif isinstance(suite, str):
        names = all_corruptions_of(suite)
        for position, name in types:
            if name not in names:
                yield unknown(file, f"corruptions.types[{position}]", name, names, f"corruption of {suite}")
            elif block.get("engine") == "imgaug" and (
                suite != PEER_SUITE or name not in corruptions_of(PEER_SUITE)
            ):
                yield (
                    f"{file}: corruptions.types[{position}] is {shown(name)}, which the engine imgaug does "
                    f"not have: it has the {len(corruptions_of(PEER_SUITE))} corruptions of {PEER_SUITE}; "
                    "set corruptions.engine to benchc."
                )
    severities = block.get("severities")
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


def _figures(raw: Mapping[str, Any], file: str) -> Iterator[str]:
    figures, corruptions = _block(raw, "figures"), _block(raw, "corruptions")
    targets = (raw.get("targets"), "one of targets")
    types = (corruptions.get("types"), "one of corruptions.types")
    severities = (corruptions.get("severities"), "one of corruptions.severities")
    for figure, key, (known, kind) in (
        ("figure3", "target", targets),
        ("figure4", "target", targets),
        ("figure4", "corruption", types),
        ("figure4", "severity", severities),
        ("figure5", "target", targets),
    ):
        block = _block(figures, figure)
        if key in block and isinstance(known, list) and block[key] not in known:
            names = ", ".join(map(str, known))
            yield f"{file}: figures.{figure}.{key} is {shown(block[key])}, but must be {kind}: {names}."
    if isinstance(types[0], list) and isinstance(severities[0], list):
        reads = [f"{type_}:{severity}" for type_ in types[0] for severity in severities[0]]
        for position, read in _texts(_block(figures, "figure5").get("reads")):
            if read not in reads:
                yield unknown(file, f"figures.figure5.reads[{position}]", read, reads, "read of this run")


def _encoder(raw: Mapping[str, Any], file: str) -> Iterator[str]:
    encoder = _block(_block(raw, "selection"), "image_encoder")
    name, pretrained = encoder.get("name"), encoder.get("pretrained")
    if name == "trained" and pretrained is not None:
        yield (
            f"{file}: selection.image_encoder.pretrained is {shown(pretrained)}, but must be null where the "
            "encoder is trained by the run."
        )
    if isinstance(name, str) and name != "trained" and pretrained is None:
        yield (
            f"{file}: selection.image_encoder.pretrained is null, but must name the weights of {name}, such "
            "as openai."
        )


def _demo(
    raw: Mapping[str, Any], file: str, sources: Entries | None, models: Entries | None
) -> Iterator[str]:
    if raw.get("demo") is not None:
        return
    reasons = [id_ for _, id_ in _texts(raw.get("sources")) if _has(sources, id_, "drawn")]
    for key in ("selectors", "targets"):
        reasons += [id_ for _, id_ in _texts(raw.get(key)) if _has(models, id_, "train")]
    if _block(_block(raw, "selection"), "image_encoder").get("name") == "trained":
        reasons.append("the image encoder")
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


def _texts(value: object) -> list[tuple[int, str]]:
    if not isinstance(value, list):
        return []
    return [(position, text) for position, text in enumerate(value) if isinstance(text, str)]


def _block(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = raw.get(key)
    return value if isinstance(value, Mapping) else {}


def _has(entries: Entries | None, id_: str, key: str) -> bool:
    return entries is not None and _block(entries, id_).get(key) is not None
