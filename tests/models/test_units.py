"""Units of items that share images: from a file or corrupted on the fly, in any order, in bounded memory."""

import io
import shutil
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from benchc.corruptions.apply import apply
from benchc.corruptions.chunks import CorruptionSpec, write_corrupted
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.image_keys import image_seed, pixel_key
from benchc.images import encode_png, pixel_hash
from benchc.models import units
from benchc.models.asking import AskedModel, Job, ShownImages
from benchc.models.items import read_items, refuse_open_questions
from benchc.models.units import Recipes, items_sharing_images, unit_images, units_in
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import TableFile, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import unique_images
from benchc.schemas.subset import SUBSET
from benchc.sources.item_images import pixel_digest
from tests.stages import call_stage

RECIPE = recipe_of("gaussian_noise")
SPEC = CorruptionSpec(RECIPE, seed=5)
# Images shared by neighbours, within one item, and by both ends; p/2 and p/3 have the same bytes under two
# keys.
SHOWN = {
    "p/0": ["s://x"],
    "p/1": ["s://x"],
    "p/2": ["p/2#0"],
    "p/3": ["p/3#0"],
    "p/4": ["s://y", "s://x"],
    **{f"p/{n}": [f"p/{n}#0"] for n in range(5, 40)},
    "p/40": ["s://y"],
}


def png(key: str) -> bytes:
    seed = 2 if key in ("p/2#0", "p/3#0") else sum(key.encode())
    return encode_png(np.random.default_rng(seed).integers(0, 256, (36, 40, 3), np.uint8))


def write_pool(path: Path, options: list[str]) -> None:
    columns = {
        "id": list(SHOWN),
        "question": "?",
        "options": [options] * len(SHOWN),
        "images": [[{"bytes": png(key), "path": None} for key in keys] for keys in SHOWN.values()],
        "image_keys": list(SHOWN.values()),
    }
    write_table(pool_of(columns), path, POOL)


def pool_of(columns: dict[str, object]) -> pl.DataFrame:
    absent = {name: pl.lit(None, dtype) for name, dtype in POOL.columns.items() if name not in columns}
    frame = pl.DataFrame(columns, schema={name: POOL.columns[name] for name in columns})
    return frame.with_columns(**absent).select(*POOL.columns)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pool(tmp_path / "pool.parquet", ["a", "b"])
    corrupted(tmp_path, SHOWN)
    return tmp_path


def corrupted(folder: Path, keys: Iterable[str], spec: CorruptionSpec = SPEC) -> list[Path]:
    path = folder / "gaussian_noise.parquet"
    write_corrupted(unique_images(folder / "pool.parquet", set(keys)), spec, path)
    return [path]


MADE = Recipes([RECIPE], seed=5)


def hashes(folder, images, keys=SHOWN, severities=None, assignment=None) -> dict[str, dict[int, list[str]]]:
    """Return the hash of every image of every unit, by item and severity, in the order of the units."""
    found = list(units_in(unit_images(folder / "pool.parquet", keys, images, severities, assignment)))
    assert {unit.corruption for unit in found} <= {"gaussian_noise"}
    pairs = {unit.item: zip(unit.severities, unit.variants, strict=True) for unit in found}
    return {id_: {n: [pixel_hash([one]) for one in each] for n, each in own} for id_, own in pairs.items()}


def test_a_shared_image_is_stored_once_and_the_same_for_all_its_items(folder: Path) -> None:
    file = read_table(folder / "gaussian_noise.parquet", CORRUPTED)
    keys = list(dict.fromkeys(key for keys in SHOWN.values() for key in keys))
    assert file.select("image_key", "severity").rows() == [(key, n) for key in keys for n in range(1, 6)]
    seen = hashes(folder, [folder / "gaussian_noise.parquet"])
    # Those that share an image come with the first of them.
    assert list(seen)[:5] == ["p/0", "p/1", "p/4", "p/40", "p/2"] and seen.keys() == SHOWN.keys()
    for severity in (1, 2, 3, 4, 5):
        x = seen["p/0"][severity]
        assert seen["p/1"][severity] == x and seen["p/4"][severity][1:] == x
        assert seen["p/40"][severity] == seen["p/4"][severity][:1] != x
        # Equal bytes under two keys are two images with different noise.
        assert seen["p/2"][severity] != seen["p/3"][severity]


