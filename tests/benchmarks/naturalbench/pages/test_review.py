"""The review form in a browser: what is shown and asked, and the CSV file that it saves."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchc.benchmarks.naturalbench.curation.review_csv import read_reviews
from benchc.benchmarks.naturalbench.curation.review_rows import pair_rows
from benchc.benchmarks.naturalbench.pages.review import review_page
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.rendering.page_image import LONGEST_SIDE
from tests.benchmarks.naturalbench.curation.reviewing import SAMPLES, questions, rows_of
from tests.benchmarks.naturalbench.drawn import drawn_captions
from tests.browser import ARROW_LEFT, ARROW_RIGHT, Browser, chromium

ENTER = "\ue007"
HOSTILE = '</script><script>document.title = "taken"</script><b>&amp;"'
ROWS = rows_of(questions(("p0", "yes_no", 0), ("p0", "multiple_choice", 1)))
PICTURE = drawn_captions(1)["bytes"][0]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


def reopened(page: Browser, text: str) -> Any:
    """Return place and chosen answer of a page that is opened inside another, whose storage it shares.

    A page that replaces the other may be of another process, which sees the storage of files late or never.
    """
    return page.run(
        "const frame = document.createElement('iframe'); frame.srcdoc = arguments[0];"
        "document.body.append(frame);"
        "return new Promise(resolve => { frame.onload = () => {"
        "  const found = frame.contentDocument, chosen = found.querySelector('#choices input:checked');"
        "  resolve([found.getElementById('place').textContent, chosen && chosen.value]); }; });",
        text,
    )


def page_of(rows, annotator="anna", **images):
    keys = dict.fromkeys(key for row in rows for key in row.images)
    files = [(key, images.get(key, PICTURE)) for key in keys]
    return "".join(
        review_page(rows, files, title="Set: round 0", annotator=annotator, file="reviews/0/anna.csv")
    )


def opened(browser: Browser, path: Path, rows=ROWS, **options) -> Browser:
    path.write_text(page_of(rows, **options), encoding="utf-8")
    browser.open(path)
    return browser


def test_a_round_is_answered_by_keyboard_saved_and_read_back(browser, tmp_path):
    page = opened(browser, tmp_path / "anna.html")
    assert page.texts("#place") == ["1 of 4, 0 answered"] and page.texts("#title") == ["Set: round 0"]
    assert page.texts("#question") == [ROWS[0].question]
    body = page.find("body")
    page.press(body, "1", ENTER, "2", ARROW_RIGHT)
    assert page.texts("#question") == [ROWS[2].question]
    assert page.texts("#choices label span") == ["A: dog", "B: cat", "Unanswerable"]
    # 4 is no choice.
    page.press(body, "3", "4", ENTER)
    assert page.texts("#place") == ["4 of 4, 3 answered"]
    page.press(body, ARROW_LEFT, "1", ENTER, ENTER, ENTER)
    assert page.run("return document.querySelector('#choices input:checked')") is None
    page.click(page.find("#choices label:nth-child(2)"))
    assert page.texts("#place") == ["4 of 4, 4 answered"]
    assert page.run("return [rule.hidden, document.getElementById('pair-rule').hidden]") == [False, True]
    assert page.texts("#status") == ["All rows have an answer: save the CSV file."]
    folder = tmp_path / "reviews"
    folder.mkdir()
    (folder / "anna.csv").write_text(page.run("return csv()"), encoding="utf-8")
    found = read_reviews(ROWS, ["anna"], folder, tmp_path, "0")
    assert found["answer"].to_list() == [0, 1, 0, 1]


def test_the_save_button_gives_a_file_with_the_annotators_name(browser, tmp_path):
    page = opened(browser, tmp_path / "bob.html", annotator="bob")
    page.run(
        "window.saved = []; URL.createObjectURL = blob => { window.blob = blob; return 'blob:x'; };"
        "HTMLAnchorElement.prototype.click = function () { window.saved.push(this.download); };"
    )
    page.press(page.find("body"), "2")
    page.click(page.find("#save"))
    assert page.run("return window.saved") == ["bob.csv"]
    assert page.texts("#status") == ["Saved bob.csv, in which 3 rows still have no answer."]
    assert page.run("return window.blob.size") == len(page.run("return csv()"))
    lines = list(csv.reader(io.StringIO(page.run("return csv()"))))
    assert lines[0] == ["id", "annotator", "answer"]
    page.run("rows.forEach(row => { answers[row.id] = row.choices[0]; }); save();")
    assert page.texts("#status") == ["Saved bob.csv: move it to reviews/0/anna.csv"]
    assert lines[1:] == [[f"r{row.id}", "bob", "No" if row is ROWS[0] else ""] for row in ROWS]


def test_answers_survive_a_reload_but_not_another_form(browser, tmp_path):
    page = opened(browser, tmp_path / "form.html", annotator="cleo")
    page.press(page.find("body"), "1", ENTER, "3")
    assert page.texts("#place") == ["2 of 4, 2 answered"]
    # It opens at the first row without an answer.
    assert reopened(page, page_of(ROWS, "cleo")) == ["3 of 4, 2 answered", None]
    page.run("go(3)")
    page.press(page.find("body"), "1")
    page.run("go(2)")
    page.press(page.find("body"), "1")
    # Where all are answered, it stays at the first.
    assert reopened(page, page_of(ROWS, "cleo")) == ["1 of 4, 4 answered", "Yes"]
    assert reopened(page, page_of(ROWS, "dora")) == ["1 of 4, 0 answered", None]
    other = rows_of(questions(("p0", "yes_no", 0), ("p0", "multiple_choice", 1)), 1)
    assert reopened(page, page_of(other, "cleo")) == ["1 of 4, 0 answered", None]


def test_a_button_goes_to_the_next_row_without_an_answer(browser, tmp_path):
    page = opened(browser, tmp_path / "form.html", annotator="finn")
    page.press(page.find("body"), "1", ENTER, "3")
    for number in (2, 3, 2):
        page.click(page.find("#open"))
        assert page.texts("#place") == [f"{number + 1} of 4, 2 answered"]
    page.press(page.find("body"), "1")
    page.click(page.find("#open"))
    page.press(page.find("body"), "1")
    # Where all are answered, it stays.
    page.click(page.find("#open"))
    assert page.texts("#place") == ["4 of 4, 4 answered"]


def test_a_window_that_does_not_see_earlier_answers_does_not_overwrite_them(browser, tmp_path):
    path = tmp_path / "form.html"
    page = opened(browser, path, annotator="eve")
    page.press(page.find("body"), "1", ENTER, "3")
    # As if they had not been there when the page was opened.
    page.run("answers = {}; go(3);")
    page.press(page.find("body"), "2")
    kept = page.run("return rows.map(row => localStorage.getItem(entry(row)))")
    assert kept == ["Yes", "Unanswerable", None, "B"]


def test_a_pair_is_shown_with_both_images_and_captions(browser, tmp_path):
    page = opened(browser, tmp_path / "pairs.html", pair_rows(SAMPLES)[:1])
    assert page.texts("figcaption") == ["Caption 1: dog 0", "Caption 2: cat 0"] and page.texts(
        "#choices label span"
    ) == [
        "Yes",
        "No",
    ]
    assert page.run("return [...document.images].map(each => each.naturalWidth > 0)") == [True, True]
    # Yes drops the pair (test_reviews.py).
    assert page.texts("#pair-rule")[0].startswith(
        "Answer Yes if caption 1 also fits image 2, or if caption 2 also"
    )
    assert page.run("return [rule.hidden, document.getElementById('pair-rule').hidden]") == [True, False]
    page.press(page.find("body"), "3")
    assert page.texts("#place") == ["1 of 1, 0 answered"]


def test_texts_are_shown_and_not_run(browser, tmp_path):
    rows = [row._replace(question=HOSTILE, options=(HOSTILE, "b") if row.options else ()) for row in ROWS]
    page = opened(browser, tmp_path / "hostile.html", rows[2:])
    assert page.texts("#question") == [HOSTILE] and page.texts("#choices label span")[0] == f"A: {HOSTILE}"
    assert page.run("return document.title") == "Set: round 0"


def test_an_empty_round_says_so(browser, tmp_path):
    page = opened(browser, tmp_path / "empty.html", [])
    assert (
        page.texts("#place") == ["nothing to review"] and page.run("return csv()") == "id,annotator,answer\n"
    )


def test_the_page_has_each_image_once_scaled_and_no_expected_answer(browser, tmp_path):
    large = encode_png(np.random.default_rng(1).integers(0, 255, (700, 1400, 3), np.uint8))
    text = page_of(ROWS, **{"set://a0": large})
    assert len(re.findall('id="image-', text)) == 2
    assert "expected" not in text and "q_idx" not in text
    assert "http" not in re.sub("http-equiv", "", text)
    page = opened(browser, tmp_path / "large.html", **{"set://a0": large})
    width, height = page.run("return [document.images[0].naturalWidth, document.images[0].naturalHeight]")
    assert (width, height) == (LONGEST_SIDE, LONGEST_SIDE // 2)


def test_a_damaged_image_is_named():
    with pytest.raises(
        InputError, match=r"^image set://b0: these 4 bytes are not a complete image .*; remove or"
    ):
        page_of(ROWS, **{"set://b0": b"JFIF"})
