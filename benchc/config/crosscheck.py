"""Checks across keys and files. They use raw values, so that they also run where other values are invalid."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchc.config.errors import shown, unknown
from benchc.config.raw import at, block, texts
from benchc.config.settings import DEFAULT_SUITE, Raw, RunSettings, default_types
from benchc.corruptions.recipe import own_file
from benchc.corruptions.registry import SUITES, Engine, all_corruptions_of, recipe_of
from benchc.corruptions.suite import Suite
from benchc.demo.captions import CAPTION_SOURCE
from benchc.demo.sources import GENERATED_SOURCES
from benchc.labels import mistaken_labels, shared_labels
from benchc.models.registry import ANSWERING
from benchc.suggestion import suggestion

Entries = Mapping[str, Any]


def cross_errors(
    settings: type[RunSettings],
    raw: Raw,
    file: str,
    sources: Entries | None,
    models: Entries | None,
    catalogues: Mapping[str, str],
    suite: Suite | None,
) -> list[str]:
    """Return one line for each value of ``raw`` that does not fit another one.

    ``settings`` are those of the run's benchmark, which add checks of their own. ``sources`` and ``models``
    are the raw catalogues, None where they could not be read, and ``catalogues`` their file names. ``suite``
    is the run's, with the corruptions of the user's files; None where these cannot be used. Values of a wrong
    type are ignored: the settings' types report them.
    """
    source_file, model_file = catalogues.get("sources", ""), catalogues.get("models", "")
    listed = {key: texts(at(raw, key)) for key in (*settings.SOURCE_KEYS, *settings.MODEL_KEYS)}
    model_ids = dict.fromkeys(id_ for key in settings.MODEL_KEYS for _, id_ in listed[key])
    source_ids = dict.fromkeys(id_ for key in settings.SOURCE_KEYS for _, id_ in listed[key])
    trained = [id_ for id_ in source_ids if _has(sources, id_, "generated")]
    trained += [id_ for id_ in model_ids if _has(models, id_, "train")] + settings.trained_encoders(raw)
    errors: list[str] = []
    for key, ids in listed.items():
        entries, name = (sources, source_file) if key in settings.SOURCE_KEYS else (models, model_file)
        if entries is not None:
            errors += [
                unknown(file, f"{key}[{position}]", id_, map(str, entries), f"id in {name}")
                for position, id_ in ids
                if id_ not in entries
            ]
    errors += [
        f"{file}: {key}[{position}] is {shown(id_)}, whose scoring in {model_file} is {scoring}, but {key} "
        "need models that score options; list it elsewhere, or choose letter, text, text_mean or "
        "text_vqascore."
        for key in settings.SCORING_KEYS
        for position, id_ in listed[key]
        if (scoring := block(models or {}, id_).get("scoring")) in tuple(ANSWERING)
    ]
    errors += _labels(source_ids, sources or {}, source_file)
    errors += _labels(model_ids, models or {}, model_file)
    errors += [
        f"{source_file}: {id_} has generated, but is not a source of the demo"
        f"{suggestion(id_, (*GENERATED_SOURCES, CAPTION_SOURCE))}."
        for id_ in sources or {}
        if _has(sources, id_, "generated") and id_ not in (*GENERATED_SOURCES, CAPTION_SOURCE)
    ]
    errors += _corruptions(block(raw, "corruptions"), file, suite, imported=settings.imports_images(raw))
    errors += settings.benchmark_errors(raw, file)
    errors += settings.model_errors(raw, models or {}, file, model_file)
    if raw.get("demo") is None and trained:
        errors.append(f"{file}: demo is missing, but needed for {', '.join(trained)}; see config/demo.yaml.")
    return errors


def _labels(ids: Sequence[str] | Mapping[str, None], entries: Entries, catalogue: str) -> Iterator[str]:
    found = {id_: block(entries, id_).get("label") for id_ in ids}
    labels = {id_: label for id_, label in found.items() if isinstance(label, str)}
    for first, other in shared_labels(labels):
        yield (
            f"{catalogue}: {other}.label is {shown(labels[other])}, and so is {first}.label; a run that "
            "uses both needs two labels."
        )
    for id_ in mistaken_labels(labels):
        yield (
            f"{catalogue}: {id_}.label is {shown(labels[id_])}, which is the id of another; a run that uses "
            "both needs another label."
        )


def _corruptions(
    chosen: Mapping[str, Any], file: str, suite: Suite | None, *, imported: bool
) -> Iterator[str]:
    name = chosen.get("suite", DEFAULT_SUITE)
    if isinstance(name, str) and name not in SUITES:
        yield unknown(file, "corruptions.suite", name, SUITES, "suite")
    if suite is None:
        return
    names = all_corruptions_of(suite)
    engine: Engine = "imgaug" if chosen.get("engine") == "imgaug" else "benchc"
    for position, name in texts(chosen.get("types")):
        key = f"corruptions.types[{position}]"
        if name not in names:
            line = unknown(file, key, name, names, f"corruption in {suite.name}")
            own = "" if chosen.get("own_files") else "; one of your own needs corruptions.own_files"
            yield f"{line.removesuffix('.')}{own}."
        elif error := _error(name, suite, engine, imported=imported):
            yield f"{file}: {key} is {shown(name)}, but {error}."
    used = {name for _, name in texts(chosen.get("types"))}
    by_file: dict[str, list[str]] = {}
    for type_ in suite.types():
        if path := own_file(type_.kernel):
            by_file.setdefault(path, []).append(type_.name)
    for path, registered in by_file.items():
        if used <= set(names) and not used.intersection(registered):
            yield (
                f"{file}: corruptions.own_files has {path}, but corruptions.types has none of its "
                f"corruptions ({', '.join(registered)}); add one, or leave out the file."
            )
    if "types" not in chosen and engine == "imgaug":
        errors = (_error(name, suite, engine, imported=imported) for name in default_types(chosen))
        if error := next(filter(None, errors), None):
            yield f'{file}: corruptions.engine is "imgaug", but {error}.'
    severities, known = chosen.get("severities"), suite.severities
    for position, severity in enumerate(severities if isinstance(severities, list) else []):
        # The type of the key refuses numbers above 5, which no suite has.
        if severity in (1, 2, 3, 4, 5) and severity not in known:
            yield (
                f"{file}: corruptions.severities[{position}] is {severity}, but {suite.name} has the "
                f"severities {', '.join(map(str, known))}."
            )


def _error(name: str, suite: Suite, engine: Engine, *, imported: bool) -> str | None:
    """Return why a corruption cannot be generated; None where it can be, or is imported."""
    try:
        recipe_of(name, suite, engine)
    except ValueError as error:
        return None if imported else str(error)
    return None


def _has(entries: Entries | None, id_: str, key: str) -> bool:
    return block(entries or {}, id_).get(key) is not None
