"""A checker of LaTeX tables, for machines without LaTeX."""

import re
import unicodedata
from dataclasses import dataclass, field

TOKEN = re.compile(r"^%[^\n]*|\\[a-zA-Z]+\*?|\\.|[{}$&%#_^<>|\"~\n]|[^\x00-\x7f]", re.DOTALL | re.MULTILINE)
TABLES = ("tabular", "longtable")
# The package of each command; None for LaTeX itself. Any other command is a typing error.
PACKAGES = {
    **dict.fromkeys(
        ["begin", "end", "caption", "label", "centering", "footnotesize", "textrm", "textbf", "linewidth"]
    ),
    **dict.fromkeys(["textless", "textgreater", "textbar"]),
    **dict.fromkeys(["textbackslash", "textasciitilde", "textasciicircum", "dots", "raggedright"]),
    **dict.fromkeys(["toprule", "midrule", "bottomrule"], "booktabs"),
    **dict.fromkeys(["endfirsthead", "endhead", "endfoot"], "longtable"),
    "arraybackslash": "array",
}
MATH_PACKAGES = {
    **dict.fromkeys(["Delta", "kappa", "alpha", "rho", "tau", "le", "ge", "times", "uparrow", "downarrow"]),
    **dict.fromkeys(["mathrm", "mathcal", "mathbf", "mathit", "textrm", "dagger", "ddagger"]),
    "mathbb": "amssymb",
}
# Printed by pdflatex from UTF-8 in any font, like accented Latin letters.
PUNCTUATION = set("–—‘’“”…")


@dataclass
class Checker:
    """The position in a text, and the problems found so far."""

    problems: list[str] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    environments: list[str] = field(default_factory=list)
    braces: int = 0
    math_since: int | None = None  # open braces where the formula began
    columns: int | None = None
    cells: int = 1
    line: int = 1

    def report(self, problem: str) -> None:
        self.problems.append(f"line {self.line}: {problem}")


def check_latex(text: str) -> tuple[list[str], set[str]]:
    """Return what is wrong with a file of tables, and the packages that it needs."""
    state, position = Checker(), 0
    while match := TOKEN.search(text, position):
        position = match.end()
        token = match[0]
        if token in (r"\begin", r"\end"):
            position = _environment(state, token, text, position)
        elif len(token) > 1 and token[0] == "%":
            continue  # a comment
        elif token == r"\label":
            position = text.index("}", position) + 1  # a label may contain any character
        else:
            _token(state, token)
    if state.environments or state.braces or state.math_since is not None:
        state.report(f"at the end {state.environments}, {state.braces} braces or a formula are open")
    return state.problems, state.packages


def _environment(state: Checker, token: str, text: str, position: int) -> int:
    name = re.compile(r"\{(\w+\*?)\}").match(text, position)
    if name is None:
        state.report(f"{token} without a name")
        return position
    if token == r"\begin":
        state.environments.append(name[1])
        if name[1] == "longtable":
            state.packages.add("longtable")
        if name[1] in TABLES:
            end = _closing(text, name.end())
            state.columns, state.cells = _columns(text[name.end() + 1 : end - 1]), 1
            return end
    elif not state.environments or state.environments.pop() != name[1]:
        state.report(f"\\end{{{name[1]}}} of no such environment")
    elif name[1] in TABLES:
        if state.cells != 1:
            state.report(f"a row of {state.cells} cells is not ended")
        state.columns = None
    return name.end()


def _token(state: Checker, token: str) -> None:
    in_math = state.math_since is not None
    match token:
        case "\n":
            state.line += 1
        case "{":
            state.braces += 1
        case "}":
            state.braces -= 1
            if state.braces < (state.math_since or 0):
                state.report("a brace is closed that is not open")
        case "$":
            if in_math and state.math_since != state.braces:
                state.report("a formula ends within a brace")
            state.math_since = None if in_math else state.braces
        case "&":
            state.cells += 1
            if state.columns is None or in_math:
                state.report("& outside of a table's row, or in a formula")
        case r"\\":
            _row_end(state)
        case "%" | "#" | '"' | "~":
            state.report(f"{token} is not printed")
        case "_" | "^" | "<" | ">" | "|":
            if not in_math:
                state.report(f"{token} outside of a formula")
        case _ if token[0] == "\\":
            _command(state, token[1:])
        case _:
            latin = "LATIN" in unicodedata.name(token, "")
            if in_math or not (latin or token in PUNCTUATION):
                state.report(f"{token} has no glyph")


def _row_end(state: Checker) -> None:
    if state.math_since is not None:
        state.report("a row ends in a formula")
    # The caption of a longtable is a row of its own.
    if state.columns is not None and state.cells not in (1, state.columns):
        state.report(f"a row has {state.cells} cells, the table {state.columns} columns")
    state.cells = 1


def _command(state: Checker, name: str) -> None:
    if not name[0].isalpha():
        return  # an escaped character, or a space
    known = PACKAGES if state.math_since is None else MATH_PACKAGES
    if name not in known:
        state.report(f"\\{name} is unknown in {'text' if state.math_since is None else 'a formula'}")
    elif package := known[name]:
        state.packages.add(package)


def _closing(text: str, opening: int) -> int:
    depth = 0
    for position in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    return len(text)


def _columns(specification: str) -> int:
    # >{...} and p{...} are not columns.
    while (shorter := re.sub(r">?\{[^{}]*\}", "", specification)) != specification:
        specification = shorter
    return len(re.findall("[lcrp]", specification))
