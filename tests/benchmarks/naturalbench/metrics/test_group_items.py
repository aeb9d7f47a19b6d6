"""Groups as arrays, the refusal of groups that are none, and the public test split."""

import json
import lzma

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.metrics.extraction import answer_of
from benchc.benchmarks.naturalbench.metrics.group_items import arranged, group_items
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES, group_values
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.errors import InputError
from tests.benchmarks.naturalbench.simulated import OPTIONS, group_rows, items_of, pool_rows
from tests.shared_data import SHARED, needs_shared

SPLIT = SHARED / "data/real/naturalbench/test_set.json.xz"


def test_items_are_ordered_by_group_question_and_image():
    groups = group_rows(3, types=("yes_no", "multiple_choice"))
    shuffled = pl.concat([groups[4:8], groups[:4].reverse(), groups[8:]])
    items = group_items(shuffled, pool_rows(groups, other=["g1"]))
    assert items.groups == ("g1", "g0", "g2") and items.types == ("multiple_choice", "yes_no", "yes_no")
    assert items.ids[1].tolist() == [["s/000", "s/001"], ["s/010", "s/011"]]
    assert items.truth.tolist() == [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, 1], [1, 0]]]
    assert not items.reversed.any()


def test_yes_is_option_0_however_it_is_listed():
    groups = group_rows(1)
    pool = pool_rows(groups)
    # Item s/001 lists No first: its answer, No, is then option 0 of the item.
    listed = pl.when(pl.col("id") == "s/001").then(pl.lit([" no", "YES "])).otherwise("options")
    pool = pool.with_columns(listed.alias("options")).with_columns(
        answer=pl.when(pl.col("id") == "s/001").then(0).otherwise("answer")
    )
    items = group_items(groups, pool)
    assert items.truth.tolist() == [[[0, 1], [1, 0]]]
    assert items.reversed.tolist() == [[[False, True], [False, False]]]


def test_no_is_option_0_of_a_multiple_choice_question_that_lists_it_first():
    groups = group_rows(1, types=("multiple_choice",))
    items = group_items(groups, pool_rows(groups).with_columns(options=pl.lit(["No", "Yes"])))
    assert not items.reversed.any() and items.truth.tolist() == [[[0, 1], [1, 0]]]


def with_other_answers(*ids):
    """Return a change of the pool: these items have the other answer."""
    other = pl.when(pl.col("id").is_in(ids)).then(1 - pl.col("answer")).otherwise("answer")
    return lambda g, p: (g, p.with_columns(answer=other))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g, p: (g, p.filter(pl.col("id") != "s/110")), "has an item that is not in the pool"),
        (lambda g, p: (g.filter(pl.col("id") != "s/110"), p), "has not one item for each question and image"),
        (lambda g, p: (pl.concat([g, g[5:6]]), p), "has not one item for each question and image"),
        (
            lambda g, p: (
                g.with_columns(i_idx=pl.when(pl.col("id") == "s/110").then(1).otherwise("i_idx")),
                p,
            ),
            "has not one item for each question and image",
        ),
        (
            lambda g, p: (
                g.with_columns(
                    type=pl.when(pl.col("id") == "s/110").then(pl.lit("multiple_choice")).otherwise("type")
                ),
                p,
            ),
            "has questions of two types",
        ),
        (
            lambda g, p: (g, p.with_columns(options=pl.lit(["Yes", "No", "Maybe"]))),
            "has an item with other than two options",
        ),
        (
            lambda g, p: (g, p.with_columns(options=pl.lit(["Yes", "Never"]))),
            "has the type yes_no and other options than Yes and No",
        ),
        (
            lambda g, p: (g, p.with_columns(options=pl.lit(["No", "No"]))),
            "has the type yes_no and other options than Yes and No",
        ),
        (
            lambda g, p: (
                g,
                p.with_columns(answer=pl.when(pl.col("id") == "s/110").then(0).otherwise("answer")),
            ),
            "has answers that do not alternate",
        ),
        # Each question has two answers, but the questions about an image have one.
        (with_other_answers("s/110", "s/111"), "has answers that do not alternate"),
        # The questions about each image have two answers, but each question has one: A, A, B, B.
        (with_other_answers("s/101", "s/111"), "has answers that do not alternate"),
    ],
)
def test_what_is_no_group_is_named(change, message):
    groups = group_rows(2)
    with pytest.raises(InputError) as error:
        group_items(*change(groups, pool_rows(groups)))
    named = "g0" if "options" in message else "g1"
    assert str(error.value) == f"group {named!r} {message}; correct its source and run snakemake again"


def test_rows_are_found_whatever_their_order():
    items = items_of(group_rows(2))
    cells = [("clean", 0), ("fog", 3)]
    rows = pl.DataFrame(
        [(id_, *cell) for cell in cells for id_ in items.ids.ravel()],
        schema=["id", "corruption", "severity"],
        orient="row",
    ).with_row_index("number")
    shuffled = rows.sample(fraction=1, shuffle=True, seed=3)
    order = arranged(shuffled, items.ids, cells, "answer")
    assert shuffled["number"].to_numpy()[order].ravel().tolist() == [*range(16)]
    for wrong, message in (
        (pl.concat([rows, rows[:1]]), "1 repeated answer: (s/000, clean, 0)"),
        (rows[1:], "1 missing answer: (s/000, clean, 0)"),
        (
            rows.with_columns(id=pl.when(pl.col("number") == 0).then(pl.lit("x")).otherwise("id")),
            "1 unexpected answer: (x, clean, 0)",
        ),
    ):
        with pytest.raises(InputError) as error:
            arranged(wrong, items.ids, cells, "answer")
        assert str(error.value).startswith(message)


@needs_shared
def test_the_public_test_split():
    """950 groups, all alternating; readers of which the scores are known."""
    rows = json.loads(lzma.decompress(SPLIT.read_bytes()))
    assert len(rows) == 3800
    table, pool = [], []
    for number, (_, _, answer, printed) in enumerate(rows):
        group, place = divmod(number, 4)
        type_ = {"mcq": "multiple_choice"}.get(printed, printed)
        table.append((f"s/{number}", f"g{group}", place // 2, place % 2, "x", type_, "English", "mined"))
        pool.append((f"s/{number}", OPTIONS[type_], answer_of(answer, type_)))
    groups = pl.DataFrame(table, schema=pl.Schema(GROUPS.columns), orient="row")
    items = group_items(groups, pl.DataFrame(pool, schema=["id", "options", "answer"], orient="row"))
    assert len(items.groups) == 950 and set(items.types) == {"yes_no", "multiple_choice"}
    assert group_values(items.truth == items.truth).mean(axis=0).tolist() == [1, 1, 1, 1]
    yes = group_values(items.truth == 0).mean(axis=0)
    assert dict(zip(MEASURES, yes, strict=True)) == {"acc": 0.5, "q_acc": 0, "i_acc": 0, "g_acc": 0}
    blind = np.random.default_rng(0).integers(0, 2, (950, 2, 1))
    acc, q, i, g = group_values(items.truth == blind).mean(axis=0)
    assert acc == 0.5 and q == g == 0 and 0.2 < i < 0.3