@pytest.mark.parametrize("severities", [None, {2, 5}])
@pytest.mark.parametrize("keys", [SHOWN, {id_: SHOWN[id_] for id_ in ("p/1", "p/4", "p/20", "p/40")}])
def test_files_and_recipes_give_the_same_pixels(folder: Path, keys, severities) -> None:
    from_files = hashes(folder, [folder / "gaussian_noise.parquet"], keys, severities)
    from_recipes = hashes(folder, MADE, keys, severities)
    assert list(from_files.items()) == list(from_recipes.items())
    assert [list(unit) for unit in from_files.values()] == [sorted(severities or {1, 2, 3, 4, 5})] * len(keys)


@pytest.mark.parametrize("alpha", ["drop", "white"])
def test_transparency_is_treated_the_same_in_files_and_recipes(tmp_path: Path, alpha, monkeypatch) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (36, 40, 4), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels, "RGBA").save(buffer, "PNG")
    monkeypatch.setattr("tests.models.test_units.png", lambda key: buffer.getvalue())
    write_pool(tmp_path / "pool.parquet", ["a", "b"])
    keys = {"p/0": SHOWN["p/0"]}
    files = corrupted(tmp_path, keys, CorruptionSpec(RECIPE, seed=5, alpha=alpha))
    made = hashes(tmp_path, Recipes([RECIPE], seed=5, alpha=alpha), keys)
    assert made == hashes(tmp_path, files, keys)
    other = "white" if alpha == "drop" else "drop"
    assert made != hashes(tmp_path, Recipes([RECIPE], seed=5, alpha=other), keys)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the images that are corrupted or decoded from a file."""
    keys: list[str] = []

    def counting(function: Callable[..., object], place: int) -> Callable[..., object]:
        def counted(*arguments: object) -> object:
            keys.append(str(arguments[place]))
            return function(*arguments)

        return counted

    monkeypatch.setattr(units, "variants_of_image", counting(units.variants_of_image, 0))
    monkeypatch.setattr(units, "decoded", counting(units.decoded, 1))
    return keys


def test_a_shared_image_is_made_once_wherever_its_items_stand(folder: Path, made: list[str]) -> None:
    every = ["s://x", "s://y", "p/2#0", "p/3#0", *(f"p/{n}#0" for n in range(5, 40))]
    hashes(folder, MADE)
    assert made == every
    hashes(folder, [folder / "gaussian_noise.parquet"])
    assert made[len(every) :] == every
    made.clear()
    # At other severities for each of its items, too.
    cells = {"gaussian_noise": {"p/0": [2], "p/1": [1], "p/4": [2, 1], "p/40": [5]}}
    hashes(folder, MADE, assignment=cells)
    hashes(folder, [folder / "gaussian_noise.parquet"], assignment=cells)
    assert made == ["s://x", "s://y"] * 2


def test_an_image_of_many_items_is_in_memory_once(tmp_path: Path, made: list[str]) -> None:
    ids = [f"p/{number}" for number in range(40)]
    images = [[{"bytes": png("s://x"), "path": None}]] * 40
    table = pool_of({"id": ids, "images": images, "image_keys": [["s://x"]] * 40})
    write_table(table, tmp_path / "pool.parquet", POOL)
    keys = {id_: ["s://x"] for id_ in ids}
    (on_the_fly,) = unit_images(tmp_path / "pool.parquet", keys, MADE)
    assert len({id(data) for own in on_the_fly.items.values() for _, data in own}) == 1
    (stored,) = unit_images(tmp_path / "pool.parquet", keys, corrupted(tmp_path, keys))
    files = [data for own in stored.items.values() for _, levels in own for data in levels.values()]
    assert len(files) == 40 * 5 and len({id(data) for data in files}) == 5
    assert len([*on_the_fly.units()]) == len([*stored.units()]) == 40 and made == ["s://x"] * 2


def test_an_image_is_kept_to_the_last_item_that_shows_it() -> None:
    class Picture:
        pass

    kept: weakref.WeakValueDictionary[str, Picture] = weakref.WeakValueDictionary()

    def make(key: str, levels: Sequence[int]) -> dict[int, Any]:
        kept[key] = picture = Picture()
        return {1: picture}

    keys = {"p/0": ["x"], "p/1": ["y", "x"], "p/2": ["y"], "p/3": ["z"]}
    found = units._units("fog", keys, {item: [1] for item in keys}, make)
    assert [sorted(kept) for _ in found] == [["x"], ["x", "y"], ["y"], ["z"]]


def test_images_with_the_same_pixels_are_stored_once_in_whatever_files(tmp_path: Path, made) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (36, 40, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "BMP")
    key = pixel_key(pixel_digest(file.getvalue()))
    assert key == pixel_key(pixel_digest(encode_png(pixels)))
    files = {"a/1": file.getvalue(), "b/1": encode_png(pixels)}
    images = [[{"bytes": data, "path": None}] for data in files.values()]
    columns = {"id": [*files], "images": images, "image_keys": [[key], [key]]}
    write_table(pool_of(columns), tmp_path / "pool.parquet", POOL)
    output = tmp_path / "gaussian_noise.parquet"
    call_stage("corrupt", pool=tmp_path / "pool.parquet", recipe=RECIPE, seed=5, output=output)
    stored = read_table(output, CORRUPTED)
    assert stored.select("image_key", "severity").rows() == [(key, level) for level in (1, 2, 3, 4, 5)]
    keys = {id_: [key] for id_ in files}
    found = hashes(tmp_path, MADE, keys)
    assert found == hashes(tmp_path, [output], keys) and made == [key, key]
    # The noise is that of the key, and of no item.
    alone = apply(RECIPE, pixels, 3, image_seed(5, key, "gaussian_noise", 3))
    assert found["a/1"][3] == found["b/1"][3] == [pixel_hash([alone])]


def test_few_rows_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[list[int]] = []
    read = TableFile.rows

    def reading(self: TableFile, numbers: list[int], names: list[str]) -> pl.DataFrame:
        rows.append([*numbers])
        return read(self, numbers, names)

    monkeypatch.setattr(TableFile, "rows", reading)
    hashes(folder, MADE)
    # The first item with an image: p/4 has the first of s://y, and s://x is that of p/0.
    assert [number for each in rows for number in each] == [0, *range(2, 40)]
    rows.clear()
    hashes(folder, [folder / "gaussian_noise.parquet"])
    # 41 items in chunks of 16, at five severities; the first four have two images.
    assert [len(each) for each in rows] == [14 * 5, 16 * 5, 9 * 5]
    rows.clear()
    # Of two files, each of which is read ahead, half as many at once.
    files = [folder / f"{name}.parquet" for name in ("gaussian_noise", "fog")]
    shutil.copyfile(*files)
    assert len([*unit_images(folder / "pool.parquet", SHOWN, files)]) == 2 * len(
        [*items_sharing_images(SHOWN)]
    )
    assert max(len(each) for each in rows) == 8 * 5
    # And of more files than that, one.
    rows.clear()
    monkeypatch.setattr(units, "ITEMS_AT_ONCE", 1)
    assert len([*unit_images(folder / "pool.parquet", {"p/0": SHOWN["p/0"]}, files)]) == 2
    assert [len(each) for each in rows] == [5, 5]


# Of few images, so that items share them.
SOME_KEYS = st.lists(st.sampled_from([f"s://{name}" for name in "abcdefgh"]), min_size=1, max_size=4)


@given(
    st.lists(st.one_of(SOME_KEYS, SOME_KEYS.map(lambda own: own[:1])), min_size=1, max_size=12),
    st.lists(st.lists(st.sampled_from([1, 3, 5]), unique=True), min_size=12, max_size=12),
    st.sampled_from([1, 3, 16]),
)
@settings(max_examples=15, deadline=None)
def test_units_are_those_of_each_item_alone(tmp_path_factory, shown, levels, most):
    folder = tmp_path_factory.mktemp("any")
    keys = {f"p/{number}": own for number, own in enumerate(shown)}
    images = {key: png(key) for own in shown for key in own}
    columns = {
        "id": list(keys),
        "images": [[{"bytes": images[key], "path": None} for key in own] for own in shown],
        "image_keys": shown,
    }
    write_table(pool_of(columns), folder / "pool.parquet", POOL)
    files = corrupted(folder, keys)
    cells = {"gaussian_noise": dict(zip(keys, levels, strict=False))}
    for assignment in (None, cells):
        expected = {}
        for id_, own in keys.items():
            wanted = (1, 2, 3, 4, 5) if assignment is None else cells["gaussian_noise"][id_]
            alone = [variants_of_image(key, images[key], RECIPE, wanted, 5) for key in own]
            if wanted:
                expected[id_] = {n: [pixel_hash([each[n]]) for each in alone] for n in wanted}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(units, "IMAGES_OF_GROUP", most)
            for source in (MADE, files):
                found = hashes(folder, source, keys, assignment=assignment)
                assert found == expected
                # Not only equal: an item's severities are in its order.
                assert [list(found[id_]) for id_ in expected] == [list(each) for each in expected.values()]


@given(st.lists(SOME_KEYS, max_size=12), st.sampled_from([1, 3, 16]))
def test_groups_have_each_item_once_and_few_images(shown: list[list[str]], most: int) -> None:
    keys = {f"p/{number}": own for number, own in enumerate(shown)}
    order = list(keys)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "IMAGES_OF_GROUP", most)
        groups = list(units.items_sharing_images(keys))
    assert sorted((id_ for group in groups for id_ in group), key=order.index) == order
    assert all(group == sorted(group, key=order.index) for group in groups)
    assert [group[0] for group in groups] == sorted((group[0] for group in groups), key=order.index)
    for group in groups:
        assert len({key for id_ in group for key in keys[id_]}) <= max(most, len(set(keys[group[0]])))
    # Without this bound, no image is in two groups.
    if most == 16:
        owners = [(key, number) for number, group in enumerate(groups) for id_ in group for key in keys[id_]]
        assert len(set(owners)) == len({key for key, _ in owners})


def test_parts_have_the_units_of_the_whole(folder: Path) -> None:
    keys = {id_: SHOWN[id_] for id_ in ("p/0", "p/1", "p/4", "p/40")}  # which share images
    for images in (MADE, [folder / "gaussian_noise.parquet"]):
        whole = [*unit_images(folder / "pool.parquet", keys, images)]
        for most, sizes in ((4, [4]), (3, [3, 1])):
            parts = [*units.in_parts(whole, most)]
            assert [len(part.items) for part in parts] == sizes
            for found, expected in zip(units_in(parts), units_in(whole), strict=True):
                assert (found.item, found.severities) == (expected.item, expected.severities)
                np.testing.assert_array_equal(found.variants, expected.variants)
    parts = units.in_parts([units.InPlaceOfImages("no_image", ["a", "b", "c"])], 2)
    assert [part.items for part in parts] == [["a", "b"], ["c"]]


def test_a_group_has_as_many_images_as_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    # 16, of items that each share one with the next.
    chain = {f"p/{number}": [f"{number}", f"{number + 1}"] for number in range(20)}
    assert [len(group) for group in units.items_sharing_images(chain)] == [15, 5]
    monkeypatch.setattr(units, "IMAGES_OF_GROUP", 3)
    shown = {"p/0": ["x"], "p/1": ["x", "y", "z"], "p/2": ["z", "w"], "p/3": ["v", "w"]}
    assert [*units.items_sharing_images(shown)] == [["p/0", "p/1"], ["p/2", "p/3"]]


@pytest.mark.parametrize(
    "missing", [pl.col("image_key") == "s://y", (pl.col("image_key") == "s://y") & (pl.col("severity") == 3)]
)
def test_an_item_with_a_missing_image_is_named(folder: Path, missing: pl.Expr) -> None:
    path = folder / "gaussian_noise.parquet"
    write_table(read_table(path, CORRUPTED).filter(~missing), path, CORRUPTED)
    only = {"p/0": SHOWN["p/0"], "p/4": SHOWN["p/4"]}
    with pytest.raises(InputError, match=r"images of 1 item missing, first p/4; delete the file"):
        hashes(folder, [path], only)


def test_a_subset_is_in_the_pools_order(folder: Path) -> None:
    write_table(pl.DataFrame({"id": ["p/4", "p/0"]}), folder / "subset.parquet", SUBSET)
    items = read_items(folder / "pool.parquet", folder / "subset.parquet")
    keys = [(id_, item.image_keys) for id_, item in items.items()]
    assert keys == [("p/0", ("s://x",)), ("p/4", ("s://y", "s://x"))]
    refuse_open_questions(items)


def test_a_misspelt_family_is_refused(folder: Path) -> None:
    asked = AskedModel(label="m", location="no-such-model", family="llava_nxt")
    files = {"pool": folder / "pool.parquet", "corrupted": [folder / "gaussian_noise.parquet"], "output": "o"}
    sentence = "the family 'llava_nxt' is no model type of transf.* did you mean 'llava_next'?"
    with pytest.raises(InputError, match=sentence):
        call_stage("infer", "--scoring=letter", model=asked, **files)


@pytest.mark.parametrize("text", ["size=1", "{", "[1]", '{"size": [1]}', '{"size": null}', "3"])
def test_a_wrong_processor_setting_is_a_usage_error(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with pytest.raises(SystemExit):
        call_stage("infer", "--model.label=m", "--model.location=m", f"--model.processor={text}")
    error = capsys.readouterr().err
    assert error.startswith("error: Invalid value for --model.processor: ")
    assert error.count("\n") == 1


def test_images_of_another_run_are_refused_before_the_model_is_loaded(folder: Path) -> None:
    (folder / "gaussian_noise.parquet").rename(folder / "shot_noise.parquet")
    refused(r"shot_noise.parquet: its images are under gaussian_noise, so it", folder, "shot_noise", seed=5)
    (folder / "shot_noise.parquet").rename(folder / "gaussian_noise.parquet")
    refused(r"its seed is 5, that of the run is 6; del", folder, "gaussian_noise", seed=6)


def refused(match: str, folder: Path, corrupted: str, seed: int = 5) -> None:
    """Check that a job on the folder's pool is refused before it loads a model or makes a cache."""
    with pytest.raises(InputError, match=match):
        call_stage(
            "infer",
            model=AskedModel(label="m", location="no-such-model", family="llava"),
            scoring="letter",
            images=ShownImages(recipes={RECIPE.name: RECIPE}, seed=seed),
            job=Job(cache=folder / "cache"),
            pool=folder / "pool.parquet",
            corrupted=[folder / f"{corrupted}.parquet"],
            output=folder / "o.parquet",
        )
    assert not (folder / "cache").exists()


