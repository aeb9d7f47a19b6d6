"""Write the configuration's JSON schemas and reference page; run it after editing settings."""

from pathlib import Path

from benchc.config.reference import reference_page, schema_text
from benchc.config.reference import schemas as schema_names


def write_config_reference(
    *, schemas: Path = Path("config/schema"), page: Path = Path("docs/configuration.md")
) -> None:
    """Write the configuration's JSON schemas and reference page; run it after editing settings.

    Args:
        schemas: folder of the JSON schemas
        page: reference page
    """
    schemas.mkdir(parents=True, exist_ok=True)
    page.parent.mkdir(parents=True, exist_ok=True)
    for name in schema_names():
        (schemas / f"{name}.json").write_text(schema_text(name), encoding="utf-8")
    page.write_text(reference_page(), encoding="utf-8")
