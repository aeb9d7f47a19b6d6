"""How figures colour the four regimes and name the transitions of an answer."""

from benchc.rendering.style import BLUE, GREEN, PURPLE, VERMILLION

COLOURS = {"overconfident": PURPLE, "degraded": VERMILLION, "stable": GREEN, "hesitant": BLUE}
MEANINGS = {"RR": "right → right", "WW": "wrong → wrong", "RW": "right → wrong", "WR": "wrong → right"}
