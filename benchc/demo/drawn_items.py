"""Items of the demo with one image, drawn category by category under a seed of their own."""

from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from PIL import Image

from benchc.demo.category import Category
from benchc.demo.world import LARGE_SIDE, SOURCES, Group, generate_group, render_images


class DrawnItem(NamedTuple):
    """An item: its source and category, the number of its group, its place in it, the group and the image."""

    source: str
    category: Category
    number: int
    position: int
    group: Group
    image: Image.Image

    @property
    def answer(self) -> str:
        """The text of the right option."""
        return self.group.options[self.group.answers[self.position]]


def drawn_items(categories: Container[str], numbers: Iterable[int], seed: int) -> Iterator[DrawnItem]:
    """Yield the items of groups with these numbers of each category, which have one image.

    Groups of large images are left out. The images of a group show each answer to one question once.
    """
    for number in numbers:
        for source, of_source in SOURCES.items():
            for category in (each for each in of_source if each.name in categories):
                group = generate_group(source, category, number, seed)
                if max(max(size) for size in group.sizes) >= LARGE_SIDE:
                    continue
                for position in range(len(group.answers)):
                    (image,) = render_images(source, category, number, position, group, seed)
                    yield DrawnItem(source, category, number, position, group, image)
