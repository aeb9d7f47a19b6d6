import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from benchc.benchmarks.naturalbench.figures.figure_blind import figure_blind
from benchc.benchmarks.naturalbench.figures.figure_corruption import figure_corruption
from benchc.benchmarks.naturalbench.figures.figure_examples import drawn_groups, figure_examples
from benchc.benchmarks.naturalbench.figures.figure_readings import MOST_SPREAD, figure_readings
from benchc.benchmarks.naturalbench.figures.figure_taxonomy import figure_taxonomy, skill_counts
from benchc.benchmarks.naturalbench.groups import groups_of_pool
from benchc.benchmarks.naturalbench.places import Source
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.scores import PLACES, SCORES
from benchc.benchmarks.naturalbench.schemas.tags import TAGS
from benchc.benchmarks.naturalbench.scored import RunScores, read_corrupted
from benchc.errors import InputError
from benchc.randomness import seed_of
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS, UnavailableFooter
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.group_files import group, write_pool
from tests.benchmarks.naturalbench.simulated import scores_footer

NAMES = [f"nb/g{number}" for number in range(8)]
Right = Callable[[int, str], bool]  # of a group's number and a place: question and image


def written(folder: Path, options=(("Yes", "No"),) * 8, **values: str) -> tuple[Path, pl.DataFrame]:
    """Write a pool of eight groups with these options; return it, and the table of the groups."""
    given = enumerate(options)
    rows = [row for number, each in given for row in group(f"g{number}", 4 * number, options=each, **values)]
    for row in rows:
        row["question"] += " " * int(row["q_idx"])
    tsv, pool = write_pool(folder, rows)
    return pool, groups_of_pool(pool, {"nb": Source(tsv, "Own")}).table


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, pl.DataFrame]:
    """A pool of eight groups, of which the last two are multiple choice, and the table of the groups."""
    return written(tmp_path, [("Yes", "No")] * 6 + [("a red cup", "a dog")] * 2)


def scored(folder: Path, groups: pl.DataFrame, models) -> RunScores:
    """Write and read the scores of models: by reading, corruption and severity, what is right."""
    paths = []
    for id_, cells in models.items():
        rows: list[tuple[Any, ...]] = []
        for (reading, corruption, severity), right in cells.items():
            for number, name in enumerate(NAMES):
                found = [right(number, place) for place in PLACES]
                truth = [0, 1, 1, 0]
                chosen = [one if good else 1 - one for one, good in zip(truth, found, strict=True)]
                a, b, c, d = found
                outcomes = (a and b, c and d, a and c, b and d, all(found))
                alone = reading != "sample"
                predicted = (chosen, found) if alone else ([None] * 4, [None] * 4)
                rows.append((name, corruption, severity, reading, *predicted[0], *predicted[1], *outcomes))
        paths.append(folder / f"{id_}.parquet")
        write_table(frame_of(SCORES, rows), paths[-1], SCORES, scores_footer(id_))
    labels = {id_: {"label": id_.upper(), "year": None, "parameters_b": None} for id_ in models}
    (folder / "models.json").write_text(json.dumps({"benchmark": "naturalbench", "models": labels}))
    write_table(groups, folder / "groups.parquet", GROUPS)
    return read_corrupted(paths, folder / "models.json", folder / "groups.parquet")


def first(count: int) -> Right:
    return lambda number, place: number < count


def never(number: int, place: str) -> bool:
    return False


CLEAN = ("clean", 0)


def draw(figure: Any) -> Any:
    FigureCanvasAgg(figure).draw()
    return figure


def points(axes: Any, label: str) -> list[tuple[float, float]]:
    """Return the marks of a label, rounded."""
    return [
        (round(float(x), 3), round(float(y), 3))
        for line in axes.lines
        if line.get_label() == label
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]


