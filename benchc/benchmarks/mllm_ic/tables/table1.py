"""Table 1: benchmarks of robustness to corruptions, with this run as one."""

import polars as pl

from benchc.benchmarks.mllm_ic.published.tables import OURS, published_table1
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles
from benchc.pluralize import pluralize
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

THIS, PAPER = "This run", "MLLM-IC (paper)"
NUMBERS = ("qa_pairs", "capability_dimensions", "corruption_dimensions", "severity_levels")
CAPTION = (
    "Benchmarks of robustness to image corruptions as the paper lists them, and this run: {questions} with a "
    "capability, each under {scenarios}, without clean images."
)


def table1(run: RunFiles) -> Table:
    """Return the paper's Table 1 and a row of this run, whose numbers are compared with the paper's own."""
    table = published_table1()
    highs = [each.high for each in run.capabilities]
    scenarios = len(run.corruptions) * len(run.severities)
    numbers = (run.items.height * scenarios, len(highs), len(run.corruptions), len(run.severities))
    tasks = [f"{highs.count(name)} {name}" for name in dict.fromkeys(highs)]
    noun = "task" if highs.count(highs[-1]) == 1 else "tasks"
    ours = pl.DataFrame(
        {"benchmark": [THIS], **{name: [n] for name, n in zip(NUMBERS, numbers, strict=True)}}
    )
    row = ours.with_columns(
        pl.lit(f"{numbers[0]:,}").alias("qa_pairs"),
        pl.lit(f"{' and '.join(tasks)} {noun}").alias("capabilities"),
    )
    # In its own row the paper says "ours".
    shown = table.with_columns(pl.col("benchmark").replace(OURS, PAPER))
    frame = pl.concat([shown, row], how="diagonal")
    thousands = pl.col("qa_pairs").str.strip_suffix("k").cast(pl.Int64) * 1000
    paper = table.filter(benchmark=OURS).with_columns(thousands, benchmark=pl.lit(THIS))
    return printed(
        frame,
        [
            Column("benchmark", "Benchmark"),
            Column("capabilities", "Capabilities", inches=2.2),
            Column("year", "Year"),
            Column("qa_pairs", "QA pairs"),
            Column("capability_dimensions", "Capability dimensions"),
            Column("corruption_dimensions", "Corruption dimensions"),
            Column("severity_levels", "Severity levels"),
        ],
        caption=CAPTION.format(
            questions=pluralize(run.items.height, "question"), scenarios=pluralize(scenarios, "scenario")
        ),
        label="mllm-ic-1",
        text_columns=2,
        small=True,
        published=compare_with_published(
            ours, paper, on=["benchmark"], values={name: name for name in NUMBERS}
        ),
        summary=f"{numbers[0]:,} pairs of a question and a corrupted picture",
    )
