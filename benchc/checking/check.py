"""Check all that a run needs before it starts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchc.checking.cluster import check_cluster
from benchc.checking.corruptions import check_corruptions
from benchc.checking.cost import check_cost
from benchc.checking.encoders import check_encoder_gpus
from benchc.checking.finding import Finding, Findings
from benchc.checking.folders import check_permissions
from benchc.checking.fonts import check_fonts
from benchc.checking.image_time import job_images
from benchc.checking.models import check_models
from benchc.checking.pool import PoolFound, check_pool, finished_pool
from benchc.checking.sources import check_sources
from benchc.config.benchmarks import module_of
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.planning.replaced import replaced_run
from benchc.planning.size import RunSize


def check(config: Config, file: Path | None = None, *, load: bool, network: bool = True) -> Iterator[Finding]:
    """Yield what is right and wrong with a run, by stage; it goes on after an error.

    All paths are relative to the working directory. ``file``: that of the configuration.
    ``load``: whether models and encoders are loaded. ``network``: whether servers are asked.
    """
    settings = config.settings
    if replaced := replaced_run(config, Path("results") / settings.name):
        yield Finding("results", "warning", settings.name, replaced)
    if config.finished is None:
        items = yield from check_sources(config)
        pool = yield from check_pool(config, {id_: items[id_] for id_ in config.sources if id_ in items})
    else:
        pool = yield from finished_pool(config, Path(config.finished.folder))
    generated = pool.texts.is_empty()
    time = None
    if settings.imported_images:
        yield Finding("corruptions", "skipped", "all", f"imported from {settings.imported_images}")
    else:
        time = yield from check_corruptions(
            settings.corruptions, settings.seed, pool.sample, generated=generated, drawn=pool.drawn
        )
    images = job_images(time, None if pool.size is None else pool.size.images, config)
    rates = yield from check_models(config, pool, load=load, network=network, images=images)
    asked = None
    if config.finished is None:
        yield from check_encoder_gpus(settings.encoder_gpus, load=load)
        asked = yield from _of_benchmark(config, pool, load=load, network=network)
    yield from check_cost(config, pool if asked is None else replace(pool, size=asked), rates, time)
    yield from check_permissions(settings.name)
    yield from check_fonts(config, pool)
    count = 0 if pool.size is None else int(pool.size.pool.value or 0)
    yield from check_cluster(config, file, count)


def _of_benchmark(config: Config, pool: PoolFound, *, load: bool, network: bool) -> Findings[RunSize | None]:
    """Yield the findings of the benchmark's own checks, which it need not have.

    Returns the size of the run if these checks found models to be asked about a part of the pool alone.
    """
    try:
        own = module_of(config.settings.benchmark, "checking")
    except InputError:
        return None
    size: RunSize | None = yield from own.check(config, pool, load=load, network=network)
    return size
