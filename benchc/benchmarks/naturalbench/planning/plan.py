"""The stages in which models answer, and what curation asks of a writer and of people."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from benchc.benchmarks.naturalbench.blind_workflow import asked_models
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.settings import Curate, FineTuning, Settings
from benchc.benchmarks.naturalbench.translation import in_other_languages
from benchc.config.corruption_batches import corruption_batches
from benchc.config.load import Config
from benchc.models.registry import ANSWERING
from benchc.planning.amounts import Amount, Kind, disk_text, total
from benchc.planning.plan import Plan
from benchc.planning.size import ImageCounts, RunSize, image_counts, run_size, variants
from benchc.planning.source_size import published_amount, published_items, task_counts
from benchc.planning.stages import Stage
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table
from benchc.schemas.subset import SUBSET

SAMPLES = 4  # of a group: two questions about two images


def plan_of(config: Config, results: Path, size: RunSize | None = None) -> Plan:
    """Return the plan of a run whose tables are in the folder ``results`` as far as they exist.

    ``size``: None takes that of the pool in ``results`` or, before it is built, of the configuration.
    """
    settings = cast(Settings, config.settings)
    size = size or run_size(config, results)
    taken = taken_ids(size, results / "subsets/groups.parquet")
    # Rows that are no whole group are left out.
    items = Amount(size.pool.value, "at most") if taken is None else Amount(len(taken))
    others = items_in_other_languages(results, items)
    asked = [*stages(config, items, others), *blind_stages(config, results)]
    notes = [*_notes(settings, results), *translation_notes(settings, others)]
    return Plan(asked, images(settings, size, results), notes)


def taken_ids(size: RunSize, path: Path) -> list[str] | None:
    """Return the items of the groups that are taken; None before groups are read."""
    if size.options is None or not path.exists():
        return None
    return [id_ for id_ in read_table(path, SUBSET)["id"] if id_ in size.options]  # may be of an older pool


def items_in_other_languages(results: Path, items: Amount) -> Amount:
    """Return how many of a run's ``items`` are in other languages; a bound before groups are read."""
    path = results / "pool/groups.parquet"
    if not path.exists():
        return Amount(items.value, "at most")
    return Amount(in_other_languages(read_table(path, GROUPS)).height)


def stages(config: Config, items: Amount, others: Amount) -> list[Stage]:
    """Return the stages in which models answer: with the image and without it, and translated questions.

    ``items``: of the groups; ``others``: of those in other languages.
    """
    settings = cast(Settings, config.settings)
    names, number = (
        corruption_batches(settings.corruptions, settings.inference),
        variants(settings.corruptions),
    )
    scored = tuple(id_ for id_ in settings.models if config.models[id_].scoring not in ANSWERING)

    def stage(name: str, models: tuple[str, ...], folder: str) -> Stage:
        outputs = tuple(f"{folder}/groups/{{model}}/{part}.parquet" for part in names)
        return Stage(name, models, items, items.times(number), outputs)

    found = []
    if any(reading != "decoding" for reading in settings.readings):
        found.append(stage("predictions", scored, "predictions"))
    if "decoding" in settings.readings:
        found.append(stage("answers", tuple(settings.models), "answers"))
    if "post_hoc" in settings.readings:
        name = "without image" if settings.prior == "no_image" else "grey image"
        outputs = (f"predictions/questions/{{model}}/{settings.prior}.parquet",)
        questions = items.times(1 / 2)
        found.append(Stage(name, scored, _whole(questions), _whole(questions), outputs))
    if settings.translate is not None:
        kind = "answers" if settings.table_reading == "decoding" else "predictions"
        asked = tuple(settings.models) if kind == "answers" else scored
        outputs = (f"{kind}/translated/{{model}}/clean.parquet",)
        # Questions that are not translated are left out.
        translated = Amount(others.value, "at most")
        found.append(Stage(f"{kind}, translated", asked, translated, translated, outputs))
    return [one for one in found if one.models]


def blind_stages(config: Config, results: Path) -> list[Stage]:
    """Return the stages in which models answer other benchmarks, with the images and without."""
    settings = cast(Settings, config.settings)
    models = tuple(asked_models(settings, config))
    if not settings.blind.sources or not models:
        return []
    items = blind_items(config, results)
    return [
        Stage(name, models, items, items, (f"predictions/blind/{{model}}/{file}.parquet",), own_items=True)
        for name, file in (("other benchmarks", "clean"), ("others, no image", "no_image"))
    ]


def blind_items(config: Config, results: Path) -> Amount:
    """Return how many items of other benchmarks are asked about: exact once all sources are read.

    Sources that are not here count as they are published.
    """
    blind = cast(Settings, config.settings).blind
    amounts = []
    for id_ in blind.sources:
        source = config.all_sources[id_]
        counts = task_counts(id_, source, results)
        read = (results / f"sources/{id_}.parquet").exists()
        kind: Kind = "exact" if read else "at most"
        amount = published_items(source) if counts is None else Amount(sum(counts.values()), kind)
        amounts.append(amount if blind.items is None else amount.capped(blind.items))
    return total(amounts)


def _whole(amount: Amount) -> Amount:
    return Amount(None if amount.value is None else int(amount.value), amount.kind)


