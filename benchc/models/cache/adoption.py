"""Keep cached predictions after an edit of code that changed none of them.

Another digest of the code drops all cached predictions, since it cannot tell a refactoring from a change.
Here a sample of units is computed again. If every bit agrees, the old shards are linked into the folder of
the present identity, in a folder of the code that wrote them, so that footers can say how many predictions
are theirs.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from benchc.errors import InputError
from benchc.models.cache.identities import CachedIdentity, cached_identities
from benchc.models.cache.unit_cache import (
    ADOPTED,
    CachedUnit,
    PredictionCache,
    ShardIndex,
    adopted_from,
    identity_folder,
    index_file,
    shards_of,
    unit_key,
    write_identity,
    writing,
)
from benchc.models.items import Item
from benchc.models.local import Scorer
from benchc.models.predict import predict
from benchc.models.predictor import unit_hashes
from benchc.models.protocol import OptionScores
from benchc.models.units import Recipes, Unit, unit_images, units_in
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.assignment import Assignment
from benchc.schemas.predictions import CLEAN

# The facts that an edit of code changes.
CODE = {"code", "modules"}


@dataclass(frozen=True)
class Evaluated:
    """The items and images that a job predicts on, as given to infer.

    ``cells``: the severities of each item by corruption; None: all.
    """

    pool: Path
    items: Mapping[str, Item]
    images: Sequence[Path] | Recipes
    cells: Assignment | None = None

    def in_random_order(self, seed: int, at_once: int) -> Iterator[Unit]:
        """Yield all units in a random order; of ``at_once``, those of one corruption are read together."""
        sources: list[Sequence[Path] | Recipes] = (
            [replace(self.images, recipes=[recipe]) for recipe in self.images.recipes]
            if isinstance(self.images, Recipes)
            else [[path] for path in self.images]
        )
        pairs = [(id_, number) for number, source in enumerate(sources) for id_ in self._shown(source)]
        order = iter(np.random.default_rng(seed).permutation(len(pairs)).tolist())
        while chunk := sorted(islice(order, at_once)):
            for number, source in enumerate(sources):
                keys = {
                    id_: self.items[id_].image_keys
                    for id_, of_source in map(pairs.__getitem__, chunk)
                    if of_source == number
                }
                if keys:
                    yield from units_in(unit_images(self.pool, keys, source, assignment=self.cells))

    def _shown(self, source: Sequence[Path] | Recipes) -> Iterable[str]:
        """Return the items that are shown under the one corruption of ``source``."""
        name = source.recipes[0].name if isinstance(source, Recipes) else source[0].stem
        if self.cells is None or name == CLEAN:
            return self.items
        return [id_ for id_ in self.items if id_ in self.cells[name]]


def adoptable(root: Path, identity: Mapping[str, str]) -> list[CachedIdentity]:
    """Return the cached identities that differ from ``identity`` in their code alone, last used first."""
    same = {name: value for name, value in identity.items() if name not in CODE}
    found = [
        cached
        for cached in cached_identities(root)
        if {name: value for name, value in cached.facts.items() if name not in CODE} == same
        and cached.folder != identity_folder(root, identity)
    ]
    return sorted(found, key=lambda cached: cached.last_use, reverse=True)


def verify(cached: CachedIdentity, scorer: Scorer, evaluated: Evaluated, sample: int, seed: int) -> None:
    """Compute ``sample`` random units of ``evaluated`` that are cached, and compare them with the cache.

    Raises InputError where one bit of a score differs, naming the first such unit, and where fewer units are
    cached.
    """
    verified = 0
    with closing(ShardIndex(cached.folder)) as index:
        units = _cached_units(index, scorer, evaluated, sample, seed)
        label = f"units of {cached.name}"
        for unit, kept in track(islice(units, sample), label=label, unit="units", total=sample):
            scores, _ = predict(scorer, evaluated.items[unit.item].question, unit.variants)
            _check_equal(cached, unit, PredictionCache.decoded(kept.value), scores)
            verified += 1
    if verified < sample:
        raise InputError(
            f"{cached.folder}: of these items and images, {pluralize(verified, 'unit')} cached, but --sample "
            f"is {sample}; give the arguments of a job whose predictions it holds, or a smaller --sample"
        )


def adopt(root: Path, cached: CachedIdentity, identity: Mapping[str, str]) -> None:
    """Make the predictions of ``cached`` available to ``identity``; deleting ``cached`` then deletes none."""
    folder = identity_folder(root, identity)
    with writing(folder):
        write_identity(folder, identity)
        for shard in shards_of(cached.folder):
            code = adopted_from(shard) or cached.facts["code"]
            # After a refactoring that was undone, they are the identity's own.
            target = folder if code == identity["code"] else folder / ADOPTED / code
            target.mkdir(parents=True, exist_ok=True)
            for file in (shard, index_file(shard)):
                _link(file, target / file.name)


def _link(source: Path, target: Path) -> None:
    if source.exists() and not target.exists():
        try:
            os.link(source, target)
        except OSError:  # a file system without links
            shutil.copyfile(source, target)


def _cached_units(
    index: ShardIndex, scorer: Scorer, evaluated: Evaluated, sample: int, seed: int
) -> Iterator[tuple[Unit, CachedUnit[list[bytes]]]]:
    """Yield cached units of ``evaluated`` in a random order, one of several that are equal."""
    yielded = set()
    for unit in evaluated.in_random_order(seed, sample):
        question = evaluated.items[unit.item].question
        key = unit_key(*unit_hashes(scorer, question, unit))
        kept = index.find(key)
        if kept is not None and key not in yielded:
            yielded.add(key)
            yield unit, kept


def _check_equal(cached: CachedIdentity, unit: Unit, kept: OptionScores, scores: OptionScores) -> None:
    for row, severity in enumerate(unit.severities):
        for field, old, new in zip(OptionScores._fields, kept, scores, strict=True):
            if old[row].tobytes() != new[row].tobytes():
                raise InputError(
                    f"{cached.folder}: the present code does not give the same predictions: item {unit.item} "
                    f"under {unit.corruption} at severity {severity} has the {field} {new[row].tolist()}, "
                    f"cached are {old[row].tolist()}; nothing was adopted, and snakemake computes them again"
                )
