from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.figures.figure5 import figure5
from benchc.benchmarks.naturalbench.metrics.group_items import group_items
from benchc.benchmarks.naturalbench.schemas.halves import HALVES, HalvesFooter
from benchc.benchmarks.naturalbench.tables.fine_tuning import fine_tuning
from benchc.errors import InputError
from benchc.schemas.models import Model, Models, models_text
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.simulated import group_rows, pool_rows
from tests.footers import footer_of

TESTED = ["g1", "g3", "g5", "g7"]  # of eight groups


def predictions(path: Path, logits: dict[str, list[float]], corruption: str = "clean") -> Path:
    table = frame_of(PREDICTIONS, [(id_, corruption, 0, each, 1.0, "a", "b") for id_, each in logits.items()])
    write_table(table, path, PREDICTIONS, footer_of({"label": path.parent.name, "scoring": "text"}))
    return path


@pytest.fixture
def inputs(tmp_path) -> dict[str, Any]:
    groups = group_rows(8)
    pool = pool_rows(groups)
    items = group_items(groups, pool)

    def answers(solved: set[str], only: list[str] | None = None) -> dict[str, list[float]]:
        """A model that solves these groups, and in the others says Yes to all."""
        found = {}
        for place, id_ in np.ndenumerate(items.ids):
            group = items.groups[place[0]]
            option = items.truth[place] if group in solved else 0
            if only is None or group in only:
                found[id_] = [1.0, 0.0] if option == 0 else [0.0, 1.0]
        return found

    questions = {id_: [0.2, 0.9] for id_ in items.ids[:, :, 0].ravel()}
    tested = {id_: [0.9, 0.2] for id_ in questions if f"g{id_[2]}" in TESTED}
    # Groups of the first half are solved, too, and do not count.
    original = [
        predictions(tmp_path / "groups/m/all.parquet", answers({"g0", "g1", "g2", "g4"})),
        predictions(tmp_path / "questions/m/no_image.parquet", questions, "no_image"),
    ]
    tuned = [
        predictions(tmp_path / "test/m.images/clean.parquet", answers({"g1", "g3", "g5"}, TESTED)),
        predictions(tmp_path / "test/m.text/no_image.parquet", tested, "no_image"),
    ]
    (tmp_path / "models.json").write_text(models_text(Models("naturalbench", {"m": Model("m", "M one")})))
    numbered = [(f"g{n}", "test" if n % 2 else "train") for n in range(8)]
    halves = frame_of(HALVES, numbered)
    footer = HalvesFooter(pool="a", seed=0, images=1600, in_both=3)
    write_table(halves, tmp_path / "halves.parquet", HALVES, footer)
    given = {"pool": pool, "groups": groups, "halves": halves, "models": tmp_path / "models.json"}
    given |= {"original": original, "tuned": tuned, "modalities": ["images", "text"]}
    return given | {"draws": 200, "seed": 0}


def test_g_acc_is_of_the_tested_half_and_its_difference_is_paired(inputs):
    table = fine_tuning(**inputs)
    blind, seen = table.frame.to_dicts()
    assert (blind["model"], blind["input"], seen["input"]) == ("M one", "blind", "with images")
    # One of four groups before, three after, of which it is one.
    assert (seen["zero_shot"], seen["fine_tuned"], seen["difference"]) == (25.0, 75.0, 50.0)
    # The differences are 0, 1, 1, 0: independent draws of both would give a wider interval.
    rng = np.random.default_rng(1)
    means = 100 * rng.choice([0.0, 1.0, 1.0, 0.0], size=(20_000, 4)).mean(axis=1)
    assert (seen["difference_low"], seen["difference_high"]) == tuple(np.percentile(means, [2.5, 97.5]))
    # Whatever it learned, a model that does not see the image solves no group.
    assert (blind["zero_shot"], blind["fine_tuned"], blind["difference"]) == (0.0, 0.0, 0.0)
    assert table.frame["groups"].to_list() == [4, 4]
    text = " ".join(table.markdown.split())
    assert "tuning on 4 groups, on the other 4, by the reading deterministic;" in text
    # The seed draws the resamples.
    one, again, other = (fine_tuning(**inputs | {"draws": 7, "seed": seed}).frame for seed in (1, 1, 2))
    assert one.equals(again) and not one.equals(other)
    # One modality has its rows alone.
    one = fine_tuning(**inputs | {"modalities": ["images"], "tuned": inputs["tuned"][:1]})
    assert one.frame["input"].to_list() == ["with images"]
    assert "Blind" not in one.markdown and "Blind" in table.markdown
    # A missing prediction is an error.
    (path, _) = inputs["tuned"]
    predictions(path, {"s/100": [1.0, 0.0]})
    with pytest.raises(InputError, match="prediction"):
        fine_tuning(**inputs)


def test_the_figure_has_the_bars_of_the_table(inputs, tmp_path):
    table = fine_tuning(**inputs)
    (tmp_path / "fine_tuning.csv").write_text(table.frame.write_csv())
    figure = figure5(tmp_path / "fine_tuning.csv", tmp_path / "halves.parquet")
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [0.0, 25.0, 0.0, 75.0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["M one\nblind", "M one\nwith images"]
    (chance,) = axes.lines
    assert chance.get_linestyle() == ":" and [*chance.get_ydata()] == [6.25, 6.25]
    (legend,) = figure.legends
    title = legend.get_title().get_text().replace("\n", " ")
    assert title == (
        "Reading: Deterministic. Tuned on 4 groups, tested on 4 others; 3 of 1,600 images in both halves"
    )
    # The bar of a single tested group is inside.
    one = inputs["halves"].filter(pl.col("group").is_in(["g0", "g1"]))
    table = fine_tuning(**{**inputs, "halves": one})
    (tmp_path / "fine_tuning.csv").write_text(table.frame.write_csv())
    (axes,) = figure5(tmp_path / "fine_tuning.csv", tmp_path / "halves.parquet").axes
    assert max(bar.get_height() for bar in axes.patches) == 100.0 < axes.get_ylim()[1]
