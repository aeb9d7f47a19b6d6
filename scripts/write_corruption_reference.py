"""Write docs/corruptions.md; run it after editing benchc/corruptions/suites."""

from pathlib import Path

from benchc.corruptions.reference import corruption_page
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument(
        "--page", type=Path, default=Path("docs/corruptions.md"), help="page to write; default: %(default)s"
    )
    arguments = parser.parse_args()
    arguments.page.parent.mkdir(parents=True, exist_ok=True)
    arguments.page.write_text(corruption_page(), encoding="utf-8")


if __name__ == "__main__":
    run(main)
