"""Texts beside points cover neither points nor each other, where there is room."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from benchc.rendering.point_labels import label_points
from benchc.rendering.style import new_figure, styled


def boxes_of(positions, texts, *, marker: float = 4):
    """Return the boxes of texts and of the axes, in pixels, and the points."""
    with styled():
        figure = new_figure(3, 3)
        axes = figure.subplots()
        axes.plot(*np.transpose(positions), "o", markersize=marker)
        axes.margins(0.15)
        label_points(axes, np.array(positions), texts, size=6, marker=marker)
        FigureCanvasAgg(figure).draw()
        assert sorted(text.get_text() for text in axes.texts) == sorted(texts)
        boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
        return boxes, axes.bbox, axes.transData.transform(positions)


@pytest.mark.parametrize("seed", range(4))
def test_texts_of_points_with_room_are_apart_and_inside(seed):
    rng = np.random.default_rng(seed)
    grid = np.array([(x, y) for x in range(4) for y in range(5)], float) + rng.uniform(-0.2, 0.2, (20, 2))
    texts = [f"{number} name" if number % 5 == 0 else str(number) for number in range(20)]
    boxes, inside, points = boxes_of(grid, texts)
    found = [boxes[text] for text in texts]
    for place, box in enumerate(found):
        assert not any(box.overlaps(other) for other in found[place + 1 :])
        assert inside.x0 <= box.x0 and box.x1 <= inside.x1 + 1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        assert not any(box.contains(*point) for point in points)
        # Its own point is the nearest.
        middle = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2]
        gaps = np.hypot(*np.maximum(0, np.abs(points - middle) - [box.width / 2, box.height / 2]).T)
        assert gaps.argmin() == place


def test_a_text_at_the_right_end_is_left_of_its_point():
    boxes, _, points = boxes_of([(0, 0), (1, 0.5), (1, 1)], ["a", "a rather long name", "b"])
    assert boxes["a rather long name"].x1 < points[1][0] and boxes["a"].x0 > points[0][0]
