"""Texts as cells of CSV files that people open in a spreadsheet, which computes what looks like a formula.

A formula in a text of the data could send other cells to a server. As OWASP advises ("CSV injection"), an
apostrophe comes before it; :func:`text_of` takes it away. A text that has apostrophes before such a beginning
gets one more, so that each text is read as it was. Negative numbers stay.
"""

import csv
import re

FORMULA = "'*[-=+@\t\r\n＝＋－＠]"  # how a cell begins; spreadsheets take the wide forms as well
NUMBER = "-[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?"


class QuotedCsv(csv.excel):
    """CSV whose cells are all in quotes.

    Before 3.13, Python otherwise leaves a carriage return unquoted, which ends a row for readers.
    """

    lineterminator = "\n"
    quoting = csv.QUOTE_ALL


class QuotedTsv(QuotedCsv):
    """The same, with tabs."""

    delimiter = "\t"


def cell_of(text: str) -> str:
    """Return the cell of a text."""
    return f"'{text}" if _is_formula(text) else text


def text_of(cell: str) -> str:
    """Return the text of a cell that :func:`cell_of` made."""
    return cell[1:] if cell[:1] == "'" and _is_formula(cell) else cell


def _is_formula(text: str) -> bool:
    return re.match(FORMULA, text) is not None and re.fullmatch(NUMBER, text) is None
