"""Check all that a run needs before it starts."""

from collections.abc import Iterator

from benchc.checking.cluster import check_cluster
from benchc.checking.corruptions import check_corruptions
from benchc.checking.cost import check_cost
from benchc.checking.finding import Finding
from benchc.checking.folders import check_permissions
from benchc.checking.fonts import check_fonts
from benchc.checking.models import check_models
from benchc.checking.pool import PoolFound, check_pool
from benchc.checking.sources import check_sources
from benchc.config.benchmarks import module_of
from benchc.config.load import Config
from benchc.errors import InputError


def check(config: Config, *, load: bool) -> Iterator[Finding]:
    """Yield what is right and wrong with a run, by stage; it goes on after an error.

    All paths are relative to the working directory, the repository's root. ``load``: whether models and
    encoders are loaded.
    """
    settings = config.settings
    items = yield from check_sources(config)
    pool = yield from check_pool(config, items)
    yield from check_corruptions(settings.corruptions, settings.seed, pool.sample)
    rates = yield from check_models(config, pool, load=load)
    yield from _of_benchmark(config, pool, load=load)
    yield from check_cost(config, pool, rates)
    yield from check_permissions(settings.name)
    yield from check_fonts(config, pool)
    yield from check_cluster(config)


def _of_benchmark(config: Config, pool: PoolFound, *, load: bool) -> Iterator[Finding]:
    """Yield the findings of the benchmark's own checks; it need not have any."""
    try:
        own = module_of(config.settings.benchmark, "checking")
    except InputError:
        return
    yield from own.check(config, pool, load=load)
