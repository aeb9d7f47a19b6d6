import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from benchc.rendering.image_grid import plot_images
from benchc.rendering.labels import width
from benchc.rendering.save import PIXELS_PER_INCH
from benchc.rendering.wrap import LETTER, MathLine, line_height, option_text, wrap


@settings(max_examples=200)
@given(text=st.text(alphabet="12 图\n$", max_size=80), room=st.integers(2, 20), lines=st.integers(1, 5))
def test_lines_fit_and_lose_only_what_the_ellipsis_replaces(text: str, room: int, lines: int):
    wrapped = wrap(text, inches=room * LETTER * 6, points=6, lines=lines)
    assert len(wrapped) <= lines
    assert all(width(line) <= room + 1e-6 for line in wrapped if not isinstance(line, MathLine))
    whole = "".join(text.split())
    plain = [line.replace(r"\$", "$") if isinstance(line, MathLine) else line for line in wrapped]
    shown = "".join("".join(plain).split())
    assert shown == whole or (shown.endswith("…") and whole.startswith(shown[:-1]))


def test_lines_break_between_words_and_between_options():
    def lines(text: str) -> list[str]:
        return wrap(text, inches=12 * LETTER * 6, points=6, lines=9)

    assert lines("one two three four") == ["one two", "three four"]
    options = option_text(["top left", "top", "an option that is long"], 0)
    assert lines(options) == ["A. top left", "✓ · B. top", "C. an option", "that is long"]
    assert lines(option_text(["red", "blue"], 1)) == ["A. red", "B. blue ✓"]
    # Nor does a line begin with the separator for which the one before had no room.
    assert lines(option_text(["xyz abcdefghijkl", "b"], 1)) == ["A. xyz", "abcdefghijkl", "B. b ✓"]


def test_formulas_are_drawn_as_such_and_dollars_stay():
    def lines(text: str, room: int = 40) -> list[str]:
        return wrap(text, inches=room * LETTER * 6, points=6, lines=9)

    for text, shown in {
        r"Find $x$ if $\frac{1}{2} x = 3$.": r"Find $x$ if $\frac{1}{2} x = 3$.",
        r"The angle \(\angle ABC\) for $5": r"The angle $\angle ABC$ for \$5",
        r"$x^2$ costs $5 or $6": r"$x^2$ costs \$5 or \$6",
        r"row $1$ is two $1$'s, then $ (2, 4)$ or $2: 1$": r"row $1$ is two $1$'s, then $(2, 4)$ or $2: 1$",
        r"$\text{None of these}$": r"$\text{None of these}$",
    }.items():
        (line,) = lines(text)
        assert line == shown and isinstance(line, MathLine)
        Figure().text(0, 0, line, parse_math=True).get_window_extent()
    # No formula, none that matplotlib knows, and one that is longer than a line.
    for text in (
        "costs $5 or $6",
        "Amy has $1.50.",
        "$5-$6",
        "$图$",
        r"$\nonsense{x}$",
        r"$\begin{array}{c}$",
    ):
        (line,) = lines(text)
        assert line == text and not isinstance(line, MathLine)
    long = lines(r"$a_1+a_2+a_3+a_4+a_5+a_6$", room=8)
    assert len(long) > 1 and not any(isinstance(line, MathLine) for line in long)
    # Fractions need higher lines, so that they are not on each other.
    assert line_height("x") == line_height(lines("$x$")[0]) == 1
    (fraction,) = lines(r"$\frac{n^2 - n}{2n - 1}$")
    assert 1.2 < line_height(fraction) < 2
    # Its width is that of the drawing, not of its source.
    assert len(lines(r"$\mathrm{a}$ $\mathrm{b}$ $\mathrm{c}$", room=6)) == 1


def plot(shapes: list[tuple[int, int]], box: tuple[float, float]) -> Figure:
    figure = Figure()
    generator = np.random.default_rng(0)
    images = [generator.integers(0, 255, (*shape, 3), dtype=np.uint8) for shape in shapes]
    plot_images(figure.add_subplot(), images, width=box[0], height=box[1])
    return figure


@pytest.mark.parametrize(
    ("shapes", "box"),
    [
        ([(60, 80)], (1.6, 1.0)),
        ([(3000, 200)], (1.6, 1.0)),
        ([(50, 50), (40, 70)], (1.6, 1.0)),
        ([(9, 9)] * 7, (1.2, 1.0)),
        ([(1, 1)], (1.2, 1.0)),
    ],
)
def test_images_keep_their_proportions_inside_the_box_and_apart(
    shapes: list[tuple[int, int]], box: tuple[float, float]
):
    (axes,) = plot(shapes, box).axes
    extents = [image.get_extent() for image in axes.images]
    assert len(extents) == len(shapes)
    for (height, wide), (left, right, bottom, top) in zip(shapes, extents, strict=True):
        assert -1e-9 <= left < right <= box[0] + 1e-9 and -1e-9 <= bottom < top <= box[1] + 1e-9
        assert (right - left) / (top - bottom) == pytest.approx(wide / height)
    for place, one in enumerate(extents):
        for other in extents[place + 1 :]:
            assert one[1] <= other[0] or other[3] <= one[2]  # to the right or below


def test_a_large_image_is_reduced_to_print_resolution_and_a_small_one_is_kept():
    (axes,) = plot([(2000, 3000)], (1.5, 1.0)).axes
    assert axes.images[0].get_array().shape == (PIXELS_PER_INCH, 1.5 * PIXELS_PER_INCH, 3)
    (axes,) = plot([(20, 30)], (1.5, 1.0)).axes
    assert axes.images[0].get_array().shape == (20, 30, 3)


def test_two_wide_images_are_stacked_and_two_tall_ones_are_side_by_side():
    upper, lower = (image.get_extent() for image in plot([(10, 60)] * 2, (1.0, 1.0)).axes[0].images)
    assert upper[:2] == lower[:2] and upper[2] > lower[3]
    left, right = (image.get_extent() for image in plot([(60, 10)] * 2, (1.0, 1.0)).axes[0].images)
    assert left[2:] == right[2:] and left[1] < right[0]
