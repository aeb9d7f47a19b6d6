"""G-Acc of models as they are and tuned on one half of the groups, on the other half (Figure 5)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.inputs import GroupRows
from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.debias import predicted
from benchc.benchmarks.naturalbench.metrics.group_items import GroupItems, group_items
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES, Floats, group_values
from benchc.benchmarks.naturalbench.metrics.readings import prior_differences, probabilities
from benchc.benchmarks.naturalbench.schemas.halves import HALVES, TEST, TRAIN
from benchc.benchmarks.naturalbench.tables.frames import columns_of
from benchc.benchmarks.naturalbench.tuned_names import tuned_id
from benchc.command_line import PositiveInt
from benchc.models.tuning.settings import Modality
from benchc.pluralize import pluralize
from benchc.rendering.output import Table, parquet
from benchc.rendering.printing import Column, printed
from benchc.schemas.models import read_models
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import CLEAN, KEY, PREDICTIONS

Pool = Annotated[pl.DataFrame, parquet(POOL, "id", "options", "answer")]
Halves = Annotated[pl.DataFrame, parquet(HALVES)]
INPUTS: dict[Modality, str] = {"text": "blind", "images": "with images"}
COLUMNS = ["zero_shot", "fine_tuned", "difference"]
NO_IMAGE = "no_image"
CAPTION = (
    "G-Acc of models before and after tuning on {train}, on the other {test}; Δ: the difference, paired by "
    "group. Blind: tuned and asked without the image, so that both images of a question have one answer and "
    "no group is right; chance, of four answers by a coin, is 6.25. In per cent, with 95 % percentile "
    "intervals from {draws} of the tested groups, the same for all models."
)


def fine_tuning(
    pool: Pool,
    groups: GroupRows,
    halves: Halves,
    models: Path,
    original: list[Path],
    tuned: list[Path],
    modalities: list[Modality],
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return G-Acc in per cent of each model and modality before and after tuning, and the difference.

    ``original``, ``tuned``: predictions, in folders with the names of the models, {model} and
    {model}.{modality}; those of modality text are of each question's item about image 0.
    """
    labels = {id_: model.label for id_, model in read_models(models).models.items()}
    chosen = halves.filter(half=TEST)
    items = group_items(groups.join(chosen, on="group", how="semi", maintain_order="left"), pool)
    resamples = Resamples(len(items.groups), draws, seed)
    folders = {path.parent.name for path in tuned}
    rows = []
    for modality, name in INPUTS.items():
        for id_ in labels if modality in modalities else ():
            if tuned_id(id_, modality) not in folders:
                continue
            values = np.stack(
                [
                    solved(_files(original, id_, modality), items, modality),
                    solved(_files(tuned, tuned_id(id_, modality), modality), items, modality),
                ],
                axis=1,
            )
            drawn = resamples.means(values)
            drawn = np.column_stack([drawn, drawn[:, 1] - drawn[:, 0]])
            rows.append(pl.DataFrame({"model": [labels[id_]], "input": [name], **columns_of(drawn, COLUMNS)}))
    frame = pl.concat(rows).with_columns(groups=pl.lit(len(items.groups), pl.Int64))
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("input", "Input"),
            Column("zero_shot", "Zero-shot", interval=True, digits=1),
            Column("fine_tuned", "Fine-tuned", interval=True, digits=1),
            Column("difference", "Δ", signed=True, interval=True, digits=1),
        ],
        caption=CAPTION.format(
            train=pluralize(halves.filter(half=TRAIN).height, "group"),
            test=f"{chosen.height:,}",
            draws=pluralize(draws, "resample"),
        ),
        label="naturalbench-fine-tuning",
    )


def solved(paths: Sequence[Path], items: GroupItems, modality: Modality) -> Floats:
    """Return whether the more probable answers solve each group, float64[groups]: 1 or 0.

    Without the image, the answer to a question is that to its item about image 0, for both images.
    """
    rows = pl.concat([read_table(path, PREDICTIONS, [*KEY, "logits", "label_mass"]) for path in paths])
    if modality == "text":
        asked = items.ids[:, :, 0].ravel().tolist()
        rows = rows.filter(pl.col("id").is_in(asked))
        differences = np.repeat(prior_differences(rows, items, NO_IMAGE)[..., None], 2, axis=-1)
    else:
        rows = rows.filter(pl.col("id").is_in(items.ids.ravel().tolist()), pl.col("corruption") == CLEAN)
        scoring = str(read_footer(paths[0]).get("scoring"))
        differences = probabilities(rows, items, [(CLEAN, 0)], scoring).differences[0]
    values: Floats = group_values(predicted(differences) == items.truth)[:, MEASURES.index("g_acc")]
    return values


def _files(paths: Sequence[Path], folder: str, modality: Modality) -> list[Path]:
    """Return the predictions of the model ``folder`` with the images, or without."""
    without = modality == "text"
    return [path for path in paths if path.parent.name == folder and (path.stem == NO_IMAGE) == without]
