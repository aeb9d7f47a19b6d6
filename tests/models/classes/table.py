"""The table of docs/models.md that says which class passes what.

To write it: ``python -m tests.models.classes.table``.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.models.classes.builders import BUILDERS, load, save
from tests.models.classes.checks import CHECKS, outcome

PAGE = Path(__file__).resolve().parents[3] / "docs/models.md"
BEGIN, END = "<!-- classes: begin, written by tests/models/classes/table.py -->\n", "<!-- classes: end -->\n"
HEADER = ("model type", "class", *CHECKS, "why not")


def row(model_type: str, class_name: str, outcomes: Mapping[str, str | None]) -> dict[str, str]:
    """Return a row of the table; ``outcomes`` has the reason of each check that was refused."""
    reasons = dict.fromkeys(reason for reason in outcomes.values() if reason is not None)
    return {
        "model type": _code(model_type),
        "class": f"`{class_name}`",
        **{check: "yes" if reason is None else "no" for check, reason in outcomes.items()},
        "why not": "; ".join(reasons).replace("|", "\\|"),
    }


def _code(model_type: str) -> str:
    name, space, of = model_type.partition(" ")
    return f"`{name}`{space}{of}"


def markdown(rows: list[dict[str, str]]) -> str:
    lines = [HEADER, ["---"] * len(HEADER), *(list(row.values()) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def committed() -> dict[str, dict[str, str]]:
    """Return the rows of the page by model type."""
    lines = PAGE.read_text().partition(BEGIN)[2].partition(END)[0].splitlines()
    rows = [
        dict(zip(HEADER, (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]), strict=True))
        for line in lines[2:]
    ]
    return {row["model type"].replace("`", ""): row for row in rows}


def found(model_type: str, folder: Path) -> dict[str, str]:
    """Return the row of a class after all checks."""
    save(model_type, folder)
    tested = load(model_type, folder)
    return row(model_type, tested.class_name, {check: outcome(tested, check) for check in CHECKS})


def main() -> None:
    rows = []
    for model_type in BUILDERS:
        with TemporaryDirectory() as folder:
            rows.append(found(model_type, Path(folder)))
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + begin + markdown(rows) + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
