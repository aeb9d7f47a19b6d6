"""The time in which a run makes its images: once in files, or by every model on the fly."""

import re
from pathlib import Path

import polars as pl
import pytest

from benchc.config.load import read_config
from benchc.config.settings import Corruptions
from benchc.corruptions.registry import SUITES, recipe_of
from benchc.corruptions.times import MILLISECONDS
from benchc.planning.amounts import Amount
from benchc.planning.image_hours import image_hours, image_note
from benchc.planning.plan import Plan
from benchc.planning.size import POOL_FILE, ImageCounts
from benchc.planning.stages import Stage
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL

CHOSEN = Corruptions(types=["fog", "frost"], severities=[1, 5])
NONE = ImageCounts(Amount(0), Amount(0))
# 100 items, clean and in 4 variants.
ASKED = Stage(
    "asked", ("a", "b", "c"), Amount(100), Amount(500), ("predictions/{model}/1", "predictions/{model}/2")
)


def seconds() -> float:
    kernels = [recipe_of(name).kernel or "" for name in CHOSEN.types]
    return sum(MILLISECONDS[kernel] for kernel in kernels) / 2000


def test_files_are_made_once_and_images_on_the_fly_once_a_model() -> None:
    files = Plan([ASKED], ImageCounts(Amount(500), Amount(1e6)), [])
    hours = image_hours(files, CHOSEN, on_the_fly=False)
    assert hours.value == pytest.approx(500 * seconds() / 3600)
    assert hours.kind == "estimate"
    on_the_fly = Plan([ASKED], NONE, [])
    # 400 corrupted images for each of three models.
    assert image_hours(on_the_fly, CHOSEN, True).value == pytest.approx(3 * 400 * seconds() / 3600)
    # Four items share a picture.
    assert image_hours(on_the_fly, CHOSEN, True, 0.25).value == pytest.approx(300 * seconds() / 3600)


def test_a_benchmark_on_disk_is_made_besides_those_of_jobs() -> None:
    both = Plan([ASKED], ImageCounts(Amount(50), Amount(1e6)), [])
    assert image_hours(both, CHOSEN, True).value == pytest.approx(1250 * seconds() / 3600)


def test_before_the_pool_is_built_the_largest_stage_bounds_the_images_on_disk() -> None:
    small = Stage("small", ("a",), Amount(10), Amount(50), ("predictions/{model}/2",))
    before = Plan([small, ASKED], ImageCounts(Amount(None), Amount(None)), [])
    assert image_hours(before, CHOSEN, False).value == pytest.approx(400 * seconds() / 3600)
    assert image_hours(before, CHOSEN, True).value == pytest.approx((400 + 40 + 1200) * seconds() / 3600)


def test_clean_images_take_no_time_and_an_unknown_number_an_unknown_one() -> None:
    for items in (100, 0):
        clean = Stage("clean", ("a",), Amount(items), Amount(items), ("predictions/{model}/1",))
        assert image_hours(Plan([clean], NONE, []), CHOSEN, True) == Amount(0)
    unknown = Stage("asked", ("a",), Amount(None), Amount(None), ("predictions/{model}/1",))
    assert image_hours(Plan([unknown], NONE, []), CHOSEN, True).value is None


