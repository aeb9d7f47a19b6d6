"""Drawing primitives of the demo's images: relative coordinates, smooth edges, Pillow's built-in font."""

import functools
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int]
Point = tuple[float, float]

COLOURS: dict[str, Colour] = {
    "red": (215, 35, 40),
    "blue": (35, 75, 215),
    "green": (25, 150, 55),
    "yellow": (240, 205, 20),
    "purple": (145, 45, 175),
    "orange": (245, 125, 15),
}
# Those that stay visible in greyscale.
DARK_COLOURS = ("red", "blue", "green", "purple")
INK: Colour = (35, 35, 40)
PAPER: Colour = (250, 250, 246)

# Images are drawn at twice their size and halved, for smooth edges; large ones do not need it.
OVERSAMPLING = 2
LARGE = 400


class Canvas:
    """One image. Positions are in [0, 1] from the upper left; lengths are shares of the shorter side."""

    def __init__(self, width: int, height: int, rng: np.random.Generator) -> None:
        self.width, self.height = width, height
        self.rng = rng
        self._scale = 1 if max(width, height) > LARGE else OVERSAMPLING
        self._image = Image.new("RGB", (width * self._scale, height * self._scale))
        self._draw = ImageDraw.Draw(self._image)
        self._unit = min(self._image.size)
        self.tint = self.shade((int(self.rng.integers(170, 246)),) * 3)
        self.paper = _mixed(self.tint, PAPER, 0.5)
        self._fill_background()

    def finish(self) -> Image.Image:
        """Return the image in mode RGB, in the requested size."""
        return self._image.reduce(self._scale) if self._scale > 1 else self._image

    def shade(self, colour: Colour, spread: int = 18) -> Colour:
        """Return ``colour`` moved by up to ``spread`` grey levels per channel."""
        moved = np.clip(np.array(colour) + self.rng.integers(-spread, spread + 1, size=3), 0, 255)
        return (int(moved[0]), int(moved[1]), int(moved[2]))

    def named(self, name: str) -> Colour:
        """Return a shade of the named colour, faded towards the background by up to half."""
        return self.shade(_mixed(COLOURS[name], self.tint, self.rng.uniform(0.0, 0.5)), 10)

    def any_dark(self) -> Colour:
        """Return a random colour that stays visible in greyscale, faded by up to two thirds."""
        name = str(self.rng.choice(DARK_COLOURS))
        return self.shade(_mixed(COLOURS[name], self.tint, self.rng.uniform(0.0, 0.67)), 10)

    def ink(self) -> Colour:
        """Return a dark colour for text and lines, from black to a pencil's grey."""
        return self.shade(_mixed(INK, self.tint, self.rng.uniform(0.0, 0.76)), 10)

    def length(self, share: float, axis: int) -> float:
        """Convert a length from a share of the shorter side to a share of ``axis`` (0 is horizontal)."""
        return share * self._unit / self._image.size[axis]

    def box(
        self, x0: float, y0: float, x1: float, y1: float, fill: Colour, edge: Colour | None = None
    ) -> None:
        """Fill the rectangle between two corners; ``edge`` is the colour of its outline, if any."""
        (left, top), (right, bottom) = self._at((x0, y0)), self._at((x1, y1))
        corners = [min(left, right), min(top, bottom), max(left, right), max(top, bottom)]
        self._draw.rectangle(corners, fill=fill, outline=edge, width=self._stroke(0.012) if edge else 1)

    def disc(self, x: float, y: float, radius: float, fill: Colour) -> None:
        """Fill a circle."""
        (cx, cy), r = self._at((x, y)), radius * self._unit
        self._draw.ellipse([cx - r, cy - r, cx + r, cy + r], fill=fill)

    def slice(self, x: float, y: float, radius: float, start: float, end: float, fill: Colour) -> None:
        """Fill a slice of a disc between two angles in degrees, clockwise from three o'clock."""
        (cx, cy), r = self._at((x, y)), radius * self._unit
        self._draw.pieslice([cx - r, cy - r, cx + r, cy + r], start, end, fill=fill)

    def polygon(self, x: float, y: float, radius: float, corners: Sequence[Point], fill: Colour) -> None:
        """Fill a polygon whose corners are given in units of ``radius`` around a centre."""
        (cx, cy), r = self._at((x, y)), radius * self._unit
        self._draw.polygon([(cx + r * u, cy + r * v) for u, v in corners], fill=fill)

    def line(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        """Draw a line through points."""
        self._draw.line([self._at(p) for p in points], fill=colour, width=self._stroke(width), joint="curve")

    def text(self, x: float, y: float, text: str, colour: Colour, height: float, width: float = 1.0) -> None:
        """Write ``text`` centred at a point, as large as fits ``height`` and ``width``, in [0, 1]."""
        size = height * self._image.size[1]
        across = _font(100).getlength(text) / 100
        size = min(size, width * self._image.size[0] / across)
        self._draw.text(self._at((x, y)), text, fill=colour, font=_font(max(6, round(size))), anchor="mm")

    def _at(self, point: Point) -> Point:
        return point[0] * self._image.size[0], point[1] * self._image.size[1]

    def _stroke(self, width: float) -> int:
        return max(1, round(width * self._unit))

    def _fill_background(self) -> None:
        """Fill with a tint, plain or with a faint gradient, stripes or dots."""
        tint = self.tint
        width, height = self._image.size
        self._draw.rectangle([0, 0, width, height], fill=tint)
        style = self.rng.choice(["plain", "gradient", "stripes", "dots"])
        other = self.shade(tint, 12)
        step = max(4, round(self._unit * self.rng.uniform(0.06, 0.12)))
        if style == "gradient":
            rows = np.linspace(tint, other, height).astype(np.uint8)
            self._image.paste(Image.fromarray(np.repeat(rows[:, None], width, axis=1)))
        elif style == "stripes":
            for x in range(-height, width, 2 * step):
                self._draw.line([(x, height), (x + height, 0)], fill=other, width=step // 2)
        elif style == "dots":
            for x in range(step // 2, width, 2 * step):
                for y in range(step // 2, height, 2 * step):
                    self._draw.ellipse([x, y, x + step // 2, y + step // 2], fill=other)


def _mixed(colour: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(c + share * (o - c)) for c, o in zip(colour, other, strict=True))
    return red, green, blue


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType, so it cannot scale its font; reinstall Pillow")
    return font
