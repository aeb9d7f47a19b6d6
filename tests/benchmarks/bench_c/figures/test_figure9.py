from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.figures.figure9 import plot
from benchc.benchmarks.bench_c.figures.kappa_examples import BANDS, band_of, examples_by_kappa
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.images import encode
from benchc.rendering.style import TEXT_WIDTH
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.benchmarks.bench_c.figures.drawn import clashes
from tests.benchmarks.bench_c.figures.figure_tables import selection
from tests.benchmarks.bench_c.outputs import output, write_filled


def pool(rows: list[tuple[str, str, str, float]]) -> pl.DataFrame:
    """Return items whose questions and images all differ."""
    table = pl.DataFrame(rows, schema=["id", "source", "task", "kappa"], orient="row")
    return table.with_columns(question=pl.col("id"), image_keys=pl.concat_list("id"))


def test_a_band_is_a_third_of_the_range_and_includes_its_upper_end():
    bands = ["low", "low", "medium", "medium", "high", "high"]
    assert [band_of(kappa, 0.75) for kappa in (0, 0.25, 0.2501, 0.5, 0.5001, 0.75)] == bands
    assert band_of(0.0, 0.0) == "low"


def test_examples_are_of_many_sources_tasks_questions_and_images_and_near_their_target():
    items = ("a/0 map 0.0", "a/1 map 0.0", "a/2 web 0.1", "b/0 map 0.2")
    items += ("a/3 map 0.5", "b/1 web 0.44", "b/2 web 0.9")
    rows = [item.split() for item in items]
    table = pool([(id_, id_[0], task, float(kappa)) for id_, task, kappa in rows])

    def chosen(each: int) -> list[tuple[str, str]]:
        return examples_by_kappa(table, each=each).select("band", "id").rows()

    assert chosen(1) == [("low", "a/0"), ("medium", "b/1"), ("high", "b/2")]
    # After a/0, b/0 for its source; then a/2 for its task, though a/1 is nearer to 0.
    assert [id_ for band, id_ in chosen(2) if band == "low"] == ["a/0", "b/0"]
    assert [id_ for band, id_ in chosen(3) if band == "low"] == ["a/0", "a/2", "b/0"]
    assert len(chosen(9)) == table.height
    assert examples_by_kappa(table, each=1, ids=["b/2", "a/1"])["id"].to_list() == ["a/1", "b/2"]
    with pytest.raises(ValueError, match="no item 'c/1'"):
        examples_by_kappa(table, each=1, ids=["a/0", "c/1"])
    with pytest.raises(ValueError, match="no items"):
        examples_by_kappa(table.clear(), each=1)
    table = pool([(f"a/{number}", "a", "map", 0.0) for number in range(4)])
    repeated = table.with_columns(
        question=pl.Series(["Who?", "Who?", "What?", "Where?"]),
        image_keys=pl.Series([["x", "y"], ["z"], ["y"], ["w"]]),
    )
    assert examples_by_kappa(repeated, each=2)["id"].to_list() == ["a/0", "a/3"]
    assert examples_by_kappa(repeated, each=3)["id"].to_list() == ["a/0", "a/1", "a/3"]


@settings(max_examples=25)
@given(
    kappas=st.lists(st.sampled_from([0.0, 0.0, 0.1, 0.2, 0.25, 0.5, 0.7]), min_size=1, max_size=20),
    each=st.integers(1, 5),
)
def test_bands_are_filled_whatever_the_order_of_rows(kappas: list[float], each: int):
    table = pool([(f"s{k % 3}/{k}", f"s{k % 3}", f"t{k % 4}", kappa) for k, kappa in enumerate(kappas)])
    examples = examples_by_kappa(table, each=each)
    for band in BANDS:
        members = [kappa for kappa in kappas if band_of(kappa, max(kappas)) == band]
        assert examples.filter(band=band).height == min(each, len(members))
    assert examples_by_kappa(table.reverse(), each=each).equals(examples)


ITEMS = pl.DataFrame(
    {
        "id": ["a/0", "a/1", "b/0"],
        "task": ["map", "web", "$ chart"],
        "question": ["Where?", "Who?", "What is it? " * 40],
        "options": [["here", "there"], ["I", "you"], ["x", "y"]],
        "answer": [1, 0, 0],
        "kappa": [0.0, 0.1234, 0.6],
        "band": ["low", "low", "high"],
    }
)
IMAGES = {
    id_: [np.full((5, 9, 3), shade, np.uint8)] * count
    for id_, shade, count in (("a/0", 10, 1), ("a/1", 20, 2), ("b/0", 30, 1))
}


