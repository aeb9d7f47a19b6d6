import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from scipy.stats import spearmanr

from benchc.benchmarks.r_bench.chance import TaskChance
from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STEP_LABELS, dimension
from benchc.benchmarks.r_bench.figures.figure1 import figure1
from benchc.benchmarks.r_bench.figures.figure4a import figure4a
from benchc.benchmarks.r_bench.figures.figure4bc import MOST, figure4bc
from benchc.benchmarks.r_bench.figures.figure5ad import figure5ad
from benchc.benchmarks.r_bench.figures.figure5ef import figure5ef
from benchc.benchmarks.r_bench.figures.figure6 import figure6
from benchc.benchmarks.r_bench.figures.frames import GROUP_STYLES, ONLY_STAND_INS
from benchc.benchmarks.r_bench.names import STAND_INS
from benchc.benchmarks.r_bench.schemas.image_features import IMAGE_FEATURES
from benchc.corruptions.suites.r_bench import R_BENCH_INDEX
from benchc.image_features import FEATURES
from benchc.statistics.correlations import components
from tests.benchmarks.made import frame_of
from tests.benchmarks.r_bench.scored import files_of, rows_of, scores
from tests.standings import standings_of

MANY, FEW = MOST + 2, ["jpeg", "white_noise", "lens_blur"]
# Those that can be generated, with stand-ins for what the authors photographed, by number.
DIMENSIONS = {
    name: number for name, number in R_BENCH_INDEX.items() if f"{name}_stand_in" not in R_BENCH_INDEX
}


def run_of(models: int, dimensions=tuple(DIMENSIONS)):
    """Return scores and labels of models, of which each is better than the one before."""
    rows = rows_of(dimensions)
    skills = np.linspace(0.3, 0.8, models)
    tables = {f"m{place}": scores(rows, skill, 0.05, seed=place) for place, skill in enumerate(skills)}
    return files_of(tables), {id_: f"Model {id_[1:]}" for id_ in tables}


def chance_of(labels, below=()) -> TaskChance:
    """Return that models are above chance in MCQ but for those ``below``."""
    return TaskChance(standings_of([*labels.values()], below).frame.with_columns(task=pl.lit("mcq")))


def means(found, column: str, by: str) -> pl.DataFrame:
    """Return the mean of a column by model (row) and step, group or dimension, without stand-ins."""
    named = pl.concat(file.table.with_columns(model=pl.lit(id_)) for id_, file in found.items())
    named = named.filter(~pl.col("dimension").str.ends_with("_stand_in"))
    part = {name: getattr(dimension(name), by) for name in named["dimension"].unique()}
    parts = named.with_columns(part=pl.col("dimension").replace_strict(part))
    values = parts.group_by("model", "part", maintain_order=True).agg(value=pl.col(column).mean())
    return values.pivot("part", index="model", values="value", maintain_order=True)


def overall(found, column: str) -> np.ndarray:
    return np.array([file.table[column].mean() for file in found.values()])


def test_figure_1_ranks_models_by_both_measures_and_orders_dimensions_by_step():
    found, labels = run_of(3)
    axes = figure1(found, labels, chance_of(labels)).axes[0]
    both = (overall(found, "absolute") + overall(found, "relative")) / 2
    order = np.argsort(-both)
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        f"Model {place} {rank}" for rank, place in enumerate(order, start=1)
    ]
    cells = np.asarray(axes.images[0].get_array())
    np.testing.assert_allclose(cells[:, 0], 100 * both[order])
    jitter = [name for name, number in DIMENSIONS.items() if number == 13]
    table = found[f"m{order[1]}"].table.filter(pl.col("dimension").is_in(jitter))
    assert cells[1, 13] == pytest.approx(50 * (table["absolute"].mean() + table["relative"].mean()))
    names = [text.get_text() for text in axes.get_xticklabels()]
    assert [int(name.split()[0]) for name in names[1:]] == list(range(1, 34))
    assert names[2] == "2 bright illumination*" and names[5] == "5 lens blur"
    # Each dimension has the mark of its low-level group above it.
    marks = {round(line.get_xdata()[0]): line for line in axes.lines if line.get_marker() != "None"}
    for name, number in DIMENSIONS.items():
        style = GROUP_STYLES[dimension(name).group]
        assert marks[number].get_marker() == style["marker"]
        assert to_rgba(marks[number].get_color()) == to_rgba(style["color"])
    steps = [text.get_text() for text in axes.texts if text.get_text() in STEP_LABELS.values()]
    assert steps == list(STEP_LABELS.values())

    # It explains the marks that there are.
    def legend(dimensions) -> list[str]:
        found, labels = run_of(2, dimensions)
        return [text.get_text() for text in figure1(found, labels, chance_of(labels)).legends[0].get_texts()]

    assert legend(DIMENSIONS) == [*GROUP_LABELS.values(), STAND_INS]
    assert legend(["jpeg", "white_noise"]) == ["Noise", "Compression"]
    # A model that is not above chance is last without a rank.
    found, labels = run_of(3)
    figure = figure1(found, labels, chance_of(labels, ["Model 2"]))
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["Model 1 1", "Model 0 2", "Model 2 † –"]
    assert "†: Acc(o) is not above chance" in figure.get_suptitle().replace("\n", " ")
    # Figures of a rule judge say so.
    found, labels = run_of(4)
    chance = chance_of(labels)
    figures = [figure1(found, labels, chance), figure4bc(found, labels, chance), figure5ad(found, labels)]
    for figure in figures:
        assert figure.get_suptitle().startswith("Rule judge, not comparable with the paper")
    other = files_of({id_: file.table for id_, file in found.items()}, judge="llm")
    assert "Rule judge" not in figure1(other, labels, chance).get_suptitle()


