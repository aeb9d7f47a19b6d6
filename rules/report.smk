"""Everything that the run shows, collected for `snakemake --report`.

REQUIRED INPUTS: <results>/tables/*, <results>/figures/*
OUTPUTS: none; `snakemake --report results/<name>/report.html` makes a page of them
"""


report: "captions/report.rst"


rule report:
    """Make all tables and figures."""
    input:
        rules.table1.output,
        rules.figure1a.output,
        rules.figure4.output,
        rules.figure6.output,
        rules.figure7.output,
        rules.figure8.output,
        collect(
            "<results>/figures/contact_sheet_{page}.{kind}",
            page=SHEETS,
            kind=["png", "pdf"],
        ),
