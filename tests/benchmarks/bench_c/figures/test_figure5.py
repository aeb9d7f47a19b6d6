from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from benchc.benchmarks.bench_c.figures.figure5 import plot as plot_figure5
from benchc.benchmarks.bench_c.figures.regimes import COLOURS
from benchc.benchmarks.bench_c.metrics.scoring import score as scored
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.images import encode
from benchc.rendering.style import TEXT_WIDTH
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from tests.benchmarks.bench_c.figures.case_tables import FOUR, cases, heights
from tests.benchmarks.bench_c.figures.drawn import clashes, words
from tests.benchmarks.bench_c.outputs import output, write_filled

ONE_ITEM = tuple(row | {"id": "s/0"} for row in FOUR)


def plain_image(shade: int, height: int = 6, width: int = 8) -> np.ndarray:
    return np.full((height, width, 3), shade, np.uint8)


def plot(table: pl.DataFrame, question: str = "What?") -> Figure:
    keys = table.select("corruption", "severity").rows()
    return plot_figure5(
        table,
        label="a target",
        question=question,
        clean=[plain_image(10)],
        corrupted={key: [plain_image(100 + number)] for number, key in enumerate(keys)},
    )


def test_each_panel_pairs_the_image_of_a_prediction_with_its_bars_and_words():
    table = cases(*ONE_ITEM)
    figure = plot(table, question="What  is\nit?")
    assert figure.get_figwidth() == pytest.approx(TEXT_WIDTH)
    images, bars = figure.axes[::2], figure.axes[1::2]
    shades = [int(axes.images[0].get_array()[0, 0, 0]) for axes in images]
    assert shades == [10, 100, 101, 102, 103]
    assert heights(bars[0]) == {"clean": table["probabilities_clean"][0].to_list()}
    for axes, row in zip(bars[1:], table.rows(named=True), strict=True):
        assert heights(axes) == {"clean": row["probabilities_clean"], "corrupted": row["probabilities"]}
        assert to_rgb(axes.containers[1][0].get_facecolor()[:3]) == to_rgb(COLOURS[row["regime"]])
    for upper, lower in zip(images, bars, strict=True):
        assert upper.get_position().x0 == pytest.approx(lower.get_position().x0)
        assert upper.get_position().y0 >= lower.get_position().y1 - 1e-9
    options = "A. option 0 · B. option 1 ✓ · C. option 2"
    assert words(figure.texts) == ["a target, item s/0", "What is it?", options]
    assert [(axes.get_title(), words(axes.texts)) for axes in images] == [
        ("(a) clean", []),
        ("(b) zoom blur, 2", ["degraded"]),
        ("(c) fog, 5", ["overconfident"]),
        ("(d) frost, 5", ["hesitant"]),
        ("(e) snow, 5", ["stable"]),
    ]
    labels = [axes.get_xlabel().splitlines() for axes in bars]
    # Entropy and calibration error are 0.5 in these rows, so 0.3 and 0.2 before the first one's shifts.
    assert labels[0] == ["S 0.300, C 0.200", "right"]
    assert labels[1] == ["ΔS +0.200, ΔC +0.300", "RAS −0.300", "right → wrong"]


def test_all_words_are_inside_the_figure_however_long():
    figure = plot(cases(*ONE_ITEM, options=26), question="many words " * 200)
    figure.draw_without_rendering()
    texts = [*figure.texts, *(axes.xaxis.label for axes in figure.axes[1::2])]
    assert clashes(texts, figure.bbox) == []
    extents = [text.get_window_extent() for text in texts]
    assert all(figure.bbox.y0 <= extent.y0 and extent.y1 <= figure.bbox.y1 for extent in extents)


