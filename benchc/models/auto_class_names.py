"""Names of the Auto classes of transformers that load vision-language models. Imports nothing heavy."""

from typing import Literal, get_args

AutoClass = Literal["AutoModelForImageTextToText", "AutoModelForMultimodalLM", "AutoModelForCausalLM"]
# In order of preference.
AUTO_CLASSES: tuple[str, ...] = get_args(AutoClass)
