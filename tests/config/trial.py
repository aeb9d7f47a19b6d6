"""A small valid configuration, which tests make invalid."""

import re
from pathlib import Path
from typing import Any

import pytest

from benchc.config.errors import ConfigError
from benchc.config.load import load

SOURCES = """
drawn-text: {label: A, generated: {groups: 3}, task_column: category}
drawn-charts: {label: B, generated: {groups: 3}, task_column: category}
"""
MODELS = """
small:
  label: Small
  family: llava
  scoring: text
  train:
    {hidden: 48, vision_layers: 1, text_layers: 2, patch: 8, steps: 3, batch: 4, learning_rate: 0.01, seed: 1}
large: {label: Large, family: llava, scoring: letter, repo: owner/large, revision: "1"}
"""
CONFIG = """
benchmark: toy
name: trial
seed: 1
catalogues: {sources: sources.yaml, models: models.yaml}
sources: [drawn-text, drawn-charts]
pool: {per_task: 4, total: null}
corruptions:
  {suite: imagenet-c, engine: benchc, corrupted: files, alpha: drop,
   types: [snow, fog, pixelate], severities: [1, 3, 5]}
inference: {corruptions_per_job: all}
selectors: [small]
targets: [large, small]
weight: 1
demo: {seed: 1, training_set: {items_per_category: 2}}
"""


def rows_of(text: str, **words: str) -> list[tuple[str, str]]:
    """Return the rows of a table: a line of the text, and the lines that are indented below it, as one.

    ``words``: by a word in capitals, the text that it stands for.
    """
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    rows = [row.split("\n") for row in re.split(r"\n(?! )", text.strip())]
    return [(first, " ".join(line.strip() for line in rest)) for first, *rest in rows]


def errors(raw: dict[str, Any], root: Path, **environment: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load(raw, root, file="config.yaml", environment=environment)
    return caught.value.errors


def write_trial(folder: Path, models: str = MODELS) -> Path:
    """Write the catalogues of the trial configuration and an empty environment to a folder; return it."""
    (folder / "sources.yaml").write_text(SOURCES)
    (folder / "models.yaml").write_text(models)
    (folder / "envs").mkdir()
    (folder / "envs" / "transformers.yaml").touch()
    return folder
