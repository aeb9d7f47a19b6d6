import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchc.benchmarks.vqa_robustness.metrics.regions import winning_shares
from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, studied_weights, weights_of
from benchc.benchmarks.vqa_robustness.pages.weights import weights_page
from benchc.benchmarks.vqa_robustness.published.tables import published_table_a1
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
from benchc.benchmarks.vqa_robustness.tables.frames import HEADERS
from benchc.statistics.ranks import ranks
from tests.benchmarks.vqa_robustness.published import vre_of
from tests.browser import ARROW_LEFT, ARROW_RIGHT, END, HOME, Browser, chromium
from tests.stages import call_stage
from tests.standings import standings_of

EQUAL = (1.0,) * 5
HOSTILE = '</script><script>document.title = "taken"</script><b>&amp;'


def paper() -> Errors:
    table = published_table_a1()
    models, corruptions = (tuple(table[name].unique(maintain_order=True)) for name in ("model", "corruption"))
    return Errors(models, corruptions, table["error"].to_numpy().reshape(6, 14, 6))


def random_errors(seed: int) -> Errors:
    """Errors of seven models, of which two are equal and one has no VRE, and five corruptions."""
    values = np.random.default_rng(seed).uniform(0.05, 0.9, (7, 5, 6))
    values[4] = values[1]
    values[2, 3, 0] = 0
    return Errors(tuple("abcdefg"), tuple("uvwxy"), values)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture
def opened(browser: Browser, tmp_path: Path):
    """Return a function that opens the page of some errors."""

    def opened(errors: Errors, weights=EQUAL, scale: Scale | None = None, chance=None) -> Browser:
        path = tmp_path / "weights.html"
        path.write_text(weights_page(errors, weights, "0..5", scale, chance), encoding="utf-8")
        browser.open(path)
        return browser

    return opened


def shown(browser: Browser, table: str) -> dict[str, tuple[str, str]]:
    """Return the rank and VRE of each row by name."""
    columns = [browser.texts(f"#{table} td.{name}") for name in ("name", "rank", "vre")]
    return {name: (rank, value) for name, rank, value in zip(*columns, strict=True)}


def expected(names: tuple[str, ...], values: np.ndarray) -> dict[str, tuple[str, str]]:
    return {
        name.replace("_", " "): ("–", "–") if np.isnan(value) else (str(rank), f"{value:.4f}")
        for name, value, rank in zip(names, values, ranks(values), strict=True)
    }


def check(browser: Browser, errors: Errors, weights: tuple[float, ...], scale: Scale | None = None) -> None:
    found = vre_of(errors.values, weights_of(weights), scale)
    assert shown(browser, "models") == expected(errors.models, found.model)
    assert shown(browser, "corruptions") == expected(errors.corruptions, found.corruption)
    assert browser.texts("#sliders output") == [f"{weight:.3f}" for weight in weights_of(weights)]
    order = [int(rank) for rank in browser.texts("#models td.rank") if rank != "–"]
    assert order == sorted(order)


@pytest.mark.parametrize("weights", [EQUAL, (6, 1, 1, 1, 1), (0.3, 0.1, 0, 2.25, 0.7), (0, 0, 0, 900, 100)])
def test_the_page_opens_with_the_configured_weights(opened, weights):
    page = opened(paper(), weights)
    check(page, paper(), weights)
    # The sliders show them, in steps of 0.1 up to 10.
    shares = weights_of(weights)
    values = page.run("return [...document.querySelectorAll('input')].map(slider => slider.valueAsNumber)")
    np.testing.assert_allclose(values, min(sum(weights), 10 / shares.max()) * shares, atol=0.051)


def test_a_slider_that_is_moved_changes_ranks_and_vre(opened):
    page = opened(paper())
    before = shown(page, "models")
    page.press(page.find("#weight-3"), END)  # Average Error
    check(page, paper(), (1, 1, 1, 10, 1))
    assert before["ViLT"][0] == "1" and shown(page, "models")["ViLT"][0] == "5"
    page.press(page.find("#weight-0"), ARROW_RIGHT, ARROW_RIGHT, ARROW_RIGHT)
    page.press(page.find("#weight-4"), ARROW_LEFT)
    check(page, paper(), (1.3, 1, 1, 10, 0.9))


@pytest.mark.parametrize("seed", range(3))
def test_equal_models_share_a_rank_and_a_model_without_vre_has_none(opened, seed):
    errors = random_errors(seed)
    page = opened(errors, (1, 2, 3, 1, 2))
    check(page, errors, (1, 2, 3, 1, 2))
    rows = shown(page, "models")
    assert rows["b"] == rows["e"] and rows["c"] == ("–", "–")
    page.press(page.find("#weight-1"), HOME)
    check(page, errors, (1, 0, 3, 1, 2))
    assert "c has no VRE: its First-Drop under x is undefined" in "".join(page.texts("#notes"))


def test_buttons_set_the_weights_of_the_study(opened):
    page = opened(paper(), (1, 2, 3, 4, 5))
    names = page.texts("#presets button")
    assert len(names) == 7
    for number, weights in enumerate(studied_weights().values(), start=2):
        page.click(page.find(f"#presets button:nth-child({number})"))
        check(page, paper(), tuple(weights))
    page.click(page.find("#presets button:nth-child(1)"))
    check(page, paper(), (1, 2, 3, 4, 5))