def test_readings_are_marks_in_per_cent_with_intervals(tmp_path, files):
    three = {"decoding": first(2), "deterministic": first(4), "sample": first(8)}
    models = {
        "a": {(name, *CLEAN): right for name, right in three.items()},
        "b": {("decoding", *CLEAN): never},
    }
    figure = draw(figure_readings(scored(tmp_path, files[1], models), draws=200))
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A", "B"]
    assert points(axes, "Decoding") == [(25.0, -0.22), (0.0, 0.78)]
    # A model without a reading has no mark.
    assert points(axes, "Deterministic") == [(50.0, 0.0)]
    assert points(axes, "Sample τ") == [(100.0, 0.22)]
    lines = {float(y): (x0, x1) for part in axes.collections for (x0, y), (x1, _) in part.get_segments()}
    low, high = lines[0.0]
    assert 0 < low < 50 < high < 100
    assert lines[0.22] == (100, 100)
    assert points(axes, "chance") == [(6.25, 0), (6.25, 1)]
    # Many models have one line each.
    cells = {("decoding", *CLEAN): first(1), ("deterministic", *CLEAN): first(3)}
    figures = []
    for more in (0, 1):
        models = {f"m{number}": cells for number in range(MOST_SPREAD + more)}
        figures.append(draw(figure_readings(scored(tmp_path, files[1], models), draws=100)))
    assert len(figures[0].axes[0].collections) == 2 and len(figures[1].axes[0].collections) == 0
    assert {y % 1 for _, y in points(figures[1].axes[0], "Decoding")} == {0}
    assert figures[1].get_size_inches()[1] < 0.7 * figures[0].get_size_inches()[1]


CORRUPTED = {
    ("decoding", *CLEAN): first(8),
    **{("decoding", "snow", severity): first(8 - severity) for severity in (1, 3)},
    **{("decoding", "shot_noise", severity): first(4) for severity in (1, 3)},
}
LIKELIHOOD = {("deterministic", name, severity): right for (_, name, severity), right in CORRUPTED.items()}


def corrupted(folder: Path, groups: pl.DataFrame, models: Any) -> Any:
    """Return the figure of two corruptions and two severities, drawn."""
    found = scored(folder, groups, models)
    return draw(figure_corruption(found, ["snow", "shot_noise"], [1, 3], draws=100))


def test_each_corruption_is_a_panel_with_a_curve_for_each_model(tmp_path, files):
    # A model that only has probabilities is read by these.
    figure = corrupted(tmp_path, files[1], {"a": CORRUPTED, "b": LIKELIHOOD})
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in panels] == ["snow", "shot noise"]
    assert [y for _, y in points(panels[0], "A")] == [100, 87.5, 62.5]
    assert [y for _, y in points(panels[1], "B")] == [100, 50, 50]
    # Curves are beside each other, so that intervals do not hide each other.
    assert [x for x, _ in points(panels[0], "A")] == [-0.125, 0.875, 2.875]
    assert [x for x, _ in points(panels[0], "B")] == [0.125, 1.125, 3.125]
    assert len(panels[0].collections) == 2
    assert [label.get_text() for label in panels[0].get_xticklabels()] == ["clean", "1", "3"]
    assert -5 < panels[0].get_ylim()[0] < 0 and panels[0].get_ylim()[1] >= 100
    # More models than corruptions: a panel each.
    figure = corrupted(tmp_path, files[1], dict.fromkeys("abcde", CORRUPTED))
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in panels] == ["A", "B", "C", "D", "E"]
    assert [y for _, y in points(panels[4], "snow")] == [100, 87.5, 62.5]
    # All panels share an axis that shows the best model.
    low = dict.fromkeys(CORRUPTED, never)
    figure = corrupted(tmp_path, files[1], {"a": low, "b": CORRUPTED, "c": low})
    assert all(axes.get_ylim()[1] >= 100 for axes in figure.axes if axes.axison)
    # A run without corruptions has no such figure.
    with pytest.raises(InputError, match="the run has no corruptions"):
        figure_corruption(scored(tmp_path, files[1], {"a": CORRUPTED}), [], [1])
    only = {("post_hoc", *CLEAN): never}
    with pytest.raises(InputError, match="a is read in none of the ways decoding, deterministic, sample"):
        figure_corruption(scored(tmp_path, files[1], {"a": only}), ["snow"], [1])


def write_blind(folder, model, groups, logits, footer=None) -> Path:
    ids = groups.filter(i_idx=0)["id"].to_list() if not footer else []
    path = folder / model / "no_image.parquet"
    rows = [(id_, "no_image", 0, logits, 0.9, "p", "i") for id_ in ids]
    write_table(frame_of(PREDICTIONS, rows), path, PREDICTIONS, footer)
    return path


