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
# ---- Scores --------------------------------------------------------------------------------------------------------
# ---- Tables and figures --------------------------------------------------------------------------------------------

OUTPUTS = []