def test_open_questions_are_refused_before_the_model_is_loaded(folder: Path) -> None:
    write_pool(folder / "pool.parquet", [])
    refused(r"item p/0: it is an open-ended.*\(41 of 41 items like this\)", folder, "gaussian_noise")


# p/0 and p/1 share an image and are shown at other severities; p/4 and p/40, too, with p/4's second image.
ASSIGNED = {"p/0": [1], "p/1": [2, 5], "p/4": [3], "p/20": [5], "p/40": [1, 3]}


def test_assigned_items_are_shown_at_their_severities_alone(folder: Path) -> None:
    cells = {"gaussian_noise": ASSIGNED}
    every = hashes(folder, MADE)
    expected = {id_: {level: every[id_][level] for level in levels} for id_, levels in ASSIGNED.items()}
    few = {id_: {n: own for n, own in each.items() if n != 5} for id_, each in expected.items()}
    for images in (MADE, [folder / "gaussian_noise.parquet"]):
        assert hashes(folder, images, assignment=cells) == expected
        found = hashes(folder, images, severities={1, 2, 3}, assignment=cells)
        assert found == {id_: each for id_, each in few.items() if each}
    # Another corruption's items are not those of this one.
    assert hashes(folder, MADE, assignment={"fog": {}}) == every


def test_only_assigned_images_are_written_and_they_are_enough(folder: Path) -> None:
    rows = [(id_, "gaussian_noise", level) for id_, levels in ASSIGNED.items() for level in levels]
    table = pl.DataFrame([*rows, ("p/7", "fog", 1)], schema=pl.Schema(ASSIGNMENT.columns), orient="row")
    write_table(table, folder / "assignment.parquet", ASSIGNMENT)
    every = hashes(folder, [folder / "gaussian_noise.parquet"])
    for threads in ("1", "2"):
        assigned = folder / f"assigned{threads}/gaussian_noise.parquet"
        files = {name: folder / f"{name}.parquet" for name in ("pool", "assignment")}
        call_stage("corrupt", **files, recipe=RECIPE, seed=5, threads=threads, output=assigned)
        written = read_table(assigned, CORRUPTED).select("image_key", "severity").rows()
        # Of the image that three items share, what any of them shows.
        shared = [*(("s://x", level) for level in (1, 2, 3, 5)), ("s://y", 1), ("s://y", 3)]
        assert written == [*shared, ("p/20#0", 5)]
        cells = {"gaussian_noise": ASSIGNED}
        found = hashes(folder, [assigned], assignment=cells)
        assert found == {id_: {n: every[id_][n] for n in levels} for id_, levels in ASSIGNED.items()}
    with pytest.raises(InputError, match="images of 1 item missing, first p/1"):
        hashes(folder, [assigned], assignment={"gaussian_noise": {"p/1": [4], "p/0": [1]}})