def test_without_the_image_half_of_the_answers_are_right_and_no_group(tmp_path, files):
    pool, groups = files
    right = {("deterministic", *CLEAN): first(4), ("decoding", *CLEAN): first(8)}
    models = {"a": right, "b": {("decoding", *CLEAN): first(2)}, "c": right}
    missing = UnavailableFooter(label="b", unavailable="needs an image")
    blind = [write_blind(tmp_path, "a", groups, [0.3, 0.1]), write_blind(tmp_path, "b", groups, [], missing)]
    items = read_table(pool, POOL, ["id", "answer"])
    figure = draw(figure_blind(scored(tmp_path, groups, models), groups, items, blind, draws=100))
    acc, g_acc = figure.axes
    # By likelihood where the model has it.
    assert points(acc, "with the image") == [(50, 0), (25, 1), (50, 2)]
    assert points(g_acc, "with the image") == [(50, 0), (25, 1), (50, 2)]
    assert points(acc, "without the image") == [(50, 0)]
    assert points(g_acc, "without the image") == [(0, 0)]
    assert points(acc, "chance")[0][0] == 50 and points(g_acc, "chance")[0][0] == 6.25
    assert points(acc, "best constant answer")[0][0] == 50
    assert points(g_acc, "best constant answer")[0][0] == 0
    said = [(text.get_text(), text.get_position()[1]) for text in acc.texts]
    assert said == [("no pass without the image", 1), ("no pass without the image", 2)] and not g_acc.texts
    # A question without a blind answer is an error.
    found = scored(tmp_path, groups, {"a": {("decoding", *CLEAN): never}})
    path = write_blind(tmp_path, "a", groups.head(4), [0.3, 0.1])
    with pytest.raises(InputError, match=r"no_image\.parquet: has no prediction of nb/4; delete predictions"):
        figure_blind(found, groups, items, [path])
    with pytest.raises(InputError, match="an item of the groups is not in the pool"):
        figure_blind(found, groups, items.tail(4), [])


def tags_of(*rows: tuple[str, str]) -> pl.DataFrame:
    return frame_of(TAGS, rows)


def test_a_question_needs_the_skill_of_one_of_its_items(files):
    _, groups = files
    # Items 0 and 1 are one question; 2 another one of the same group.
    tags = tags_of(*((f"nb/{n}", "food") for n in (0, 1, 2, 4)), ("nb/0", "count"), ("nb/9", "reading"))
    assert skill_counts(groups, tags) == {"food": (3, 2), "count": (1, 1), "reading": (1, 1)}
    figure = draw(figure_taxonomy(groups, tags))
    left, right = figure.axes
    names = [label.get_text() for label in left.get_yticklabels()]
    assert len(names) == 16 and names[:3] == ["animal", "human", "food"]
    others = [label.get_text() for label in right.get_yticklabels()]
    assert others[2] == "proximity (spatial)" and others[-2:] == ["world knowledge", "reading"]
    classes = [text.get_text() for text in right.texts if " " not in text.get_text()]
    assert classes == ["relation", "reasoning"]
    widths = [bar.get_width() for bar in left.patches]
    assert widths[4:6] == [3, 2] and sum(widths) == 5
    assert " 3 / 2" in [text.get_text() for text in left.texts]
    assert "own skills" in [text.get_text() for text in right.texts]
    # Without own skills, there is no such class.
    right = draw(figure_taxonomy(groups, tags.head(2))).axes[1]
    assert len(right.get_yticklabels()) == 11
    # Groups from random pairs are no part of the benchmark.
    first = pl.col("group") == groups["group"][0]
    random = groups.with_columns(method=pl.when(first).then(pl.lit("random")).otherwise("method"))
    left, _ = draw(figure_taxonomy(random.cast({"method": groups.schema["method"]}), tags)).axes
    assert sum(bar.get_width() for bar in left.patches) == 2
    for none in (tags.clear(), tags_of(("nb/0", "food"))):
        with pytest.raises(InputError, match="no item has a tag"):
            figure_taxonomy(random if none.height else groups, none)


