"""Configurations of runs for the tests of checks."""

from typing import Any

import yaml

from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.config.load import Config
from benchc.config.settings import RunSettings
from tests.config.trial import CONFIG


def config_of(
    sources: dict[str, dict[str, Any]], models: dict[str, dict[str, Any]] | None = None, **blocks: Any
) -> Config:
    """Return a small configuration with these sources and models; ``blocks`` replace whole keys."""
    raw = yaml.safe_load(CONFIG) | {"sources": list(sources)} | blocks
    settings = RunSettings.model_validate({key: raw[key] for key in RunSettings.model_fields if key in raw})
    plain = {"task_column": "category"}
    model = {"family": "llava", "scoring": "letter"}
    given = {id_: {"label": id_} | plain | keys for id_, keys in sources.items()}
    asked = {id_: {"label": id_} | model | keys for id_, keys in (models or {}).items()}
    catalogues = SourceCatalogue.model_validate(given), ModelCatalogue.model_validate(asked)
    return Config(settings, catalogues[0].root, catalogues[1].root)