def test_one_prediction_is_enough_and_errors_name_the_cause():
    assert len(plot(cases(*ONE_ITEM[:1])).axes) == 4
    for rows, message in (
        (FOUR, "4 predictions of 4 items"),
        ([*ONE_ITEM, ONE_ITEM[0] | {"severity": 1}], "5 predictions of 1 item given"),
        ([], "0 predictions"),
    ):
        with pytest.raises(ValueError, match=message):
            plot(cases(*rows))
    clean = [plain_image(0)]
    with pytest.raises(ValueError, match="'s/0' has no images under fog at severity 5"):
        plot_figure5(cases(ONE_ITEM[1]), label="t", question="?", clean=clean, corrupted={("fog", 4): clean})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of two items under two corruptions at one severity."""
    ids = ["s/0", "s/1"]
    image = {"bytes": encode(plain_image(50)), "path": None}
    keys = {"images": [[image]] * 2, "image_keys": [["s/0#0"], ["s/1#0"]]}
    columns = {"id": ids, "question": "What?", "options": [["a", "b"]] * 2, "answer": 0, **keys}
    pool = write_filled(columns, tmp_path / "pool.parquet", POOL)
    cells = {"corruption": ["clean", "fog", "snow"] * 2, "severity": [0, 3, 3] * 2}
    logits = [*[[1.0, 0.5]] * 3, [1.0, 0.0], [0.0, 3.0], [3.0, 0.0]]
    columns = {"id": [id_ for id_ in ids for _ in range(3)], **cells, "logits": logits, "label_mass": 1.0}
    predictions = write_filled(columns, tmp_path / "predictions.parquet", PREDICTIONS)
    items = pool.select("id", "answer", pl.col("options").list.len().cast(pl.Int64))
    write_table(scored(predictions, items), tmp_path / "scores.parquet", SCORES)
    for shade, name in ((60, "fog"), (70, "snow")):
        images = [{"bytes": encode(plain_image(shade + row)), "path": None} for row in range(2)]
        columns = {"image_key": ["s/0#0", "s/1#0"], "severity": 3, "image": images}
        corrupted = pl.DataFrame(columns, schema=dict(CORRUPTED.columns))
        write_table(corrupted, tmp_path / f"{name}.parquet", CORRUPTED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


TARGET = {"scores": ["scores.parquet"], "predictions": ["predictions.parquet"], "pool": ["pool.parquet"]}
FILES = TARGET | {"images": ["fog.parquet", "snow.parquet"]}


def test_items_predictions_and_images_are_found(folder: Path):
    figure = output("figure5", FILES, label="One")
    # Only s/1 is inconsistent: overconfident in fog, stable in snow.
    assert figure.texts[0].get_text() == "One, item s/1"
    assert [axes.get_title() for axes in figure.axes[::2]] == ["(a) clean", "(b) fog, 3", "(c) snow, 3"]
    shades = [int(axes.images[0].get_array()[0, 0, 0]) for axes in figure.axes[::2]]
    assert shades == [50, 61, 71]
    figure = output("figure5", FILES, label="One", item=None, corruptions=None)
    assert figure.texts[0].get_text() == "One, item s/1"
    figure = output("figure5", FILES, label="One", item="s/0", corruptions=["snow:3"])
    assert figure.texts[0].get_text() == "One, item s/0"
    assert [axes.get_title() for axes in figure.axes[::2]] == ["(a) clean", "(b) snow, 3"]
    # Figure 3 takes the same tables.
    figure = output("figure3", TARGET, label="One")
    assert [bool(axes.containers) for axes in figure.axes] == [False, True, False, True]


@pytest.mark.parametrize(
    ("images", "settings", "message"),
    [
        (["fog.parquet"], {}, "among the images there is no file snow.parquet"),
        (FILES["images"], {"item": "s/7"}, "item 's/7' has no scores"),
        (FILES["images"], {"corruptions": ["snow:4"]}, "no scores for snow at severity 4"),
        (FILES["images"], {"corruptions": ["snow"]}, "corruption .snow. is not of the form NAME:SEVERITY"),
        (FILES["images"], {"corruptions": ["snow:-3"]}, "corruption .snow:-3. is not of the form NAME:SEV"),
    ],
)
def test_missing_inputs_are_named(images: list[str], settings: dict[str, object], message: str, folder: Path):
    with pytest.raises(InputError, match=message):
        output("figure5", TARGET | {"images": images}, label="One", **settings)