def test_figure_4a_has_bars_of_the_means_and_intervals_of_90_per_cent():
    found, labels = run_of(4, ["jpeg", "webp", "white_noise"])
    figure = figure4a(found, labels, chance_of(labels), 200, 3)
    left, right = figure.axes[:2]
    both = overall(found, "absolute") + overall(found, "relative")
    order = np.argsort(-both)
    assert [text.get_text() for text in right.get_yticklabels()] == [f"Model {place}" for place in order]
    for axes, column in ((left, "absolute"), (right, "relative")):
        widths = [bar.get_width() for bar in axes.patches]
        np.testing.assert_allclose(widths, overall(found, column)[order])
        (lines,) = axes.collections
        ends = np.array([segment[:, 0] for segment in lines.get_segments()])
        # About 1.645 standard errors on both sides of the mean.
        tables = [found[f"m{place}"].table[column] for place in order]
        errors = np.array([values.std() / np.sqrt(len(values)) for values in tables])
        np.testing.assert_allclose(ends.mean(axis=1), widths, atol=0.02)
        np.testing.assert_allclose(np.diff(ends)[:, 0] / (2 * errors), 1.645, rtol=0.25)
    assert left.xaxis_inverted() and not right.xaxis_inverted()
    top, bottom = left.get_ylim()[::-1]
    assert top < bottom  # the first model is at the top
    # Scores that are all 0 have an axis of scores.
    zero = {id_: file.table.with_columns(absolute=0.0, relative=0.0) for id_, file in found.items()}
    figure = figure4a(files_of(zero), labels, chance_of(labels), 100, 0)
    assert [axes.get_xlim() for axes in figure.axes[:2]] == [(1, 0), (0, 1)]


def test_figures_4b_and_4c_show_the_best_models_and_the_range_of_the_others():
    found, labels = run_of(MANY)
    figure = figure4bc(found, labels, chance_of(labels))
    both = overall(found, "absolute") + overall(found, "relative")
    order = [f"m{place}" for place in np.argsort(-both)]
    for axes, column in zip(figure.axes, ("absolute", "relative"), strict=True):
        expected = means(found, column, "step")
        assert [line.get_label() for line in axes.lines] == [labels[id_] for id_ in order[:MOST]]
        assert len({line.get_marker() for line in axes.lines}) == MOST
        for line, id_ in zip(axes.lines, order, strict=False):
            row = expected.filter(model=id_).select(*STEP_LABELS).row(0)
            np.testing.assert_allclose(line.get_ydata(), [*row, row[0]])
        assert [text.get_text() for text in axes.get_xticklabels()] == list(STEP_LABELS.values())
        others = expected.filter(pl.col("model").is_in(order[MOST:])).select(*STEP_LABELS).to_numpy()
        (area,) = axes.collections
        outline = area.get_paths()[0].vertices[:, 1]
        assert outline.min() == pytest.approx(others.min()) and outline.max() == pytest.approx(others.max())
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[-1] == "range of the 2 others"


