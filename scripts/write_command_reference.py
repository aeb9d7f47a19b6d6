"""Write docs/commands.md; run it after editing a command of `benchc`, or its description."""

import sys
from pathlib import Path
from unittest.mock import patch

_LEAD = """\
# Commands

`benchc COMMAND --help` prints the same. This page is generated from the code by `python -m scripts.stage
write_command_reference`.
"""


def write_command_reference(*, page: Path = Path("docs/commands.md")) -> None:
    """Write docs/commands.md; run it after editing a command of `benchc`, or its description.

    Args:
        page: page to write
    """
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(command_page(), encoding="utf-8")


def command_page() -> str:
    """Return the page in Markdown, with all commands, their options and defaults."""
    from scripts.benchc import app_with, commands

    # By the name of the program, cyclopts decides what a line of usage begins with.
    with patch.object(sys, "argv", ["benchc"]):
        described = app_with(tuple(commands())).generate_docs()
    # Before the list of commands are a title and a table of contents that says the same.
    return f"{_LEAD}\n{described[described.index('**Commands**') :].rstrip()}\n"
