"""Types of questions, readings of predictions, priors. Settings and jobs share them: it imports nothing."""

from typing import Literal

QuestionType = Literal["yes_no", "multiple_choice"]

DecisionRule = Literal["decoding", "deterministic", "post_hoc", "global", "sample"]
READINGS: tuple[DecisionRule, ...] = ("decoding", "deterministic", "post_hoc", "global", "sample")
# What post_hoc compares with: the question alone, or with a grey image.
Prior = Literal["no_image", "grey_image"]
