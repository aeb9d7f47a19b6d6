"""What `benchc check` checks in a Bench-C run alone: the encoders of the selection, and Figure 5's item."""

from collections.abc import Iterator
from typing import cast

import polars as pl

from benchc.benchmarks.bench_c.settings import Settings
from benchc.checking.encoders import check_encoders
from benchc.checking.finding import Finding
from benchc.checking.pool import PoolFound
from benchc.config.load import Config
from benchc.pluralize import pluralize


def check(config: Config, pool: PoolFound, *, load: bool, network: bool) -> Iterator[Finding]:
    """Yield what is right and wrong; ``load``: whether encoders are loaded."""
    settings = cast(Settings, config.settings)
    without = pool.texts.filter(pl.col("options").list.len() == 0)
    if not without.is_empty():
        text = (
            f"{pluralize(without.height, 'item')} without options, first {without['id'][0]}, but option "
            "logits need options; remove their sources"
        )
        yield Finding("pool", "error", "all", text)
    for id_ in settings.targets:
        if id_ in settings.selectors:
            text = "is a selector and a target: it has influenced which items it is measured on"
            yield Finding("models", "ok", id_, text)
    encoder = settings.selection.image_encoder
    image = None if encoder.name == "trained" else (encoder.name, encoder.pretrained)
    yield from check_encoders(image, settings.selection.text_encoder.name, load=load)
    item = settings.figures.figure5.item
    # The benchmark's items are selected from the pool.
    if item is not None and pool.size is not None and item not in pool.ids:
        text = f"figures.figure5.item is {item}, which is not in the pool; name another item, or null"
        yield Finding("figures", "error", "figure5", text)
