"""Everything that the run shows, collected for `snakemake --report`.

REQUIRED INPUTS: <results>/tables/*, <results>/figures/*
OUTPUTS: none; `snakemake --report results/<name>/report.html` makes a page of them
"""


report: "captions/report.rst"


rule report:
    """Make all tables and figures."""
    input:
        rules.table1.output,
        rules.table2.output,
        rules.table3.output,
        rules.claims.output,
        rules.bootstrap.output,
        rules.rank_swaps.output,
        rules.selection_diagnostics.output,
        rules.figure1a.output,
        rules.figure3.output,
        rules.figure4.output,
        rules.figure5.output,
        rules.figure6.output,
        rules.figure7.output,
        rules.figure8.output,
        rules.figure9.output,
        rules.figure10.output,
        collect(
            "<results>/figures/contact_sheet_{page}.{kind}",
            page=SHEETS,
            kind=["png", "pdf"],
        ),
        DISCRIMINATION,
        OPTION_ORDER,
