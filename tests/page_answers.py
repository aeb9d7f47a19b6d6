"""Uses the results page of a finished run in a browser, and compares it with the run's own tables."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from benchc.schemas.page_items import PAGE_ITEMS
from benchc.schemas.parquet import read_table
from scripts.commands.view import view
from tests.browser import ARROW_LEFT, ARROW_RIGHT, Browser, chromium
from tests.page_clicks import COUNT, IS_READY, LEVEL, STRIP, TITLE, WIDER, wait

NUMBER = re.compile(r"([-−+]?[\d,]+(?:\.\d+)?)(k?)( \[.*\])?")
SHOWN = "return rows.map(row => shared.ids[samples[row.place][0]])"
BARS = (
    "return Object.fromEntries([...document.querySelectorAll(`.chart[data-key=${arguments[0]}] .bar`)]"
    ".map(bar => [bar.dataset.focus.split(' ').slice(1).join(' '), bar.querySelector('.value').textContent]))"
)
VISITED = "return performance.getEntriesByType('resource').map(each => each.name)"
FRAMES = "return [...document.querySelectorAll('#detail .frame img')].map(each => each.naturalWidth)"
THEME = "return [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]"


@contextmanager
def opened(run: Path, scratch: Path) -> Iterator[Browser]:
    """Open a copy of the page of a run, in a folder as users call it; no message is left in the console."""
    folder = scratch / "a run #1 at 100 %"
    view(run, copy=folder, no_open=True)
    with chromium(scratch) as browser:
        browser.resize(1366, 900)
        browser.open(folder / "index.html")
        wait(browser, IS_READY)
        yield browser
        assert browser.messages() == []
        assert all(name.startswith(folder.resolve().as_uri()) for name in browser.run(VISITED))


def choose(browser: Browser, key: str, value: str) -> None:
    """Choose an option of a filter."""
    browser.run(
        "const select = document.getElementById(arguments[0]);"
        "if (![...select.options].some(each => each.value === arguments[1])) throw new Error('no option');"
        "select.value = arguments[1]; select.dispatchEvent(new Event('change'))",
        f"filter-{key}",
        value,
    )


def shown(browser: Browser, script: str, wanted: object) -> None:
    """Wait until a script returns what is wanted."""
    wait(browser, script, lambda found: found == wanted)


def use(browser: Browser, run: Path, answers: pl.DataFrame, threshold: float = 1.0) -> None:
    """Use every control of the page.

    ``answers``: sample, corruption, severity and grade of the first model of the page, from the run's tables.
    """
    samples = (
        read_table(run / "page/chosen.parquet", PAGE_ITEMS)["sample"].unique(maintain_order=True).to_list()
    )
    answers = answers.filter(pl.col("sample").is_in(samples))
    _charts_have_the_means(browser, answers)
    _filters_count(browser, answers, len(samples), threshold)
    _search_finds(browser, samples)
    _samples_and_severities_step(browser, answers)
    _models_and_orders(browser, samples)
    _address_is_what_is_shown(browser, run)
    _theme_changes(browser)
    _tables_sort(browser)
    _other_pages_open(browser, run)
    # A copy has none.
    assert browser.texts("#record")[0].startswith("The record of the run is not beside this page")
    for width in (1366, 400):
        browser.resize(width, 900)
        assert browser.run(WIDER) == 0, width
    browser.resize(1366, 900)


def _charts_have_the_means(browser: Browser, answers: pl.DataFrame) -> None:
    of_corruption = answers.filter(pl.col("corruption") != "clean")
    for key in ("corruption", "severity"):
        means = of_corruption.group_by(key).agg(pl.col("grade").mean()).drop_nulls()
        found = browser.run(BARS, key)
        assert {*found} == {str(name) for name in means[key]}
        for name, mean in means.iter_rows():
            assert abs(float(found[str(name)]) - 100 * mean) < 0.51, (key, name)


def _filters_count(browser: Browser, answers: pl.DataFrame, samples: int, threshold: float) -> None:
    right = answers.with_columns(right=pl.col("grade") >= threshold).drop_nulls("grade")
    clean = right.filter(corruption="clean").select("sample", before="right")
    cells = right.filter(pl.col("corruption") != "clean").join(clean, on="sample")

    def count(**cell: object) -> str:
        return f"{cells.filter(**cell)['sample'].n_unique():,} of {samples:,} samples"

    shown(browser, COUNT, count())
    for outcome, (before, after) in {"rw": (True, False), "wr": (False, True)}.items():
        choose(browser, "outcome", outcome)
        kept: dict[str, object] = {"before": before, "right": after}
        shown(browser, COUNT, count(**kept))
        for name in cells["corruption"].unique().sort()[:1]:
            browser.click(browser.find(f'[data-focus="corruption {name}"]'))
            shown(browser, COUNT, count(corruption=name, **kept))
            severity = cells.filter(corruption=name)["severity"].max()
            browser.click(browser.find(f'[data-focus="severity {severity}"]'))
            shown(browser, COUNT, count(corruption=name, severity=severity, **kept))
            expected = {*cells.filter(corruption=name, severity=severity, **kept)["sample"]}
            assert {*browser.run(SHOWN)} == expected
            browser.click(browser.find(f'[data-focus="severity {severity}"]'))
            browser.click(browser.find(f'[data-focus="corruption {name}"]'))
            shown(browser, COUNT, count(**kept))
    browser.click(browser.find("#clear"))
    shown(browser, COUNT, count())


def _search_finds(browser: Browser, samples: list[str]) -> None:
    wanted = samples[-1].upper()
    browser.press(browser.find("#filter-text"), wanted)
    found = [id_ for id_ in samples if wanted in id_.upper()]
    wait(browser, SHOWN, lambda ids: {*found} <= {*ids} and len(ids) < len(samples))  # type: ignore[misc]
    browser.press(browser.find("#filter-text"), " no such text")
    shown(browser, SHOWN, [])
    assert "No sample" in browser.texts("#detail")[0]
    browser.click(browser.find("#clear"))
    wait(browser, SHOWN)
    assert browser.run("return document.getElementById('filter-text').value") == ""


def _samples_and_severities_step(browser: Browser, answers: pl.DataFrame) -> None:
    ids = browser.run(SHOWN)
    browser.click(browser.find("#list .row"))
    shown(browser, TITLE, ids[0])
    browser.click(browser.find("#detail .steps button:nth-child(2)"))
    shown(browser, TITLE, ids[1])
    browser.click(browser.find("#detail .steps button:nth-child(1)"))
    shown(browser, TITLE, ids[0])
    assert browser.texts("#list .row[aria-current=true]") == browser.texts("#list .row:first-child")
    # At the first one, there is no previous one.
    browser.press(browser.find("body"), "k")
    shown(browser, TITLE, ids[0])
    levels = browser.texts("#detail .levels button:not([disabled])")
    corruption = browser.run("return document.querySelector('#detail .controls select').value")
    own = answers.filter(pl.col("sample") == ids[0], pl.col("corruption") == corruption)
    assert levels == [str(level) for level in own["severity"].unique().sort()]
    _wait_for_images(browser)
    if len(levels) > 1:
        browser.press(browser.find("body"), *[ARROW_LEFT] * len(levels))
        strips = {}
        for level in levels:
            shown(browser, LEVEL, level)
            strips[level] = str(browser.run(STRIP))
            browser.press(browser.find("body"), ARROW_RIGHT)
        shown(browser, LEVEL, levels[-1])
        # Each severity is another part of the strip, the second and the following ones.
        places = [float(re.findall(r"-[\d.]+", text)[0]) for text in strips.values()]
        step = places[0]
        assert step < 0 and all(
            abs(place - number * step) < 1e-3 for number, place in enumerate(places, start=1)
        )
    browser.press(browser.find("body"), "c")
    names = browser.run(
        "return [...document.querySelector('#detail .controls select').options].map(each => each.value)"
    )
    wanted = names[(names.index(corruption) + 1) % len(names)]
    shown(browser, "return document.querySelector('#detail .controls select').value", wanted)


def _wait_for_images(browser: Browser) -> None:
    """Wait until all images that are shown are read."""
    assert browser.run(FRAMES)
    wait(browser, FRAMES, lambda found: all(found))  # type: ignore[arg-type]


def _models_and_orders(browser: Browser, samples: list[str]) -> None:
    labels = browser.texts("#filter-model option")
    assert len(labels) > 1
    choose(browser, "model", "1")
    choose(browser, "other", "0")
    wait(browser, "return listed().length", lambda number: number == 2)
    heads = "return [...document.querySelectorAll('#detail .answers th')].map(each => each.textContent)"
    wait(browser, heads, lambda texts: labels[1] in texts and labels[0] in texts)  # type: ignore[operator]
    texts = browser.run(heads)
    assert texts.index(labels[1]) < texts.index(labels[0]) and not {*labels[2:]} & {*texts}
    # The rows where the two differ.
    choose(browser, "outcome", "differ")
    for row in browser.run("return rows.map(row => [row.found.grade, row.against.grade])"):
        assert row[0] != row[1]
    browser.click(browser.find("#clear"))
    choose(browser, "model", "0")
    choose(browser, "sort", "order")
    ids = browser.run(SHOWN)
    assert ids == [id_ for id_ in samples if id_ in ids]
    for value in browser.run(
        "return [...document.getElementById('filter-sort').options].map(each => each.value)"
    ):
        if value.startswith("fact-"):
            choose(browser, "sort", value)
            script = f"return rows.map(row => shared.facts[{value[5:]}].values[samples[row.place][0]])"
            numbers = [number for number in browser.run(script) if number is not None]
            assert len(numbers) > 1 and numbers == sorted(numbers, reverse=True)
    browser.click(browser.find("#clear"))


def _address_is_what_is_shown(browser: Browser, run: Path) -> None:
    choose(browser, "model", "1")
    browser.click(browser.find("#charts .chart[data-key=corruption] .bar"))
    corruption = browser.run("return state.corruption")
    browser.click(browser.find("#list .row:nth-child(2)"))
    # The sample's own level, so that the address has it.
    browser.click(browser.find("#detail .levels button:not([disabled])"))
    shots = (COUNT, TITLE, LEVEL, STRIP, "return document.getElementById('filter-model').value")
    before = [browser.run(script) for script in shots]
    address = str(browser.run("return location.hash"))
    folder = Path(str(browser.run("return decodeURIComponent(location.pathname)")))
    browser.open(folder, "#top")  # the same document
    browser.open(folder.parent / "config.yaml")
    browser.open(folder, address)
    wait(browser, IS_READY)
    for script, value in zip(shots, before, strict=True):
        shown(browser, script, value)
    assert corruption in address and browser.run("return state.corruption") == corruption
    browser.click(browser.find("#clear"))
    # Given in the open page, too.
    browser.run("location.hash = arguments[0]", address)
    for script, value in zip(shots, before, strict=True):
        shown(browser, script, value)
    browser.click(browser.find("#clear"))
    choose(browser, "model", "0")


def _theme_changes(browser: Browser) -> None:
    first = browser.run(THEME)
    browser.click(browser.find("#theme"))
    other = browser.run(THEME)
    browser.click(browser.find("#theme"))
    assert other[1] != first[1] == browser.run(THEME)[1]


def _tables_sort(browser: Browser) -> None:
    """A click on the head of a column of numbers sorts by them, the largest first, and then the smallest."""
    script = (
        "return [...document.querySelector('#overview .printed table').tBodies[0].rows]"
        ".map(row => row.cells[arguments[0]].textContent)"
    )
    # Not below what stays at the top of the window.
    browser.run("document.querySelector('#overview .printed').scrollIntoView({block: 'center'})")
    columns = range(len(browser.texts("#overview .printed th")))
    of_numbers = [at for at in columns if all(map(NUMBER.fullmatch, {*browser.run(script, at)} - {"–"}))]
    for column in of_numbers[-2:]:
        head = browser.find(f"#overview .printed th:nth-child({column + 1})")
        before = browser.run(script, column)
        for reverse in (True, False):
            browser.click(head)
            texts = browser.run(script, column)
            numbers = [number_in(text) for text in texts if text != "–"]
            assert numbers == sorted(numbers, reverse=reverse), (column, texts)
            # Cells without a number are last.
            assert "–" not in texts[: len(numbers)]
        browser.click(head)
        assert browser.run(script, column) == before


def number_in(text: str) -> float:
    """Return the first number of a cell."""
    found = NUMBER.match(text)
    assert found is not None, text
    return float(found[1].replace("−", "-").replace(",", "")) * (1000 if found[2] else 1)


def _other_pages_open(browser: Browser, run: Path) -> None:
    pages = sorted((run / "pages").glob("*.html")) if (run / "pages").is_dir() else []
    assert len(browser.texts("details[data-page]")) == len(pages)
    for path in pages:
        assert (
            browser.run(f"return document.querySelector('#{path.stem} iframe').getAttribute('src')") is None
        )
        browser.click(browser.find(f"#{path.stem} > summary"))
        frame = browser.find(f"#{path.stem} iframe")
        wait(browser, f"return document.querySelector('#{path.stem} iframe').getAttribute('src')")
        browser.enter(frame)
        wait(browser, "return document.readyState", lambda state: state == "complete")
        assert path.name in str(browser.run("return location.href"))
        assert browser.run("return document.body.textContent.trim().length") > 100
        browser.enter(None)
