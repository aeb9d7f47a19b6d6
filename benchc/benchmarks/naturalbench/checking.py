"""What `benchc check` checks in a run of NaturalBench alone: groups, tags, encoders and curation."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from benchc.benchmarks.naturalbench.curation.caption_sets import CaptionSet, Which
from benchc.benchmarks.naturalbench.curation.captions import read_caption_set
from benchc.benchmarks.naturalbench.curation.review_files import (
    ReviewError,
    check_file,
    choices_of_form,
    read_answers,
)
from benchc.benchmarks.naturalbench.groups import FACTS, Member, placed_groups, problem_of
from benchc.benchmarks.naturalbench.places import ENGLISH, Source
from benchc.benchmarks.naturalbench.settings import (
    Captions,
    Curate,
    FineTuning,
    Settings,
    Translate,
)
from benchc.benchmarks.naturalbench.tags import read_tags
from benchc.benchmarks.naturalbench.translation import ALL_ENGLISH
from benchc.checking.encoders import check_image_text_encoders
from benchc.checking.finding import Finding, Findings, reason
from benchc.checking.language_model import check_language_model
from benchc.checking.pool import PoolFound
from benchc.config.load import Config
from benchc.config.source_files import source_files
from benchc.errors import InputError
from benchc.home import shipped
from benchc.planning.amounts import Amount
from benchc.planning.size import RunSize
from benchc.pluralize import pluralize


def check(config: Config, pool: PoolFound, *, load: bool, network: bool = True) -> Findings[RunSize | None]:
    """Yield what is right and wrong, and return the size of the pool's groups that are whole, if it is known.

    ``load``: whether encoders are loaded; ``network``: whether writer and translator are asked.
    """
    settings = cast(Settings, config.settings)
    members: list[Member] = []
    languages: set[str] = set()
    here = set(pool.texts["source"]) if pool.texts.height else set()
    for id_ in here.intersection(config.sources):
        own_members, own_languages = yield from _groups(id_, config, pool)
        members += own_members
        languages |= own_languages
    complete = here == set(config.sources)
    yield from _tags(settings, members, complete=complete)
    yield from check_image_text_encoders(_encoders(settings), load=load)
    if settings.fine_tuning is not None:
        yield from _tuning(settings.fine_tuning)
    if settings.curate is not None:
        yield from _curate(settings.curate, Path("results") / settings.name, network=network)
    if settings.translate is not None:
        made = settings.curate is not None and _is_drawn(settings.curate)
        yield from _translate(settings.translate, Path("results") / settings.name, made=made, network=network)
        if complete and languages == {ENGLISH.lower()}:
            yield Finding("translator", "error", "groups", ALL_ENGLISH)
    retrieval = settings.retrieval
    if retrieval is not None:
        for key, name in (("pairs", retrieval.pairs), ("images", retrieval.images)):
            if name is not None:
                yield _exists("retrieval", key, f"retrieval.{key}", name)
    size = pool.size
    if size is None or not members:
        return None
    whole = {member.id for member in members if member.taken}
    # Images of all items are corrupted.
    options = {id_: count for id_, count in (size.options or {}).items() if id_ in whole}
    return replace(size, pool=Amount(len(whole), size.pool.kind), options=options)


def _encoders(settings: Settings) -> dict[str, tuple[str, str, str | None, str | None]]:
    """Return library, name, weights and language of the encoders that the run uses."""
    entries = {id_: settings.encoders[id_] for id_ in settings.used_encoders}
    return {
        id_: (entry.library, entry.name, entry.pretrained, entry.language) for id_, entry in entries.items()
    }


def _groups(id_: str, config: Config, pool: PoolFound) -> Findings[tuple[list[Member], set[str]]]:
    """Yield how many groups of a source are whole, but for their images; return all items and languages."""
    source = config.sources[id_]
    try:
        path = Path(source_files(id_, source)["tsv"].path)
        found = placed_groups(id_, Source(path, source.label))
    except (InputError, OSError) as error:
        yield Finding("groups", "error", id_, reason(error))
        return [], set()
    except KeyError:
        yield Finding("groups", "error", id_, "has open questions, not groups; remove it from sources")
        return [], set()
    facts = {row["id"]: row for row in pool.texts.select("id", *FACTS).iter_rows(named=True)}
    problems = {group: problem_of(placed, facts) for group, placed in found.items()}
    wrong = {group: problem for group, problem in problems.items() if problem is not None}
    whole = len(found) - len(wrong)
    yield Finding("groups", "ok" if whole else "error", id_, pluralize(whole, "group"))
    for problem, count in Counter(wrong.values()).most_common():
        first = next(group for group, one in wrong.items() if one == problem)
        text = f"{pluralize(count, 'group')} left out: {problem} (first {first})"
        yield Finding("groups", "warning", id_, text)
    members = [
        Member(id_, group, place.q_idx, place.i_idx, item, taken=group not in wrong)
        for group, placed in found.items()
        for item, place in placed
    ]
    return members, {place.language.lower() for placed in found.values() for _, place in placed}


def _tags(settings: Settings, members: list[Member], *, complete: bool) -> Iterator[Finding]:
    name = settings.groups.tags
    if name is None:
        return
    if Path(name).is_file() and not complete:
        text = f"{name} was not read, since not all sources are here"
        yield Finding("groups", "skipped", "tags", text)
        return
    try:
        tags = read_tags(Path(name), members)
    except InputError as error:
        yield Finding("groups", "error", "tags", reason(error))
        return
    text = f"{pluralize(tags.height, 'tag')} of {pluralize(tags['id'].n_unique(), 'item')}, in {name}"
    yield Finding("groups", "ok", "tags", text)


def _tuning(tuning: FineTuning) -> Iterator[Finding]:
    """Yield whether models can be tuned here; a job in an environment of its own need not."""
    models = ", ".join(tuning.models)
    if find_spec("peft") is None:
        text = "tuning needs the package peft, which is not installed here; install it, or run with conda"
        yield Finding("fine-tuning", "warning", models, text)
    else:
        text = f"tuned with {' and '.join(tuning.modality)}, {pluralize(tuning.epochs, 'epoch')}"
        yield Finding("fine-tuning", "ok", models, text)


def _curate(curate: Curate, results: Path, *, network: bool) -> Iterator[Finding]:
    for id_, captions in curate.captions.items():
        yield from _captions(id_, captions, curate.mine.captions)
    for kind in curate.writer.types:
        name = curate.writer.templates[kind]
        yield _exists("writer", kind, f"curate.writer.templates.{kind}", name)
    if curate.shorten is not None:
        yield _exists("writer", "shorten", "curate.shorten.template", curate.shorten.template)
    made = _is_drawn(curate)
    yield from check_language_model(
        "writer", curate.writer, results / "curate/recordings", made=made, network=network
    )
    yield from _reviews(curate, results, made=made)
    for name in curate.release.older:
        yield _exists("release", "older", "curate.release.older", name)


def _is_drawn(curate: Curate) -> bool:
    """Return whether the run draws all captioned images, so that it makes replies and reviews, too."""
    return all(captions.form == "generated" for captions in curate.captions.values())


def _translate(translate: Translate, results: Path, *, made: bool, network: bool) -> Iterator[Finding]:
    yield _exists("translator", "template", "translate.template", translate.template)
    own = results / "translated/recordings"
    yield from check_language_model("translator", translate, own, made=made, network=network)


def _captions(id_: str, captions: Captions, which: Which) -> Iterator[Finding]:
    """Yield how many samples a data set of captioned images gives, and how many of its rows are rejected."""
    if captions.form == "generated":
        yield Finding("captions", "made", id_, f"{pluralize(captions.count or 0, 'image')}, made by the run")
        return
    files = {"file": captions.file, "images": captions.images}
    absent = [(key, name) for key, name in files.items() if name is not None and not Path(name).exists()]
    for key, name in absent:
        yield _exists("captions", id_, f"curate.captions.{id_}.{key}", name)
    if absent or captions.file is None:
        return
    images = None if captions.images is None else Path(captions.images)
    file, language, locale = Path(captions.file), captions.language, captions.locale
    source = CaptionSet(id_, captions.form, file, images, language, locale)
    try:
        found, report = read_caption_set(source, which)
    except (InputError, OSError) as error:
        yield Finding("captions", "error", id_, reason(error))
        return
    yield Finding("captions", "ok", id_, f"{pluralize(found.height, 'sample')}, {captions.file}")
    if not report.is_empty():
        line, why = report.select("line", "reason").row(0)
        where = "" if line is None else f" in line {line}"
        text = f"{pluralize(report.height, 'row')} rejected, the first{where}: {why}"
        yield Finding("captions", "warning", id_, text)


def _reviews(curate: Curate, results: Path, *, made: bool) -> Iterator[Finding]:
    """Yield of each round what is wrong, and who has not answered yet: that is no error.

    Answers are compared with the forms of the run, where it has written them.
    """
    review = curate.review
    rounds = [*(["pairs"] if review.pairs else []), *map(str, range(1 + curate.writer.more_rounds))]
    for round_ in rounds:
        files = {one: Path(review.folder) / round_ / f"{one}.csv" for one in review.annotators}
        absent = [one for one, path in files.items() if not path.is_file()]
        subject = round_ if round_ == "pairs" else f"round {round_}"
        folder = results / "curate/review" / round_
        forms = {one: folder / f"{one}.csv" for one in files}
        have_forms = all(form.is_file() for form in forms.values())
        faults, waiting = _faults(files, forms if have_forms else {}, folder, round_)
        yield from (Finding("reviews", "error", subject, fault) for fault in faults)
        if made and absent:
            yield Finding("reviews", "made", subject, "made by the run")
        elif waiting or absent:
            stops = waiting or [f"{', '.join(str(files[one]) for one in absent)} not here yet"]
            text = f"{'; '.join(stops)}: the run stops until people have answered the forms in {folder}"
            yield Finding("reviews", "note", subject, text if have_forms else f"{text}, where there are any")
        elif not faults:
            read = "as its forms ask" if have_forms else "not compared with its forms, which are not here"
            yield Finding("reviews", "ok", subject, f"of {', '.join(review.annotators)}, {read}")


def _faults(
    files: Mapping[str, Path], forms: Mapping[str, Path], folder: Path, round_: str
) -> tuple[list[str], list[str]]:
    """Return what is wrong with the reviews of a round, and whose answers it lacks, if it has forms."""
    faults: list[str] = []
    for path in files.values():
        try:
            if path.is_file():
                check_file(path)
        except (InputError, OSError) as error:
            faults.append(reason(error))
    if faults or not forms:
        return faults, []
    try:
        choices = {annotator: choices_of_form(form) for annotator, form in forms.items()}
        read_answers(choices, next(iter(files.values())).parent, folder, round_)
    except ReviewError as error:
        *lines, _ = error.args
        faults = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        return faults, [line.strip().partition("; ")[0] for line in lines if line.startswith("  ")]
    except (InputError, OSError) as error:
        return [reason(error)], []
    return [], []


def _exists(stage: str, subject: str, key: str, name: str) -> Finding:
    if shipped(name, Path.cwd()).exists():
        return Finding(stage, "ok", subject, name)
    return Finding(stage, "error", subject, f"{key} names {name}, which does not exist; correct the path")
