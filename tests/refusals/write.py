"""Write docs/errors.md from the table of wrong inputs: `python -m tests.refusals.write`."""

from itertools import groupby
from pathlib import Path

from tests.refusals.case import Case
from tests.refusals.tables import TABLES

PAGE = Path(__file__).resolve().parents[2] / "docs/errors.md"
LEAD = """\
# Errors

A wrong input ends a command with an exit status that is not 0. The last line begins with `error:` and says what is
wrong, where (the file, key or row), and how to mend it. Nothing that is finished is changed.

- `benchc check` goes on after an error, lists all that it finds, and ends with their number.
- A job writes its error to its log. `benchc run` ends with a line for each job that failed: its error, and the path
  of the log. Snakemake removes the outputs of a job before it begins, so that those of a failed one are missing.
- Rows of a data file that cannot be read are left out and counted with the reason, unless they are many
  (`max_rejected`).

The tables below are written by `python -m tests.refusals.write` from `tests/refusals/`, whose tests provoke each of
these {count} wrong inputs in small finished runs. The lines are shown without `error:`; those of `benchc check` begin
with what they are about, such as the id of a source. `…` stands for what differs from case to case.
"""


def page() -> str:
    """Return the page in Markdown, with a table for each class of inputs."""
    count = sum(len(table.cases) for table in TABLES)
    parts = [LEAD.format(count=count)]
    for title, tables in groupby(TABLES, lambda table: table.title):
        rows = [row_of(case) for table in tables for case in table.cases]
        head = [f"## {title}\n", "| what is wrong | what is printed |", "|---|---|"]
        parts.append("\n".join([*head, *rows, ""]))
    return "\n".join(parts)


def row_of(case: Case) -> str:
    text = case.says.replace("*", "…").replace("|", "\\|")
    ticks = "``" if "`" in text else "`"
    return f"| {case.kind} | {ticks}{text}{ticks} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