def images(settings: Settings, size: RunSize, results: Path) -> ImageCounts:
    """Return the corrupted images that are written: the pool's, or with on_the_fly none."""
    if settings.corrupted == "files":
        return image_counts(size.images, settings.corruptions, results / "corrupted")
    return ImageCounts(Amount(0), Amount(0))


def _notes(settings: Settings, results: Path) -> Iterator[str]:
    types, severities = settings.corruptions.types, settings.corruptions.severities
    if settings.models:
        variants_text = f"1 clean + {pluralize(len(types), 'corruption')} × {len(severities)} severities"
        yield f"predictions and answers of an item: {variants_text if types else '1 clean'}."
        if "decoding" in settings.readings:
            yield "answers take longer than predictions, by whose rate their hours are estimated."
        if settings.groups.limit is not None:
            yield f"groups.limit: at most {pluralize(settings.groups.limit, 'group')} of each subset."
        if settings.fine_tuning is not None:
            yield tuning_note(settings.fine_tuning)
        if not (results / "subsets/groups.parquet").exists():
            yield "items: those of groups that are left out are counted until `read_groups` has run."
    if settings.curate is not None:
        yield from captions_notes(settings.curate)
        yield from shortening_notes(settings.curate, results / "curate/long_captions.parquet")
        yield from curation_notes(settings.curate, results / "curate/pairs.parquet")


def tuning_note(tuning: FineTuning) -> str:
    """Return how many jobs tune models, on how many items, and what the estimates leave out."""
    jobs = len(tuning.models) * len(tuning.modality)
    return (
        f"fine_tuning: {pluralize(jobs, 'job')} ({pluralize(len(tuning.models), 'model')} × "
        f"{' and '.join(tuning.modality)}) of {pluralize(tuning.epochs, 'epoch')} on half of the items, and "
        "predictions on the other half; their hours are not estimated."
    )


def captions_notes(curate: Curate) -> Iterator[str]:
    """Yield the published size of each data set of captions whose file is not here."""
    for captions in curate.captions.values():
        if captions.file is None or Path(captions.file).exists():
            continue
        images, megabytes = published_amount(captions.published), captions.published.megabytes
        size = "of unknown size" if megabytes is None else disk_text(1e6 * megabytes)
        known = ", as published" if images.value is not None else ""
        yield (
            f"{captions.label}: {images.text()} images with captions{known}; {captions.file} is not here, "
            f"and the run does not download it ({size} with the images)."
        )


def translation_notes(settings: Settings, others: Amount) -> Iterator[str]:
    """Yield how many requests translate questions; ``others``: the items of groups in other languages."""
    if settings.translate is None:
        return
    attempts = settings.translate.attempts
    requests = f"1 to {attempts} requests" if attempts > 1 else "1 request"
    yield (
        f"translation asks {settings.translate.model} to translate {_whole(others.times(1 / 2)).text()} "
        f"questions, those of groups in other languages: {requests} each."
    )


def shortening_notes(curate: Curate, path: Path) -> Iterator[str]:
    """Yield how many requests shorten captions; ``path``: the samples as they are read, if they exist."""
    if curate.shorten is None:
        return
    below, attempts = curate.shorten.below, curate.shorten.attempts
    captions = "captions of"
    images = total(published_amount(each.published) for each in curate.captions.values())
    if images.value is not None and curate.mine.captions == "first":
        captions = f"those of {images.text()} captions that have"
    if path.exists():
        lengths = read_table(path, CAPTIONS, ["caption"])["caption"].str.len_chars()
        captions = f"{pluralize(int((lengths >= below).sum()), 'caption')} of"
    requests = f"1 to {attempts} requests" if attempts > 1 else "1 request"
    yield (
        f"curation asks {curate.writer.model} to shorten {captions} {below:,} characters or more: "
        f"{requests} each."
    )


def curation_notes(curate: Curate, path: Path) -> Iterator[str]:
    """Yield how many requests and judgements curation needs; ``path``: the chosen pairs, if they exist.

    A pair, type and round needs one request, and four judgements of each person.
    """
    most = curate.mine.pairs + curate.mine.random_pairs
    pairs = Amount(read_table(path, PAIRS, ["pair"]).height) if path.exists() else Amount(most, "at most")
    types, rounds, people = (
        len(curate.writer.types),
        1 + curate.writer.more_rounds,
        len(curate.review.annotators),
    )
    first = pairs.times(types)
    # People may drop pairs, and questions that are kept are not written anew.
    first = Amount(first.value, "at most") if curate.review.pairs else first
    every = Amount(first.times(rounds).value, first.kind if rounds == 1 else "at most")
    asked = f"{pairs.text()} pairs × {pluralize(types, 'type')}"
    yield (
        f"curation asks {curate.writer.model} for questions: {first.text()} requests in round 0 ({asked}), "
        f"{every.text()} in {pluralize(rounds, 'round')}."
    )
    reviewed = [pairs] if curate.review.pairs else []
    before = f"{pairs.text()} of pairs of images, " if reviewed else ""
    whole = total([*reviewed, every.times(SAMPLES)])
    yield (
        f"curation asks each of {people} people for judgements: {before}{first.times(SAMPLES).text()} of "
        f"questions in round 0, {whole.text()} in all; each pair, type and "
        f"round needs {SAMPLES}, since both questions are asked about both images."
    )
