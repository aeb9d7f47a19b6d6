"""Compute VRE and the metrics of severity from a table of errors, without a run."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.vqa_robustness.metrics.severity import Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, weights_of
from benchc.benchmarks.vqa_robustness.metrics.vre import vre as vre_of
from benchc.benchmarks.vqa_robustness.pages.weights import weights_page
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors, read_errors
from benchc.benchmarks.vqa_robustness.tables.frames import (
    beyond_scale,
    constant,
    frozen_scale,
    incomplete,
    metric_frame,
    mostly_wrong,
    not_in_scale,
    scaled_alone,
    vre_frames,
    vre_text,
)
from benchc.schemas.printed import csv_text
from benchc.user_output import refuse_overwriting


def vre(
    errors: Path,
    /,
    *,
    weights: tuple[float, float, float, float, float] = (1.0, 1.0, 1.0, 1.0, 1.0),
    scale_of: Path | None = None,
    levels: Levels = "0..5",
    output: Path | None = None,
) -> None:
    """Compute VRE and the metrics of severity from a table of errors, without a run.

    The file has the columns model, corruption, level (0, clean, to 5) and error (from 0 to 1), as
    tables/errors.csv of a run of VQA-robustness and Table A.1 of its paper.

    Args:
        errors: the errors (CSV or Parquet)
        weights: of first drop, range, error rate, average error and average difference, in any unit
        scale_of: scale the metrics by the minimum and maximum of another table, so that adding a model moves
            no other; default: those of the table itself
        levels: levels of range, error rate and average error
        output: folder for tables (CSV), figures (PNG, PDF) and the page of weights (HTML)
    """
    if output is not None:
        refuse_overwriting(output, ())
    table = read_errors(errors)
    metrics = severity_metrics(table.values, levels)
    frozen = [] if scale_of is None else [scale_of]
    scale = frozen_scale(frozen, levels) or Scale.of(metrics)
    models, corruptions = vre_frames(table, vre_of(scale.scaled(metrics), weights_of(weights)))
    if output is not None:
        frames = {"severity_metrics": metric_frame(table, metrics), "vre_model": models}
        for name, frame in {**frames, "vre_corruption": corruptions}.items():
            write_text(output / f"{name}.csv", csv_text(frame))
        save_figures(table, weights, levels, scale, output)
        page = weights_page(table, weights, levels, None if scale_of is None else scale)
        write_text(output / "weights.html", page)
    notes = [
        *incomplete(table, metrics),
        *scaled_alone(table, metrics, frozen, levels),
        *not_in_scale(frozen, levels),
        *beyond_scale(models),
        *constant(scale),
        *mostly_wrong(table),
    ]
    print(vre_text(models, corruptions, notes), end="")


def save_figures(
    errors: Errors, weights: tuple[float, ...], levels: Levels, scale: Scale, folder: Path
) -> None:
    """Write the figures that need errors alone."""
    # Imported here because they import matplotlib.
    from benchc.benchmarks.vqa_robustness.figures import figure_a2, figure_accuracy, figure_weightings
    from benchc.rendering.save import save

    figures = {
        "figure_a2": figure_a2.figure_a2(errors),
        "figure_weightings": figure_weightings.plot(errors, levels, scale),
        "figure_accuracy": figure_accuracy.plot(errors, weights, levels, scale),
    }
    for name, figure in figures.items():
        save(figure, png=folder / f"{name}.png", pdf=folder / f"{name}.pdf")
