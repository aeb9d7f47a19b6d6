"""The colour of text that is legible on a filled area."""

# Relative luminance L (WCAG 2) at which black and white text have equal contrast:
# 1.05 / (L + 0.05) = (L + 0.05) / 0.05.
EQUAL_CONTRAST = 0.179


def text_colour(fill: tuple[float, float, float, float]) -> str:
    """Return "white" or "black", whichever has more contrast with ``fill``, sRGB and alpha in [0, 1]."""
    return "white" if _luminance(fill) < EQUAL_CONTRAST else "black"


def _luminance(colour: tuple[float, float, float, float]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
