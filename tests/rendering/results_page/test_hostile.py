"""Texts of data sets and of users that are HTML, scripts, links, control characters, or very long."""

from pathlib import Path

import polars as pl
import yaml
from PIL import Image

from benchc.rendering.declaration import figure, table
from benchc.rendering.results_page.content import page_content
from benchc.rendering.results_page.declaration import Bars, ResultsPage
from benchc.rendering.results_page.html import page_html
from benchc.rendering.results_page.script import as_script
from benchc.schemas.models import Model, Models, models_text
from tests.browser import Browser, chromium
from tests.page_clicks import IS_READY, TITLE, WIDER, wait
from tests.rendering.results_page.made_up import answers, questions, samples, write_page

RUN = "window.ran = 1; alert(1)"
TEXTS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<img src=x onerror='{RUN}'>",
    f'"><svg onload="{RUN}">',
    f"' onmouseover='{RUN}' x='",
    f"[click](javascript:{RUN}) <javascript:{RUN}> **bold** `code` | cell",
    "{{ 7 * 7 }} {% raw %} ${7 * 7} $\\frac{1}{2}$ \\(x\\)",
    "\u202eright to left\u202d \u2066isolate \u200f",
    "null \x00 bell \x07 tab \t line\nfeed \u2028 separator \x1b[31m \ufeff",
    "Z" * 10_000,
    "word " * 2_000,
    "z\u0300\u0301\u0302" * 500,
    "\U0001f469\u200d\U0001f52c 日本語 العربية",
    "",
]
IDS = [f"s/{place} {text[:200]}" for place, text in enumerate(TEXTS)]
LABEL = TEXTS[2] + TEXTS[0] + TEXTS[9][:300]
NAMES = {"m": LABEL, "n": f"{TEXTS[7]} {TEXTS[4]}"}
LIVE = (
    "return [...document.querySelectorAll('*')].filter(each => [...each.attributes]"
    ".some(one => one.name.startsWith('on') || one.value.trim().startsWith('javascript:'))).length"
)
RECORD = "return document.querySelectorAll('#record tr').length"
# Of the page's own alone.
SCRIPTS = "return document.querySelectorAll('body script').length"
PAINTED = "return [...document.querySelectorAll('svg')].filter(each => !each.closest('.bar-cell')).length"


