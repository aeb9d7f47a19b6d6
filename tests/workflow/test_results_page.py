"""The results pages of finished runs of Bench-C in a browser: of one run, and of two beside each other."""

import json
from pathlib import Path

import polars as pl

from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from scripts.commands.view import view
from tests.browser import chromium
from tests.page_answers import choose, opened, use
from tests.page_clicks import COUNT, IS_READY, TITLE, WIDER, wait


def graded(run: Path, model: str) -> pl.DataFrame:
    """Return whether the most probable option is right, by item and scenario."""
    right = read_table(run / "pool/items.parquet", POOL, ["id", "answer"])
    files = sorted((run / f"predictions/selected/{model}").glob("*.parquet"))
    rows = pl.concat([read_table(path, PREDICTIONS) for path in files]).join(right, on="id")
    grade = (pl.col("logits").list.arg_max() == pl.col("answer")).cast(pl.Float64)
    return rows.select("corruption", "severity", sample="id", grade=grade)


def test_the_page_of_a_run_is_used(finished, tmp_path):
    run = finished.folder / "results/small"
    with opened(run, tmp_path) as browser:
        use(browser, run, graded(run, "other"))


def test_the_page_shows_the_record_of_the_run(finished, tmp_path):
    run = finished.folder / "results/small"
    record = json.loads((run / "run.json").read_text())
    with chromium(tmp_path) as browser:
        browser.resize(1366, 900)
        browser.open(run / "index.html")
        wait(browser, "return document.querySelectorAll('#record tbody tr').length")
        rules = browser.run(
            "return [...document.querySelectorAll('#record tbody tr')].map(row => row.cells[0].textContent)"
        )
        assert rules == sorted(record["stages"], key=lambda rule: -record["stages"][rule]["seconds"])
        shown = browser.run(
            "return [...document.querySelectorAll('figure p.files')].map(files => ["
            "files.querySelector('a').getAttribute('href'),"
            " [...files.nextElementSibling.querySelectorAll('dt, dd')].map(each => each.textContent)])"
        )
        assert shown
        for path, texts in shown:
            assert dict(zip(texts[::2], texts[1::2], strict=True)) == record["outputs"][path]["inputs"]
        assert browser.messages() == []


def test_two_runs_are_shown_beside_each_other(finished, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # Results may be on another disk.
    (tmp_path / "disk/for/results").mkdir(parents=True)
    (tmp_path / "results").symlink_to("disk/for/results")
    folder = finished.folder / "results"
    view(folder / "small", folder / "fly", no_open=True)
    page = Path(capsys.readouterr().out.strip())
    assert page == Path("results/.view/small--fly/index.html")
    (tmp_path / "profile").mkdir()
    with chromium(tmp_path / "profile") as browser:
        browser.resize(1366, 900)
        browser.open(page)
        wait(browser, IS_READY)
        models = ["Other (small)", "Trained (small)", "Other (fly)", "Trained (fly)"]
        assert browser.texts("#filter-model option") == models
        assert browser.run("return listed().map(each => each.label)") == [models[0], models[2]]
        # The images of both were made in different jobs, and the answers are the same.
        assert {*browser.run("return rows.map(row => row.found.grade - row.against.grade)")} == {0}
        count = browser.run(COUNT)
        choose(browser, "outcome", "differ")
        wait(browser, COUNT, lambda text: str(text).startswith("0 of"))
        browser.click(browser.find("#clear"))
        wait(browser, COUNT, lambda text: text == count)
        # Different models differ, most first.
        choose(browser, "other", "3")
        choose(browser, "sort", "differ")
        merits = browser.run("return rows.map(row => row.merit)")
        assert merits == sorted(merits, reverse=True) and merits[0] > 0
        # A model alone, which the address says, too.
        choose(browser, "other", "")
        wait(browser, "return listed().length", lambda number: number == len(models))
        address = str(browser.run("return location.hash"))
        title = wait(browser, TITLE)
        browser.open(finished.folder / "config/small.yaml")
        browser.open(page, address)
        wait(browser, IS_READY)
        assert browser.run("return [state.other, state.sort]") == ["", "change"]
        assert wait(browser, TITLE) == title and browser.run(WIDER) == 0
        assert browser.run("return document.querySelector('#detail .frame img').src").startswith("file://")
        images = "return [...document.querySelectorAll('#detail .frame img')].map(each => each.naturalWidth)"
        wait(browser, images, lambda found: len(found) > 1 and all(found))  # type: ignore[arg-type]
        assert browser.messages() == []
