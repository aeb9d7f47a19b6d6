"""Accuracies on other benchmarks with and without images, and the questions that models solve without."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from benchc.benchmarks.naturalbench.blind_answers import BlindAnswers, chance_of, read_blind_answers
from benchc.benchmarks.naturalbench.figures import figure3 as of_figure3
from benchc.benchmarks.naturalbench.figures.figure3 import blind_solved, drawn_questions, figure3
from benchc.benchmarks.naturalbench.figures.figure4 import figure4
from benchc.benchmarks.naturalbench.tables.blind_sources import blind_sources
from benchc.errors import InputError
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS, UnavailableFooter
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.group_files import pool_of
from tests.footers import footer_of
from tests.sources.test_pool import items as items_of
from tests.sources.tsv_files import image_bytes

LABELS = {"two": "Second, first in the run", "one": "First"}
MODELS = {"a": "Model A", "b": "Model B", "c": "Sighted"}
# Of the items of each source: which are answered rightly with the image and without.
SEEN = {
    "a": {"one": "11110", "two": "10"},
    "b": {"one": "11111", "two": "11"},
    "c": {"one": "00000", "two": "00"},
}
UNSEEN = {"a": {"one": "11000", "two": "10"}, "b": {"one": "10100", "two": "10"}}


Files = dict[str, Path | list[Path]]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Five items of one source and two of another, and the predictions of three models, one never blind."""
    picture = [{"bytes": image_bytes((9, 99, 200)), "path": None}]
    counts = {"one": 5, "two": 2}
    # The right answers of `one` are yes, no, yes, no, yes.
    sources = {
        id_: items_of(id_, {"task": count}).with_columns(
            images=pl.Series([picture] * count, dtype=ITEMS.columns["images"])
        )
        for id_, count in counts.items()
    }
    sources["two"] = sources["two"].with_columns(options=pl.Series([["red", "blue", "no", "green"]] * 2))
    pool = pool_of(tmp_path, **sources)
    right = {f"{id_}/{n}": n % 2 for id_, count in counts.items() for n in range(count)}
    paths: dict[str, list[Path]] = {"seen": [], "unseen": []}
    for key, name, models_right in (("seen", "clean", SEEN), ("unseen", "no_image", UNSEEN)):
        for model, answers in models_right.items():
            rows = []
            for id_ in right:
                logits = _logits(right[id_], answers[id_[:3]][int(id_[4:])] == "1", id_)
                rows.append((id_, name, 0, logits, 1.0, "p", "i"))
            path = tmp_path / model / f"{name}.parquet"
            write_table(frame_of(PREDICTIONS, rows), path, PREDICTIONS, footer_of({"label": model}))
            paths[key].append(path)
    path = tmp_path / "c" / "no_image.parquet"
    reason = UnavailableFooter(label="c", unavailable="its family needs an image")
    write_table(frame_of(PREDICTIONS), path, PREDICTIONS, reason)
    models = {id_: {"label": label, "year": None, "parameters_b": None} for id_, label in MODELS.items()}
    (tmp_path / "models.json").write_text(json.dumps({"benchmark": "naturalbench", "models": models}))
    files = {"pool": pool, "models": tmp_path / "models.json"}
    return files | {"seen": paths["seen"], "unseen": [*paths["unseen"], path]}


def _logits(answer: int, right: bool, id_: str) -> list[float]:
    """Return logits of which the largest is that of the right answer, or of another."""
    logits = [0.0, 0.0, -1.0, -1.0][: 4 if id_.startswith("two") else 2]
    logits[answer if right else 1 - answer] = 2.0
    return logits


def read(files: dict[str, Path | list[Path]]) -> BlindAnswers:
    return read_blind_answers(**files)  # type: ignore[arg-type]


