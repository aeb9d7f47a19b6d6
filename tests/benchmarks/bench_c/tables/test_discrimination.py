"""From predictions of selected and of other items to the table that compares them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.metrics.discrimination import discrimination
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.errors import InputError
from benchc.rendering.output import Table
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from benchc.schemas.subset import SUBSET
from scripts.bench_c.sample_unselected import sample_unselected
from scripts.bench_c.score import score
from tests.benchmarks.bench_c.outputs import flat, output, write_filled, write_models
from tests.footers import footer_of

COUNT, MODELS = 10, ("one", "two")
IDS = [f"s/{item}" for item in range(COUNT)]
KEPT = [item < 4 for item in range(COUNT)]


def score_items(subset: str, model: str, items: str | None = None, *, allow_missing: bool = False) -> None:
    """Score a model on the items of a subset in the working directory, or on others."""
    score(
        predictions=[Path(f"predictions/{subset}/{model}/all.parquet")],
        pool=Path("pool.parquet"),
        subset=Path(f"subsets/{items or subset}.parquet"),
        corruptions=["fog"],
        severities=[1, 5],
        allow_missing=allow_missing,
        output=Path(f"{subset}/{model}.parquet"),
    )


def predictions(ids: list[str], seed: int, path: Path) -> None:
    """Write predictions of items under one corruption at two severities."""
    cells = [(id_, *cell) for id_ in ids for cell in (("clean", 0), ("fog", 1), ("fog", 5))]
    generators = [np.random.default_rng([seed, int(id_[2:]), severity]) for id_, _, severity in cells]
    columns = dict(zip(("id", "corruption", "severity"), zip(*cells, strict=True), strict=True))
    logits = [generator.normal(0, 2, 3).tolist() for generator in generators]
    write_filled({**columns, "logits": logits, "label_mass": 1.0}, path, PREDICTIONS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_models("models.json", {"one": "One", "two": "Two"})
    write_filled({"id": IDS, "options": [["a", "b", "c"]] * COUNT, "answer": 0}, "pool.parquet", POOL)
    kappa = [0.05 * item for item in range(COUNT)]
    selected = {"id": IDS, "kappa": kappa, "rank": range(COUNT), "score": 1.0, "selected": KEPT}
    write_filled(selected, "selected.parquet", SELECTED)
    Path("subsets").mkdir()
    write_table(pl.DataFrame({"id": IDS[:4]}), "subsets/selected.parquet", SUBSET)
    sample_unselected(selected=Path("selected.parquet"), output=Path("subsets/unselected.parquet"))
    for seed, model in enumerate(MODELS):
        for subset, ids in (("selected", IDS[:4]), ("unselected", IDS[4:])):
            predictions(ids, seed, tmp_path / f"predictions/{subset}/{model}/all.parquet")
            score_items(subset, model)
    return tmp_path


FILES = {
    "scores": [f"selected/{model}.parquet" for model in MODELS],
    "models": ["models.json"],
    "unselected_scores": [f"unselected/{model}.parquet" for model in MODELS],
    "selected": ["selected.parquet"],
}


def made(**files: list[str]) -> Table:
    return output("discrimination", FILES | files, draws=30, seed=2)


def test_the_table_is_the_librarys(folder: Path):
    first, again = made(), made()
    texts = (first.frame.write_csv(), first.markdown, first.latex)
    assert all(texts) and texts == (again.frame.write_csv(), again.markdown, again.latex)
    assert first.summary == "2 targets; the selected set compared with 30 random subsets of 4 of 10 items"
    scores = {}
    for model in MODELS:
        parts = [read_table(f"{kind}/{model}.parquet", SCORES) for kind in ("selected", "unselected")]
        assert parts[1]["id"].unique(maintain_order=True).to_list() == IDS[4:] and parts[1].height == 6 * 2
        scores[model.title()] = pl.concat(parts)
    cube = cube_of(scores)
    kappa = cube.kappa(read_table("selected.parquet", SELECTED))
    table = discrimination(cube, kappa, np.array(KEPT), (4, 6), draws=30, seed=2)
    assert texts[0] == table.write_csv()
    assert table["size"][0] == 4 and table["unselected_evaluated"][0] == 6


def test_files_of_the_wrong_kind_are_refused(folder: Path):
    no_scores = r"^Two has no scores of unselected items; delete scores in the run's folder"
    not_selected = r"^One: scores are of 6 items, such as s/4, that are not selected"
    selected = r"^One: scores of unselected items are of 4 items, such as s/0, that are selected"
    for key, paths, message in (
        ("unselected_scores", ["unselected/one.parquet"], no_scores),
        ("scores", ["unselected/one.parquet", "selected/two.parquet"], not_selected),
        ("unselected_scores", ["selected/one.parquet", "unselected/two.parquet"], selected),
    ):
        with pytest.raises(InputError, match=message):
            made(**{key: paths})
    with pytest.raises(InputError, match="one: "):
        score_items("selected", "one", "unselected")


def test_items_whose_predictions_are_missing_are_left_out(folder: Path):
    for subset, ids in (("selected", IDS[1:4]), ("unselected", IDS[4:8])):
        predictions(ids, 0, folder / f"predictions/{subset}/one/all.parquet")
        score_items(subset, "one", allow_missing=True)
    table = made()
    columns = ("size", "pool_items", "selected_items", "selected_evaluated", "unselected_evaluated")
    assert table.frame.select(columns).unique().rows() == [(1, 10, 4, 3, 4)]
    caption = flat(table.markdown)
    assert "30 random subsets of 1 of the 3 evaluated selected items" in caption
    assert "the targets were evaluated on 3 of the 4 selected and 4 of the 6 unselected items" in caption
    assert "On 3 of 4 items: those for which no target lacks a prediction." in caption


def test_scores_of_too_few_items_are_refused(folder: Path):
    for model in MODELS:
        path = f"selected/{model}.parquet"
        fewer = read_table(path, SCORES).filter(pl.col("id") != IDS[0])
        write_table(fewer, path, SCORES, footer_of({"items": 3}))
    with pytest.raises(InputError, match=r"^3 of the 4 selected items .* delete scores"):
        made()
