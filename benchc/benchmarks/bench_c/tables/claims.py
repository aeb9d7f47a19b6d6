"""The paper's claims as Markdown and LaTeX."""

import polars as pl

from benchc.benchmarks.bench_c.claims import table as checks
from benchc.benchmarks.bench_c.claims.evidence import evidence
from benchc.benchmarks.bench_c.inputs import PoolTasks, Selected
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.rendering.chance import ChanceTable
from benchc.rendering.latex import latex_text
from benchc.rendering.markdown import paragraph
from benchc.rendering.output import Table
from benchc.rendering.verdicts import counts_of

HEADER = ("Section", "Claim", "Holds when", "Paper", "Here", "Verdict")
CAPTION = (
    "Claims of the Bench-C paper about its results, checked on this run: {counts}. Criteria are ours where "
    "the paper gives none. Verdicts compare means and do not test significance. RAS and ΔAcc of models are "
    "weighted by κ (eq. 11); those of corruptions, groups, severities and figure 4 are unweighted means."
)
WIDTHS = (0.05, 0.19, 0.20, 0.13, 0.17, 0.08)  # of the text's width; the rest is between columns
SYMBOLS = {
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "≤": r"$\le$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "…": r"\dots{}",
}


def claims(
    targets: TargetScores,
    selected: Selected,
    pool: PoolTasks,
    chance: ChanceTable,
    groups: dict[str, str],
    example_label: str,
    example_corruption: str,
    example_severity: int,
) -> Table:
    """Return the claims of the paper's results, checked on this run.

    Claims about results are on the targets that are ranked. ``groups``: each corruption's group;
    ``example_*``: the target, corruption and severity of figure 4.
    """
    ranked = [id_ for id_, label in targets.labels.items() if label in chance.ranked]
    compared = ranked or [*targets.models]
    table = checks.claims(
        evidence(
            [targets.models[id_] for id_ in compared],
            [targets.scores[id_] for id_ in compared],
            selected,
            pool,
            groups=groups,
            example=(example_label, example_corruption, example_severity),
            excluded=targets.excluded,
        )
    )
    if not ranked:
        table = checks.without_models(table, "no target is ranked: none is above chance (table chance)")
    note = chance.left_out + targets.note
    return Table(
        table,
        claims_markdown(table, note),
        claims_latex(table, note),
        summary=f"claims: {counts_of(table['verdict'])}",
    )


def claims_markdown(table: pl.DataFrame, note: str = "") -> str:
    """Return a table of ``claims.table`` as a Markdown list below its caption: sentences fit no columns."""
    lines = [paragraph(_caption(table) + note), "\n"]
    for section, claim, *facts, verdict in table.rows():
        lines.append(paragraph(f"{verdict} ({section}): {claim}", mark="- "))
        named = zip(HEADER[2:-1], facts, strict=True)
        lines += [paragraph(f"{name}: {fact}", mark="  - ") for name, fact in named]
        lines.append("\n")
    return "".join(lines).rstrip("\n") + "\n"


def claims_latex(table: pl.DataFrame, note: str = "") -> str:
    """Return the same as a ``longtable``, which needs the packages longtable, booktabs and array."""
    columns = "".join(rf">{{\raggedright\arraybackslash}}p{{{width}\linewidth}}" for width in WIDTHS)
    header = " & ".join(HEADER) + r" \\"
    lines = [
        r"{\footnotesize",
        rf"\begin{{longtable}}{{{columns}}}",
        rf"\caption{{{_latex(_caption(table) + note)}}}\label{{tab:bench-c-claims}}\\",
        r"\toprule",
        header,
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        header,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *(" & ".join(_latex(str(cell)) for cell in row) + r" \\" for row in table.rows()),
        r"\end{longtable}",
        "}",
        "",
    ]
    return "\n".join(lines)


def _caption(table: pl.DataFrame) -> str:
    return CAPTION.format(counts=counts_of(table["verdict"]))


def _latex(text: str) -> str:
    return "".join(SYMBOLS.get(letter) or latex_text(letter) for letter in text)
