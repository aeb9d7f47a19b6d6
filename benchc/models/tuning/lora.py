"""peft, which imports transformers itself, after that was set up."""

import benchc.hugging_face  # noqa: F401

# isort: split
import peft

__all__ = ["peft"]
