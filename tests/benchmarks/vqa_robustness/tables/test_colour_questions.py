import numpy as np
import pytest

from benchc.benchmarks.vqa_robustness.tables.colour_questions import colour_questions
from benchc.randomness import generator_of
from tests.benchmarks.printed import cells, text_of
from tests.benchmarks.vqa_robustness.answered import LABELS, QUESTIONS, grades_of, pool, references
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
    draws = [generator_of(3, "bootstrap", draw).integers(4, size=4).tolist() for draw in range(1, 51)]

    def values(chosen: list[tuple[int, dict, dict]]) -> dict[str, float]:
        means = [sum(row[place]["normalised"] for row in chosen) / len(chosen) for place in (1, 2)]
        hue = sum(grey["reply"] in HUES for _, _, grey in chosen) / len(chosen)
        return {"clean": means[0], "greyscale": means[1], "drop": means[0] - means[1], "hue": hue}

    for model, label in LABELS.items():
        cleans, greys = (
            graded[model].filter(corruption=name, severity=level).rows(named=True)
            for name, level in (("clean", 0), ("grayscale", 1))
        )
        rows = [(number % 4, *pair) for number, pair in enumerate(zip(cleans, greys, strict=True))]
        for kind in ("colour", "other"):
            own = [row for number, row in enumerate(rows) if (number in COLOUR) == (kind == "colour")]
            found = table.frame.filter(model=label, questions=kind).row(0, named=True)
            assert found["n"] == len(own)
            resamples = [[row for image in draw for row in own if row[0] == image] for draw in draws]
            for name, value in values(own).items():
                if (kind, name) == ("other", "hue"):
                    assert found["hue"] is found["hue_low"] is found["hue_high"] is None
                    continue
                assert found[name] == pytest.approx(value)
                low, high = np.quantile([values(rows)[name] for rows in resamples if rows], [0.025, 0.975])
                ends = (pytest.approx(low), pytest.approx(high)) if high - low > 1e-9 else (None, None)
                assert (found[f"{name}_low"], found[f"{name}_high"]) == ends
    assert check_latex(table.latex) == ([], {"booktabs"})


def test_a_run_without_greyscale_images_says_so_in_one_sentence():
    table = table_of(QUESTIONS, grades_of(QUESTIONS, 1))
    assert table.frame.is_empty()
    text = text_of(table)
    assert "No images are greyscale: corruptions.types has neither grayscale nor grayscale_luma." in text
    assert check_latex(table.latex) == ([], {"booktabs"})


@pytest.mark.parametrize(("questions", "sentence"), [(QUESTIONS[3:], True), (QUESTIONS[:3], False)])
def test_a_kind_without_questions_has_no_numbers(questions, sentence):
    table = table_of(questions, grades_of(questions, 1), corruption="grayscale")
    empty = table.frame.filter(n=0)
    assert empty["questions"].unique().to_list() == ["colour" if sentence else "other"]
    assert empty.select("clean", "greyscale", "drop", "hue").null_count().row(0) == (2, 2, 2, 2)
    assert ("No question of the pool asks for a colour." in text_of(table)) == sentence
    assert [line[3] == "–" for line in cells(table.markdown)[1:]] == [sentence, not sentence] * 2
