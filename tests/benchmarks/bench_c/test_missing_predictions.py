"""Targets that lack predictions: an error, or a comparison on the items that all targets have."""

from pathlib import Path

import polars as pl
import pytest
from matplotlib.text import Text

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.predictions import PREDICTIONS
from scripts import command
from scripts.benchc import main
from tests.benchmarks.bench_c.degenerate_runs import Run, make_run_folder
from tests.benchmarks.bench_c.outputs import flat
from tests.footers import footer_of

RUN = Run(items=6)
# "one" has all predictions, "two" lacks the clean prediction of one item, "three" two corrupted ones of two
# others.
MISSING = {"two": [("s/1", "clean", 0)], "three": [("s/3", "fog", 1), ("s/4", "pixelate", 5)]}
COMMON = ["s/0", "s/2", "s/5"]
SENTENCE = "On 3 of 6 items: those for which no target lacks a prediction."
TABLES = ("table1", "table2", "table3", "cells", "intervals", "rank_swaps")


def drop(model: str, keys: list[tuple[str, str, int]]) -> None:
    path = Path(f"predictions/{model}/all.parquet")
    predictions = read_table(path, PREDICTIONS)
    dropped = pl.DataFrame(keys, schema=["id", "corruption", "severity"], orient="row")
    left = predictions.join(dropped, on=dropped.columns, how="anti", maintain_order="left")
    write_table(left, path, PREDICTIONS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The run with missing predictions, unscored, in the working directory."""
    monkeypatch.chdir(tmp_path)
    RUN.write(tmp_path)
    for model, keys in MISSING.items():
        drop(model, keys)
    return tmp_path


def test_a_target_that_lacks_predictions_is_refused_and_named(folder: Path):
    message = r"^two: 1 missing prediction: \(s/1, clean, 0\); .* set scores.allow_missing to true"
    with pytest.raises(InputError, match=message):
        RUN.score()
    with pytest.raises(SystemExit, match=r"^error: two: 1 missing prediction") as stop:
        command.run(RUN.score)
    assert len(str(stop.value).splitlines()) == 1
    assert [path.stem for path in Path("scores").iterdir()] == ["one"]


def test_what_is_left_out_is_named_counted_and_in_the_footer(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    RUN.score(allow_missing=True)
    text = capsys.readouterr().err
    assert "two: 1 of 6 items excluded, 1 prediction missing: (s/1, clean, 0)\n" in text
    assert "three: 2 of 6 items excluded, 2 predictions missing: (s/3, fog, 1), (s/4, pixelate, 5)\n" in text
    pool = pool_digest(Path("pool.parquet"), QUESTION_COLUMNS)
    assert [read_footer(f"scores/{model}.parquet") for model in RUN.models] == [
        {"label": "one", "pool": pool, "items": 6},
        {"label": "two", "pool": pool, "items": 5, "missing_items": 1, "missing_predictions": 1},
        {"label": "three", "pool": pool, "items": 4, "missing_items": 2, "missing_predictions": 2},
    ]
    # A target with all predictions has the same file, whether predictions may be missing or not.
    allowed = Path("scores/one.parquet").read_bytes()
    Run(items=6, models=["one"]).score()
    assert Path("scores/one.parquet").read_bytes() == allowed


def test_tables_are_of_the_common_items_and_captions_count_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    RUN.score(allow_missing=True)
    found = {}
    most = "3 of 6 items have all predictions of 3 targets, the others are excluded; Three lacks the most"
    for name in TABLES:
        found[name] = RUN.output(name)
        assert f"{most} predictions, 2" in capsys.readouterr().err, name
    claims = RUN.output("claims")
    assert claims.frame["here"][0] == "6 of 6 (100.0 %)"  # of the selection, not of the scores
    for table in (*found.values(), claims):
        assert all(SENTENCE in flat(text) for text in (table.markdown, table.latex) if text)
    # The same items as a separate selection, without missing predictions.
    common = pl.col("id").is_in(COMMON)
    write_table(read_table("selected.parquet", SELECTED).filter(common), "selected.parquet", SELECTED)
    for model in RUN.models:
        scores = read_table(f"scores/{model}.parquet", SCORES).filter(common)
        write_table(scores, f"scores/{model}.parquet", SCORES, footer_of({"items": 3}))
    for name, table in found.items():
        whole = RUN.output(name)
        assert whole.frame.write_csv() == table.frame.write_csv(), name
        assert "lacks a prediction" not in flat(whole.markdown), name


def test_figures_count_them_too(folder: Path):
    for count in (1, 0):
        RUN.score(allow_missing=True)
        for figure in (RUN.output("figure6"), RUN.output("figure10")):
            figure.draw_without_rendering()
            notes = [text for text in figure.findobj(Text) if SENTENCE in text.get_text()]
            extents = [text.get_window_extent() for text in notes if text.get_visible()]
            assert len(extents) == count
            assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in extents)
        RUN.write(folder)  # all predictions


def test_figures_of_one_target_are_of_its_complete_items(folder: Path):
    alone = Run(items=6, models=["two"])
    alone.score(allow_missing=True)
    for name in ("figure3", "figure4", "figure5"):
        texts = " ".join(text.get_text() for text in alone.output(name).findobj(Text))
        assert "s/1" not in texts and (name != "figure4" or "(n = 5)" in texts)
    with pytest.raises(InputError, match=r"'s/1' has no scores.*that has all predictions"):
        alone.output("figure5", item="s/1")


def test_a_comparison_says_which_run_lacks_predictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name in "ab":
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        RUN.write(tmp_path / name)
        if name == "b":
            drop("two", MISSING["two"])
        RUN.score(allow_missing=True)
        make_run_folder()
    monkeypatch.chdir(tmp_path)
    main(["compare", "a", "b", "--draws", "5"])
    text = flat(capsys.readouterr().out)
    assert "of 3 models on 5 items, are identical" in text and "Run A:" not in text
    assert text.endswith("Run B: On 5 of 6 items: those for which no target lacks a prediction.")


def test_no_common_item_is_refused(folder: Path):
    drop("one", [(id_, "fog", 2) for id_ in COMMON])
    RUN.score(allow_missing=True)
    message = "none of the 6 selected items has all predictions of all 3 targets"
    for name in ("table2", "intervals", "figure10"):
        with pytest.raises(InputError, match=message):
            RUN.output(name)


def test_predictions_and_selections_that_no_footer_records_are_refused(folder: Path):
    RUN.score(allow_missing=True)
    larger = Run(items=7)
    larger.write(folder)
    for name in ("table1", "claims"):
        with pytest.raises(InputError, match="3 items were scored, 7 are selected"):
            larger.output(name)
    RUN.write(folder)
    for model in RUN.models:
        path = f"scores/{model}.parquet"
        write_table(read_table(path, SCORES), path, SCORES, footer_of({"items": 0}))
    message = r"only be compared on the same predictions; delete|(missing|unexpected) scores?: .*: delete"
    for name in ("table1", "claims", "intervals"):
        with pytest.raises(InputError, match=message):
            RUN.output(name)
