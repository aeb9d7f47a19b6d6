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
from tests.benchmarks.bench_c.outputs import output

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


def test_each_panel_pairs_the_image_of_a_prediction_with_its_bars():
    table = cases(*ONE_ITEM)
    figure = plot(table)
    assert figure.get_figwidth() == pytest.approx(TEXT_WIDTH)
    images, bars = figure.axes[::2], figure.axes[1::2]
    shades = [int(axes.images[0].get_array()[0, 0, 0]) for axes in images]
    assert shades == [10, 100, 101, 102, 103]
    assert heights(bars[0]) == {"clean": table["probabilities_clean"][0].to_list()}
    for axes, row in zip(bars[1:], table.rows(named=True), strict=True):
        assert heights(axes) == {
            "clean": row["probabilities_clean"],
            "corrupted": row["probabilities"],
        }
        assert to_rgb(axes.containers[1][0].get_facecolor()[:3]) == to_rgb(COLOURS[row["regime"]])
    for upper, lower in zip(images, bars, strict=True):
        assert upper.get_position().x0 == pytest.approx(lower.get_position().x0)
        assert upper.get_position().y0 >= lower.get_position().y1 - 1e-9


def test_words():
    figure = plot(cases(*ONE_ITEM), question="What  is\nit?")
    assert [text.get_text() for text in figure.texts] == [
        "a target, item s/0",
        "What is it?",
        "A. option 0 · B. option 1 ✓ · C. option 2",
    ]
    titles = [(axes.get_title(), [text.get_text() for text in axes.texts]) for axes in figure.axes[::2]]
    assert titles == [
        ("(a) clean", []),
        ("(b) zoom blur, 2", ["degraded"]),
        ("(c) fog, 5", ["overconfident"]),
        ("(d) frost, 5", ["hesitant"]),
        ("(e) snow, 5", ["stable"]),
    ]
    labels = [axes.get_xlabel().splitlines() for axes in figure.axes[1::2]]
    # Entropy and calibration error are 0.5 in these rows, so 0.3 and 0.2 before the first one's shifts.
    assert labels[0] == ["S 0.300, C 0.200", "right"]
    assert labels[1] == ["ΔS +0.200, ΔC +0.300", "RAS −0.300", "right → wrong"]


def test_all_words_are_inside_the_figure_however_long():
    figure = plot(cases(*ONE_ITEM, options=26), question="many words " * 200)
    figure.draw_without_rendering()
    box = figure.bbox
    for text in [*figure.texts, *(axes.xaxis.label for axes in figure.axes[1::2])]:
        extent = text.get_window_extent()
        assert box.x0 <= extent.x0 and extent.x1 <= box.x1 and box.y0 <= extent.y0 and extent.y1 <= box.y1


def test_one_prediction_is_enough_and_errors_name_the_cause():
    assert len(plot(cases(*ONE_ITEM[:1])).axes) == 4
    with pytest.raises(ValueError, match="4 predictions of 4 items"):
        plot(cases(*FOUR))
    with pytest.raises(ValueError, match="5 predictions of 1 item given"):
        plot(cases(*ONE_ITEM, ONE_ITEM[0] | {"severity": 1}))
    with pytest.raises(ValueError, match="0 predictions"):
        plot(cases())
    with pytest.raises(ValueError, match="'s/0' has no images under fog at severity 5"):
        plot_figure5(
            cases(ONE_ITEM[1]),
            label="t",
            question="?",
            clean=[plain_image(0)],
            corrupted={("fog", 4): [plain_image(0)]},
        )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of two items under two corruptions at one severity."""
    ids = ["s/0", "s/1"]
    image = {"bytes": encode(plain_image(50)), "path": None}
    pool = pl.DataFrame(
        {
            "id": ids,
            "source": "s",
            "task": "t",
            "question": "What?",
            "hint": None,
            "options": [["a", "b"]] * 2,
            "answer": 0,
            "category": "c",
            "l2_category": "c",
            "images": [[image]] * 2,
            "image_keys": [["s/0#0"], ["s/1#0"]],
        },
        schema=dict(POOL.columns),
    )
    write_table(pool, tmp_path / "pool.parquet", POOL)
    logits = {"clean": [1.0, 0.0], "fog": [0.0, 3.0], "snow": [3.0, 0.0]}
    predictions = pl.DataFrame(
        [
            {
                "id": id_,
                "corruption": name,
                "severity": 0 if name == "clean" else 3,
                "logits": values if id_ == "s/1" else [1.0, 0.5],
                "label_mass": 1.0,
                "prompt_hash": "",
                "image_hash": "",
            }
            for id_ in ids
            for name, values in logits.items()
        ],
        schema=dict(PREDICTIONS.columns),
    )
    write_table(predictions, tmp_path / "predictions.parquet", PREDICTIONS)
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
    assert (
        output("figure5", FILES, label="One", item=None, corruptions=None).texts[0].get_text()
        == "One, item s/1"
    )
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
        (
            FILES["images"],
            {"corruptions": ["snow"]},
            "the corruption .snow. is not of the form NAME:SEVERITY",
        ),
        (
            FILES["images"],
            {"corruptions": ["snow:-3"]},
            "the corruption .snow:-3. is not of the form NAME:SEVERITY",
        ),
    ],
)
def test_missing_inputs_are_named(images: list[str], settings: dict[str, object], message: str, folder: Path):
    with pytest.raises(InputError, match=message):
        output("figure5", TARGET | {"images": images}, label="One", **settings)