def test_examples_show_questions_truth_and_answers(tmp_path, files):
    pool, groups = files
    right = {("decoding", *CLEAN): lambda number, place: place != "01", ("sample", *CLEAN): never}
    found = scored(tmp_path, groups, {"a": right, "b": {("sample", *CLEAN): first(8)}})
    tags = tags_of(("nb/24", "count"), ("nb/25", "count"), ("nb/26", "food"))
    figure = draw(figure_examples(pool, groups, tags, found, 0, names=["nb/g6", "nb/g0"]))
    texts = [text.get_text() for text in figure.texts]
    assert texts[:3] == ["nb/g6", "Own", "multiple choice"]
    assert "counting, food" in texts
    start = texts.index("Is it g6 0?")
    # A model without single answers is not shown.
    shown = ["Is it g6 0?", "A: a red cup; B: a dog", "right answer", "A", "B", "A", "✓ A", "✗ A"]
    assert texts[start : start + 8] == shown
    start = texts.index("Is it g0 1?")
    assert texts[start : start + 7] == ["Is it g0 1?", "right answer", "No", "Yes", "A", "✓ No", "✓ Yes"]
    # Both images of each group, in order.
    colours = [axes.images[0].get_array()[0, 0, :2].tolist() for axes in figure.axes]
    assert colours == [[24, 0], [24, 100], [0, 0], [0, 100]]
    colour = {text.get_text(): text.get_color() for text in figure.texts}
    assert colour["✓ A"] != colour["✗ A"]
    with pytest.raises(InputError, match="there is no group 'g0'; the first is 'nb/g0'"):
        figure_examples(pool, groups, tags_of(), found, 0, names=["g0"])


def shown(pool: Path, groups: pl.DataFrame) -> list[str]:
    """Return the texts of an example."""
    found = scored(pool.parent, groups, {"a": {("decoding", *CLEAN): first(8)}})
    figure = figure_examples(pool, groups, tags_of(), found, 0, names=["nb/g0"])
    assert np.isclose(figure.get_size_inches()[0], 6.9)
    return [text.get_text() for text in figure.texts]


@pytest.mark.filterwarnings("ignore:no installed font")
def test_options_are_neither_empty_without_a_font_nor_repeated(tmp_path):
    texts = shown(*written(tmp_path, [("\U000f0000", "a \U000f0000 dog")] * 8))
    assert "A: [U+F0000]; B: a dog" in texts
    texts = shown(*written(tmp_path, [("A", "B")] * 8, question="What?\nOption: A: a cup; B: a dog;"))
    assert texts.count("What?") == 2 and texts.count("Option: A: a cup; B: a dog;") == 2


def test_a_reply_without_an_answer_is_wrong(tmp_path, files):
    pool, groups = files
    found = scored(tmp_path, groups, {"a": {("decoding", *CLEAN): first(8)}})
    found.scores["a"].predicted["decoding"] = np.array([[-1, 1, 1, 0]] * 8, dtype=np.int8)
    figure = figure_examples(pool, groups, tags_of(), found, 0, names=["nb/g0"])
    texts = [text.get_text() for text in figure.texts]
    assert "✗ none" in texts and texts.count("✓ No") == 2

    # Where most replies have none, the more probable answers are shown.
    both = {("decoding", *CLEAN): never, ("deterministic", *CLEAN): first(8)}
    found = scored(tmp_path, groups, {"a": both})
    found.scores["a"].predicted["decoding"] = np.array([[-1, -1, 1, 0]] * 8, dtype=np.int8)
    figure = figure_examples(pool, groups, tags_of(), found, 0, names=["nb/g0"])
    texts = [text.get_text() for text in figure.texts]
    assert "✗ none" not in texts and texts.count("✓ Yes") == 2


