"""Write an HTML page: call the function with the name of MODULE with files and settings.

    python -m scripts.page benchc.benchmarks.NAME.pages.weights --input errors tables/errors.csv \\
        --output pages/weights

writes pages/weights.html.
"""

from benchc.atomic import write_text
from benchc.errors import InputError
from benchc.rendering.declaration import ENDINGS
from scripts.command import run
from scripts.output_arguments import call_output, output_parser


def main() -> None:
    arguments = output_parser(__spec__.name, __doc__).parse_args()
    page = call_output(arguments)
    if not isinstance(page, str):
        raise InputError(
            f"{arguments.module} does not return a page; use scripts.table for tables and scripts.figure for "
            "figures"
        )
    write_text(f"{arguments.output}{ENDINGS['html']}", page)


if __name__ == "__main__":
    run(main)
