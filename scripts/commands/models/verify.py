"""Compare a model's accuracy on a public source with a published one, and record that they agree."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchc.checking.check_items import found_source
from benchc.checking.finding import Finding
from benchc.checking.locate import locate
from benchc.checking.model_facts import require_folder
from benchc.checking.verification import Verification, compared_entry, files_of, record, write_verification
from benchc.config.catalogue import Model, PublishedAccuracy
from benchc.config.model_catalogue import CATALOGUES, listed_model, listed_models
from benchc.config.new_entries import SHIPPED, Entry, source_entry
from benchc.config.source_files import max_rejected, published_text, reader_options
from benchc.corruptions.recipe import CLEAN, clean_recipe
from benchc.errors import InputError
from benchc.models.asking import AskedModel, Job, Scoring, ShownImages
from benchc.models.hub.offline import work_offline
from benchc.pluralize import pluralize
from benchc.schemas.logits import prediction
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from benchc.schemas.printed import read_csv
from benchc.workflow.models import asked_model

# What identities have beside the facts of the model.
FACTS = ("model", "revision", "adapter", "scoring", "dtype", "device", "attention", "torch", "transformers")


def verify(id: str, /, *, source: str, catalogue: tuple[Path, ...] = CATALOGUES) -> None:
    """Compare a model's accuracy on a public source with a published one, and record that they agree.

    The model answers all items of the source, with clean images, as in a run; its predictions are cached, so
    that a killed command goes on where it stopped. The entry of the model in the catalogue has the published
    number and the tolerance (docs/models.md). Where the two agree, results/verified/ID/SOURCE.json is
    written, and benchc models list shows it; where they do not, the exit status is 1, and an earlier record
    is deleted.

    Args:
        id: id of the model in the catalogue
        source: id of the source in config/sources.yaml, whose whole file is here
        catalogue: model catalogues; of several entries with one id, the first is taken
    """
    work_offline()
    entry = source_entry(source, Path.cwd())
    if entry.catalogue is None:
        raise InputError(
            f"--source {source}: is no id of a source; add an entry for it to {SHIPPED['sources'][0]}, and "
            "give its id"
        )
    listed = listed_model(id, listed_models(catalogue))
    model = listed.model
    published = _published(id, model, source, listed.file)
    require_folder(id, model)
    scoring = model.scoring
    if scoring == "generate" or scoring == "classify":
        raise InputError(
            f"{id}: scores no options (scoring: {model.scoring}); only models that do are verified"
        )
    asked, job = _asked(id, model)
    print(f"{id}: {source} is {published.percent:g} % in: {published.reference}", flush=True)
    with TemporaryDirectory() as folder:
        pool, predictions = (Path(folder) / f"{name}.parquet" for name in ("pool", "predictions"))
        _write_pool(entry, pool)
        _infer(asked, scoring, job, pool, predictions)
        found = _verification(source, model, published, pool, predictions)
    print(
        f"{id}: {found.accuracy:.1f} % of {found.items:,} items, published {found.percent:g} % with a "
        f"tolerance of {found.tolerance:g} points"
    )
    if not found.agrees:
        record(id, source).unlink(missing_ok=True)
        raise InputError(
            f"{id}: is not verified, its accuracy differs by {abs(found.accuracy - found.percent):.1f} "
            "points; compare prompt, processor and revision with those of the publication (docs/models.md)"
        )
    print(f"verified: {write_verification(id, found)}")


def _published(id_: str, model: Model, source: str, file: Path) -> PublishedAccuracy:
    if source not in model.published:
        known = f", but on {' and '.join(model.published)}" if model.published else ""
        raise InputError(
            f"{file}: {id_} has no published accuracy on {source}{known}; add it: published: "
            f"{{{source}: {{percent: …, reference: …}}}}"
        )
    return model.published[source]


def _asked(id_: str, model: Model) -> tuple[AskedModel, Job]:
    """Return how a model is asked, with the commits of what is on the Hub."""
    if model.server is not None:
        location = str(model.name_on_server or model.repo or model.path)
        log = Path("logs/models_verify") / f"{id_}.log"
        return asked_model(id_, model, location, model.revision), model.server.job(
            log, model.gpus, f"verify-{id_}"
        )
    found = locate(id_, model, None)
    if isinstance(found, Finding):
        raise InputError(f"{id_}: {found.text}; a model must be here to be verified (benchc models fetch)")
    asked = asked_model(id_, model, found.source.location, found.source.revision)
    asked = replace(asked, adapter_revision=found.source.adapter_revision)
    return asked, Job(shard=f"verify-{id_}", gpus=max(1, model.gpus))


def _write_pool(entry: Entry, pool: Path) -> None:
    """Write all items of a source that have an answer, a POOL table."""
    # Stages import what only they need.
    from scripts.pool import pool as pool_stage
    from scripts.read_source import read_source

    source, path = found_source(entry.id, entry)
    items, report = pool.with_name("items.parquet"), pool.with_name("report.csv")
    read_source(
        tsv=path,
        source=entry.id,
        reader=reader_options(source),
        published=published_text(source),
        max_rejected=max_rejected(source),
        parquet=items,
        report=report,
    )
    rejected = read_csv(report).filter(kind="rejected")
    whole, kept = source.published.items, pl.scan_parquet(items, glob=False).select(pl.len()).collect().item()
    if whole is not None and not source.published.rounded and kept != whole:
        raise InputError(
            f"{path}: has {kept:,} items, but {entry.id} as published has {whole:,}; give the whole file, "
            "without which an accuracy is not comparable"
        )
    if not rejected.is_empty():
        raise InputError(
            f"{path}: of {entry.id}, {pluralize(rejected.height, 'row')} cannot be read, the first: "
            f"{rejected['reason'][0]}; mend the file, without which an accuracy is not comparable"
        )
    pool_stage(sources=[items], task_columns={entry.id: source.task_column}, parquet=pool, report=report)


def _infer(asked: AskedModel, scoring: Scoring, job: Job, pool: Path, predictions: Path) -> None:
    from scripts.infer import infer

    infer(
        model=asked,
        scoring=scoring,
        images=ShownImages(recipes={CLEAN: clean_recipe()}, seed=0, alpha="drop"),
        job=job,
        pool=pool,
        output=predictions,
    )


def _verification(
    source: str, model: Model, published: PublishedAccuracy, pool: Path, predictions: Path
) -> Verification:
    answers = read_table(pool, POOL, ["id", "answer"]).drop_nulls()
    if answers.is_empty():
        raise InputError(f"{source}: none of its items has an answer; give a source with answers")
    rows = read_table(predictions, PREDICTIONS, ["id", "logits"]).join(answers, on="id")
    correct = sum(
        int(prediction(logits)) == answer for logits, answer in rows.select("logits", "answer").rows()
    )
    footer = read_footer(predictions)
    return Verification(
        source=source,
        items=rows.height,
        correct=correct,
        percent=published.percent,
        tolerance=published.tolerance,
        reference=published.reference,
        date=date.today().isoformat(),
        device=device_name(str(footer.get("device"))),
        entry=compared_entry(model),
        files=files_of(model),
        identity={name: str(footer[name]) for name in FACTS if name in footer},
    )


def device_name(device: str) -> str:
    """Return the name of a GPU; of another device, what the predictions record."""
    if device != "cuda":
        return device
    import torch

    return str(torch.cuda.get_device_name())
