"""Compute VRE and the metrics of severity from a table of errors, without a run.

The CSV file has the columns model, corruption, level (0, clean, to 5) and error (from 0 to 1), as
tables/errors.csv of a run of VQA-robustness and Table A.1 of its paper.
"""

from collections.abc import Sequence
from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import EQUAL, Scale, vre, weights_of
from benchc.benchmarks.vqa_robustness.pages.weights import weights_page
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors, read_errors
from benchc.benchmarks.vqa_robustness.tables.frames import (
    constant,
    incomplete,
    metric_frame,
    vre_frames,
    vre_text,
)
from scripts.command import Parser, run


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    add = parser.add_argument
    add("errors", type=Path, metavar="ERRORS.csv", help="the errors")
    add(
        "--weights",
        type=float,
        nargs=len(METRICS),
        default=EQUAL,
        metavar=tuple(name.replace("_", "-").upper() for name in METRICS),
        help="weights of the metrics, in any unit; default: equal",
    )
    add(
        "--scale-of",
        type=Path,
        metavar="ERRORS.csv",
        help="scale the metrics by the minimum and maximum of another table, so that adding a model moves no "
        "other; default: those of the table itself",
    )
    add(
        "--levels",
        choices=["0..5", "1..5"],
        default="0..5",
        help="levels of range, error rate and average error [%(default)s]",
    )
    add(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="folder for tables (CSV), figures (PNG, PDF) and the page of weights (HTML)",
    )
    arguments = parser.parse_args(argv)
    weights = weights_of(tuple(arguments.weights))
    errors = read_errors(arguments.errors)
    others = errors if arguments.scale_of is None else read_errors(arguments.scale_of)
    metrics = severity_metrics(errors.values, arguments.levels)
    scale = Scale.of(severity_metrics(others.values, arguments.levels))
    found = vre(scale.scaled(metrics), weights)
    models, corruptions = vre_frames(errors, found)
    if arguments.output is not None:
        frames = {"severity_metrics": metric_frame(errors, metrics), "vre_model": models}
        for name, frame in {**frames, "vre_corruption": corruptions}.items():
            write_text(arguments.output / f"{name}.csv", frame.write_csv())
        save_figures(errors, tuple(arguments.weights), arguments.levels, scale, arguments.output)
        frozen = None if arguments.scale_of is None else scale
        page = weights_page(errors, tuple(arguments.weights), arguments.levels, frozen)
        write_text(arguments.output / "weights.html", page)
    notes = [*incomplete(errors, metrics), *constant(scale)]
    print(vre_text(models, corruptions, notes), end="")


def save_figures(
    errors: Errors, weights: tuple[float, ...], levels: Levels, scale: Scale, folder: Path
) -> None:
    """Write the figures that need errors alone."""
    # Here, since they import matplotlib.
    from benchc.benchmarks.vqa_robustness.figures import figure_a2, figure_accuracy, figure_weightings
    from benchc.rendering.save import save

    figures = {
        "figure_a2": figure_a2.figure_a2(errors),
        "figure_weightings": figure_weightings.plot(errors, levels, scale),
        "figure_accuracy": figure_accuracy.plot(errors, weights, levels, scale),
    }
    for name, figure in figures.items():
        save(figure, png=folder / f"{name}.png", pdf=folder / f"{name}.pdf")


if __name__ == "__main__":
    run(main)