def test_weights_of_zero_give_no_vre(opened):
    page = opened(paper())
    # The share of the weights with which each model wins.
    shares = winning_shares(vre_of(paper().values).model_parts)
    wins = dict(zip(page.texts("#wins td.name"), page.texts("#wins td:last-child"), strict=True))
    assert wins == {name: f"{100 * share:.1f} %" for name, share in zip(paper().models, shares, strict=True)}
    assert next(iter(wins)) == "ViLT" and "3 of 6 models have it" in "".join(page.texts("#statement"))
    for metric in range(len(METRICS)):
        page.press(page.find(f"#weight-{metric}"), HOME)
    assert page.texts("#models td") == []
    assert page.texts("#problem") == ["All weights are 0; raise one of them."]
    page.press(page.find("#weight-2"), ARROW_RIGHT)
    check(page, paper(), (0, 0, 1, 0, 0))
    assert page.texts("#problem") == [""]


def test_a_frozen_scale_with_which_no_model_may_have_a_vre(opened):
    scale = Scale.of(severity_metrics(random_errors(1).values))
    page = opened(paper(), scale=scale)
    check(page, paper(), EQUAL, scale)
    assert shown(page, "models") != expected(paper().models, vre_of(paper().values).model)
    assert "scaled by the minima and maxima of another table" in "".join(page.texts("#notes"))
    page = opened(Errors(("a",), ("x", "y"), np.zeros((1, 2, 6))), scale=scale)
    assert shown(page, "models") == {"a": ("–", "–")}
    assert shown(page, "corruptions") == {"x": ("–", "–"), "y": ("–", "–")}
    assert "a has no VRE" in "".join(page.texts("#notes"))


def test_a_name_is_text(opened):
    errors = Errors((HOSTILE, "@data@", "<!--"), (HOSTILE, "a_b"), random_errors(0).values[3:6, :2])
    page = opened(errors)
    check(page, errors, EQUAL)
    assert page.run("return document.title") == "Weights of VRE"
    assert page.run("return document.querySelectorAll('b').length") == 0


def test_the_stage_writes_the_page_which_needs_no_network_and_no_other_file(tmp_path):
    published_table_a1().write_csv(tmp_path / "errors.csv")
    chance = standings_of([*paper().models], below=["PNP"])
    chance.frame.write_csv(tmp_path / "chance.csv")
    inputs = {"errors": tmp_path / "errors.csv", "chance": tmp_path / "chance.csv", "scale_of": []}
    call_stage(
        "vqa_robustness.pages.weights", **inputs, weights=[6, 1, 1, 1, 1], prefix=tmp_path / "out/weights"
    )
    text = (tmp_path / "out/weights.html").read_text(encoding="utf-8")
    assert text == weights_page(paper(), (6, 1, 1, 1, 1), "0..5", None, chance)
    assert not re.search(r"https?://|\bsrc=|\bhref=|@import|url\(", text)
    assert "default-src 'none'" in text


def test_a_model_that_is_not_above_chance_has_no_rank(opened):
    errors = random_errors(3)
    found = vre_of(errors.values).model
    first = errors.models[int(np.nanargmin(found))]
    page = opened(errors, chance=standings_of([*errors.models], below=[first]))
    rows = shown(page, "models")
    assert rows[f"{first} †"] == ("–", f"{np.nanmin(found):.4f}")
    others = expected(errors.models, np.where(np.array(errors.models) == first, np.nan, found))
    assert others.items() - rows.items() == {(first, ("–", "–"))}
    assert f"{first} †" not in page.texts("#wins td.name")
    assert "†: Acc(o) is not above chance" in "".join(page.texts("#notes"))
    assert "–" not in [rank for rank, _ in shown(page, "corruptions").values()]
    # Where no model is ranked, corruptions have no ranks either.
    page = opened(errors, chance=standings_of([*errors.models], below=errors.models))
    assert {rank for rank, _ in shown(page, "corruptions").values()} == {"–"}


LABELS = """
return [...document.querySelectorAll(arguments[0])].map(cell => getComputedStyle(cell, "::before").content);
"""
BEYOND = """
const width = document.documentElement.clientWidth;
return [...document.querySelectorAll("body *")]
  .filter(each => each.getClientRects().length && each.getBoundingClientRect().right > width + 0.5)
  .map(each => each.tagName + " " + each.textContent);
"""


def test_a_narrow_screen_shows_every_number_with_its_name(opened):
    """At 420 pixels nothing is beyond the edge, where a reader would not look for it."""
    page = opened(paper())
    page.resize(420, 900)
    try:
        assert page.run("return window.innerWidth") == 420
        assert page.run(BEYOND) == []
        labels = page.run(LABELS, "#models tr:nth-child(2) td.metric")
        assert labels == [f'"{header} "' for header in HEADERS]
        check(page, paper(), EQUAL)
    finally:
        page.resize(1200, 900)
    assert page.run(BEYOND) == []
    assert set(page.run(LABELS, "td")) == {"none"}
