"""The table that compares the targets' predictions in all circular orders of the options."""

from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.ras import entropy
from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.errors import InputError
from benchc.rendering.output import Table
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from tests.benchmarks.bench_c.metrics.order_tables import drawn_predictions, items_of
from tests.benchmarks.bench_c.outputs import flat, output, write_filled, write_models
from tests.footers import footer_of
from tests.standings import standings_of

ITEMS = items_of([2, 3, 4])
ABSENT = {"label_mass": 1.0, "prompt_hash": "p", "image_hash": "i"}
NO_MATCH = "^predictions: the files do not match the models"
FOOTER = {"model": "m", "revision": "1", "scoring": "letter", "device": "cpu"}


NONE = pl.lit(False)


def write_model(
    folder: Path, model: str, seed: int, drop: pl.Expr = NONE, drop_orders: pl.Expr = NONE, **footer: str
) -> None:
    """Write a target's predictions of ITEMS: the given order in two batches, the other orders."""
    absent = {name: pl.lit(value) for name, value in ABSENT.items()}
    predictions = drawn_predictions(ITEMS, seed).with_columns(**absent)
    orders = predictions.filter((pl.col("order") > 0) & ~drop_orders)
    orders = orders.select(*ORDERS.columns).cast(dict(ORDERS.columns))
    facts = footer_of({**FOOTER, "model": model, "items": 3, **footer})
    write_table(orders, folder / f"orders/{model}.parquet", ORDERS, facts)
    given = predictions.filter((pl.col("order") == 0) & ~drop)
    given = given.select(*PREDICTIONS.columns).cast(dict(PREDICTIONS.columns))
    # A milder prediction, as all predictions have, that is not in the other orders.
    mild = given.filter(corruption="fog").with_columns(severity=pl.lit(1, pl.Int64))
    for name, part in (
        ("one", pl.concat([given.filter(corruption="snow"), mild])),
        ("two", given.filter(pl.col("corruption") != "snow")),
    ):
        facts = footer_of({**FOOTER, "model": model, "predictions": part.height})
        write_table(part, folder / f"predictions/selected/{model}/{name}.parquet", PREDICTIONS, facts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    options = [["x"] * count for count in ITEMS["options"]]
    write_filled(ITEMS.to_dict() | {"options": options}, tmp_path / "pool.parquet", POOL)
    for seed, model in enumerate(("a", "b")):
        write_model(tmp_path, model, seed)
    write_models(tmp_path / "models.json", {"a": "A", "b": "B"})
    standings_of("AB").frame.write_csv(tmp_path / "chance.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compare(allow_missing: bool = False, **files: list[str]) -> Table:
    given = {
        "predictions": [*map(str, sorted(Path("predictions").rglob("*.parquet"), reverse=True))],
        "orders": ["orders/b.parquet", "orders/a.parquet"],
        "models": ["models.json"],
        "pool": ["pool.parquet"],
        "chance": ["chance.csv"],
    }
    return output("option_order", given | files, draws=30, seed=0, allow_missing=allow_missing)


def test_files_are_matched_to_models_and_the_table_is_reproducible(folder):
    first, again = compare(), compare()
    assert first.summary == "2 targets, 54 predictions of 3 items in all circular orders of the options"
    table = first.frame
    assert table["label"].unique(maintain_order=True).to_list() == ["A", "B"]
    assert table["predictions"].to_list() == [3, 6, 3, 3] * 2 and table["severity"].max() == 5
    assert set(table["scoring"]) == {"letter"}
    # Each target's own predictions: entropy of the given order, by hand from what was drawn.
    for seed, label in enumerate("AB"):
        logits = drawn_predictions(ITEMS, seed).filter(corruption="clean", order=0)["logits"]
        mean = sum(float(entropy(row)) for row in logits.cast(pl.List(pl.Float32)).to_list()) / 3
        assert table.filter(label=label, corruption="clean")["entropy"][0] == pytest.approx(mean, abs=1e-8)
    texts = (table.write_csv(), first.markdown, first.latex)
    assert all(texts) and texts == (again.frame.write_csv(), again.markdown, again.latex)


def test_predictions_of_another_model_are_refused(folder):
    write_model(folder, "b", 1, revision="2")
    with pytest.raises(InputError, match=r"orders/b\.parquet: its revision is 2, that of .*/b/.* is 1"):
        compare()


def test_missing_predictions_are_refused_or_left_out(folder, capsys):
    write_model(folder, "b", 1, drop=(pl.col("id") == "s/1") & (pl.col("corruption") == "snow"))
    with pytest.raises(InputError, match=r"^B: the prediction \(s/1, snow, 5\) in order 0 is missing"):
        compare()
    table = compare(allow_missing=True)
    assert "B: 1 of 3 items lack a prediction, excluded" in capsys.readouterr().err
    assert set(table.frame["items"]) == {2}
    for text in (table.markdown, table.latex):
        assert "On 2 of 3 items: those for which no target lacks a prediction." in flat(text)
    write_model(folder, "a", 0, drop=pl.col("id").is_in(["s/0", "s/2"]))
    with pytest.raises(InputError, match="none of the 3 items evaluated in other orders has all predictions"):
        compare(allow_missing=True)


def test_an_item_without_other_orders_is_left_out_and_counted(folder, capsys):
    write_model(folder, "b", 1, drop_orders=pl.col("id") == "s/1")
    with pytest.raises(InputError, match=r"different items"):
        compare()
    assert set(compare(allow_missing=True).frame["items"]) == {2}
    assert "B: 1 of 3 items lack a prediction, excluded" in capsys.readouterr().err
    write_model(folder, "a", 0, drop_orders=pl.col("id") == "s/1")
    table = compare(allow_missing=True)
    assert set(table.frame["items"]) == {2}
    printed = capsys.readouterr().err
    assert all(f"{label}: 1 of 3 items lack a prediction, excluded" in printed for label in "AB")
    assert "On 2 of 3 items" in flat(table.markdown)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"orders": ["orders/a.parquet"]}, "^orders: the files are of a; give one .* for each of a, b"),
        ({"orders": ["orders/a.parquet", "x/c.parquet"]}, "^orders: the files are of a, c; give one"),
        *(
            ({"predictions": [f"predictions/selected/{model}/one.parquet" for model in models]}, message)
            for models, message in (("a", f"{NO_MATCH}, see b"), ("abc", f"{NO_MATCH}, see c"))
        ),
    ],
)
def test_files_of_other_models_are_refused(folder, files, message):
    with pytest.raises(InputError, match=message):
        compare(**files)
