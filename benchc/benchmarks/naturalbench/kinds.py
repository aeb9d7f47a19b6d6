"""Types of questions, and readings of predictions. Settings and jobs share them, so it imports nothing."""

from typing import Literal

QuestionType = Literal["yes_no", "multiple_choice"]

Reading = Literal["decoding", "deterministic", "post_hoc", "global", "sample"]
READINGS: tuple[Reading, ...] = ("decoding", "deterministic", "post_hoc", "global", "sample")