def test_every_item_has_its_images_above_its_words_in_its_band_and_long_texts_are_cut():
    figure = plot(ITEMS, IMAGES, largest_kappa=0.6)
    assert figure.get_figwidth() == TEXT_WIDTH
    shades = [[int(image.get_array()[0, 0, 0]) for image in axes.images] for axes in figure.axes]
    assert shades == [[10], [20, 20], [30]]
    found = {text.get_text(): text.get_position() for text in figure.texts}
    kappas = ("κ = 0.000", "κ = 0.123", "κ = 0.600")
    below = (["map", "Where?", "A. here · B. there ✓"], ["web", "Who?"], ["$ chart", "A. x ✓ · B. y"])
    for axes, kappa, texts in zip(figure.axes, kappas, below, strict=True):
        box = axes.get_position()
        assert box.x0 < found[kappa][0] < box.x1 and found[kappa][1] > box.y1
        for text in texts:
            assert found[text][0] == pytest.approx(box.x0) and found[text][1] < box.y0
    ends = {text: position for text, position in found.items() if "[" in text or "(" in text}
    assert list(ends) == ["low κ\n[0.00, 0.20]", "medium κ\n(0.20, 0.40]", "high κ\n(0.40, 0.60]"]
    low, medium, high = (position[1] for position in ends.values())
    assert low > figure.axes[0].get_position().y0 > medium > high
    assert medium > figure.axes[2].get_position().y1
    assert found["no items"][1] == pytest.approx(medium)
    figure.draw_without_rendering()
    assert any(text.get_text().endswith("…") for text in figure.texts)
    extents = [text.get_window_extent() for text in figure.texts]
    assert all(figure.bbox.y0 <= extent.y0 and extent.y1 <= figure.bbox.y1 for extent in extents)
    assert clashes(figure.texts, figure.bbox) == []


def test_rows_of_a_full_band_do_not_overlap():
    # Two rows of low, one of high, and between them the band without items.
    many = pl.concat([ITEMS[[0] * 8].with_columns(id=pl.format("a/{}", pl.Series(range(8)))), ITEMS[2:]])
    figure = plot(many, dict.fromkeys(many["id"], IMAGES["a/0"]), largest_kappa=0.6)
    boxes = [axes.get_position() for axes in figure.axes]
    assert [sum(box.y0 == other.y0 for other in boxes) for box in boxes] == [6] * 6 + [2] * 2 + [1]
    spans = [sorted(line.get_ydata(), reverse=True) for line in figure.artists]
    assert len(spans) == 3
    assert all(upper[1] > lower[0] for upper, lower in pairwise(spans))
    for box, band in zip(boxes, [0] * 8 + [2], strict=True):
        top, bottom = spans[band]
        assert bottom < box.y0 < box.y1 < top
    for upper, lower in ((boxes[0], boxes[6]), (boxes[6], boxes[8])):
        # Room for the words of the one and the kappa of the other.
        words = [text.get_position()[1] for text in figure.texts]
        assert sum(lower.y1 < word < upper.y0 for word in words) >= 4
        assert upper.y0 - lower.y1 > 0.5 / figure.get_figheight()
    with pytest.raises(ValueError, match="'a/1' has no images"):
        plot(ITEMS, IMAGES | {"a/1": []}, largest_kappa=0.6)


def test_it_draws_items_of_the_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ids = [f"s/{number}" for number in range(4)]
    columns = {"id": ids, "source": "s", "task": ["a", "b"] * 2, "question": ids, "options": [["x", "y"]] * 4}
    columns |= {"answer": 0, "image_keys": [[f"{id_}#0"] for id_ in ids]}
    shades = [np.full((4, 4, 3), row, np.uint8) for row in range(4)]
    images = [[{"bytes": encode(shade), "path": None}] for shade in shades]
    write_filled(columns | {"images": images}, tmp_path / "pool.parquet", POOL)
    # In another order than the pool, as nothing promises one.
    chosen = selection([0.9, 0.0, 0.5, 0.1], [True, False, True, False], ids).reverse()
    write_table(chosen, tmp_path / "selected.parquet", SELECTED)
    monkeypatch.chdir(tmp_path)
    files = {"pool": ["pool.parquet"], "selected": ["selected.parquet"]}
    choices: tuple[dict[str, object], ...] = ({}, {"each": 1}, {"items": ["s/2"]})
    figures = [output("figure9", files, **more) for more in choices]
    shown = [[int(axes.images[0].get_array()[0, 0, 0]) for axes in figure.axes] for figure in figures]
    assert shown == [[1, 3, 2, 0], [1, 2, 0], [2]]
    write_table(chosen.filter(pl.col("id") != "s/3"), tmp_path / "selected.parquet", SELECTED)
    with pytest.raises(ValueError, match=r"1 item of pool\.parquet without kappa, first 's/3'"):
        output("figure9", files)
