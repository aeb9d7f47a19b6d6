from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes
from benchc.benchmarks.mllm_ic.samples import chosen_samples, thumbnail
from benchc.images import decode
from benchc.statistics.resampling import percentile_interval
from tests.benchmarks.mllm_ic.explored import HOSTILE, page_of, write_explored
from tests.benchmarks.mllm_ic.made_up import averages, items_of
from tests.browser import Browser, chromium
from tests.corruptions.photos import photo

CORRUPTIONS = ["contrast", "rotate", "fog", "snow", "shot_noise"]
LABELS = {"a": "Model </script>", "b": "Model & 2"}
CAPABILITIES = ["image_topic", "image_style", "ocr", "instance_counting"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def run(folder: Path) -> RunOutcomes:
    return write_explored(folder, CAPABILITIES, CORRUPTIONS, {"a": 0.9, "b": 0.6})


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture(scope="module")
def file(folder: Path, run: RunOutcomes) -> Path:
    path = folder / "cube.html"
    path.write_text(page_of(folder, run, LABELS), encoding="utf-8")
    return path


@pytest.fixture
def page(browser: Browser, file: Path) -> Browser:
    browser.open(file)
    return browser


def choose(page: Browser, **values: str) -> None:
    """Choose by the values of options, or by their texts."""
    for name, value in values.items():
        page.run(
            "const select = document.getElementById(arguments[0]); select.value = [...select.options].find("
            "each => each.value === arguments[1] || each.textContent === arguments[1]).value;"
            "select.dispatchEvent(new Event('change'));",
            name,
            value,
        )


def table(page: Browser) -> dict[str, list[str]]:
    """Return the texts of the cells by the name of their row."""
    rows = page.run(
        "return [...document.querySelectorAll('#map tr')].slice(1).map("
        "row => [...row.children].map(each => each.textContent))"
    )
    return {name: cells for name, *cells in rows}


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


SEVERITIES = ["Clean", *(f"Severity {n}" for n in range(1, 6))]


def test_it_starts_with_categories_by_severity(page, run):
    assert page.texts("#map tr:first-child th")[1:] == SEVERITIES
    shown = table(page)
    assert [*shown] == ["Color", "Geometric", "Weather", "Noise"]
    means = [averages(run, "a", ["clean", "fog", "snow"], level)["overall"] for level in range(6)]
    assert shown["Weather"] == [percent(mean) for mean in means]
    # Wide maps round to whole numbers.
    rounded = page.run("return [percent(0.7496, 0), signed(-0.0251, 0), signed(0.1849)]")
    assert rounded == ["75", "−3", "+18.5"]


def test_any_two_axes_with_the_third_fixed_or_averaged(page, run):
    choose(page, rows="capability", columns="corruption", model="1")
    for level in (None, 4):
        if level:
            choose(page, third=f"Severity {level}")
        assert table(page)["OCR"] == [percent(averages(run, "b", name, level)["ocr"]) for name in CORRUPTIONS]
    choose(page, rows="severity", columns="mid", third="Snow")
    shown = table(page)
    assert [*shown] == SEVERITIES
    assert shown["Severity 2"][1] == percent(averages(run, "b", "snow", 2)["spatial_perception"])


def test_axes_of_one_dimension_are_set_apart(page):
    choose(page, rows="severity")
    assert page.run("return document.getElementById('columns').value") == "category"
    choose(page, columns="high")
    choose(page, rows="capability")
    assert page.run("return document.getElementById('columns').value") == "severity"


def test_differences_to_clean_pictures_and_to_a_model(page, run):
    choose(page, rows="level", columns="severity", against="clean")
    clean = averages(run, "a", level=0)["overall"]
    value = averages(run, "a", "shot_noise", 5)["overall"] - clean
    assert table(page)["Pixel"][-1] == f"−{percent(-value)}" and len(table(page)["Pixel"]) == 5
    choose(page, against="1")
    value = clean - averages(run, "b", level=0)["overall"]
    assert table(page)["Pixel"][0] == f"+{percent(value)}"


BUTTON = (
    "const row = [...document.querySelectorAll('#map tr')].find("
    "each => each.children[0].textContent === arguments[0]);"
    "const button = row.children[1 + arguments[1]].firstChild;"
)


def hover(page: Browser, name: str, column: int) -> list[str]:
    page.run(f"{BUTTON} button.dispatchEvent(new Event('mouseenter'))", name, column)
    return page.texts("#tip")[0].split("\n")


def test_a_tooltip_has_the_interval_and_the_number(page, run):
    choose(page, rows="capability", columns="severity", third="Fog", against="clean")
    columns = {"clean": np.array([0]), "fog": np.array([run.scenarios.index(("fog", 3))])}
    place = [each.name for each in run.capabilities].index("image_style")
    drawn = run.draws(["a"], columns, 20, 0)[:, 0, :, place]
    ends = [float(end[0]) for end in percentile_interval(drawn[1:, 1:])]
    below, above = (float(end[0]) for end in percentile_interval((drawn[:, 1:] - drawn[:, :1])[1:]))

    def signed(value: float) -> str:
        return ("+" if value > 0 else "−" if value < 0 else "±") + percent(abs(value))

    def interval(low: float, high: float, text: Callable[[float], str]) -> str:
        return "[–]" if low == high else f"[{text(low)}, {text(high)}]"

    assert "Intervals are too narrow, since" in page.texts("#counts")[0]
    # All pictures have right answers, so that there is no interval.
    assert ends == [1, 1]
    own = int((run.items["capability"] == "image_style").sum())
    assert hover(page, "Image style", 2) == [
        "Image style: Fog, severity 3",
        f"{LABELS['a']}: {percent(drawn[0, 1])} % [–]",
        f"Against clean: {signed(drawn[0, 1] - drawn[0, 0])} {interval(below, above, signed)}",
        f"n = {own} questions × 1 scenario",
    ]


def click(page: Browser, name: str, column: int) -> None:
    page.run(f"{BUTTON} button.click()", name, column)


def test_a_click_shows_pictures_questions_and_outcomes(page, run, folder):
    choose(page, rows="capability", columns="severity", third="Rotate")
    click(page, "OCR", 5)
    assert page.texts("#chosen") == ["OCR: Rotate, severity 5"]
    assert page.texts("article figcaption") == ["clean", "Rotate, severity 5"]
    sizes = page.run(
        "return Promise.all([...document.querySelectorAll('article img')].map("
        "image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])))"
    )
    assert sizes == [[80, 60], [80, 60]]
    (id_,) = page.texts("article p.note")
    number = run.items["id"].to_list().index(id_)
    assert run.items["capability"][number] == "ocr"
    assert page.texts("article p.question") == [f"{HOSTILE} {id_}?"]
    assert page.texts("article li.answer") == [["A. red", f"B. {HOSTILE}"][number % 2]]
    words = ["wrong", "right", "refused", "no option named", "wrong, tied options", "right, tied options"]
    shown = [0, run.scenarios.index(("rotate", 5))]
    codes = [(label, *run.codes[model][number, shown]) for model, label in LABELS.items()]
    expected = [text for label, *found in codes for text in (label, *(words[code] for code in found))]
    assert page.texts("article td") == expected
    assert page.run("return document.title") == "Cube explorer"


def test_clean_cells_show_clean_pictures_and_means_show_several(page):
    choose(page, rows="mid", columns="severity")
    click(page, "Global context sensing", 0)
    assert set(page.texts("article figcaption")) == {"clean"}
    click(page, "Global context sensing", 1)
    captions = page.texts("article figcaption")
    assert len(captions) == 12 and all(text.endswith("severity 1") for text in captions[1::2])
    assert set(page.texts("article h3")) == {"Image topic", "Image style"}
    # Each capability has two questions, of which all are shown before one is repeated.
    assert len(set(page.texts("article p.note")[:4])) == 4


def test_it_fits_a_narrow_screen(page):
    page.resize(500, 900)
    try:
        choose(page, rows="capability", columns="corruption")
        click(page, "OCR", 0)
        assert page.run("return document.documentElement.scrollWidth <= window.innerWidth")
    finally:
        page.resize(1200, 900)


def test_samples_are_of_each_capability_and_corruption(run, folder):
    rows = pl.read_parquet(folder / "samples.parquet")
    own = rows.filter(pl.col("corruption") != "clean").join(run.items, on="id")
    cells = own.group_by("capability", "corruption").agg(pl.col("id").n_unique(), pl.col("severity").sort())
    assert cells.height == 4 * 5 and (cells["id"] == 1).all()
    assert all(levels == [1, 2, 3, 4, 5] for levels in cells["severity"].to_list())
    pictures = own.group_by("capability").agg(pl.col("picture_right", "id").n_unique())
    assert pictures["picture_right"].max() <= 2 and pictures["id"].max() == 2
    # Capabilities of one picture have each a sample.
    items = items_of(["ocr", "image_style"], 3).with_columns(picture=pl.lit("sha256://one"))
    found = chosen_samples(items, ["fog"], [1], 2, 0).join(items, on="id")
    assert sorted(found["capability"]) == ["image_style", "ocr"]


def test_pictures_of_the_whole_benchmark_fit_into_a_page():
    many = 34 * 201  # one of each capability and scenario
    noise = np.random.default_rng(0).integers(0, 256, (300, 400, 3), np.uint8)
    sizes = [len(thumbnail(each, many)) for each in (photo("coffee", 480, 640), noise)]
    assert all(4 / 3 * size * many < 16e6 for size in sizes)
    # Few pictures are larger.
    assert decode(thumbnail(photo("coffee", 480, 640), 100)).shape == (144, 192, 3)
