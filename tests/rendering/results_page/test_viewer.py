"""The sample viewer in a browser: what it shows of made-up answers, and of hostile texts."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from benchc.rendering.results_page.content import page_content
from benchc.rendering.results_page.html import page_html
from benchc.rendering.results_page.script import as_script
from tests.browser import ARROW_LEFT, ARROW_RIGHT, Browser, chromium
from tests.page_clicks import COUNT, IS_READY, LEVEL, TITLE, wait
from tests.rendering.results_page.made_up import answers, questions, samples, write_page
from tests.rendering.results_page.test_content import OUTPUTS, PAGE, run  # noqa: F401  (fixture)

TEXTS = ["How many birds?", "Is it red?", "Which way?", "Is it a very cold day?"]
IDS = [f"s/{number}" for number in range(len(TEXTS))]
# a loses s/1 under fog 2 and s/2 under blur 1; b loses s/2 alone, and corruption makes s/3 right.
OF_A = answers(IDS, {("s/1", "fog", 2): 0.1, ("s/2", "blur", 1): 0.4})
OF_B = answers(IDS, {("s/2", "blur", 1): 0.2, ("s/3", "clean", 0): 0.3})
ROWS = (
    "return [...document.querySelectorAll('#list .row')].map(each => each.querySelector('.text').textContent)"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        found.resize(1366, 900)
        yield found


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    folder = tmp_path / "a folder #1"  # as a user may call it
    browser.open(write_page(folder, samples(questions(TEXTS), {"a": OF_A, "b": OF_B})))
    wait(browser, IS_READY)
    return browser


def choose(page: Browser, key: str, value: str) -> None:
    page.run(
        "const select = document.getElementById(arguments[0]); select.value = arguments[1];"
        "select.dispatchEvent(new Event('change'))",
        f"filter-{key}",
        value,
    )


def test_what_changed_most_is_on_top(page: Browser) -> None:
    assert page.run(ROWS)[:2] == ["Is it red? · yes · no", "Which way? · yes · no"]
    assert page.texts("#list .row:first-child .scenario") == ["fog 2"]
    # Of b, the loss of s/2 comes before the gain of s/3.
    choose(page, "model", "1")
    assert [row[:10] for row in page.run(ROWS)[:2]] == ["Which way?", "Is it a ve"]


def test_probabilities_clean_and_corrupted_are_shown_beside_each_other(page: Browser) -> None:
    wait(page, TITLE, lambda title: title == "s/1")
    assert [text.strip() for text in page.texts("#detail .answers td:nth-child(2)")][:2] == [
        "0.90 → 0.10",
        "0.10 → 0.90 ◄",
    ]
    outlines = "return [...document.querySelectorAll('#detail .outline')].map(each => each.style.width)"
    assert page.run(outlines)[0] == "90%"
    assert page.texts("#detail .mark")[0] == "✓→✗"
    assert page.texts("#detail .measures td")[0] == "RAS −0.800"


def test_points_that_are_printed_as_0_have_no_sign(page: Browser) -> None:
    assert page.run("return [-0.6, -0.4, 0, 0.4, 0.6].map(signed)") == ["−1", "0", "0", "0", "+1"]


def test_outcomes_and_corruptions_filter(page: Browser) -> None:
    choose(page, "outcome", "rw")
    assert page.run(COUNT) == "2 of 4 samples"
    choose(page, "corruption", "blur")
    assert page.run(COUNT) == "1 of 4 samples"
    choose(page, "severity", "2")
    assert page.run(COUNT) == "0 of 4 samples"
    assert page.texts("#detail")[0] == "No sample fits these filters."
    page.click(page.find("#clear"))
    assert page.run(COUNT) == "4 of 4 samples"


def test_charts_have_the_means_of_the_answers(page: Browser) -> None:
    bars = page.texts(".chart[data-key=corruption] .bar")
    # Each corruption has 8 answers of a, one of which is wrong.
    assert bars == ["fog88", "blur88"]
    assert page.texts(".chart[data-key=outcome] .bar")[:2] == ["right → wrong13", "wrong → right0"]
    page.click(page.find(".chart[data-key=severity] .bar"))
    assert page.run("return state.severity") == "1"
    assert page.texts(".chart[data-key=corruption] .bar") == ["blur75", "fog100"]


def test_two_models_are_compared(page: Browser) -> None:
    choose(page, "other", "1")
    choose(page, "outcome", "second")
    # a is worse than b on s/1 alone.
    assert page.run(ROWS) == ["Is it red? · yes · no"]
    assert page.texts("#detail .answers tr:first-child th")[1:] == ["A", "B"]


def test_keys_step_through_severities_and_the_image_stays_at_its_place(page: Browser) -> None:
    wait(page, TITLE, lambda title: title == "s/1")
    strip = "const image = document.querySelectorAll('#detail .frame img')[1]; return image.style.transform"
    body = page.find("body")
    shown = {page.run(LEVEL): page.run(strip)}
    page.press(body, ARROW_LEFT)
    shown[wait(page, LEVEL, lambda level: level == "1")] = page.run(strip)
    assert shown == {"2": f"translateY({-200 / 3:.4f}%)", "1": f"translateY({-100 / 3:.4f}%)"}
    page.press(body, ARROW_RIGHT, ARROW_RIGHT)
    wait(page, LEVEL, lambda level: level == "2")


def test_a_corruption_without_images_says_so(page: Browser) -> None:
    page.run("change({seen: 'blur', level: '1'})")
    wait(page, "return document.querySelectorAll('#detail .absent').length", lambda number: number == 1)
    assert page.texts("#detail .absent") == ["The page has no images under blur."]


def test_an_address_with_nonsense_is_an_address_without(browser: Browser, tmp_path: Path) -> None:
    path = write_page(tmp_path / "page", samples(questions(TEXTS), {"a": OF_A, "b": OF_B}))
    browser.open(path)
    nonsense = "model=99&corruption=none&severity=x&sample=s%2F9&sort=fact-7&outcome=state-5&source=8&seen=y"
    browser.run("location.hash = arguments[0]", f"#samples?{nonsense}")
    browser.run("location.reload()")
    wait(browser, IS_READY)
    assert str(browser.run(COUNT)).endswith("of 4 samples")


def test_two_runs_show_the_samples_that_both_have(browser: Browser, tmp_path: Path) -> None:
    first = samples(questions(TEXTS), {"a": OF_A})
    write_page(tmp_path / "one", first)
    of_three = answers(IDS[:3], {("s/0", "fog", 1): 0.2})
    # The third has an id of the first run, and another question.
    write_page(tmp_path / "two", samples(questions([*TEXTS[:2], "Other?"]), {"a": of_three}))
    runs = [{"base": "one/", "name": "one"}, {"base": "two/", "name": "two"}]
    page = tmp_path / "index.html"
    page.write_text(page_html("both", "both", runs, None))
    browser.open(page)
    wait(browser, IS_READY)
    assert browser.run(COUNT) == "2 of 2 samples"
    assert browser.texts("#filter-model option") == ["A (one)", "A (two)"]
    differing = {text[:6] for text in browser.run(ROWS)}
    assert differing == {"How ma", "Is it "}
    assert browser.run("return rows.map(row => Math.round(row.merit))") == [1, 1]


def test_samples_without_corrupted_answers_show_the_clean_ones(browser: Browser, tmp_path: Path) -> None:
    clean = {id_: each.filter(corruption="clean") for id_, each in {"a": OF_A, "b": OF_B}.items()}
    browser.open(write_page(tmp_path / "page", samples(questions(TEXTS), clean)))
    wait(browser, IS_READY)
    assert browser.run(COUNT) == "4 of 4 samples"
    assert {*browser.texts("#list .row .scenario")} == {"clean"}
    choose(browser, "model", "1")
    # The wrong one of b is found.
    choose(browser, "outcome", "ww")
    assert browser.run(ROWS) == ["Is it a very cold day? · yes · no"]
    choose(browser, "corruption", "fog")
    assert browser.run(COUNT) == "0 of 4 samples"
    assert browser.messages() == []


def test_each_image_of_a_group_is_called_by_its_question(browser: Browser, tmp_path: Path) -> None:
    names = [f"question {q}, image {i}" for q in (1, 2) for i in (1, 2)]
    for shared, captions in ((False, names), (True, ["image 1", "image 2"])):
        keys = [[f"k{number % 2 if shared else number}"] for number in range(4)]
        of = questions(TEXTS, sample=["g"] * 4, name=[*names], image_keys=[*keys])
        facts = pl.DataFrame({"sample": ["g"]})
        browser.open(write_page(tmp_path / str(shared), samples(of, {"a": OF_A}, facts=facts)))
        wait(browser, TITLE, lambda title: title == "g")
        found = browser.texts("#detail .images figcaption")
        assert found[::2] == [f"{caption}: clean" for caption in captions]
        assert browser.texts("#detail .group th")[1:5] == names
        assert browser.texts("#detail .group .mark")[1] == "✓→✗"


def test_a_page_without_samples_has_names_and_tables_that_sort(
    browser: Browser,
    run: Path,  # noqa: F811
) -> None:
    cells = ["540", "750k", "\u2013", "48.1k", "1,200", "\u22127 [\u22129, 1]", "2M", "\u2013"]
    rows = "".join(f"| {cell} | {number} |\n" for number, cell in enumerate(cells))
    (run / "tables/main.md").write_text(f"| n | at |\n| --- | --- |\n{rows}")
    page = run / "index.html"
    page.write_text(page_html("alone", "alone", [], page_content(run, PAGE, OUTPUTS)), encoding="utf-8")
    (run / "page").mkdir()
    (run / "page/run.js").write_text(as_script("run", {"calls": [], "stages": {}, "outputs": {}}))
    browser.open(page)
    column = (
        "return [...document.querySelectorAll('.printed tbody td:first-child')].map(each => each.textContent)"
    )
    head = browser.find(".printed th")
    sorted_cells = ["2M", "750k", "48.1k", "1,200", "540", "\u22127 [\u22129, 1]"]
    browser.click(head)
    assert browser.run(column) == [*sorted_cells, "\u2013", "\u2013"]
    browser.press(head, "\ue007")  # Enter
    assert browser.run(column) == [*sorted_cells[::-1], "\u2013", "\u2013"]
    browser.click(head)
    assert browser.run(column) == cells
    browser.click(browser.find("a[data-model]"))
    assert browser.messages() == []


def test_an_answer_without_a_grade_on_the_clean_image_is_not_a_wrong_one(
    browser: Browser, tmp_path: Path
) -> None:
    unknown = pl.when((pl.col("id") == "s/0") & (pl.col("severity") == 0)).then(None).otherwise("grade")
    of = samples(questions(TEXTS), {"a": OF_A.with_columns(grade=unknown)})
    browser.open(write_page(tmp_path / "page", of))
    wait(browser, IS_READY)
    titles = (
        "return [...document.querySelectorAll('.chart[data-key=corruption] .bar')].map(each => each.title)"
    )
    assert browser.run(titles) == [f"{name}: 87.5 %, 8 answers; clean 100.0 %" for name in ("fog", "blur")]
