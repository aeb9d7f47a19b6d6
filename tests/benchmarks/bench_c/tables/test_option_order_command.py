"""The command that compares the targets' reads in all orders of the options."""

import sys
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.ras import entropy
from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.errors import InputError
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from scripts import option_order as script
from tests.benchmarks.bench_c.metrics.order_tables import drawn_reads, items_of

ITEMS = items_of([2, 3, 4])
ABSENT = {"label_mass": 1.0, "prompt_hash": "p", "image_hash": "i"}
FOOTER = {"model": "m", "revision": "1", "scoring": "letter", "device": "cpu"}


def write_model(
    folder: Path,
    model: str,
    seed: int,
    drop: pl.Expr | None = None,
    drop_orders: pl.Expr | None = None,
    **footer: str,
) -> None:
    """Write a target's reads of ITEMS: the given order in two batches, the other orders."""
    reads = drawn_reads(ITEMS, seed).with_columns(
        [pl.lit(value).alias(name) for name, value in ABSENT.items()]
    )
    orders = reads.filter(pl.col("order") > 0).select(*ORDERS.columns).cast(dict(ORDERS.columns))
    orders = orders if drop_orders is None else orders.filter(~drop_orders)
    write_table(
        orders, folder / f"orders/{model}.parquet", ORDERS, {**FOOTER, "model": model, "items": 3, **footer}
    )
    given = reads.filter(order=0).select(*PREDICTIONS.columns).cast(dict(PREDICTIONS.columns))
    given = given if drop is None else given.filter(~drop)
    # A milder read, as all predictions have, that nobody asked for in other orders.
    mild = given.filter(corruption="fog").with_columns(severity=pl.lit(1, pl.Int64))
    for batch, part in (
        ("one", pl.concat([given.filter(corruption="snow"), mild])),
        ("two", given.filter(pl.col("corruption") != "snow")),
    ):
        path = folder / f"predictions/selected/{model}/{batch}.parquet"
        write_table(part, path, PREDICTIONS, {**FOOTER, "model": model, "reads": part.height})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pool = ITEMS.with_columns(options=pl.Series([["x"] * count for count in ITEMS["options"]]))
    absent = [
        pl.lit(None, dtype).alias(name) for name, dtype in POOL.columns.items() if name not in pool.columns
    ]
    pool = pool.with_columns(absent).select(*POOL.columns).cast(dict(POOL.columns))
    write_table(pool, tmp_path / "pool.parquet", POOL)
    for seed, model in enumerate(("a", "b")):
        write_model(tmp_path, model, seed)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compare(monkeypatch: pytest.MonkeyPatch, *more: str) -> pl.DataFrame:
    arguments = ["--predictions", *map(str, sorted(Path("predictions").rglob("*.parquet"), reverse=True))]
    arguments += ["--orders", "orders/b.parquet", "orders/a.parquet", "--pool", "pool.parquet"]
    arguments += ["--models", "a", "b", "--labels", "A", "B", "--draws", "30"]
    arguments += [f"--output-{form}=out/t.{form}" for form in ("csv", "md", "tex")]
    monkeypatch.setattr(sys, "argv", ["option_order", *arguments, *more])
    script.main()
    return pl.read_csv("out/t.csv", infer_schema_length=None)


def test_files_are_found_by_their_models_and_written_again_in_the_same_bytes(folder, monkeypatch, capsys):
    table = compare(monkeypatch)
    assert "2 targets, 54 reads of 3 items in all orders" in capsys.readouterr().err
    assert table["label"].unique(maintain_order=True).to_list() == ["A", "B"]
    assert table["reads"].to_list() == [3, 6, 3, 3] * 2 and table["severity"].max() == 5
    assert set(table["scoring"]) == {"letter"}
    # Each target's own reads: entropy of the given order, by hand from what was drawn.
    for seed, label in enumerate("AB"):
        logits = (
            drawn_reads(ITEMS, seed).filter(corruption="clean", order=0)["logits"].cast(pl.List(pl.Float32))
        )
        mean = sum(float(entropy(read)) for read in logits.to_list()) / 3
        assert table.filter(label=label, corruption="clean")["entropy"][0] == pytest.approx(mean, abs=1e-8)
    first = [path.read_bytes() for path in sorted(Path("out").iterdir())]
    compare(monkeypatch)
    assert [path.read_bytes() for path in sorted(Path("out").iterdir())] == first and all(first)


def test_reads_of_another_model_are_refused(folder, monkeypatch):
    write_model(folder, "b", 1, revision="2")
    with pytest.raises(InputError, match=r"orders/b\.parquet: its revision is 2, that of .*/b/.* is 1"):
        compare(monkeypatch)


def test_missing_reads_are_refused_or_left_out(folder, monkeypatch, capsys):
    write_model(folder, "b", 1, drop=(pl.col("id") == "s/1") & (pl.col("corruption") == "snow"))
    with pytest.raises(InputError, match=r"^B: the read \(s/1, snow, 5\) in order 0 is missing"):
        compare(monkeypatch)
    assert not Path("out").exists()
    table = compare(monkeypatch, "--allow-missing")
    assert "B: 1 of 3 items lack a read, left out" in capsys.readouterr().err
    assert set(table["items"]) == {2}
    for form in ("md", "tex"):
        text = " ".join(Path(f"out/t.{form}").read_text().split())
        assert "On 2 of 3 items: those whose reads all have." in text
    write_model(folder, "a", 0, drop=pl.col("id").is_in(["s/0", "s/2"]))
    with pytest.raises(InputError, match="none of the 3 items asked about in other orders has all reads"):
        compare(monkeypatch, "--allow-missing")


def test_an_item_that_was_asked_in_no_other_order_is_left_out_and_counted(folder, monkeypatch, capsys):
    write_model(folder, "b", 1, drop_orders=pl.col("id") == "s/1")
    with pytest.raises(InputError, match=r"different items"):
        compare(monkeypatch)
    assert set(compare(monkeypatch, "--allow-missing")["items"]) == {2}
    assert "B: 1 of 3 items lack a read, left out" in capsys.readouterr().err
    write_model(folder, "a", 0, drop_orders=pl.col("id") == "s/1")
    assert set(compare(monkeypatch, "--allow-missing")["items"]) == {2}
    said = capsys.readouterr().err
    assert all(f"{label}: 1 of 3 items lack a read, left out" in said for label in "AB")
    assert "On 2 of 3 items" in Path("out/t.md").read_text()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--labels", "A", "A"], "--models, --labels, --orders: give one of each to each target"),
        (["--orders", "orders/a.parquet", "x/c.parquet"], r"--orders: the files are of a, c; give one"),
        (["--models", "a", "c"], "--predictions: the files do not go with --models, see c"),
        (["--draws", "0"], "draws must be at least 1"),
    ],
)
def test_lists_that_do_not_match_are_refused(folder, monkeypatch, more, message):
    with pytest.raises((InputError, ValueError), match=message):
        compare(monkeypatch, *more)
