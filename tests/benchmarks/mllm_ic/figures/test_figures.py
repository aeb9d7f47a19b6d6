"""What MLLM-IC's figures of accuracies show: the numbers behind points, lines and cells, and their names."""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.capabilities import label_of
from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.figures.figure4 import figure4
from benchc.benchmarks.mllm_ic.figures.figure6 import figure6
from benchc.benchmarks.mllm_ic.figures.figure7 import figure7
from benchc.benchmarks.mllm_ic.figures.figure8 import figure8
from benchc.benchmarks.mllm_ic.figures.figure9 import figure9
from benchc.benchmarks.mllm_ic.figures.figure10 import figure10
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes
from benchc.benchmarks.mllm_ic.schemas.outcomes import RIGHT
from benchc.rendering.style import TEXT_WIDTH
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, CORRUPTIONS, LEVELS, items_of, run_of
from tests.standings import standings_of

# Named as those of the paper, of which none is short.
NAMES = [
    *("LLaVA-1.5-7B", "HoneyBee-7B", "InfMLLM-7B-Chat", "TransCore-M-13B", "MiniGPT-4-v2", "mPLUG-Owl2-8B"),
    *(
        "Otter-9B-LA-InContext",
        "DeepSeek-VL-7B-Chat",
        "GPT-4o-2024-08-06",
        "Qwen2.5-VL-7B",
        "Gemini-2.0-Flash",
    ),
]
CHOSEN = ("image_topic", "image_style", "instance_counting", "spatial_relation", "ocr", "social_relation")


