"""Plot a figure: call the function with the name of MODULE with files and settings.

    python -m scripts.figure benchc.benchmarks.NAME.figures.figure8 --input pool pool/items.parquet \\
        --input selected selection/selected.parquet --output figures/figure8

writes figures/figure8.png (300 dpi) and figures/figure8.pdf.
"""

from matplotlib.figure import Figure

from benchc.errors import InputError
from benchc.rendering.save import save
from scripts.command import run
from scripts.output_arguments import call_output, output_parser


def main() -> None:
    arguments = output_parser(__spec__.name, __doc__).parse_args()
    figure = call_output(arguments)
    if not isinstance(figure, Figure):
        raise InputError(f"{arguments.module} does not return a figure; use scripts.table for tables")
    save(figure, png=f"{arguments.output}.png", pdf=f"{arguments.output}.pdf")


if __name__ == "__main__":
    run(main)
