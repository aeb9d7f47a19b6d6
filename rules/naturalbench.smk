"""NaturalBench: groups of two images and two questions with alternating answers, made and scored.

REQUIRED INPUTS: <results>/pool/items.parquet, and what the sections below state
OUTPUTS: those of the sections below
"""

from functools import partial

SUBSETS = {
    # The items of whole groups.
    "groups": f"results/{settings.name}/subsets/groups.parquet",
    # One item of each question, which is asked without its image.
    "questions": f"results/{settings.name}/subsets/questions.parquet",
}
BENCHMARK = "groups"
# The models of tables and figures.
MEASURED = settings.models
CURATE = settings.curate
RETRIEVAL = settings.retrieval

# ---- Captions, embeddings, mining, pairs, retrieval ----------------------------------------------------------------
# ---- Questions, reviews, assembly ----------------------------------------------------------------------------------
# ---- Groups and tags of the pool -----------------------------------------------------------------------------------

GROUP_SOURCES = sorted(run.sources)
OPEN_SOURCES = [id_ for id_ in GROUP_SOURCES if id_ in VQAV2_SOURCES]
if OPEN_SOURCES:
    raise WorkflowError(f"Remove {OPEN_SOURCES[0]} from sources: VQAv2 has open questions, not groups.")
TAG_FILES = [str(local(settings.groups.tags))] if settings.groups.tags else []
if TAG_FILES and not Path(TAG_FILES[0]).is_file():
    raise WorkflowError(f"groups.tags: there is no file {TAG_FILES[0]}; correct the path, or give null.")


rule read_groups:
    """Tell the groups of the pool, and read their tags; groups that are not whole are listed with the reason."""
    input:
        pool="<results>/pool/items.parquet",
        files=[file_of(id_, "tsv") for id_ in GROUP_SOURCES],
        tags=TAG_FILES,
    output:
        groups="<results>/pool/groups.parquet",
        tags="<results>/pool/tags.parquet",
        subset=SUBSETS["groups"],
        questions=SUBSETS["questions"],
        report="<results>/pool/groups.report.csv",
    log:
        "<logs>/read_groups.log",
    benchmark:
        "<benchmarks>/read_groups.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=2000,
    params:
        *code_of("scripts/naturalbench/read_groups.py"),
        contents=[
            *(line for id_ in GROUP_SOURCES for line in own_contents(id_, ["tsv"])),
            *contents_of(TAG_FILES),
        ],
        files=[option("--tsv", f"{id_}={file_of(id_, 'tsv')}") for id_ in GROUP_SOURCES],
        # Functions, since Snakemake expands braces in strings as wildcards.
        labels=lambda wildcards: [
            option("--label", f"{id_}={run.sources[id_].label}") for id_ in GROUP_SOURCES
        ],
        limit=option("--limit", settings.groups.limit),
        tags=" ".join(option("--tags", file) for file in TAG_FILES),
    message:
        "Reading the groups of the pool"
    shell:
        "python -m scripts.naturalbench.read_groups --items {input.pool} {params.files} {params.labels}"
        " {params.limit} {params.tags} --groups {output.groups} --tags-output {output.tags}"
        " --subset {output.subset} --questions {output.questions} --report {output.report} 2>&1 | tee {log}"


# ---- Scores --------------------------------------------------------------------------------------------------------
# ---- Tables and figures --------------------------------------------------------------------------------------------

OUTPUTS = []
