import os
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib
import pytest
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from benchc.errors import InputError
from benchc.rendering import labels
from benchc.rendering.labels import BASE_FAMILY, font_families, isolated, renderable, shorten_all, width
from benchc.rendering.shorten import shorten


@pytest.fixture(autouse=True)
def only_the_fonts_of_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "WIDE_FAMILIES", ())


def test_names_that_the_fonts_have_are_unchanged():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert renderable(["Science & Technology", "Größe κ", "a\nb"]) == [
            "Science & Technology",
            "Größe κ",
            "a b",
        ]


def test_other_letters_are_dropped_where_the_rest_is_a_name():
    with pytest.warns(UserWarning, match=r"风景与建筑 \(Scenery Building\) as Scenery Building"):
        assert renderable(["风景与建筑 (Scenery Building)", "OCR 文字"]) == ["Scenery Building", "OCR"]


def test_other_letters_become_code_points_where_nothing_or_too_little_is_left():
    with pytest.warns(UserWarning):
        assert renderable(["文物", "文物 2", "戏剧 (x)", "建筑 (x)", "x"]) == [
            "[U+6587 U+7269]",
            "[U+6587 U+7269] 2",
            "[U+620F U+5267] (x)",
            "[U+5EFA U+7B51] (x)",
            "x",
        ]


def test_a_font_family_that_has_the_letters_is_used(monkeypatch: pytest.MonkeyPatch):
    # STIX comes with matplotlib and has this one Japanese letter, which DejaVu Sans lacks.
    with pytest.warns(UserWarning, match=r"の as \[U[+]306E\]"):
        assert renderable(["の"]) == ["[U+306E]"]
    monkeypatch.setattr(labels, "WIDE_FAMILIES", ("No Such Family", "STIXGeneral"))
    assert font_families() == [BASE_FAMILY, "STIXGeneral"]
    assert renderable(["の"]) == ["の"]


def test_an_absent_font_of_matplotlib_is_one_sentence(monkeypatch: pytest.MonkeyPatch):
    def absent(*_: object, **options: object) -> str:  # as matplotlib, where it has no such file
        raise ValueError("Failed to find font")

    monkeypatch.setattr(labels.font_manager, "findfont", absent)
    labels._letters.cache_clear()
    with pytest.raises(InputError, match=r"mpl-data: has no font DejaVu Sans, .* install matplotlib again"):
        renderable(["a"])


def test_a_font_that_is_installed_later_is_found(tmp_path: Path):
    code = "from benchc.rendering.labels import renderable; print(ascii(renderable(['\u306e'])))"
    environment = {**os.environ, "MPLCONFIGDIR": str(tmp_path / "cache"), "XDG_DATA_HOME": str(tmp_path)}

    def rendered() -> tuple[str, str]:
        result = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        return result.stdout.strip(), result.stderr

    missing, warning = rendered()
    assert missing == "['[U+306E]']" and "install one of the fonts Noto Sans CJK SC, " in warning
    assert "delete the figure and make it again" in warning
    assert list((tmp_path / "cache").glob("fontlist*.json"))
    font = TTFont(Path(matplotlib.get_data_path()) / "fonts/ttf/STIXGeneral.ttf")
    for record in font["name"].names:
        if record.nameID in (1, 16):
            record.string = "Noto Sans CJK SC"
    (tmp_path / "fonts").mkdir()
    font.save(tmp_path / "fonts/new.ttf")
    (tmp_path / "fonts/broken.ttf").write_text("no font")
    assert rendered() == (ascii(["\u306e"]), "")


@given(
    st.lists(
        st.text(alphabet="ab 文物()", min_size=1).filter(lambda name: name.split()),
        unique_by=lambda name: tuple(name.split()),
    )
)
def test_different_names_stay_different(names: list[str]):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = renderable(names)
    assert len(set(drawn)) == len({" ".join(name.split()) for name in names})
    assert all(letter.isascii() for name in drawn for letter in name)


@given(st.text(alphabet="abc ", max_size=40), st.integers(4, 40))
def test_shortened_names_fit_and_keep_both_ends(name: str, length: int):
    short = shorten(name, length)
    assert len(short) <= length
    assert short == name if len(name) <= length else "…" in short
    if len(name) > length:
        head, tail = short.split("…")
        assert name.startswith(head) and name.endswith(tail)


def test_shortened_names_stay_different():
    names = ["Vision-Language-Model-7B-Instruct", "Vision-Language-Chat-7B-Instruct", "Other"]
    assert shorten_all([names[0], names[2]], 15) == ["Vision-Lan…ruct", "Other"]
    assert shorten_all(names, 15) == ["Vision-…uct (1)", "Vision-…uct (2)", "Other"]


def test_a_name_from_right_to_left_is_isolated():
    assert isolated("Model 7B 文") == "Model 7B 文"
    name = isolated("نموذج 7B")
    assert name == "\u2068نموذج 7B\u2069"
    figure = Figure()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no glyph is missing
        text = figure.text(0, 0, f"{name}, fog")
        figure.canvas.draw()
        alone = figure.text(0, 0, "نموذج 7B, fog")
    assert text.get_window_extent().width == pytest.approx(alone.get_window_extent().width, rel=0.02)


def test_chinese_letters_are_wider():
    assert width("ab") == 2
    assert width("文") > 1
