"""All tables of wrong inputs, in the order of docs/errors.md."""

from tests.refusals import (
    configuration,
    environment,
    intermediate,
    mllm_ic,
    naturalbench,
    r_bench,
    sources,
    vqa_robustness,
)

OF_RUNS = [*configuration.TABLES, *sources.TABLES, *intermediate.TABLES, *environment.TABLES]
OF_BENCHMARKS = [*vqa_robustness.TABLES, *naturalbench.TABLES, *r_bench.TABLES, *mllm_ic.TABLES]
TABLES = [*OF_RUNS, *OF_BENCHMARKS]
