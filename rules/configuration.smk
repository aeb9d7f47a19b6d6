"""The complete configuration of the run, recorded beside its results.

REQUIRED INPUTS: none
OUTPUTS: <results>/config.yaml, config-sources.yaml, config-models.yaml    every key, and every entry that the run uses
"""

import mimetypes

# Python 3.11 does not know YAML, of which Snakemake's report warns.
mimetypes.add_type("text/plain", ".yaml")

CONFIGURATION = configuration_texts(run)


rule configuration:
    """Write the settings, and the entries of sources and models, with every default."""
    output:
        [
            report(
                path,
                caption="captions/configuration.rst",
                category="Configuration",
                labels={"file": Path(path).name},
            )
            for path in CONFIGURATION
        ],
    log:
        "<logs>/configuration.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **configuration_params(CONFIGURATION),
    message:
        "Recording the configuration"
    shell:
        "set -- {params.texts:q}; for path in {output}; do "
        'said=$({{ printf %s "$1" > "$path"; }} 2>&1) || '
        '{{ echo "error: $path: cannot be read or written (${{said##*: }}); '
        'free disk space, or make it writable, and run it again" >&2; exit 1; }}; '
        "shift; done 2> {log}"
