"""Small runs in which something that statistics need is missing: spread, items, models, severities."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.images import encode
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from benchc.schemas.subset import SUBSET

OPTIONS = 3
OF_BENCH_C = ("kappa", "select", "score")
FAMILIES = {"fog": "weather", "gaussian_blur": "blur", "pixelate": "digital"}


def drawn(model: int, item: int, corruption: int, severity: int) -> list[float]:
    """Logits that shift with all of the four numbers."""
    # Clean reads are severity 0 of corruption -1.
    return np.random.default_rng([model, item, corruption + 1, severity]).normal(0, 2, OPTIONS).tolist()


@dataclass(frozen=True)
class Run:
    """What a run is made of: the paper's shape, in small, but for what is named."""

    items: int = 4
    models: Sequence[str] = ("one", "two", "three")
    corruptions: Sequence[str] = tuple(FAMILIES)
    severities: Sequence[int] = (1, 2, 5)
    kappas: Sequence[float] | None = None  # 0.2, 0.4, ... by default; every item is kept
    logits: Callable[[int, int, int, int], list[float]] = drawn

    @property
    def ids(self) -> list[str]:
        return [f"s/{number}" for number in range(self.items)]

    def reads(self, model: int) -> pl.DataFrame:
        cells = [("clean", -1, 0)]
        cells += [
            (name, place, level) for place, name in enumerate(self.corruptions) for level in self.severities
        ]
        rows = [
            (id_, name, level, self.logits(model, item, place, level), 1.0, "p", "i")
            for item, id_ in enumerate(self.ids)
            for name, place, level in cells
        ]
        return pl.DataFrame(rows, schema=dict(PREDICTIONS.columns), orient="row")

    def write(self, folder: Path) -> None:
        """Write every input of scoring, of the tables and of the figures."""
        image = {"bytes": encode(np.full((4, 4, 3), 9, np.uint8)), "path": None}
        texts = {"question": "What?", "hint": None, "category": "map", "l2_category": "map"}
        pool = pl.DataFrame(
            {
                "id": self.ids,
                "source": "s",
                "task": "map",
                **texts,
                "options": [["a", "b", "c"]] * self.items,
                "answer": [item % OPTIONS for item in range(self.items)],
                "images": [[image]] * self.items,
                "image_keys": [[f"{id_}#0"] for id_ in self.ids],
            }
        )
        write_table(
            pool.select(*ITEMS.columns).cast(dict(ITEMS.columns)), folder / "sources/s.parquet", ITEMS
        )
        write_table(pool.select(*POOL.columns).cast(dict(POOL.columns)), folder / "pool.parquet", POOL)
        kappas = self.kappas or [(1 + item) / 5 for item in range(self.items)]
        selected = pl.DataFrame(
            {"id": self.ids, "kappa": kappas, "rank": range(self.items), "score": 1.0, "kept": True},
            schema=dict(SELECTED.columns),
        )
        write_table(selected, folder / "selected.parquet", SELECTED)
        write_table(selected.select("id"), folder / "subset.parquet", SUBSET)
        vectors = [[1.0, float(item)] for item in range(self.items)]
        embeddings = {"id": self.ids, "image": vectors, "text": vectors, "truncated": [False] * self.items}
        write_table(
            pl.DataFrame(embeddings, schema=dict(EMBEDDINGS.columns)),
            folder / "embeddings.parquet",
            EMBEDDINGS,
        )
        for name in self.corruptions:
            keys = [f"{id_}#0" for id_ in self.ids for _ in self.severities]
            pictures = {
                "image_key": keys,
                "severity": list(self.severities) * self.items,
                "image": [image] * len(keys),
            }
            write_table(
                pl.DataFrame(pictures, schema=dict(CORRUPTED.columns)),
                folder / f"images/{name}.parquet",
                CORRUPTED,
            )
        for number, model in enumerate(self.models):
            write_table(self.reads(number), folder / f"reads/{model}/all.parquet", PREDICTIONS)

    def arguments(self, script: str) -> list[str]:
        """Return the command line of a script in the folder of the run, outputs in out/."""
        first = self.models[0]
        scores = ["--scores", *(f"scores/{model}.parquet" for model in self.models)]
        labels = ["--labels", *(model.title() for model in self.models)]
        models, selected = ["--models", *self.models], ["--selected", "selected.parquet"]
        pool = ["--pool", "pool.parquet"]
        families = ["--corruptions", *self.corruptions]
        families += ["--families", *(FAMILIES[name] for name in self.corruptions)]
        one = ["--scores", f"scores/{first}.parquet", "--label", first.title()]
        one_read = [*one, *pool, "--predictions", f"reads/{first}/all.parquet"]
        forms = [f"--output-{form}=out/{script}.{form}" for form in ("csv", "md", "tex")]
        published = [f"--output-published=out/{script}_published.csv"]
        drawing = ["--png", "out/f.png", "--pdf", "out/f.pdf"]
        cell = [self.corruptions[0], str(self.severities[-1])]
        selectors = ["--predictions", *(f"reads/{model}/all.parquet" for model in self.models)]
        selectors += ["--selectors", *self.models, "--corruptions", *self.corruptions]
        selectors += ["--severities", *map(str, self.severities), *pool]
        unknown = ["unknown"] * len(self.models)
        resampled = [*scores, *models, *labels, *selected, "--draws", "20", *forms]
        return {
            "kappa": [*selectors, "--output", "kappa.parquet"],
            "select": [
                *["--kappa", "kappa.parquet", "--embeddings", "embeddings.parquet"],
                *["--output", "out/selected.parquet", "--output-subset", "out/subset.parquet"],
            ],
            "selection_diagnostics": [*selectors, "--embeddings", "embeddings.parquet", *forms],
            "table1": [
                *[*scores, *models, *labels, *selected, *forms, *published],
                *["--years", *unknown, "--parameters", *unknown],
            ],
            "table2": [*scores, *labels, *forms, *published],
            "table3": [*scores, *labels, *forms, *published, "--output-cells", "out/cells.csv"],
            "claims": [
                *[*scores, *labels, *pool, *selected, *families, *forms, "--example-label", first.title()],
                *["--example-corruption", cell[0], "--example-severity", cell[1]],
            ],
            "bootstrap": resampled,
            "rank_swaps": resampled,
            "figure1a": [*selected, *drawing],
            "figure3": [*one_read, *drawing],
            "figure4": [*one, "--corruption", cell[0], "--severity", cell[1], *drawing],
            "figure5": [
                *one_read,
                "--images",
                *(f"images/{name}.parquet" for name in self.corruptions),
                *drawing,
            ],
            "figure6": [*scores, *labels, *families, *drawing],
            "figure7": ["--sources", "sources/s.parquet", "--source-labels", "S", *pool, *selected, *drawing],
            "figure8": [*pool, *selected, *drawing],
            "figure9": [*pool, *selected, *drawing],
            "figure10": [*scores, *labels, *families, *drawing],
        }[script]


def call(script: str, arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a script's ``main`` in this process."""
    monkeypatch.setattr(sys, "argv", [script, *arguments])
    folder = "bench_c." if script in OF_BENCH_C else ""
    import_module(f"scripts.{folder}{script}").main()


def score_all(run: Run, monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    """Score every model of the run in the present folder."""
    for model in run.models:
        reads = ["--predictions", f"reads/{model}/all.parquet", "--pool", "pool.parquet"]
        reads += ["--corruptions", *run.corruptions, "--severities", *map(str, run.severities)]
        reads += ["--subset", "subset.parquet", "--output", f"scores/{model}.parquet"]
        call("score", [*reads, *options], monkeypatch)
