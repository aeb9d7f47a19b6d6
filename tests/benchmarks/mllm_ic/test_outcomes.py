from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.mllm_ic.metrics.counts import counts
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes
from benchc.benchmarks.mllm_ic.schemas.outcomes import (
    OUTCOMES,
    REFUSED,
    RIGHT,
    TIED_RIGHT,
    TIED_WRONG,
    UNPARSED,
    WRONG,
)
from benchc.errors import InputError
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.predictions import PREDICTIONS
from benchc.schemas.subset import SUBSET
from scripts.mllm_ic.outcomes import outcomes
from tests.benchmarks.mllm_ic.made_up import items_of
from tests.benchmarks.mllm_ic.pools import write_pool

IDS = ["a/1", "a/2", "b/1"]
TYPES, LEVELS = ["snow", "invert"], [1, 2]
SCENARIOS = [("clean", 0), *product(TYPES, LEVELS)]
KEYS = [(id_, *scenario) for id_ in IDS for scenario in SCENARIOS]
LOGITS = {  # of four options, of which the second is right
    RIGHT: [0.0, 2.0, 1.9999, float("-inf")],
    WRONG: [3.0, 2.0, 1.0, 0.0],
    TIED_RIGHT: [0.0, 2.0, 2.0, 1.0],
    TIED_WRONG: [2.0, 2.0, 0.0, 1.0],
}
WANTED = np.random.default_rng(0).choice([*LOGITS], (len(IDS), len(SCENARIOS)))


