"""Tables as they are printed."""

from benchc.rendering.output import Table


def cells(markdown: str) -> list[list[str]]:
    """Return the cells of the header and of the rows of a table in Markdown."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in (lines[0], *lines[2:])]


def text_of(table: Table) -> str:
    """Return the Markdown of a table on one line."""
    return " ".join(table.markdown.split())
