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
from tests.benchmarks.mllm_ic.made_up import (
    CATEGORIES,
    CORRUPTIONS,
    LEVELS,
    averages,
    items_of,
    mids_of,
    run_of,
)
from tests.standings import standings_of

# Named as those of the paper, of which none is short.
NAMES = ["LLaVA-1.5-7B", "HoneyBee-7B", "InfMLLM-7B-Chat", "TransCore-M-13B", "MiniGPT-4-v2", "mPLUG-Owl2-8B"]
NAMES += ["Otter-9B-LA-InContext", "DeepSeek-VL-7B-Chat", "GPT-4o-2024-08-06", "Qwen2.5-VL-7B", "Gemini-2.0"]
CHOSEN = ("image_topic", "image_style", "instance_counting", "spatial_relation", "ocr", "social_relation")


def made(models: int, names: tuple[str, ...] | None = None, below: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what the figures take: capabilities of different sizes, models of different skills."""
    items = items_of(names, 4).filter(~pl.col("id").str.contains("made/(0|4|19)-[1-3]"))
    skills = {f"m{place}": 0.9 - 0.04 * place for place in range(models)}
    labels = dict(zip(skills, NAMES, strict=False))
    chance = standings_of([*labels.values()], below)
    return {"run": run_of(skills, items, loss=0.05), "labels": labels, "chance": chance}


LEVELS_OF = {"categories": CATEGORIES, "levels": LEVELS}
RADARS: list[tuple[Callable[..., Figure], dict[str, Any]]]
RADARS = [(figure6, {}), (figure7, LEVELS_OF), (figure8, {}), (figure9, LEVELS_OF)]


CORRUPTED = range(1, 6)


def percent(run: RunOutcomes, models: Iterable[str], of: str, **scenarios: object) -> list[float]:
    """Return an average of each model in some scenarios, by plain means."""
    return [100 * averages(run, id_, **scenarios)[of] for id_ in models]


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
    run, models = given["run"], [*given["labels"]]
    figure = figure4(**given, draws=200, seed=1)
    (axes,) = figure.axes
    names = [text.get_text() for text in axes.get_xticklabels()]
    assert names == ["LLaVA-1.5-7B", "HoneyBee-7B", "InfMLLM-7B-Chat †"]
    assert " ".join(figure.get_suptitle().split()) == (
        "†: Acc(o) is not above chance. Intervals are too narrow, since 34 of 34 capabilities have fewer "
        "than 10 pictures (the fewest: 1)."
    )
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["clean", *(f"severity {level}" for level in range(1, 6))]
    draws = 100 * run.average(run.draws(models, run.columns(), 200, 1))[1:]
    names = ["clean", *(f"severity_{level}" for level in range(1, 6))]
    for level, (name, (points, _, (ends,))) in enumerate(zip(names, axes.containers, strict=True)):
        assert list(points.get_ydata()) == pytest.approx(percent(run, models, "overall", level=level))
        lows, highs = np.quantile(draws[..., list(run.columns()).index(name)], [0.025, 0.975], axis=0)
        segments = np.array(ends.get_segments())[:, :, 1]
        np.testing.assert_allclose(segments, np.stack([lows, highs], axis=1))
    # The numbers are those of the first and the last point.
    ends = (axes.containers[place][0].get_ydata() for place in (0, -1))
    texts = [text.get_text() for text in axes.texts]
    assert texts == [f"{value:.1f}" for pair in zip(*ends, strict=True) for value in pair]


def test_figures_6_and_7_have_capabilities_and_categories_at_severities_1_3_and_5() -> None:
    given = made(2)
    run, models = given["run"], [*given["labels"]]
    mids = mids_of(run)
    assert len(mids) == 5
    for level, (title, spokes, lines) in zip((1, 3, 5), charts(figure6(**given)), strict=True):
        assert title.endswith(f"severity {level}") and spokes == [label_of(name) for name in mids]
        check(lines, given, (percent(run, models, name, level=level) for name in mids))
    given = made(2, CHOSEN)
    run = given["run"]
    names = list(dict.fromkeys(CATEGORIES.values()))
    for level, (title, spokes, lines) in zip((1, 3, 5), charts(figure7(**given, **LEVELS_OF)), strict=True):
        assert title.endswith(f"severity {level}") and spokes == [corruption_label(name) for name in names]
        wanted = [{"level": level, "category": name} for name in names]
        check(lines, given, (percent(run, models, "overall", **each) for each in wanted))


def test_figure_8_has_the_mid_level_and_the_low_level_capabilities() -> None:
    given = made(2)
    run, models = given["run"], [*given["labels"]]
    first, *others = charts(figure8(**given))
    mids = mids_of(run)
    assert first[:2] == ("(a) mid-level capabilities", [label_of(name) for name in mids])
    check(first[2], given, (percent(run, models, name, level=CORRUPTED) for name in mids))
    sizes = [(title, len(spokes)) for title, spokes, _ in others]
    assert sizes == [("(b) perception", 19), ("(c) reasoning", 15)]
    for high, (_, spokes, lines) in zip(("perception", "reasoning"), others, strict=True):
        own = [each.name for each in run.capabilities if each.high == high]
        assert spokes == [label_of(name) for name in own]
        check(lines, given, (percent(run, models, name, level=CORRUPTED) for name in own))


def test_figure_9_has_the_categories_and_the_types_of_each_level() -> None:
    given = made(1, CHOSEN)
    run = given["run"]
    found = list(charts(figure9(**given, **LEVELS_OF)))
    assert [(title, len(spokes)) for title, spokes, _ in found] == [
        *(("(a) categories", 9), ("(b) global corruptions", 20)),
        *(("(c) regional corruptions", 15), ("(d) pixel corruptions", 5)),
    ]
    names = list(dict.fromkeys(CATEGORIES.values()))
    check(found[0][2], given, (percent(run, ["m0"], "overall", category=name) for name in names))
    for level, (_, spokes, lines) in zip(("global", "regional", "pixel"), found[1:], strict=True):
        own = [name for name in CORRUPTIONS if LEVELS[CATEGORIES[name]] == level]
        assert spokes == [corruption_label(name) for name in own]
        check(lines, given, (percent(run, ["m0"], "overall", name=name) for name in own))


def test_categories_of_a_level_are_together_whatever_the_order_of_the_types() -> None:
    types = ["fog", "brightness", "gaussian_noise", "jigsaw", "rotate"]
    given = made(1, CHOSEN)
    given["run"] = run_of({"m0": 0.8}, given["run"].items, types)
    of = {"categories": {name: CATEGORIES[name] for name in types}, "levels": LEVELS}
    first, *_ = charts(figure9(**given, **of))
    assert first[1] == ["Weather", "Shape changing", "Color", "Geometric", "Noise"]
    values = [percent(given["run"], ["m0"], "overall", name=types[place]) for place in (0, 3, 1, 4, 2)]
    assert first[2]["LLaVA-1.5-7B"] == pytest.approx(np.ravel(values))


def test_figure_10_has_each_capability_under_each_category_and_severity() -> None:
    given = made(2)
    run = given["run"]
    axes, bar = figure10(run, {"m1": "HoneyBee-7B"}, CATEGORIES).axes
    cells = np.asarray(axes.images[0].get_array())
    names = list(dict.fromkeys(CATEGORIES.values()))
    assert cells.shape == (34, 1 + 9 * 5)
    rows, columns = (
        [text.get_text() for text in texts] for texts in (axes.get_yticklabels(), axes.get_xticklabels())
    )
    assert rows == [label_of(each.name) for each in run.capabilities]
    assert columns == ["", *map(str, [1, 2, 3, 4, 5] * 9)]
    shown = [text.get_text().replace("\n", " ") for text in axes.texts if text.get_text()]
    mids = list(dict.fromkeys(label_of(each.mid) for each in run.capabilities))
    assert shown == ["Clean", *(corruption_label(name) for name in names), *mids]
    places = {each.name: row for row, each in enumerate(run.capabilities)}
    assert cells[places["ocr"], 0] == pytest.approx(100 * averages(run, "m1", level=0)["ocr"])
    for column, (category, level) in enumerate([(name, level) for name in names for level in range(1, 6)]):
        expected = averages(run, "m1", level=level, category=category)
        for name in ("image_topic", "chart_understanding"):
            assert cells[places[name], column + 1] == pytest.approx(100 * expected[name])
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
@pytest.mark.parametrize(("function", "options"), RADARS)
def test_names_of_radars_have_room(function, options, capabilities, models) -> None:
    given = made(models, capabilities, below=("MiniGPT-4-v2",))
    figure = function(**given, **options)
    assert figure.get_figwidth() <= TEXT_WIDTH and figure.get_figheight() < 9
    texts = texts_of(figure)
    clashes = [(a, b) for (a, box), (b, other) in combinations(texts, 2) if box.overlaps(other)]
    assert clashes == []
    page = figure.bbox
    for text, box in texts:
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 + 1, text


def test_a_radar_of_fewer_than_three_spokes_says_so() -> None:
    given = made(1, CHOSEN[:3])
    figure = figure8(**given)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["(a) mid-level capabilities", "(b) perception"]
    assert not figure.axes[0].lines and len(figure.axes[1].lines) == 1
    assert figure.axes[0].texts[0].get_text() == "needs at least three spokes;\nthis run has 2"
    figure = figure6(**made(2, CHOSEN[:3]))
    (sentence,) = figure.texts
    assert not figure.axes and sentence.get_text().startswith("A radar chart needs at least three spokes")


@pytest.mark.parametrize("skill", [0.0, 1.0])
def test_equal_values_have_a_scale(skill: float) -> None:
    given = made(1)
    run = given["run"]
    codes = {"m0": np.full_like(run.codes["m0"], RIGHT if skill else 0)}
    given["run"] = RunOutcomes(codes, run.items, run.corruptions, run.severities)
    for function, options in RADARS:
        for axes in function(**given, **options).axes:
            low, high = axes.get_ylim()
            assert low <= 100 * skill <= high and high - low >= 20
            assert len([text for text in axes.texts if text.get_text()]) >= 2
    values = figure10(given["run"], given["labels"], CATEGORIES).axes[0].images[0]
    assert values.norm.vmin < values.norm.vmax
    low, high = figure4(**given, draws=20, seed=0).axes[0].get_ylim()
    assert low < 100 * skill < high