def whole_page(folder: Path) -> Path:
    """Write a page with all its sections, whose texts are TEXTS."""
    of = questions(TEXTS, options=[[text, "no"] for text in TEXTS], hint=TEXTS, id=IDS, sample=IDS)
    of = of.with_columns(source=pl.Series(TEXTS), task=pl.Series(TEXTS[::-1]))
    given = answers(IDS, {(IDS[0], "fog", 2): 0.1})
    replies = [text for text in TEXTS for _ in range(given.height // len(TEXTS))]
    by_model = {id_: given.with_columns(reply=pl.Series(replies), note=pl.lit(LABEL)) for id_ in NAMES}
    facts = pl.DataFrame({"sample": IDS, LABEL: TEXTS})
    write_page(folder, samples(of, by_model, labels=NAMES, facts=facts, right=LABEL, note=LABEL))
    for name in ("tables", "figures", "sources"):
        (folder / name).mkdir()
    models = {id_: Model(id_, label) for id_, label in NAMES.items()}
    (folder / "models.json").write_text(models_text(Models(LABEL, models)))
    config = {"seed": 1, "corruptions": {"types": ["fog"], "severities": [1, 2]}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "config-sources.yaml").write_text(yaml.safe_dump({LABEL: {"path": TEXTS[1], "md5": TEXTS[3]}}))
    report = pl.DataFrame({"id": IDS, "kind": "rejected", "reason": TEXTS})
    report.write_csv(folder / "sources/s.report.csv")
    bars = pl.DataFrame({"model": [*NAMES.values()], "ras": [0.1, 0.2], "low": 0.0, "high": 0.3})
    bars.write_csv(folder / "tables/main.csv")
    cells = [text.replace("|", "").replace("\n", " ") for text in TEXTS if text]
    rows = "\n".join(f"| {text} | 1 |" for text in cells)
    (folder / "tables/main.md").write_text(f"| {cells[0]} | n |\n| --- | ---: |\n{rows}\n")
    pl.DataFrame({TEXTS[1]: TEXTS, "n": 1}).write_csv(folder / "tables/long.csv")
    Image.new("RGB", (4, 4)).save(folder / "figures/shown.png")
    Image.new("RGB", (4, 4)).save(folder / "figures/shown.pdf")
    caption = "\n\n".join([f"`go <javascript:{RUN}>`_", ".. raw:: html\n\n   <b onclick='1'>x</b>", *cells])
    outputs = [
        table("main", TEXTS[3], inputs={}, caption=caption, formats=["csv", "md"]),
        table("long", TEXTS[0], inputs={}, caption=caption, formats=["csv"]),
        figure("shown", TEXTS[2], inputs={}, caption=caption),
    ]
    shown = Bars(label=LABEL, table="tables/main.csv", value="ras", low="low", high="high", chance=0.05)
    declared = ResultsPage(purpose=LABEL, main_table="main", main_figure="shown", claims="long", bars=[shown])
    content = page_content(folder, declared, outputs)
    call = dict.fromkeys(("command", "host", "executor", "start", "end", "result", "revision"), TEXTS[3])
    call |= {"jobs": 1, "tried_again": 1, "modified": TEXTS, "snakemake": LABEL, "python": LABEL}
    cost = {"jobs": 1, "seconds": 1.0, "longest_seconds": 1.0, "peak_mb": 1, "asked_mb": None}
    record = {
        "calls": [{**call, "benchc": LABEL, "end": None}, {**call, "benchc": LABEL}],
        "stages": {text: {**cost, "hosts": [text], "gpus": TEXTS} for text in TEXTS},
        "outputs": {"figures/shown.png": {"rule": LABEL, "inputs": {text: text for text in TEXTS}}},
    }
    (folder / "page/run.js").write_text(as_script("run", record))
    page = folder / "index.html"
    page.write_text(page_html(LABEL, LABEL, [{"base": "", "name": LABEL}], content), encoding="utf-8")
    return page


def nothing_runs(browser: Browser) -> None:
    assert browser.run("return window.ran") is None
    assert (browser.run(LIVE), browser.run(SCRIPTS), browser.run(PAINTED)) == (0, 2, 0)


def test_nothing_runs_and_all_texts_are_shown_as_they_are(tmp_path: Path) -> None:
    page = whole_page(tmp_path / "page")
    with chromium(tmp_path) as browser:
        for width in (1366, 400):
            browser.resize(width, 900)
            browser.open(page)
            wait(browser, IS_READY)
            wait(browser, RECORD)
            browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
            nothing_runs(browser)
            assert browser.run(WIDER) == 0
            for place, id_ in enumerate(IDS):
                browser.run("change({sample: arguments[0], model: '0'})", id_)
                wait(browser, TITLE, lambda title, id_=id_: title == id_)
                assert browser.run(WIDER) == 0, (width, id_)
                if width < 1366:
                    continue
                assert browser.texts("#detail .ask") == [TEXTS[place]]
                option = browser.texts("#detail .answers tr.answer th")[0]
                assert option == f"A. {TEXTS[place]}"
                assert browser.texts("#detail .reply > span")[0] == (TEXTS[place] or "(empty)")
                assert not TEXTS[place] or TEXTS[place] in browser.texts("#detail .note")
            nothing_runs(browser)
        # The address has the whole id, and filters by a source have no markup.
        browser.run("change({sample: arguments[0]})", IDS[8])
        address = str(browser.run("return location.hash"))
        browser.open(page.parent / "config.yaml")
        browser.open(page, address)
        wait(browser, TITLE, lambda title: title == IDS[8])
        assert {*TEXTS} == {*browser.texts("#filter-source option")[1:]}
        labels = browser.texts("a[data-model]")
        assert sorted(labels) == sorted(NAMES.values())
        nothing_runs(browser)
        assert browser.messages() == []
