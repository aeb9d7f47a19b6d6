"""The table and the figure of tuned models (Figure 5)."""

from collections.abc import Sequence

from benchc.benchmarks.naturalbench.fine_tuning_workflow import HALVES, FineTunedModels
from benchc.benchmarks.naturalbench.settings import Settings
from benchc.rendering.declaration import Output, figure, table


def fine_tuning_outputs(
    settings: Settings, tuned: FineTunedModels | None, clean_parts: Sequence[str]
) -> list[Output]:
    """Return the declarations. ``clean_parts``: the parts of predictions that have clean images."""
    draws = settings.tables.bootstrap.draws
    limits = f"""
        Groups are split in equal halves by a hash of `fine_tuning.seed`; those that share an image are in one
        half as far as possible. Models are tuned on the right answers of the first half, by low-rank
        adaptation (LoRA) of their weights, and tested on the second, as they were and tuned, deterministic (τ
        = 0). The paper tunes LLaVA-1.5, of which it does not say which weights, and GPT-3.5 and GPT-4o by
        OpenAI's service. A model that is not shown the image (blind) gives both images of a question the
        same answer, and so solves no group, whatever it learned; chance, 1/16, is that of four answers by a
        coin. Intervals: 95 %, from {draws} resamples of the groups of the second half, the same for all.
    """
    return [
        table(
            "fine_tuning",
            "tuned models",
            inputs={
                "pool": "<results>/pool/items.parquet",
                "groups": "<results>/pool/groups.parquet",
                "halves": HALVES,
                "models": "<results>/models.json",
                "original": tuned.original(clean_parts) if tuned else [],
                "tuned": tuned.predictions if tuned else [],
            },
            settings={
                "modalities": settings.fine_tuning.modality if settings.fine_tuning else [],
                "draws": draws,
                "seed": settings.tables.bootstrap.seed,
            },
            wanted=tuned is not None,
            caption=f"""
            **Tuned models** (figure 5 of the paper). G-Acc in per cent before and after tuning, and the
            difference, paired by group. {limits}
            """,
        ),
        figure(
            "figure5",
            "Figure 5",
            inputs={"table": "<results>/tables/fine_tuning.csv", "halves": HALVES},
            subcategory="Accuracy",
            wanted=tuned is not None,
            caption=f"""
            **Figure 5** of the paper. G-Acc in per cent of models as they are (zero-shot) and tuned, blind
            and with images. {limits} The figure says how many groups are in each half, and how many images
            in both.
            """,
        ),
    ]
