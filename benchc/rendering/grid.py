"""A grid of ready-made cells as Markdown that lines up in a terminal, or as a LaTeX booktabs tabular."""

from collections.abc import Sequence

LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # Other signs in LaTeX's oldest font encoding, which is the default.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
}


# Signs of formulas, and a thin space before a per cent sign, once special characters are escaped.
LATEX_SYMBOLS = {
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "–": "--",
    r" \%": r"\,\%",
}


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Return a pipe table; the first ``text_columns`` columns are flush left, the others flush right.

    A "|" in a cell is escaped. Raises ValueError where a row is not as long as the header.
    """
    _check_widths(header, rows)
    grid = [[cell.replace("|", r"\|") for cell in row] for row in (header, *rows)]
    widths = [max(3, *(len(row[column]) for row in grid)) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.ljust(width) if column < text_columns else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(cells)} |"

    rule = [
        "-" * width if column < text_columns else "-" * (width - 1) + ":"
        for column, width in enumerate(widths)
    ]
    return "\n".join([line(grid[0]), f"| {' | '.join(rule)} |", *map(line, grid[1:])]) + "\n"


def booktabs(header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Return a tabular environment for the package booktabs; cells are LaTeX already.

    Raises ValueError where a row is not as long as the header.
    """
    _check_widths(header, rows)
    columns = "l" * text_columns + "r" * (len(header) - text_columns)
    first, *rest = [" & ".join(row) + r" \\" for row in (header, *rows)]
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        first,
        r"\midrule",
        *rest,
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]
    return "\n".join(lines)


def latex_text(text: str) -> str:
    """Return ``text`` with LaTeX's special characters escaped."""
    return "".join(LATEX_SPECIAL.get(character, character) for character in text)


def latex_symbols(text: str) -> str:
    """Return ``text`` with LaTeX's special characters escaped and signs of formulas as commands."""
    text = latex_text(text)
    for symbol, command in LATEX_SYMBOLS.items():
        text = text.replace(symbol, command)
    return text


def _check_widths(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells, the header {len(header)}")
