"""The pair explorer in a browser: what it shows, and its filters."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchc.benchmarks.r_bench.pages.pairs import pairs, pairs_page
from tests.benchmarks.r_bench.shown import HOSTILE, LABELS, Run, write_run
from tests.browser import ARROW_LEFT, ARROW_RIGHT, Browser, chromium

COLUMNS = ["model", "reply", "reply", "reference", "distorted", "agreement", "Ra", "Rr"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return write_run(tmp_path_factory.mktemp("run"), judge="llm")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


def opened(browser: Browser, path: Path, text: str) -> Browser:
    path.write_text(text, encoding="utf-8")
    browser.open(path)
    return browser


@pytest.fixture
def page(browser: Browser, run: Run, tmp_path: Path) -> Browser:
    return opened(browser, tmp_path / "pairs.html", pairs(**run.example_files, labels=LABELS))


def choose(page: Browser, name: str, value: str) -> None:
    page.run(
        "const select = document.getElementById(arguments[0]); select.value = arguments[1];"
        "select.dispatchEvent(new Event('change'));",
        name,
        value,
    )


def shown_dimension(page: Browser) -> str:
    return page.texts("#images figcaption")[1]


def rows(page: Browser) -> list[list[str]]:
    cells = page.texts("#answers td")
    return [cells[first : first + len(COLUMNS)] for first in range(0, len(cells), len(COLUMNS))]


def walk(page: Browser) -> list[str]:
    """Return the distorted images' captions from the first pair to the last."""
    found = [shown_dimension(page)]
    while not page.run("return document.getElementById('next').disabled"):
        page.click(page.find("#next"))
        found.append(shown_dimension(page))
    return found


def test_a_pair_is_shown_with_images_replies_judgements_and_scores(page):
    assert page.texts("#count") == ["1 of 5"]
    # The first by number is the third dimension, of a caption.
    assert shown_dimension(page) == "3 dark illumination* (EI, Wild), mid"
    assert page.texts("#question") == ["Describe it."]
    assert page.texts("#truth-label") == ["CAP, s/c: 2 reference answers"]
    assert page.texts("#truths li") == ["a cup", "coffee on a table"]
    assert rows(page) == [
        [
            *("Model </script>", "s/c clean", "s/c dark_illumination_stand_in"),
            *("0.251 ?", "↓ 0.002 1", "0.100 1", "0.00", "0.03"),
        ],
        [
            *("Model & 2", "(not in the run)", "(not in the run)"),
            *("0.751 ?", "↓ 0.502 1", "0.600 1", "0.50", "0.45"),
        ],
    ]
    sizes = page.run(
        "return Promise.all([...document.querySelectorAll('#images img')].map("
        "image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])))"
    )
    assert sizes == [[150, 100], [150, 100]]
    assert page.texts("#note") == [""]


def test_keys_and_buttons_go_through_all_pairs_by_dimension(page):
    assert [text.split()[0] for text in walk(page)] == ["3", "5", "9", "16", "16"]
    body = page.find("body")
    page.press(body, ARROW_RIGHT)
    assert page.texts("#count") == ["5 of 5"]
    page.press(body, *[ARROW_LEFT] * 7)
    assert page.texts("#count") == ["1 of 5"]
    assert page.run("return document.getElementById('previous').disabled")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"dimension": "jpeg"}, ["16", "16"]),
        ({"dimension": "jpeg", "strength": "3"}, ["16"]),
        ({"task": "vqa"}, ["5", "16"]),
        ({"strength": "2", "task": "cap"}, ["3"]),
        # Of any model, or of one.
        ({"outcome": "worse"}, ["3", "9", "16"]),
        ({"outcome": "worse", "model": LABELS["two"]}, ["3", "16"]),
        ({"outcome": "better", "model": LABELS["one"]}, ["16"]),
        ({"outcome": "kept"}, ["5", "16"]),
        ({"outcome": "wrong"}, ["9"]),
    ],
)
def test_filters_choose_pairs(page, filters, expected):
    for name, value in filters.items():
        choose(page, name, value)
    assert page.texts("#count") == [f"1 of {len(expected)} (5 without filters)"]
    assert [text.split()[0] for text in walk(page)] == expected
    models = [filters["model"]] if "model" in filters else [*LABELS.values()]
    assert page.texts("#answers td.model") == models
    page.click(page.find("#all"))
    assert page.texts("#count") == ["1 of 5"]


def test_filters_that_fit_no_pair_say_so(page):
    choose(page, "task", "cap")
    choose(page, "dimension", "jpeg")
    assert page.texts("#count") == ["no pair fits these filters"]
    assert page.run("return document.getElementById('pair').hidden")


def test_texts_are_no_markup_and_options_have_letters(page):
    choose(page, "task", "mcq")
    choose(page, "dimension", "jpeg")
    assert rows(page)[0][:3] == ["Model </script>", "s/m clean", HOSTILE]
    assert page.texts("#options li") == ["A. red", "B. blue"] and page.texts("#truths li") == ["B. blue"]
    assert page.run("return document.title") == "Pair explorer"


def test_it_fits_a_narrow_screen(page):
    page.resize(500, 900)
    try:
        assert page.run("return document.documentElement.scrollWidth <= window.innerWidth")
        assert (
            page.run("return getComputedStyle(document.querySelector('#answers tr.head')).display") == "none"
        )
    finally:
        page.resize(1200, 900)


def test_a_rule_judge_is_named_and_no_pair_is_no_error(browser, run, tmp_path):
    note = "Rule judge, not comparable with the paper."
    page = opened(browser, tmp_path / "rule.html", pairs_page(run.examples(), [*LABELS.values()], note))
    assert page.texts("#note") == [note]
    page = opened(browser, tmp_path / "empty.html", pairs_page([], []))
    assert page.texts("#count") == ["no pair fits these filters"]