class Files:
    """The pool, of which one item is not asked, and the results of a model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pool = write_pool(folder / "items.parquet", [(id_, "x") for id_ in [*IDS, "b/2"]])
        self.subset, self.output = folder / "questions.parquet", folder / "outcomes/m.parquet"
        write_table(pl.DataFrame({"id": IDS}), self.subset, SUBSET)

    def find(self, **results: Any) -> list[list[int]]:
        """Return the outcomes of each item."""
        run = {"label": "m", "corruptions": TYPES, "severities": LEVELS}
        outcomes(pool=self.pool, subset=self.subset, output=self.output, **run, **results)
        table = read_table(self.output, OUTCOMES)
        assert table["id"].to_list() == IDS
        return table["outcomes"].to_list()

    def predicted(self, rows: list[tuple[str, str, int, list[float]]]) -> list[Path]:
        """Write predictions as files of two parts, in another order; return them."""
        columns = {name: PREDICTIONS.columns[name] for name in ("id", "corruption", "severity", "logits")}
        frame = pl.DataFrame(rows, schema=columns, orient="row").sample(fraction=1, shuffle=True, seed=1)
        whole = frame.with_columns(
            label_mass=pl.lit(1.0, pl.Float32), prompt_hash=pl.lit(""), image_hash=pl.lit("")
        )
        parts = {"weather": pl.col("corruption") != "invert", "colour": pl.col("corruption") == "invert"}
        paths = [self.folder / f"predictions/questions/m/{name}.parquet" for name in parts]
        for path, part in zip(paths, parts.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_table(whole.filter(part), path, PREDICTIONS)
        return paths


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


ROWS = [(*key, LOGITS[code]) for key, code in zip(KEYS, WANTED.ravel(), strict=True)]


def test_the_first_of_tied_options_is_taken_and_ties_are_told(files):
    assert files.find(predictions=files.predicted(ROWS)) == WANTED.tolist()
    footer = read_footer(files.output)
    assert (footer["label"], footer["corruptions"], footer["severities"]) == ("m", TYPES, LEVELS)
    assert not footer.get("words")


def test_predictions_of_another_program_have_the_same_outcomes(files):
    path = files.folder / "theirs.parquet"
    # Other types of numbers, and a column of their own.
    frame = pl.DataFrame(ROWS, schema=["id", "corruption", "severity", "logits"], orient="row")
    frame.with_columns(pl.col("severity").cast(pl.Int32), more=1).write_parquet(path)
    assert files.find(predictions_from=path) == WANTED.tolist()


def test_answers_without_an_option_are_refused_or_unparsed(files):
    status = ["letter", "refused", "ambiguous", "unparsable", "unfinished"]
    option = [1, None, None, None, None]
    rows = [(*key, option[n % 5], status[n % 5], "stop") for n, key in enumerate(KEYS)]
    path = files.folder / "judgements/questions/m.parquet"
    path.parent.mkdir(parents=True)
    write_table(pl.DataFrame(rows, schema=pl.Schema(JUDGEMENTS.columns), orient="row"), path, JUDGEMENTS)
    assert files.find(judgements=path) == [[RIGHT, REFUSED, UNPARSED, UNPARSED, UNPARSED]] * 3
    assert read_footer(files.output)["words"] is True


def test_options_are_extracted_from_answers_of_another_program(files):
    replies = {"B": RIGHT, "The answer is A.": WRONG, "I don't know.": REFUSED}
    replies |= dict.fromkeys(("A or B", ""), UNPARSED)
    path = files.folder / "theirs.csv"
    rows = [(*key, [*replies][n % 5]) for n, key in enumerate(KEYS)]
    pl.DataFrame(rows, schema=["id", "corruption", "severity", "answer"], orient="row").write_csv(path)
    assert files.find(answers_from=path) == [[*replies.values()]] * 3


THEIRS = "theirs.parquet: "
BAD = [
    ([*ROWS, ("b/2", "clean", 0, LOGITS[RIGHT])], f"{THEIRS}1 unexpected prediction: (b/2, clean, 0)"),
    (
        [(id_.replace("a/", "c/"), *row) for id_, *row in ROWS],  # of another pool
        f"{THEIRS}10 unexpected predictions: (c/1, clean, 0)",
    ),
    ([*ROWS, ("b/1", "snow", 3, LOGITS[RIGHT])], f"{THEIRS}1 unexpected prediction: (b/1, snow, 3)"),
    (ROWS[:-1], f"{THEIRS}1 missing prediction: (b/1, invert, 2)"),
    ([*ROWS, ROWS[3]], f"{THEIRS}1 repeated prediction: (a/1, invert, 1)"),
    (
        [(*row[:3], row[3][:3]) if row[0] == "a/2" else row for row in ROWS],
        f"{THEIRS}prediction with another number of logits than options, in 5 rows: (a/2, clean, 0)",
    ),
    ([(*ROWS[0][:3], [float("nan")] * 4), *ROWS[1:]], f"{THEIRS}1 prediction with NaN"),
    (
        [(*ROWS[3][:2], None, ROWS[3][3]), *ROWS[:3], *ROWS[4:]],
        f"{THEIRS}1 unexpected prediction: (a/1, invert, None)",
    ),
    (
        [(*row[:2], row[2] + 0.5, row[3]) for row in ROWS],
        f"{THEIRS}id and corruption should be texts, severity a whole number",
    ),
]


@pytest.mark.parametrize(("rows", "message"), BAD)
def test_predictions_that_are_not_of_the_run_are_refused_in_one_sentence(files, rows, message):
    path = files.folder / "theirs.parquet"
    pl.DataFrame(rows, schema=["id", "corruption", "severity", "logits"], orient="row").write_parquet(path)
    with pytest.raises(InputError) as caught:
        files.find(predictions_from=path)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert not files.output.exists()


def test_a_file_of_predictions_that_cannot_be_read_is_named(files):
    path = files.folder / "theirs.parquet"
    with pytest.raises(InputError, match=r"theirs\.parquet: no such file; correct"):
        files.find(predictions_from=path)
    pl.DataFrame({"id": IDS, "logit": 1.0}).write_parquet(path)
    with pytest.raises(InputError, match=r"has no column 'corruption' \(it has id, logit\)"):
        files.find(predictions_from=path)
    pl.DataFrame({"id": IDS, "corruption": "clean", "severity": "x", "logits": 1.0}).write_parquet(path)
    with pytest.raises(InputError, match="severity a whole number, and logits lists"):
        files.find(predictions_from=path)


def test_open_questions_and_those_that_the_pool_lacks_are_refused(files):
    for ids, columns, message in (
        (IDS, {"answer": [1, None, 1]}, "a/2: is an open-ended question"),
        (IDS[1:], {}, r"questions.parquet: a/1 is not in .*items.parquet; delete it"),
    ):
        write_pool(files.pool, [(id_, "x") for id_ in ids], **columns)
        with pytest.raises(InputError, match=message):
            files.find(predictions=files.predicted(ROWS))


def test_scores_count_each_outcome_by_scenario_and_capability():
    items = items_of(["ocr", "image_style"], questions=3)
    codes = [[RIGHT, REFUSED], [TIED_RIGHT, UNPARSED], [TIED_WRONG, WRONG], *[[WRONG, TIED_RIGHT]] * 3]
    codes = [[*of_item, RIGHT] for of_item in codes]
    run = RunOutcomes({"m": np.array(codes, np.int8)}, items, ("snow",), (2, 3))
    first, second = (run.capabilities[run.capability[place]].name for place in (0, 5))
    assert {row[:3]: row[3:] for row in counts(run, "m").iter_rows()} == {
        ("clean", 0, first): (3, 2, 0, 0, 2),
        ("snow", 2, first): (3, 0, 1, 1, 0),
        ("clean", 0, second): (3, 0, 0, 0, 0),
        ("snow", 2, second): (3, 3, 0, 0, 3),
        **{("snow", 3, name): (3, 3, 0, 0, 0) for name in (first, second)},
    }


def test_ties_in_all_predictions_are_a_warning(files, capsys):
    for wanted, warns in ((TIED_WRONG, True), (RIGHT, False)):
        files.find(predictions=files.predicted([(*key, LOGITS[wanted]) for key in KEYS]))
        line = f"warning: m: in each of its {len(KEYS)} predictions, the best options have the same score; "
        assert (line in capsys.readouterr().err) == warns