def test_figures_5a_to_5d_correlate_models_and_leave_out_groups_without_items():
    found, labels = run_of(5)
    figure = figure5ad(found, labels)
    panels = figure.axes[:4]
    for axes, column, by in zip(
        panels, ("absolute", "relative") * 2, ("step", "step", "group", "group"), strict=True
    ):
        table = means(found, column, by)
        names = [name for name in (STEP_LABELS if by == "step" else GROUP_LABELS) if name in table.columns]
        expected = spearmanr(table.select(names).to_numpy()).statistic
        np.testing.assert_allclose(np.asarray(axes.images[0].get_array()), expected, atol=1e-12)
    # Wild has only stand-ins here.
    assert [text.get_text() for text in panels[2].get_yticklabels()] == ["BL", "LU", "CH", "SP", "NO", "CO"]


@pytest.mark.parametrize("figure", [figure5ad, figure5ef])
def test_with_fewer_than_four_models_figure_5_says_so(figure):
    (text,) = figure(*run_of(3, FEW)).texts
    assert text.get_text() == "Correlations over models need at least 4 models; this run has 3."
    assert len(figure(*run_of(4, FEW)).axes) >= 2


def test_figures_5e_and_5f_plot_dimensions_with_their_marks():
    found, labels = run_of(5)
    figure = figure5ef(found, labels)
    names = sorted(DIMENSIONS, key=DIMENSIONS.__getitem__)
    for axes, column in zip(figure.axes, ("absolute", "relative"), strict=True):
        values = np.array(
            [[file.table.filter(dimension=name)[column].mean() for file in found.values()] for name in names]
        )
        expected = components(values)
        points = [line for line in axes.lines if line.get_marker() != "None"]
        np.testing.assert_allclose(
            [[line.get_xdata()[0], line.get_ydata()[0]] for line in points], expected.scores, atol=1e-12
        )
        assert [line.get_marker() for line in points] == [
            GROUP_STYLES[dimension(name).group]["marker"] for name in names
        ]
        assert f"({100 * expected.shares[0]:.0f} % of the variance)" in axes.get_xlabel()
        texts = {text.get_text().split()[0] for text in axes.texts}
        assert texts == {str(number) for number in range(1, 34)}
        far = np.argsort(-np.hypot(*expected.scores.T))[:8] + 1
        named = {int(text.get_text().split()[0]) for text in axes.texts if " " in text.get_text()}
        assert named == set(far.tolist())


def features() -> pl.DataFrame:
    """Features of two items, each clean and under two dimensions, of which one is a stand-in."""
    shown = [("clean", 0), ("jpeg", 3), ("dark_illumination_stand_in", 1)]
    rows = [
        (f"s/{item}", *cell, "", *range(start := 100 * item + 10 * place, start + len(FEATURES)))
        for item in range(2)
        for place, cell in enumerate(shown)
    ]
    return frame_of(IMAGE_FEATURES, rows)


def test_figure_6_has_the_means_of_both_images_and_no_stand_ins():
    figure = figure6(features())
    FigureCanvasAgg(figure).draw()
    assert len(figure.axes) == 2 * len(FEATURES)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["SE"]
    assert [text.get_text() for text in figure.axes[len(FEATURES)].get_yticklabels()] == ["Compression"]
    for number, axes in enumerate(figure.axes[: len(FEATURES)]):
        marks = {line.get_marker(): line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1}
        # Of the two items under JPEG, and of their reference images.
        assert marks == {"^": pytest.approx(60 + number), "|": pytest.approx(50 + number)}
    legend = ["distorted images", "their reference images", "mean, distorted", "mean, reference"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == legend
    # A run of one stand-in has what can be plotted, and says so.
    found, labels = run_of(4, ["dark_illumination_stand_in"])
    chance = chance_of(labels)
    for figure in (figure4bc(found, labels, chance), figure5ad(found, labels)):
        assert [text.get_text() for text in figure.texts] == [ONLY_STAND_INS]
    rows = features().filter(pl.col("corruption") != "jpeg")
    assert [text.get_text() for text in figure6(rows).texts] == [ONLY_STAND_INS]
    assert "no principal components" in figure5ef(found, labels).texts[0].get_text()
    for figure in (figure1(found, labels, chance), figure4a(found, labels, chance, 100, 0)):
        FigureCanvasAgg(figure).draw()


@pytest.mark.parametrize("dimensions", [["jpeg", "webp"], FEW])
def test_runs_of_few_dimensions_are_plotted(dimensions):
    found, labels = run_of(4, dimensions)
    chance = chance_of(labels)
    figures = [figure(found, labels, chance) for figure in (figure1, figure4bc)]
    for figure in (*figures, figure5ad(found, labels), figure5ef(found, labels)):
        FigureCanvasAgg(figure).draw()
        assert len(figure.axes) >= 1
