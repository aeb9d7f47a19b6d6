from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchc.benchmarks.vqa_robustness.colour_questions import colour_questions
from benchc.benchmarks.vqa_robustness.figures.figure_a4 import figure_a4
from benchc.benchmarks.vqa_robustness.mispredictions import with_references
from benchc.corruptions.registry import recipe_of
from benchc.randomness import seed_of
from tests.benchmarks.vqa_robustness.answered import LABELS, QUESTIONS, grades_of, pool, references
from tests.benchmarks.vqa_robustness.graded import write_pool

SETTINGS = {"labels": LABELS, "grade": "normalised", "draws": 50, "seed": 3}
PICTURE = np.random.default_rng(4).integers(256, size=(48, 64, 3), dtype=np.uint8)
RECIPE = recipe_of("grayscale", "vqa-robustness")
HUES = {"red", "Red.", "blue", "dark green"}


NONE_GREY = "No images are greyscale: corruptions.types has neither grayscale nor grayscale_luma."


def figure_of(folder: Path, questions, graded, recipe=RECIPE) -> Figure:
    path = write_pool(folder / "pool.parquet", pool(questions), PICTURE)
    figure = figure_a4(graded, path, references(questions), **SETTINGS, recipe=recipe)
    FigureCanvasAgg(figure).draw()
    return figure


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts]


def test_the_marks_are_the_numbers_of_the_table(tmp_path):
    graded = grades_of(QUESTIONS, 1)
    figure = figure_of(tmp_path, QUESTIONS, graded)
    asked = with_references(pool(QUESTIONS), references(QUESTIONS))
    values = colour_questions(graded, pool(QUESTIONS), asked, corruption="grayscale", **SETTINGS)
    panels = figure.axes[:3]
    names = {"questions about a colour": 3, "other questions": 8, "answers that name a hue": 3}
    titles = [f"{name} (n = {number})" for name, number in names.items()]
    assert [axes.get_title() for axes in panels] == titles
    assert [label.get_text() for label in panels[0].get_yticklabels()] == [*LABELS.values()]
    shown = (("colour", ("clean", "greyscale")), ("other", ("clean", "greyscale")), ("colour", ("hue",)))
    for axes, (kind, names) in zip(panels, shown, strict=True):
        rows = values.filter(questions=kind)
        marks = [(name, row) for name in names for row in range(len(LABELS))]
        found = [(line.get_label(), line.get_xdata()[0], round(line.get_ydata()[0])) for line in axes.lines]
        assert found == [(name, rows[name][row], row) for name, row in marks]
        ends = [tuple(line.get_segments()[0][:, 0]) for line in axes.collections]
        pairs = [(rows[f"{name}_low"][row], rows[f"{name}_high"][row]) for name, row in marks]
        assert ends == [pair for pair in pairs if pair[0] is not None]


def test_examples_are_grey_and_have_an_answer_that_names_a_hue(tmp_path):
    graded = grades_of(QUESTIONS, 1)
    figure = figure_of(tmp_path, QUESTIONS, graded)
    grey = {model: table.filter(corruption="grayscale", severity=1) for model, table in graded.items()}
    replies = {model: dict(table.select("id", "reply").iter_rows()) for model, table in grey.items()}
    ids = [id_ for id_ in ("s/00", "s/01", "s/02") if any(replies[model][id_] in HUES for model in LABELS)]
    ids.sort(key=lambda id_: seed_of("figure_a4", id_))
    assert ids
    expected = []
    for id_ in ids:
        question, truth, _ = QUESTIONS[int(id_[2:])]
        expected += [question, f"reference: {truth}"]
        expected += [f"{label}: {replies[model][id_] or '(empty)'}" for model, label in LABELS.items()]
    assert texts(figure) == expected
    examples = figure.axes[3:]
    assert len(examples) == len(ids)
    for axes in examples:
        shown = np.asarray(axes.images[0].get_array()).astype(int)
        np.testing.assert_array_equal(shown[..., 0], shown[..., 2])
        assert np.abs(shown[..., 0] - PICTURE.mean(axis=2)).max() <= 1


def test_questions_of_one_text_are_shown_once_and_at_most_four(tmp_path):
    same = [QUESTIONS[1]] * 3
    assert len(figure_of(tmp_path, same, grades_of(same, 1, always=0)).axes) == 3 + 1
    many = [(f"What color is thing {number}?", "red", ["red"]) for number in range(6)]
    assert len(figure_of(tmp_path, many, grades_of(many, 1)).axes) == 3 + 4


@pytest.mark.parametrize(
    ("questions", "recipe", "sentence"),
    [
        (QUESTIONS, None, NONE_GREY),
        (QUESTIONS[3:], RECIPE, "No question of the pool asks for a colour."),
        (
            [("What color is it?", "gray", ["gray"]), *QUESTIONS[3:]],
            RECIPE,
            "No answer to a question about a colour names a hue on a greyscale image.",
        ),
    ],
)
def test_what_there_is_not_is_said_in_one_sentence(tmp_path, questions, recipe, sentence):
    assert texts(figure_of(tmp_path, questions, grades_of(questions, 1), recipe)) == [sentence]


def test_colour_questions_alone_leave_the_panel_of_others_empty(tmp_path):
    figure = figure_of(tmp_path, QUESTIONS[:3], grades_of(QUESTIONS[:3], 1))
    assert not figure.axes[1].lines and figure.axes[1].get_title() == "other questions (n = 0)"


def test_ten_models_are_in_the_panels_and_six_in_the_examples(tmp_path):
    graded = {f"m{number}": grades_of(QUESTIONS, 1)["m"] for number in range(10)}
    path = write_pool(tmp_path / "pool.parquet", pool(QUESTIONS), PICTURE)
    settings = SETTINGS | {"labels": {id_: id_.upper() for id_ in graded}}
    figure = figure_a4(graded, path, references(QUESTIONS), **settings, recipe=RECIPE)
    assert len(figure.axes[0].get_yticks()) == 10
    shown = {text[:2] for text in texts(figure) if text.startswith("M")}
    assert shown == {f"M{number}" for number in range(6)}