def test_groups_are_drawn_by_a_hash_in_turn_of_types(tmp_path, files):
    _, groups = files
    drawn = drawn_groups(groups, 4, 3)
    # Of six and two groups, the first of each type by the hash, yes_no first.
    yes_no, choice = (
        sorted(part, key=lambda name: seed_of(3, "example", name)) for part in (NAMES[:6], NAMES[6:])
    )
    assert drawn == [yes_no[0], choice[0], yes_no[1], choice[1]]
    assert drawn == drawn_groups(groups.reverse(), 4, 3) != drawn_groups(groups, 4, 4)
    assert len(drawn_groups(groups, 50, 3)) == 8
    # A group is as likely to be shown as any other of its type.
    shown = Counter(name for seed in range(300) for name in drawn_groups(groups, 2, seed))
    assert all(abs(shown[name] - 50) < 25 for name in NAMES[:6])
    # A group that is added changes no other draw but by its own place.
    fewer = drawn_groups(groups.filter(pl.col("group") != yes_no[0]), 4, 3)
    assert fewer == [yes_no[1], choice[0], yes_no[2], choice[1]]
    # Models do not decide which groups are shown.
    pool, _ = files
    images = []
    for right in (never, first(1), first(8)):
        found = scored(tmp_path, groups, {"a": {("decoding", *CLEAN): right}})
        figure = figure_examples(pool, groups, tags_of(), found, 3, number=2)
        images.append([axes.images[0].get_array().tolist() for axes in figure.axes])
    assert images[0] == images[1] == images[2]


def note_of(figure: Any) -> str:
    """Return the sentences below the examples."""
    texts = [text.get_text() for text in figure.texts]
    start = next(place for place, text in enumerate(texts) if " of 8, " in text)
    return " ".join(texts[start:])


def test_examples_say_how_they_are_drawn_and_read_and_what_chance_solves(tmp_path, files):
    pool, groups = files
    models = {
        "a": {("decoding", *CLEAN): lambda number, place: number in (2, 7)},
        "b": {("deterministic", *CLEAN): never},
    }
    found = scored(tmp_path, groups, models)
    figure = figure_examples(pool, groups, tags_of(), found, 3, number=2)
    here = {"nb/g2", "nb/g7"} & {*drawn_groups(groups, 2, 3)}
    assert note_of(figure) == (
        "2 groups of 8, drawn at random by a hash (seed 3), in turn of the types of questions. "
        "Reading: Decoding (A); Deterministic (B). Chance solves 6.25 % of the groups, each of the 2 models "
        f"0.0 to 25.0 %. At least one model solves {len(here)} "
        "of the 2 shown (all four answers right, ✓)."
    )
    named = note_of(figure_examples(pool, groups, tags_of(), found, 3, names=["nb/g2", "nb/g7", "nb/g0"]))
    assert named.startswith("3 groups of 8, named by the user. ") and "solves 2 of the 3 shown" in named
    one = scored(tmp_path, groups, {"a": models["a"]})
    text = note_of(figure_examples(pool, groups, tags_of(), one, 3))
    assert "Reading: Decoding. Chance" in text and "the model 25.0 %." in text
    # A model without single answers is not shown, and none is no error.
    none = scored(tmp_path, groups, {"a": {("sample", *CLEAN): first(8)}})
    assert note_of(figure_examples(pool, groups, tags_of(), none, 3)).endswith(
        "No model has answers to show. Chance solves 6.25 % of the groups."
    )


def test_every_figure_of_accuracies_names_its_readings(tmp_path, files):
    pool, groups = files
    items = read_table(pool, POOL, ["id", "answer"])
    both = CORRUPTED | LIKELIHOOD
    cases = {
        "Decoding": {"a": CORRUPTED, "b": CORRUPTED},
        "Decoding (A); Deterministic (B)": {"a": CORRUPTED, "b": LIKELIHOOD},
        "Decoding (4 models); Deterministic (B)": {"b": LIKELIHOOD} | dict.fromkeys("acde", CORRUPTED),
    }
    for expected, models in cases.items():
        found = scored(tmp_path, groups, models)
        figures = {
            "Reading: ": figure_corruption(found, ["snow"], [1], draws=9),
            "Reading with the image: ": figure_blind(found, groups, items, [], draws=9),
        }
        for prefix, figure in figures.items():
            title = figure.legends[0].get_title().get_text()
            assert title.startswith(prefix)
            assert sorted(title.removeprefix(prefix).split("; ")) == sorted(expected.split("; "))
    # Where a model has both, the figures prefer different ones.
    found = scored(tmp_path, groups, {"a": both})
    figures = [figure_corruption(found, ["snow"], [1], draws=9), figure_readings(found, draws=9)]
    figures.insert(1, figure_blind(found, groups, items, [], draws=9))
    titles = [figure.legends[0].get_title().get_text() for figure in figures]
    assert titles == ["Reading: Decoding", "Reading with the image: Deterministic", "Reading"]
