"""Predictions of other code are kept where a sample has the same bits; test_cache_commands.py runs jobs."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchc.corruptions.registry import recipe_of
from benchc.errors import InputError
from benchc.models.cache import adoption
from benchc.models.cache.adoption import Evaluated, adopt, adoptable, verify
from benchc.models.cache.identities import CachedIdentity, cached_identities
from benchc.models.cache.unit_cache import PredictionCache, identity_folder, index_file
from benchc.models.items import Item
from benchc.models.predictor import unit_hashes
from benchc.models.protocol import OptionScores
from benchc.models.question import Question
from benchc.models.units import Recipes, Unit

IDENTITY = {"model": "o/m", "scoring": "letter", "dtype": "float32", "modules": "a", "code": "new"}
ITEMS = {
    f"s/{number}": Item(Question(f"Which {number}?", ("a", "b")), (f"k{number}",)) for number in range(5)
}


class Pixels:
    """Scores by the mean of the pixels."""

    def prompt(self, question: Question, images: int) -> str:
        return question.question


def scored(variants: Any) -> OptionScores:
    means = np.array([[image.mean(), 1.0] for [image] in variants], np.float32)
    return OptionScores(means, np.ones(len(variants), np.float32))


def unit(item: str, corruption: str = "fog") -> Unit:
    values = [int(item[-1]), int(item[-1]) + 10]
    return Unit(item, corruption, [1, 3], [[np.full((2, 2, 3), value, np.uint8)] for value in values], 1)


def cached(root: Path, *items: str, **facts: str) -> CachedIdentity:
    """Keep predictions of items; return their identity."""
    identity = IDENTITY | facts
    with PredictionCache(root, identity, "job") as cache:
        for item in items:
            own = unit(item)
            prompt, images = unit_hashes(Pixels(), ITEMS[item].question, own)  # type: ignore[arg-type]
            cache.put(prompt, images, scored(own.variants), False)
    [found] = [each for each in cached_identities(root) if each.folder == identity_folder(root, identity)]
    return found


def test_identities_that_differ_in_their_code_alone_are_adoptable_the_last_used_first(tmp_path):
    for place, facts in enumerate(({"code": "old"}, {"code": "ancient", "modules": "b"}, {"code": "new"})):
        folder = cached(tmp_path, "s/0", **facts).folder
        os.utime(folder / "identity.json", (10 * place, 10 * place))
    cached(tmp_path, "s/0", code="old", dtype="bfloat16")
    assert [each.facts["code"] for each in adoptable(tmp_path, IDENTITY)] == ["ancient", "old"]


class Some(Evaluated):
    """Units in a given order, as of a run."""

    def in_random_order(self, seed: int, at_once: int) -> Any:
        for item in self.items:
            yield unit(item)


@pytest.fixture
def computed(monkeypatch) -> list[Any]:
    """The variants that are computed; a changed code changes what it returns for items 0 and 3."""
    asked: list[Any] = []

    def predict(scorer: object, question: Question, variants: Any) -> Any:
        asked.append(question.question)
        scores = scored(variants)
        if question.question.endswith("3?"):
            scores.logits.view("int32")[1, 1] ^= 1
        if question.question.endswith("0?"):
            scores.label_mass[0] /= 2
        return scores, False

    monkeypatch.setattr(adoption, "predict", predict)
    return asked


def test_a_sample_of_the_cached_units_is_computed_again(tmp_path, computed):
    evaluated = Some(tmp_path, ITEMS, [])
    old = cached(tmp_path, "s/1", "s/2", "s/4", code="old")
    verify(old, Pixels(), evaluated, sample=2, seed=0)  # type: ignore[arg-type]
    assert computed == ["Which 1?", "Which 2?"]
    verify(old, Pixels(), evaluated, sample=3, seed=0)  # type: ignore[arg-type]
    # Twice the same unit is one.
    twice = Some(tmp_path, ITEMS, [])
    object.__setattr__(twice, "in_random_order", lambda *_: iter([unit("s/1"), unit("s/1"), unit("s/0")]))
    for given, sample, found in ((evaluated, 4, "3 units"), (twice, 2, "1 unit")):
        with pytest.raises(
            InputError, match=rf", {found} cached, but --sample is {sample}; give the arguments"
        ):
            verify(old, Pixels(), given, sample=sample, seed=0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("s/3", r"severity 3 has the logits \[13\.0, 1\.0000001.*\], cached are \[13\.0, 1\.0\]"),
        ("s/0", r"severity 1 has the label_mass 0\.5, cached are 1\.0"),
    ],
)
def test_one_other_bit_is_refused(tmp_path, computed, item, sentence):
    old = cached(tmp_path, "s/1", item, code="old")
    with pytest.raises(InputError, match=f"item {item} under fog at {sentence}; nothing was adopted"):
        verify(old, Pixels(), Some(tmp_path, ITEMS, []), sample=2, seed=0)  # type: ignore[arg-type]


def found(root: Path, item: str) -> tuple[bool, str | None]:
    """Return whether the present code finds an item, and of which code."""
    own = unit(item)
    with PredictionCache(root, IDENTITY, "now") as cache:
        kept = cache.get(*unit_hashes(Pixels(), ITEMS[item].question, own))  # type: ignore[arg-type]
    return kept is not None, None if kept is None else kept.adopted


def test_adopted_predictions_stay_when_those_of_the_old_code_are_deleted(tmp_path):
    old, first = cached(tmp_path, "s/1", code="old"), cached(tmp_path, "s/2", code="first")
    # `old` has adopted those of the first code, too, and some of what is now the present one.
    adopt(tmp_path, first, dict(old.facts))
    adopt(tmp_path, cached(tmp_path / "other", "s/3", code="new"), dict(old.facts))
    assert found(tmp_path, "s/1") == (False, None)
    adopt(tmp_path, old, IDENTITY)
    old.delete()
    first.delete()
    expected = {"s/1": (True, "old"), "s/2": (True, "first"), "s/3": (True, None), "s/4": (False, None)}
    assert {item: found(tmp_path, item) for item in expected} == expected
    folder = identity_folder(tmp_path, IDENTITY)
    shards = sorted(folder.rglob("*.units"))
    assert len(shards) == 3 and all(index_file(shard).exists() for shard in shards)


def test_on_a_file_system_without_links_they_are_copied(tmp_path, monkeypatch):
    def no_links(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", no_links)
    old = cached(tmp_path, "s/1", code="old")
    [shard] = old.folder.glob("*.units")
    index_file(shard).unlink()  # as after a job that was killed
    for _ in range(2):
        adopt(tmp_path, old, IDENTITY)
    assert found(tmp_path, "s/1") == (True, "old")


@pytest.mark.parametrize("cells", [None, {"fog": {"s/1": [1], "s/4": [3]}, "blur": {}}])
@pytest.mark.parametrize("as_recipes", [True, False])
def test_all_units_are_read_in_a_random_order_those_of_a_corruption_together(
    tmp_path, cells, as_recipes, monkeypatch
):
    read: list[tuple[str, list[str]]] = []

    def unit_images(pool: Path, keys: Any, source: Any, *, assignment: Any) -> Any:
        assert pool == tmp_path and assignment == cells
        [name] = [each.name for each in source.recipes] if as_recipes else [path.stem for path in source]
        assert all(ITEMS[id_].image_keys == key for id_, key in keys.items())
        read.append((name, list(keys)))
        return [unit(id_, name) for id_ in keys]

    monkeypatch.setattr(adoption, "unit_images", unit_images)
    monkeypatch.setattr(adoption, "units_in", iter)
    names = ["fog", "blur", "clean"]
    recipes = [replace(recipe_of("fog"), name=name) for name in names]
    images: Any = Recipes(recipes, 5) if as_recipes else [Path(f"{name}.parquet") for name in names]
    evaluated = Evaluated(tmp_path, ITEMS, images, cells)
    every = [
        (name, item)
        for name in names
        for item in ITEMS
        if cells is None or name == "clean" or item in cells[name]
    ]
    orders = []
    for seed in (0, 0, 1):
        read.clear()
        orders.append([(own.corruption, own.item) for own in evaluated.in_random_order(seed, 4)])
        assert sorted(orders[-1]) == sorted(every)
        # Of four at once, each corruption is read once.
        assert len(read) <= 3 * -(-len(every) // 4) and max(len(items) for _, items in read) > 1
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != every
