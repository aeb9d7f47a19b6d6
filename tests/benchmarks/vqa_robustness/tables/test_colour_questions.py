"""Accuracy on questions about colours and on others, clean and on greyscale images."""

import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.tables.colour_questions import colour_questions
from benchc.randomness import generator_of
from tests.benchmarks.vqa_robustness.answered import LABELS, QUESTIONS, grades_of, pool, references
from tests.benchmarks.vqa_robustness.tables.test_tables import cells
from tests.rendering.latex import check_latex

SETTINGS = {"labels": LABELS, "grade": "normalised", "draws": 50, "seed": 3}
COLOUR = (0, 1, 2)  # of QUESTIONS
# Of their replies, those with the name of a colour that is no grey.
HUES = {"red", "Red.", "blue", "dark green"}


def table_of(questions, graded, **more):
    return colour_questions(graded, pool(questions), references(questions), **SETTINGS, **more)


@pytest.mark.parametrize("seed", range(3))
def test_accuracies_drops_and_hues(seed: int) -> None:
    graded = grades_of(QUESTIONS, seed)
    table = table_of(QUESTIONS, graded, corruption="grayscale")
    for model, label in LABELS.items():
        rows = {row["id"]: {} for row in graded[model].iter_rows(named=True)}
        for row in graded[model].iter_rows(named=True):
            if row["corruption"] == "clean" or (row["corruption"], row["severity"]) == ("grayscale", 1):
                rows[row["id"]][row["corruption"]] = row
        for kind in ("colour", "other"):
            own = [
                (number % 4, row)
                for number, row in enumerate(rows.values())
                if (number in COLOUR) == (kind == "colour")
            ]

            def values(chosen: list) -> dict[str, float]:
                clean, grey = (
                    sum(row[name]["normalised"] for row in chosen) / len(chosen)
                    for name in ("clean", "grayscale")
                )
                hue = sum(row["grayscale"]["reply"] in HUES for row in chosen) / len(chosen)
                return {"clean": clean, "greyscale": grey, "drop": clean - grey, "hue": hue}

            found = table.frame.filter(model=label, questions=kind).row(0, named=True)
            assert found["n"] == len(own)
            draws = [generator_of(3, "bootstrap", draw).integers(4, size=4).tolist() for draw in range(1, 51)]
            resamples = [[row for image in draw for each, row in own if each == image] for draw in draws]
            for name, value in values([row for _, row in own]).items():
                if (kind, name) == ("other", "hue"):
                    assert found["hue"] is found["hue_low"] is found["hue_high"] is None
                    continue
                assert found[name] == pytest.approx(value)
                drawn = pl.Series([values(rows)[name] for rows in resamples if rows])
                low, high = (drawn.quantile(point, "linear") for point in (0.025, 0.975))
                ends = (pytest.approx(low), pytest.approx(high)) if high - low > 1e-9 else (None, None)
                assert (found[f"{name}_low"], found[f"{name}_high"]) == ends
    assert check_latex(table.latex) == ([], {"booktabs"})


def test_a_run_without_greyscale_images_says_so_in_one_sentence():
    table = table_of(QUESTIONS, grades_of(QUESTIONS, 1))
    assert table.frame.is_empty()
    text = " ".join(table.markdown.split())
    assert "No images are greyscale: corruptions.types has neither grayscale nor grayscale_luma." in text
    assert check_latex(table.latex) == ([], {"booktabs"})


@pytest.mark.parametrize(("questions", "sentence"), [(QUESTIONS[3:], True), (QUESTIONS[:3], False)])
def test_a_kind_without_questions_has_no_numbers(questions, sentence):
    table = table_of(questions, grades_of(questions, 1), corruption="grayscale")
    empty = table.frame.filter(n=0)
    assert empty["questions"].unique().to_list() == ["colour" if sentence else "other"]
    assert empty.select("clean", "greyscale", "drop", "hue").null_count().row(0) == (2, 2, 2, 2)
    assert ("No question of the pool asks for a colour." in " ".join(table.markdown.split())) == sentence
    assert [line[3] == "–" for line in cells(table.markdown)[1:]] == [sentence, not sentence] * 2
