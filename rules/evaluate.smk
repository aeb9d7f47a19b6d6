"""Take the benchmark, and the results of models, from a finished run (key evaluate) instead of making them.

REQUIRED INPUTS: the results of the finished run
OUTPUTS: <results>/{file}    links to its files, where a job needs them
Tables, figures and pages that a new model changes are made again, of its models and of those that are evaluated now.
"""

from os.path import relpath

from benchc.config.paths import is_result


def taken(wildcards):
    try:
        return run.taken_file(wildcards.file)
    except InputError as error:
        # After another exception, Snakemake would go on to the rule that makes the file.
        raise SystemExit(f"error: {error}")


rule take:
    """Link to a file of the finished run."""
    input:
        taken,
    output:
        "<results>/{file}",
    log:
        "<logs>/take/{file}.log",
    wildcard_constraints:
        file=run.taken,
    localrule: True
    params:
        # Where both runs are in results/, they can be moved together.
        target=lambda wildcards, input, output: (
            relpath(input[0], Path(output[0]).parent)
            if is_result(input[0])
            else str(Path(input[0]).absolute())
        ),
    message:
        "Taking files of the finished run"
    shell:
        "ln -s {params.target:q} {output:q} 2> {log:q}"


# What a directive ruleorder is, of all rules.
workflow.ruleorder("take", *(rule.name for rule in workflow.rules if rule.name != "take"))