def test_the_note_names_its_assumption_and_large_files(tmp_path: Path) -> None:
    settings = read_config(Path("config/demo.yaml")).settings
    plan = Plan([ASKED], ImageCounts(Amount(5 * 10**6), Amount(5e11, "estimate")), [])
    files, on_the_fly = (
        settings.model_copy(
            update={"corruptions": settings.corruptions.model_copy(update={"corrupted": corrupted})}
        )
        for corrupted in ("files", "on_the_fly")
    )
    note = image_note(on_the_fly, plan, tmp_path)
    assert re.match(
        r"images: ≈ [\d.]+ h of one processor core .*; assumed: photographs of 640 x 480 pixels, .*"
        "`benchc check` measures",
        note,
    )
    assert "each job of each model" in note
    assert "on_the_fly writes none" not in note
    # Files of the clean images, and of those of each type.
    size = f"{500 / (1 + len(settings.corruptions.types)):.0f}"
    assert f"file takes ≈ {size} GB, " in image_note(files, plan, tmp_path)
    assert "on_the_fly writes none" in image_note(files, plan, tmp_path)
    small = Plan([ASKED], ImageCounts(Amount(100), Amount(1e9, "estimate")), [])
    assert "file takes" not in image_note(files, small, tmp_path)
    # A file of 4 GB is not yet large.
    fog = files.model_copy(update={"corruptions": files.corruptions.model_copy(update={"types": ["fog"]})})
    for size, is_large in ((8e9, False), (8e9 + 2, True)):
        two_files = Plan([ASKED], ImageCounts(Amount(100), Amount(size, "estimate")), [])
        assert ("file takes ≈ 4 GB" in image_note(fog, two_files, tmp_path)) is is_large
    unbuilt = Plan([ASKED], ImageCounts(Amount(None), Amount(None)), [])
    assert image_note(files, unbuilt, tmp_path).startswith("images: < 1 min of one ")
    there = Plan([ASKED], ImageCounts(Amount(100), Amount(1e9)), [])
    assert image_note(files, there, tmp_path) == ""
    assert image_note(on_the_fly, there, tmp_path) != ""
    clean = files.corruptions.model_copy(update={"types": []})
    assert image_note(files.model_copy(update={"corruptions": clean}), small, tmp_path) == ""
    nothing = Plan([], ImageCounts(Amount(0), Amount(0, "estimate")), [])
    assert image_note(files, nothing, tmp_path) == ""

    class Imported(type(files)):  # type: ignore[misc]
        imported_images = property(lambda _: "images.parquet")

    assert image_note(Imported.model_construct(**dict(files)), small, tmp_path) == ""


def test_a_type_without_a_time_takes_as_long_as_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fog, frost = (recipe_of(name).kernel or "" for name in CHOSEN.types)
    plan = Plan([ASKED], ImageCounts(Amount(500), Amount(1e6, "estimate")), [])
    settings = read_config(Path("config/demo.yaml")).settings
    chosen = CHOSEN.model_copy(update={"suite": settings.corruptions.suite, "corrupted": "files"})
    asked = settings.model_copy(update={"corruptions": chosen})
    assert "not measured" not in image_note(asked, plan, tmp_path)
    monkeypatch.delitem(MILLISECONDS, fog)
    assert image_hours(plan, CHOSEN, False).value == pytest.approx(500 * MILLISECONDS[frost] / 1000 / 3600)
    assert "; fog: not measured, taken as the mean of the others;" in image_note(asked, plan, tmp_path)
    monkeypatch.delitem(MILLISECONDS, frost)
    assert image_hours(plan, CHOSEN, False).value is None
    assert image_note(asked, plan, tmp_path) == "images: the time to make them is unknown.\n"


def test_the_note_counts_a_picture_of_several_items_once(tmp_path: Path) -> None:
    settings = read_config(Path("config/demo.yaml")).settings
    chosen = settings.corruptions.model_copy(update={"corrupted": "on_the_fly"})
    on_the_fly = settings.model_copy(update={"corruptions": chosen})
    asked = Stage("asked", ("a",), Amount(10**6), Amount(10**9), ("predictions/{model}/1",))
    hours = []
    for name, pictures in (("alone", "a"), ("shared", "abbb"), ("unbuilt", "")):
        keys = [[f"sha256://{key}"] for key in pictures]
        rows = {**dict.fromkeys(POOL.columns, [None] * len(keys)), "id": ["1", "2", "3", "4"][: len(keys)]}
        table = pl.DataFrame(rows | {"image_keys": keys}, schema=dict(POOL.columns))
        if pictures:
            write_table(table, tmp_path / name / POOL_FILE, POOL)
        note = image_note(on_the_fly, Plan([asked], NONE, []), tmp_path / name)
        hours.append(float(note.split("≈ ")[1].split(" h")[0].replace(",", "")))
    assert hours[1] == pytest.approx(hours[0] / 2, rel=0.02)
    # Before the pool is built, no picture is shared.
    assert hours[2] == hours[0]
    write_table(table, tmp_path / "empty" / POOL_FILE, POOL)
    assert image_note(on_the_fly, Plan([asked], NONE, []), tmp_path / "empty") == ""


def test_every_kernel_of_a_suite_has_a_time() -> None:
    kernels = {
        type_.kernel for suite in SUITES.values() for type_ in suite.types() if type_.kernel is not None
    }
    assert kernels == MILLISECONDS.keys()
