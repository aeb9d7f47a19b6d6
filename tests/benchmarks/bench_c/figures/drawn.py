"""The texts of a figure, and whether they have room."""

from collections.abc import Iterable

from matplotlib.text import Text
from matplotlib.transforms import Bbox


def words(texts: Iterable[Text]) -> list[str]:
    return [text.get_text() for text in texts]


def clashes(texts: Iterable[Text], page: Bbox, slack: float = 0) -> list[tuple[str, str]]:
    """Return pairs of texts that are drawn over each other, and the texts that are drawn out of the page."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    over = [(a, b) for k, (a, box) in enumerate(boxes) for b, other in boxes[:k] if box.overlaps(other)]
    left, right = page.x0 - slack, page.x1 + slack
    return over + [(name, "page") for name, box in boxes if box.x0 < left or box.x1 > right]
