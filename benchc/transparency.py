"""How transparent images are shown. Imports nothing."""

from typing import Literal, get_args

Alpha = Literal["drop", "white"]  # ignored, or blended with white

ALPHAS: tuple[Alpha, ...] = get_args(Alpha)
