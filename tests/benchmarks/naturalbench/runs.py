"""Configurations of runs of NaturalBench."""

from typing import Any

from benchc.benchmarks.naturalbench.settings import Settings
from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.config.load import Config

CAPTIONS = {"own": {"label": "Own", "form": "csv", "file": "own.csv", "images": "photos"}}
DRAWN = {"drawn": {"label": "Drawn", "form": "generated", "count": 12}}


def curate(**changes: Any) -> dict[str, Any]:
    """Return the block `curate`, of which ``changes`` replace keys of its blocks."""
    blocks: dict[str, Any] = {
        "captions": CAPTIONS,
        "mine": {"encoders": ["clip"]},
        "writer": {"model": "writer", "api_key_env": None},
        "review": {"annotators": ["ann", "bob"], "folder": "reviews"},
        "release": {"name": "Own", "date": "2026-01-01"},
    }
    for key, block in changes.items():
        blocks[key] = block if key == "captions" else blocks.get(key, {}) | block
    return blocks


def config_of(
    sources: dict[str, dict[str, Any]] | None = None,
    models: dict[str, str] | None = None,
    others: dict[str, dict[str, Any]] | None = None,
    **keys: Any,
) -> Config:
    """Return a configuration with sources, models (each with its scoring) and other keys.

    ``others``: sources that only other keys name.
    """
    sources, models, others = sources or {}, models or {}, others or {}
    raw = {"benchmark": "naturalbench", "name": "trial", "sources": [*sources], "models": [*models], **keys}
    entries = {
        id_: {"label": id_, "family": "llava", "scoring": scoring, "repo": "owner/model"}
        for id_, scoring in models.items()
    }
    plain = {"task_column": "category", "reader": {"image_column": "image_file"}}
    known = SourceCatalogue.model_validate(
        {id_: {"label": id_} | plain | entry for id_, entry in (sources | others).items()}
    ).root
    own, rest = ({id_: known[id_] for id_ in ids} for ids in (sources, others))
    return Config(Settings.model_validate(raw), own, ModelCatalogue.model_validate(entries).root, rest)
