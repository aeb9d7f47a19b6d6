"""Write the configuration's JSON schemas and reference page; run it after editing settings."""

from pathlib import Path

from benchc.config.reference import reference_page, schema_text, schemas
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument(
        "--schemas", type=Path, default=Path("config/schema"), help="folder of the JSON schemas (%(default)s)"
    )
    parser.add_argument(
        "--page", type=Path, default=Path("docs/configuration.md"), help="reference page (%(default)s)"
    )
    arguments = parser.parse_args()
    arguments.schemas.mkdir(parents=True, exist_ok=True)
    arguments.page.parent.mkdir(parents=True, exist_ok=True)
    for name in schemas():
        (arguments.schemas / f"{name}.json").write_text(schema_text(name), encoding="utf-8")
    arguments.page.write_text(reference_page(), encoding="utf-8")


if __name__ == "__main__":
    run(main)
