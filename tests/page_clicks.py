"""Clicks through the results page of a finished run, whatever its benchmark."""

import time
from collections.abc import Callable
from pathlib import Path

from benchc.schemas.page_items import PAGE_ITEMS
from benchc.schemas.parquet import read_table
from tests.browser import ARROW_LEFT, ARROW_RIGHT, Browser, chromium

SECONDS = 30
COUNT = "return document.getElementById('count').textContent"
IS_READY = "return document.getElementById('viewer').dataset.ready === 'true'"
TITLE = "return document.querySelector('#detail h3')?.textContent"  # none until it is drawn
LEVEL = "return document.querySelector('#detail .levels [aria-pressed=true]')?.textContent ?? ''"
# How far the strip of the corrupted image is moved up: the part of it that is seen.
STRIP = "return document.querySelectorAll('#detail .frame img')[1]?.style.transform ?? ''"
FILES = "return [...document.querySelectorAll('[src], [href]')].map(each => each.src ?? each.href)"
WIDER = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


def click_through(run: Path, scratch: Path) -> None:
    """Open index.html of the run in a browser, and use it. ``scratch``: an empty folder for its profile."""
    samples = read_table(run / "page/chosen.parquet", PAGE_ITEMS)["sample"].n_unique()
    with chromium(scratch) as browser:
        browser.resize(1366, 900)
        browser.open(run / "index.html")
        wait(browser, IS_READY)
        assert browser.run(COUNT) == f"{samples:,} of {samples:,} samples"
        assert browser.run(WIDER) == 0
        assert len(browser.texts(".models tr")) == 1 + len(browser.texts("#filter-model option"))
        _every_output_is_shown(browser, run)
        _bars_filter(browser, samples)
        _keys_step(browser)
        _two_models(browser)
        _the_address_shows_the_sample_again(browser, run)
        _tables_sort(browser)
        files = browser.run(FILES)
        assert files and all(name.startswith("file:") for name in files if name)
        browser.resize(500, 900)
        assert browser.run(WIDER) == 0


def wait(browser: Browser, script: str, until: Callable[[object], bool] = bool) -> object:
    """Wait until a script returns what is wanted, and return it."""
    end = time.monotonic() + SECONDS
    while not until(found := browser.run(script)):
        assert time.monotonic() < end, (script, found)
        time.sleep(0.05)
    return found


def _every_output_is_shown(browser: Browser, run: Path) -> None:
    loaded = (
        "return [...document.querySelectorAll('.printed-figure img')].map(each => each.getAttribute('src'))"
    )
    shown = {*browser.run(loaded)}
    assert {f"figures/{path.name}" for path in (run / "figures").glob("figure*.png")} <= shown
    links = "return [...document.querySelectorAll('.files a')].map(each => each.getAttribute('href'))"
    assert all((run / link).is_file() for link in browser.run(links))
    printed = {path.name for path in (run / "tables").glob("*.md")}
    assert {f"tables/{name}" for name in printed} <= {*browser.run(links)}


def _bars_filter(browser: Browser, samples: int) -> None:
    """A click on the worst task type or source leaves its samples; a second click shows all again."""
    for key in ("task", "source"):
        selector = f".chart[data-key={key}] .bar"
        if not browser.texts(selector):
            continue
        browser.click(browser.find(selector))
        count = str(wait(browser, COUNT, lambda text: not str(text).startswith(f"{samples:,} of")))
        chosen = browser.run("return state." + key)
        wanted = f"return samples.filter(at => String(shared.{key}Of[at[0]]) === arguments[0]).length"
        assert count == f"{browser.run(wanted, chosen):,} of {samples:,} samples"
        browser.click(browser.find("#clear"))
        wait(browser, COUNT, lambda text: str(text).startswith(f"{samples:,} of"))


def _keys_step(browser: Browser) -> None:
    body = browser.find("body")
    browser.run("document.getElementById('samples').scrollIntoView()")
    first = browser.run(TITLE)
    browser.press(body, "j")
    second = wait(browser, TITLE, lambda title: title not in (None, first))
    assert [second] == browser.run("return [rows[1]].map(row => shared.ids[samples[row.place][0]])")
    browser.press(body, "k")
    wait(browser, TITLE, lambda title: title == first)
    if not browser.texts("#detail .levels button:not([disabled])")[1:]:
        return
    level, strip = browser.run(LEVEL), browser.run(STRIP)
    key = ARROW_LEFT if level == browser.texts("#detail .levels button:not([disabled])")[-1] else ARROW_RIGHT
    browser.press(body, key)
    wait(browser, LEVEL, lambda text: text != level)
    assert strip == "" or browser.run(STRIP) != strip


def _two_models(browser: Browser) -> None:
    options = browser.texts("#filter-model option")
    if len(options) < 2:
        return
    choose = (
        "const select = document.getElementById(arguments[0]); select.value = arguments[1];"
        "select.dispatchEvent(new Event('change'))"
    )
    browser.run(choose, "filter-other", "1")
    wait(browser, "return listed().length", lambda number: number == 2)
    heads = "return listed().map(each => each.label)"
    assert browser.run(heads) == options[:2]
    browser.run(choose, "filter-sort", "differ")
    differences = browser.run("return rows.slice(0, 20).map(row => row.merit)")
    assert differences == sorted(differences, reverse=True)
    browser.run(choose, "filter-other", "")


def _the_address_shows_the_sample_again(browser: Browser, run: Path) -> None:
    browser.click(browser.find("#list .row:nth-child(2)"))
    title = wait(browser, TITLE)
    address = str(browser.run("return location.hash"))
    assert address.startswith("#samples?")
    browser.run("location.hash = ''; location.reload()")
    wait(browser, IS_READY)
    browser.run("location.hash = arguments[0]", address)
    wait(browser, TITLE, lambda text: text == title)


def _tables_sort(browser: Browser) -> None:
    column = (
        "return [...document.querySelector('#overview .printed table').tBodies[0].rows]"
        ".map(row => row.cells[1].textContent)"
    )
    before = browser.run(column)
    head = browser.find("#overview .printed th:nth-child(2)")
    browser.click(head)
    assert sorted(browser.run(column)) == sorted(before)
    browser.click(head)
    browser.click(head)
    assert browser.run(column) == before
