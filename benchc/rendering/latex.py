"""Tables as LaTeX, for the package booktabs."""

from collections.abc import Sequence

from benchc.rendering.markdown import check_lengths, one_line
from benchc.rendering.numbers import MISSING

SPECIAL = {
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
    # In LaTeX's default font encoding (OT1) these print as other characters.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
}
# Applied once special characters are escaped.
SYMBOLS = {
    "Δ": r"$\Delta$",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "–": "--",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    r" \%": r"\,\%",
}


def latex_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str,
    label: str,
    text_columns: int = 1,
    small: bool = False,
    inches: Sequence[float | None] = (),
) -> str:
    """Return a ``table*`` environment with a :func:`booktabs` tabular; all texts are LaTeX already.

    ``small``: in footnote size, for a table that is wider than the page otherwise. ``inches``: as
    in :func:`booktabs`.
    """
    size = "\\footnotesize\n" if small else ""
    return (
        f"\\begin{{table*}}\n\\centering\n\\caption{{{caption}}}\n\\label{{tab:{label}}}\n"
        f"{size}{booktabs(header, rows, text_columns, inches)}\\end{{table*}}\n"
    )


def booktabs(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    text_columns: int = 1,
    inches: Sequence[float | None] = (),
) -> str:
    """Return a ``tabular`` environment; cells are LaTeX already.

    ``inches``: widths of the first columns, whose texts break into lines; None for one as wide as its texts.
    Raises ValueError where a row is not as long as the header.
    """
    check_lengths(header, rows)
    aligned = ["l"] * text_columns + ["r"] * (len(header) - text_columns)
    for place, width in enumerate(inches):
        aligned[place] = aligned[place] if width is None else f"p{{{width:g}in}}"
    first, *rest = [_row(row) for row in (header, *rows)]
    lines = [
        rf"\begin{{tabular}}{{{''.join(aligned)}}}",
        r"\toprule",
        first,
        r"\midrule",
        *rest,
        r"\bottomrule",
    ]
    return "\n".join([*lines, r"\end{tabular}", ""])


def _row(cells: Sequence[str]) -> str:
    text = " & ".join(cells) + r" \\"
    # After a row or a rule, LaTeX would read these as the command's option.
    return "{}" + text if text.startswith(("[", "*", "(")) else text


def latex_text(text: str) -> str:
    """Return ``text`` in one line, with LaTeX's special characters escaped."""
    return "".join(SPECIAL.get(character, character) for character in one_line(text))


def latex_symbols(text: str) -> str:
    """Return :func:`latex_text` with Greek letters as formulas and a thin space before a percent sign."""
    text = latex_text(text)
    for symbol, command in SYMBOLS.items():
        text = text.replace(symbol, command)
    return text


def latex_number(text: str) -> str:
    """Return a printed number, with its interval if it has one, as a LaTeX formula."""
    if text in ("", MISSING):
        return "--" if text else ""
    mantissa, e, exponent = text.partition("e")
    power = rf" \times 10^{{{int(exponent)}}}" if e else ""
    return f"${mantissa}{power}$".replace(MISSING, r"\textrm{--}").replace(" [", r"\ [")
