"""Small runs in which something that statistics need is missing: spread, items, models, severities."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.images import encode
from benchc.rendering.output import inputs_of, settings_of
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.items import ITEMS
from benchc.schemas.models import Models, models_text
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from benchc.schemas.subset import SUBSET
from scripts.bench_c.kappa import kappa
from scripts.bench_c.score import score
from scripts.bench_c.select import select
from tests.benchmarks.bench_c.outputs import function_named, output, write_filled, write_models, write_record

OPTIONS = 3
GROUPS = {"fog": "weather", "gaussian_blur": "blur", "pixelate": "digital"}


def drawn(model: int, item: int, corruption: int, severity: int) -> list[float]:
    """Logits that depend on all four numbers."""
    # Clean predictions are severity 0 of corruption -1.
    return np.random.default_rng([model, item, corruption + 1, severity]).normal(0, 2, OPTIONS).tolist()


@dataclass(frozen=True)
class Run:
    """The inputs of a run: a small version of the paper's, except for the fields given."""

    items: int = 4
    models: Sequence[str] = ("one", "two", "three")
    corruptions: Sequence[str] = tuple(GROUPS)
    severities: Sequence[int] = (1, 2, 5)
    kappas: Sequence[float] | None = None  # 0.2, 0.4, ... by default; every item is kept
    logits: Callable[[int, int, int, int], list[float]] = drawn
    first_label: str = "One"

    @property
    def ids(self) -> list[str]:
        return [f"s/{number}" for number in range(self.items)]

    @property
    def labels(self) -> list[str]:
        """Return the names of the models, of which the first is ``first_label``."""
        return [self.first_label, *(model.title() for model in self.models[1:])]

    def predictions(self, model: int) -> pl.DataFrame:
        types = enumerate(self.corruptions)
        cells = [("clean", -1, 0), *((name, n, level) for n, name in types for level in self.severities)]
        rows = [
            (id_, name, level, self.logits(model, item, number, level), 1.0, "p", "i")
            for item, id_ in enumerate(self.ids)
            for name, number, level in cells
        ]
        return pl.DataFrame(rows, schema=dict(PREDICTIONS.columns), orient="row")

    def write(self, folder: Path) -> None:
        """Write every input of scoring, of the tables and of the figures."""
        write_models(folder / "models.json", dict(zip(self.models, self.labels, strict=True)))
        image = {"bytes": encode(np.full((4, 4, 3), 9, np.uint8)), "path": None}
        items = {"id": self.ids, "question": "What?", "options": [["a", "b", "c"]] * self.items}
        items |= {"answer": [item % OPTIONS for item in range(self.items)], "images": [[image]] * self.items}
        items |= {"category": "map", "image_keys": [[f"{id_}#0"] for id_ in self.ids]}
        write_filled(items, folder / "sources/s.parquet", ITEMS)
        write_filled(items | {"source": "s", "task": "map"}, folder / "pool.parquet", POOL)
        kappas = self.kappas or [(1 + item) / 5 for item in range(self.items)]
        selected = {
            "id": self.ids,
            "kappa": kappas,
            "rank": range(self.items),
            "score": 1.0,
            "selected": True,
        }
        write_filled(selected, folder / "selected.parquet", SELECTED)
        write_filled({"id": self.ids}, folder / "subset.parquet", SUBSET)
        vectors = [[1.0, float(item)] for item in range(self.items)]
        embeddings = {"id": self.ids, "image": vectors, "text": vectors, "truncated": False}
        write_filled(embeddings, folder / "embeddings.parquet", EMBEDDINGS)
        images = {"image_key": [f"{id_}#0" for id_ in self.ids for _ in self.severities]}
        images |= {"severity": [*self.severities] * self.items, "image": [image] * len(images["image_key"])}
        for name in self.corruptions:
            write_filled(images, folder / f"images/{name}.parquet", CORRUPTED)
        for number, model in enumerate(self.models):
            write_table(self.predictions(number), folder / f"predictions/{model}/all.parquet", PREDICTIONS)

    def output(self, name: str, **settings: object) -> Any:
        """Return a table or a figure of the run in the working directory; ``settings`` replace its own."""
        function = function_named(name)
        if "chance" in inputs_of(function):
            Path("chance.csv").write_text(self.output("chance", **settings).frame.write_csv())
        of_models = {"scores": "scores/{}.parquet", "predictions": "predictions/{}/all.parquet"}
        paths = {
            "models": ["models.json"],
            "sources": ["sources/s.parquet"],
            "images": [f"images/{corruption}.parquet" for corruption in self.corruptions],
            **{key: [f"{key}.parquet"] for key in ("pool", "selected", "embeddings")},
            "chance": ["chance.csv"],
            **{key: [path.format(model) for model in self.models] for key, path in of_models.items()},
        }
        if name in ("figure3", "figure4", "figure5"):  # of one target
            paths |= {key: [path.format(self.models[0])] for key, path in of_models.items()}
        cell = {"corruption": self.corruptions[0], "severity": self.severities[-1]}
        example = {"label": self.first_label, **cell}
        known = {
            "groups": {corruption: GROUPS[corruption] for corruption in self.corruptions},
            "labels": {"s": "S", **dict(zip(self.models, self.labels, strict=True))},
            **{prefix + key: value for prefix in ("", "example_") for key, value in example.items()},
            **{"rank_below_chance": True, "least_label_mass": 0.5},
            **{"draws": 20, "seed": 0, "centring": "none", "score": "at_pick"},
            **{"selectors": self.models, "corruptions": self.corruptions, "severities": self.severities},
            **{"alpha_kappa": 1.0, "alpha_diversity": 1.0},
            **settings,
        }
        if name == "figure5" and "corruptions" not in settings:
            del known["corruptions"]  # its own choice, not those of the run
        own = {key: known[key] for key in settings_of(function) if key in known}
        return output(name, {key: paths[key] for key in inputs_of(function)}, **own)

    def select(self) -> None:
        """Run kappa and select in the working directory."""
        files = {name: Path(f"{name}.parquet") for name in ("pool", "kappa", "embeddings")}
        kappa(
            predictions=[Path(f"predictions/{model}/all.parquet") for model in self.models],
            pool=files["pool"],
            selectors=[*self.models],
            corruptions=[*self.corruptions],
            severities=[*self.severities],
            output=files["kappa"],
        )
        written = {"table": Path("out/selected.parquet"), "subset": Path("out/subset.parquet")}
        select(kappa=files["kappa"], embeddings=files["embeddings"], **written)

    def score(self, *, allow_missing: bool = False) -> None:
        """Score every model in the working directory."""
        for model in self.models:
            score(
                predictions=[Path(f"predictions/{model}/all.parquet")],
                pool=Path("pool.parquet"),
                subset=Path("subset.parquet"),
                corruptions=[*self.corruptions],
                severities=[*self.severities],
                allow_missing=allow_missing,
                output=Path(f"scores/{model}.parquet"),
            )


def make_run_folder() -> None:
    """Move pool and selection, in the working directory, to where a run has them, and write its records."""
    for old, new in {"pool": "pool/items", "selected": "selection/selected"}.items():
        Path(new).parent.mkdir()
        Path(f"{old}.parquet").rename(f"{new}.parquet")
    Path("models.json").write_text(models_text(Models("bench-c", {})))
    write_record(Path.cwd())
