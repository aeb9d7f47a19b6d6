"""Marks of the best two models of a column."""

import polars as pl

from benchc.rendering.estimates import best_two, is_marked


def test_models_without_a_rank_are_not_marked() -> None:
    values, competes = pl.Series([0.9, 0.7, 0.8, 0.8, None]), pl.Series([False, True, True, True, True])
    assert best_two(values, competes) == [None, "italic", "bold", "bold", None]
    assert best_two(values, pl.Series([False, False, True, True, False])) == [None] * 5
    # At the boundary of two roundings to 9 decimals.
    near = pl.Series([0.4916015625, 0.49160156250000003, 0.3])
    assert best_two(near, near > 0) == ["bold", "bold", "italic"]


def test_a_table_is_marked_where_a_cell_is() -> None:
    frame = pl.DataFrame(
        {"model": ["a"], "x_style": [None], "y_style": [None]}, schema_overrides={"x_style": pl.String}
    )
    assert not is_marked(frame) and is_marked(frame.with_columns(y_style=pl.lit("bold")))