def made(models: int, names: tuple[str, ...] | None = None, below: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what the figures take: capabilities of different sizes, models of different skills."""
    items = items_of(names, 4).filter(~pl.col("id").str.contains("made/(0|4|19)-[1-3]"))
    skills = {f"m{place}": 0.9 - 0.04 * place for place in range(models)}
    labels = dict(zip(skills, NAMES, strict=False))
    return {
        "run": run_of(skills, items, loss=0.05),
        "labels": labels,
        "chance": standings_of([*labels.values()], below),
    }


LEVELS_OF = {"categories": CATEGORIES, "levels": LEVELS}
RADARS: dict[str, tuple[Callable[..., Figure], dict[str, Any]]] = {
    "figure6": (figure6, {}),
    "figure7": (figure7, LEVELS_OF),
    "figure8": (figure8, {}),
    "figure9": (figure9, LEVELS_OF),
}


Wanted = Callable[[str, int], bool]  # whether a corruption and a severity are


def cell(run: RunOutcomes, model: str, wanted: Wanted, capability: str) -> float:
    """Return an accuracy in per cent by plain loops: the mean over scenarios of those over questions."""
    right = run.right(model)
    rows = [row for row, name in enumerate(run.items["capability"]) if name == capability]
    columns = [place for place, scenario in enumerate(run.scenarios) if wanted(*scenario)]
    return 100 * sum(sum(right[rows, place].tolist()) / len(rows) for place in columns) / len(columns)


def mid(run: RunOutcomes, model: str, wanted: Wanted, name: str) -> float:
    own = [each.name for each in run.capabilities if each.mid == name]
    return sum(cell(run, model, wanted, each) for each in own) / len(own)


def overall(run: RunOutcomes, model: str, wanted: Wanted) -> float:
    names = list(dict.fromkeys(each.mid for each in run.capabilities))
    return sum(mid(run, model, wanted, name) for name in names) / len(names)


def at(level: int) -> Wanted:
    return lambda _, severity: severity == level


def under(name: str) -> Wanted:
    return lambda corruption, _: corruption == name


def within(category: str, level: int | None = None) -> Wanted:
    """Return whether a scenario is of a category, at one severity or all."""
    return lambda name, severity: CATEGORIES.get(name) == category and level in (None, severity)


def corrupted(_: str, severity: int) -> bool:
    return severity > 0


def charts(figure: Figure) -> Iterator[tuple[str, list[str], dict[str, list[float]]]]:
    """Yield of each radar its title, the names of its spokes, and the values of its lines by name."""
    for axes in figure.axes:
        lines = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
        assert all(values[0] == values[-1] for values in lines.values())
        spokes = [text.get_text().replace("\n", " ") for text in axes.get_xticklabels()]
        yield axes.get_title(), spokes, {name: values[:-1] for name, values in lines.items()}


def check(found: dict[str, list[float]], given: dict[str, Any], expected: Iterable[list[float]]) -> None:
    """Check the values of lines; ``expected``: of each spoke, those of the models."""
    assert list(found) == list(given["labels"].values())
    np.testing.assert_allclose([*found.values()], np.transpose([*expected]))


def test_figure_4_has_the_overall_accuracy_of_clean_images_and_each_severity() -> None:
    given = made(3, below=("InfMLLM-7B-Chat",))
    run = given["run"]
    figure = figure4(**given, draws=200, seed=1)
    (axes,) = figure.axes
    names = [text.get_text() for text in axes.get_xticklabels()]
    assert names == ["LLaVA-1.5-7B", "HoneyBee-7B", "InfMLLM-7B-Chat †"]
    assert figure.get_suptitle() == "†: Acc(o) is not above chance."
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["clean", *(f"severity {level}" for level in range(1, 6))]
    bars = axes.containers
    assert len(bars) == 6
    columns = {"clean": 0}
    columns |= {f"severity_{level}": level for level in range(1, 6)}
    draws = 100 * run.average(run.draws([*given["labels"]], run.columns(), 200, 1))[1:]
    for place, (name, level) in enumerate(columns.items()):
        points, _, (ends,) = bars[place]
        values = [overall(run, id_, at(level)) for id_ in given["labels"]]
        assert list(points.get_ydata()) == pytest.approx(values)
        own = draws[..., list(run.columns()).index(name)]
        lows, highs = np.quantile(own, [0.025, 0.975], axis=0)
        segments = np.array(ends.get_segments())[:, :, 1]
        np.testing.assert_allclose(segments, np.stack([lows, highs], axis=1))
    # The numbers are those of the first and the last point.
    first, last = (list(bars[place][0].get_ydata()) for place in (0, -1))
    texts = [text.get_text() for text in axes.texts]
    assert texts == [f"{value:.1f}" for pair in zip(first, last, strict=True) for value in pair]


def test_figure_6_has_the_mid_level_capabilities_at_severities_1_3_and_5() -> None:
    given = made(2)
    run, models = given["run"], [*given["labels"]]
    mids = list(dict.fromkeys(each.mid for each in run.capabilities))
    assert len(mids) == 5
    for level, (title, spokes, lines) in zip((1, 3, 5), charts(figure6(**given)), strict=True):
        assert title.endswith(f"severity {level}") and spokes == [label_of(name) for name in mids]
        check(lines, given, ([mid(run, id_, at(level), name) for id_ in models] for name in mids))


def test_figure_7_has_the_categories_at_severities_1_3_and_5() -> None:
    given = made(2, CHOSEN)
    run, models = given["run"], [*given["labels"]]
    names = list(dict.fromkeys(CATEGORIES.values()))
    for level, (title, spokes, lines) in zip((1, 3, 5), charts(figure7(**given, **LEVELS_OF)), strict=True):
        assert title.endswith(f"severity {level}") and spokes == [corruption_label(name) for name in names]
        check(lines, given, ([overall(run, id_, within(name, level)) for id_ in models] for name in names))


def test_figure_8_has_the_mid_level_and_the_low_level_capabilities() -> None:
    given = made(2)
    run, models = given["run"], [*given["labels"]]
    first, *others = charts(figure8(**given))
    mids = list(dict.fromkeys(each.mid for each in run.capabilities))
    assert first[:2] == ("(a) mid-level capabilities", [label_of(name) for name in mids])
    check(first[2], given, ([mid(run, id_, corrupted, name) for id_ in models] for name in mids))
    sizes = [(title, len(spokes)) for title, spokes, _ in others]
    assert sizes == [("(b) perception", 19), ("(c) reasoning", 15)]
    for high, (_, spokes, lines) in zip(("perception", "reasoning"), others, strict=True):
        own = [each.name for each in run.capabilities if each.high == high]
        assert spokes == [label_of(name) for name in own]
        check(lines, given, ([cell(run, id_, corrupted, name) for id_ in models] for name in own))


def test_figure_9_has_the_categories_and_the_types_of_each_level() -> None:
    given = made(1, CHOSEN)
    run = given["run"]
    found = list(charts(figure9(**given, **LEVELS_OF)))
    assert [(title, len(spokes)) for title, spokes, _ in found] == [
        *(("(a) categories", 9), ("(b) global corruptions", 20)),
        *(("(c) regional corruptions", 15), ("(d) pixel corruptions", 5)),
    ]
    names = list(dict.fromkeys(CATEGORIES.values()))
    check(found[0][2], given, ([overall(run, "m0", within(name))] for name in names))
    for level, (_, spokes, lines) in zip(("global", "regional", "pixel"), found[1:], strict=True):
        own = [name for name in CORRUPTIONS if LEVELS[CATEGORIES[name]] == level]
        assert spokes == [corruption_label(name) for name in own]
        check(lines, given, ([overall(run, "m0", under(name))] for name in own))


def test_categories_of_a_level_are_together_whatever_the_order_of_the_types() -> None:
    types = ["fog", "brightness", "gaussian_noise", "jigsaw", "rotate"]
    given = made(1, CHOSEN)
    given["run"] = run_of({"m0": 0.8}, given["run"].items, types)
    of = {"categories": {name: CATEGORIES[name] for name in types}, "levels": LEVELS}
    first, *_ = charts(figure9(**given, **of))
    assert first[1] == ["Weather", "Shape changing", "Color", "Geometric", "Noise"]
    values = [overall(given["run"], "m0", under(name)) for name in types]
    assert first[2]["LLaVA-1.5-7B"] == pytest.approx([values[place] for place in (0, 3, 1, 4, 2)])


def test_figure_10_has_each_capability_under_each_category_and_severity() -> None:
    given = made(2)
    run = given["run"]
    axes, bar = figure10(run, {"m1": "HoneyBee-7B"}, CATEGORIES).axes
    cells = np.asarray(axes.images[0].get_array())
    names = list(dict.fromkeys(CATEGORIES.values()))
    assert cells.shape == (34, 1 + 9 * 5)
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        label_of(each.name) for each in run.capabilities
    ]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["", *map(str, [1, 2, 3, 4, 5] * 9)]
    shown = [text.get_text().replace("\n", " ") for text in axes.texts if text.get_text()]
    mids = list(dict.fromkeys(label_of(each.mid) for each in run.capabilities))
    assert shown == ["Clean", *(corruption_label(name) for name in names), *mids]
    places = {each.name: row for row, each in enumerate(run.capabilities)}
    assert cells[places["ocr"], 0] == pytest.approx(cell(run, "m1", at(0), "ocr"))
    for column, (category, level) in enumerate([(name, level) for name in names for level in range(1, 6)]):
        for name in ("image_topic", "chart_understanding"):
            expected = cell(run, "m1", within(category, level), name)
            assert cells[places[name], column + 1] == pytest.approx(expected)
    assert bar.get_xlabel() == "accuracy (%)"


def texts_of(figure: Figure) -> list[tuple[str, Any]]:
    """Return the names of spokes, the titles and the legends' lines, with the boxes where they are drawn."""
    figure.draw_without_rendering()
    every = [text for axes in figure.axes for text in (*axes.get_xticklabels(), axes.title)]
    every += [text for legend in figure.legends for text in legend.get_texts()]
    every += [figure._suptitle] if figure.get_suptitle() else []  # type: ignore[attr-defined]
    return [(text.get_text(), text.get_window_extent()) for text in every if text.get_text()]


@pytest.mark.parametrize("models", [1, 11])
@pytest.mark.parametrize("capabilities", [None, CHOSEN], ids=["all", "few"])
@pytest.mark.parametrize("name", RADARS)
def test_names_of_radars_have_room(name: str, capabilities: tuple[str, ...] | None, models: int) -> None:
    function, options = RADARS[name]
    given = made(models, capabilities, below=("MiniGPT-4-v2",))
    figure = function(**given, **options)
    assert figure.get_figwidth() <= TEXT_WIDTH and figure.get_figheight() < 9
    texts = texts_of(figure)
    clashes = [(a, b) for (a, box), (b, other) in combinations(texts, 2) if box.overlaps(other)]
    page = figure.bbox
    outside = [
        text
        for text, box in texts
        if box.x0 < page.x0 or box.x1 > page.x1 or box.y0 < page.y0 or box.y1 > page.y1 + 1
    ]
    assert clashes == [] and outside == []


def test_a_radar_of_fewer_than_three_spokes_says_so() -> None:
    given = made(1, CHOSEN[:3])
    figure = figure8(**given)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["(a) mid-level capabilities", "(b) perception"]
    assert not figure.axes[0].lines and len(figure.axes[1].lines) == 1
    assert figure.axes[0].texts[0].get_text() == "needs at least three spokes;\nthis run has 2"
    figure = figure6(**made(2, CHOSEN[:3]))
    assert not figure.axes and figure.texts[0].get_text().startswith(
        "A radar chart needs at least three spokes"
    )


@pytest.mark.parametrize("skill", [0.0, 1.0])
def test_equal_values_have_a_scale(skill: float) -> None:
    given = made(1)
    run = given["run"]
    codes = {"m0": np.full_like(run.codes["m0"], RIGHT if skill else 0)}
    given["run"] = RunOutcomes(codes, run.items, run.corruptions, run.severities)
    for function, options in RADARS.values():
        for axes in function(**given, **options).axes:
            low, high = axes.get_ylim()
            assert low <= 100 * skill <= high and high - low >= 20
            assert len([text for text in axes.texts if text.get_text()]) >= 2
    values = figure10(given["run"], given["labels"], CATEGORIES).axes[0].images[0]
    assert values.norm.vmin < values.norm.vmax
    low, high = figure4(**given, draws=20, seed=0).axes[0].get_ylim()
    assert low < 100 * skill < high