def test_accuracies_are_those_of_each_source_and_model(files: dict[str, Path | list[Path]]) -> None:
    table = blind_sources(read(files), LABELS, draws=400, seed=1)
    rows = {(row["source"], row["model"]): row for row in table.frame.iter_rows(named=True)}
    assert list(rows) == [(source, model) for source in LABELS.values() for model in MODELS.values()]
    for (source, label), row in rows.items():
        id_, model = ("two" if source == LABELS["two"] else "one"), {v: k for k, v in MODELS.items()}[label]
        seen = [100 * int(mark) for mark in SEEN[model][id_]]
        assert row["items"] == len(seen) and row["seen"] == pytest.approx(np.mean(seen))
        if model == "c":
            assert row["unseen"] is row["difference"] is row["unseen_low"] is None
            continue
        blind = [100 * int(mark) for mark in UNSEEN[model][id_]]
        assert row["unseen"] == pytest.approx(np.mean(blind))
        differences = np.subtract(seen, blind)
        assert row["difference"] == pytest.approx(differences.mean())
        # Resamples of single items, drawn independently of the code.
        drawn = np.random.default_rng(0).choice(differences, (4000, len(differences))).mean(axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        assert row["difference_low"] == pytest.approx(low, abs=100 / len(seen))
        assert row["difference_high"] == pytest.approx(high, abs=100 / len(seen))
    guessing = {(row["source"], row["guessing"]) for row in rows.values()}
    assert guessing == {(LABELS["one"], 50.0), (LABELS["two"], 25.0)}
    assert "Sighted can read no question without an image" in " ".join(table.markdown.split())
    # A model below chance is no contradiction.
    row = rows["First", "Model B"]
    assert row["unseen"] < row["guessing"] < row["constant"] and "above" not in table.markdown
    one, again, other = (blind_sources(read(files), LABELS, draws=7, seed=seed).frame for seed in (1, 1, 2))
    assert one.equals(again) and not one.equals(other)


@pytest.mark.parametrize("which", ["seen", "unseen"])
def test_predictions_of_another_pool_and_missing_ones_are_refused(files: Files, which: str) -> None:
    path = files[which][0]  # type: ignore[index]
    rows = pl.read_parquet(path, glob=False)
    write_table(rows.head(3), path, PREDICTIONS, footer_of({"label": "a"}))
    with pytest.raises(InputError, match="has no prediction of one/3"):
        read(files)
    write_table(rows, path, PREDICTIONS, footer_of({"label": "a", "pool": "another"}))
    with pytest.raises(InputError, match="are not on the items of"):
        read(files)


def items(*rows: tuple[list[str], int]) -> pl.DataFrame:
    schema = {"options": pl.List(pl.String), "answer": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_chance_is_guessing_and_the_best_letter_or_text() -> None:
    # B is right in two of four items, and Yes in three.
    mixed = items((["Yes", "No"], 0), (["No", "yes "], 1), (["no", "YES"], 1), (["red", "blue", "x", "y"], 2))
    found = chance_of(mixed)
    assert (found.guessing, found.constant, found.answer) == (pytest.approx(7 / 16), 0.75, "Yes")
    letters = items((["red", "blue"], 1), (["cat", "dog"], 1), (["red", "dog"], 0))
    found = chance_of(letters)
    assert (found.constant, found.answer) == (pytest.approx(2 / 3), "letter B")
    assert chance_of(items((["A", "B"], 1))).answer == "letter B"


@given(st.lists(st.tuples(st.integers(2, 5), st.integers(0, 4), st.permutations("vwxyz")), min_size=1))
def test_chance_is_the_best_of_all_constant_answers(rows: list[tuple[int, int, list[str]]]) -> None:
    built = [(texts[:count], answer % count) for count, answer, texts in rows]
    policies = [sum(answer == letter for _, answer in built) for letter in range(5)]
    policies += [sum(options[answer] == text for options, answer in built) for text in "vwxyz"]
    found = chance_of(items(*built))
    assert found.constant == pytest.approx(max(policies) / len(built))
    assert found.guessing == pytest.approx(sum(1 / len(options) for options, _ in built) / len(built))


@pytest.mark.parametrize(
    ("models", "share", "least"), [(3, 1.0, 3), (3, 0.5, 2), (10, 0.7, 7), (2, 0.01, 1), (53, 0.9, 48)]
)
def test_a_share_of_the_models_is_a_whole_number(models: int, share: float, least: int) -> None:
    assert of_figure3.least_number(models, share) == least


def test_questions_are_solved_by_all_or_by_a_share_of_the_models_that_are_asked(files: Files) -> None:
    answers = read(files)
    assert answers.items.filter(blind_solved(answers, 1.0))["id"].to_list() == ["one/0", "two/0"]
    half = answers.items.filter(blind_solved(answers, 0.5))["id"].to_list()
    assert half == ["one/0", "one/1", "one/2", "two/0"]
    # Two models that guess: 1/4 of five items with two options, and 1/16 of two with four.
    assert of_figure3.guessed(answers, 1.0) == pytest.approx(5 / 4 + 2 / 16)
    assert of_figure3.guessed(answers, 0.5) == pytest.approx(5 * 3 / 4 + 2 * 7 / 16)
    # They are drawn in turn of the sources, whatever else there is.
    table = answers.items
    drawn = drawn_questions(table, 4, seed=3)
    assert sorted(id_[:3] for id_ in drawn) == ["one", "one", "two", "two"]
    assert {id_[:3] for id_ in drawn[:2]} == {"one", "two"}
    assert drawn_questions(table.reverse(), 4, seed=3) == drawn
    without = table.filter(pl.col("id") != drawn[0])
    assert set(drawn_questions(without, 3, seed=3)) >= set(drawn[1:3])
    assert {tuple(drawn_questions(table, 2, seed)) for seed in range(8)} > {tuple(drawn[:2])}


def text_of(figure) -> str:
    FigureCanvasAgg(figure).draw()
    return " ".join(text.get_text() for text in figure.texts)


def test_figure_3_says_how_many_questions_there_are_and_what_guesses_make(files: Files) -> None:
    text = text_of(figure3(files["pool"], read(files), LABELS, seed=1))  # type: ignore[arg-type]
    assert "without the image by all 2 models: 2 of 7 questions (1.4 on average if each model guessed" in text
    assert "Second, first in the run 1 of 2; First 1 of 5." in text
    assert "The models did not see the images" in text and "Question 0?" in text and "A. yes ✓" in text
    answers = read(files)
    one = BlindAnswers(answers.items, answers.labels, answers.seen, {"a": answers.blind["a"]})
    text = text_of(figure3(files["pool"], one, LABELS, seed=1))  # type: ignore[arg-type]
    assert "by the model: 3 of 7 questions (" in text and "on average if it guessed at random)" in text
    assert "The model did not see the images" in text
    # Models that solve nothing have no question to show.
    none = {id_: np.zeros(7, dtype=np.bool_) for id_ in ("a", "b")}
    blind = BlindAnswers(answers.items, answers.labels, answers.seen, none)
    figure = figure3(files["pool"], blind, LABELS, seed=1)  # type: ignore[arg-type]
    assert "0 of 7 questions" in text_of(figure) and "Shown" not in text_of(figure) and not figure.axes
    sighted = BlindAnswers(answers.items, answers.labels, answers.seen, {"c": "needs an image"})
    assert text_of(figure3(files["pool"], sighted, LABELS, seed=1)) == (  # type: ignore[arg-type]
        "No model reads a question without an image."
    )


def test_figure_4_has_a_panel_for_each_source_and_two_bars_for_each_model(files: Files) -> None:
    figure = figure4(read(files), LABELS, draws=200)
    FigureCanvasAgg(figure).draw()
    panels = [axes for axes in figure.axes if axes.axison]
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles == ["Second, first in the run: 2 items", "First: 5 items"]
    bars = {part.get_label(): [bar.get_width() for bar in part] for part in panels[1].containers}
    assert bars == {"with the images": [80, 100, 0], "without the images": [40, 40]}
    lines = {line.get_label(): set(line.get_xdata()) for line in panels[1].lines}
    assert lines == {"guessing": {50.0}, "best constant answer": {60.0}}
    assert [text.get_text() for text in panels[1].texts] == ["no pass without an image"]
