"""Names of the Auto classes of transformers that load vision-language models. Imports nothing heavy."""

from typing import Literal, get_args

AutoClass = Literal[
    "AutoModelForImageTextToText",
    "AutoModelForMultimodalLM",
    "AutoModelForCausalLM",
    "AutoModelForVisualQuestionAnswering",
]
# In order of preference.
AUTO_CLASSES: tuple[str, ...] = get_args(AutoClass)
# Its classes have no chat template: they read a question about one image.
VQA_CLASS = AUTO_CLASSES[-1]
