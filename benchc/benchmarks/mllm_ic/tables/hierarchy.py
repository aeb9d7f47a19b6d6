"""What Figure 3 shows in numbers: how far levels and categories are apart, and how far severities move."""

from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.metrics.hierarchy import distances, silhouette
from benchc.benchmarks.mllm_ic.schemas.hierarchy import FEATURES, TSNE
from benchc.corruptions.recipe import CLEAN
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.parquet import read_footer, read_table

SPACES = ("features", "map")
CAPTION = (
    "Figure 3 in numbers (not in the paper), on the features and on their t-SNE (map). Silhouettes of "
    "scenarios, in [-1, 1], by level, category and type: above 0, scenarios are nearer to their own group "
    "than to the next. Distances from clean pictures, as shares of that at severity 5: means over types. "
    "{facts}"
)


def hierarchy(features: Path, tsne: Path) -> Table:
    """Return silhouettes by level, category and type, and mean distances from clean by severity.

    Weather is left out, as on the map. Without pictures the table has no row.
    """
    footer = read_footer(tsne)
    mapped = read_table(tsne, TSNE)
    rows = mapped.join(read_table(features, FEATURES), on=["corruption", "severity"], maintain_order="left")
    own = rows.filter(pl.col("corruption") != CLEAN)
    found: dict[str, list[float]] = {}
    if own.height:
        for space, columns in zip(SPACES, (["feature"], ["x", "y"]), strict=True):
            values = [
                np.array([np.hstack(row) for row in part.select(columns).iter_rows()], np.float64)
                for part in (own, rows.filter(corruption=CLEAN))
            ]
            groups = [own[name].to_list() for name in ("level", "category", "corruption")]
            far = own.select("severity").with_columns(distance=distances(values[0], values[1][0]))
            means = far.group_by("severity").agg(pl.col("distance").mean()).sort("severity")["distance"]
            found[space] = [
                *(silhouette(values[0], names) for names in groups),
                *(means / means[-1]).to_list(),
            ]
    severities = own["severity"].unique().sort().to_list()
    measures = [f"silhouette by {name}" for name in ("level", "category", "type")]
    measures += [f"distance from clean, severity {severity}" for severity in severities]
    frame = pl.DataFrame(
        {"measure": measures if found else [], **{space: found.get(space, []) for space in SPACES}},
        schema={"measure": pl.String, **dict.fromkeys(SPACES, pl.Float64)},
        nan_to_null=True,
    )
    facts = f"Not made: {footer['missing']}." if footer.get("missing") else _facts(footer, rows.height)
    return printed(
        frame,
        [
            Column("measure", "Measure"),
            Column("features", "Features"),
            Column("map", "Map"),
        ],
        caption=CAPTION.format(facts=facts),
        label="mllm-ic-hierarchy",
    )


def _facts(footer: dict[str, object], scenarios: int) -> str:
    return f"Network: {footer['network']}; {footer['pictures']}; {scenarios} scenarios, without weather."
