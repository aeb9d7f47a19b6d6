"""Scores of models as frames and files: drawn ones, and those that the authors published."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES, JudgeScoresFooter
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.benchmarks.r_bench.scored import Scored, ScoreFile, scored_of
from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.corruptions.suites.r_bench import R_BENCH_INDEX
from benchc.schemas.parquet import write_table
from tests.shared_data import SHARED

RELEASED = SHARED / "data/real/r-bench"
# Those that are generated, 28 of 33.
DIMENSIONS = [
    name
    for name in R_BENCH_INDEX
    if not name.endswith("_stand_in") and f"{name}_stand_in" not in R_BENCH_INDEX
]
BY_NUMBER = {number: name.removesuffix("_stand_in") for name, number in R_BENCH_INDEX.items()}
# Scores are multiples of these: of 0 or 1, of five of 0 to 2, and of 0 to 2 for each of five captions.
STEPS = {"mcq": 1.0, "vqa": 0.1, "cap": 0.1}


def rows_of(
    dimensions: Sequence[str] = DIMENSIONS, severities: Sequence[int] = (1, 2, 3), repeats: int = 1
) -> pl.DataFrame:
    """Return id, task, dimension and severity: ``repeats`` items of each task in each cell."""
    cells = [(task, d, s) for d in dimensions for task in TASKS for s in severities for _ in range(repeats)]
    rows = [(f"{task}/{number}", task, d, s) for number, (task, d, s) in enumerate(cells)]
    return pl.DataFrame(rows, schema=["id", "task", "dimension", "severity"], orient="row")


def scores(rows: pl.DataFrame, skill: float = 0.6, loss: float = 0.1, seed: int = 0) -> pl.DataFrame:
    """Return SCORES of ``rows``, on the grid of their task.

    ``skill``: the mean score on reference images; ``loss``: by how much it falls at each strength.
    """
    noise = np.random.default_rng(seed)
    step = rows["task"].cast(pl.String).replace_strict(STEPS, return_dtype=pl.Float64).to_numpy()
    level = rows["severity"].to_numpy()
    most = np.rint(1 / step).astype(int)
    ref, dis, com = (
        noise.binomial(most, np.clip(mean, 0, 1)) / most
        for mean in (np.full(len(step), skill), skill - loss * level, 1 - loss * level)
    )
    return score_frame(rows, dis, ref, com)


def score_frame(rows: pl.DataFrame, dis: np.ndarray, ref: np.ndarray, com: np.ndarray) -> pl.DataFrame:
    """Return SCORES of ``rows`` with these scores, float64[rows]."""
    named = {"s_dis": dis, "s_ref": ref, "s_com": com, "absolute": dis, "relative": ref * com}
    return pl.DataFrame(
        {**{name: rows[name] for name in rows.columns}, **named}, schema_overrides=SCORES.columns
    ).select(*SCORES.columns)


def judgements(
    rows: pl.DataFrame, seed: int = 0, agreement: float = 0.9, letters: float = 0.8
) -> pl.DataFrame:
    """Return JUDGE_SCORES of ``rows``: letters decide a share of MCQ replies, which a judge reads as well.

    ``agreement``: the share of judgements that are not drawn anew. Captions have three references.
    """
    noise = np.random.default_rng(seed)
    found = []
    for id_, task, corruption, severity in rows.iter_rows():
        for kind in ("dis", "ref", "com"):
            cell = ("clean", 0) if kind == "ref" else (corruption, severity)
            single = task == "cap" and kind != "com"
            top = 1 if task == "mcq" else 2
            by_letter = task == "mcq" and noise.random() < letters
            score = int(noise.integers(top + 1))
            if by_letter:
                found.append((id_, task, *cell, kind, 0, 0, "letter", float(score)))
            for reference in range(3 if single else 1):
                for repeat in range(1 if single else 5):
                    given = score if noise.random() < agreement else int(noise.integers(top + 1))
                    found.append((id_, task, *cell, kind, reference, repeat, "llm", float(given)))
    columns = [name for name in JUDGE_SCORES.columns if name not in ("readable", "request_key")]
    frame = pl.DataFrame(found, schema={name: JUDGE_SCORES.columns[name] for name in columns}, orient="row")
    keys = ["id", "corruption", "severity", "kind", "reference", "repeat", "judge"]
    return frame.unique(keys, maintain_order=True).with_columns(
        readable=pl.lit(value=True), request_key=pl.lit(None, pl.String)
    )


def write_scores(folder: Path, tables: Mapping[str, pl.DataFrame], **facts: object) -> list[Path]:
    """Write SCORES of models by id, with footers as the stage writes them; return their paths."""
    paths = []
    for id_, table in tables.items():
        paths.append(folder / f"scores/{id_}.parquet")
        given = {"judge": "rule", "pool": "p", "alpha": "drop", "judgements": 100} | facts
        write_table(table, paths[-1], SCORES, JudgeScoresFooter(label=id_, seed=0, **given))
    return paths


def files_of(tables: Mapping[str, pl.DataFrame], judge: str = "rule") -> dict[str, ScoreFile]:
    """Return SCORES of models by id as they are read from their files."""
    footers = {id_: {"label": id_, "judge": judge, "judgements": 1000} for id_ in tables}
    order = ("id", "task", "dimension", "severity")
    return {id_: ScoreFile(table.sort(order), footers[id_]) for id_, table in tables.items()}


def scored(tables: Mapping[str, pl.DataFrame]) -> Scored:
    """Return the scores of models by label."""
    return scored_of(files_of(tables), {label: label for label in tables})


def released_rows() -> pl.DataFrame:
    """Return id, task, dimension and severity of the authors' 1,485 items."""
    return _result("dis").select("id", "task", "dimension", "severity")


def released_scores() -> pl.DataFrame:
    """Return SCORES of LLaVA-1.5 from the files that the authors published."""
    dis, ref, com = (_result(kind)["result"].to_numpy() for kind in ("dis", "ref", "com"))
    return score_frame(released_rows(), dis, ref, com)


def _result(kind: str) -> pl.DataFrame:
    text = (RELEASED / f"Result_{kind}_llava15.csv").read_bytes().decode("gb18030")
    task, dimension = pl.col("type").str.to_lowercase(), pl.col("distortion").replace_strict(BY_NUMBER)
    result = pl.col("result").cast(pl.Float64)
    named = {"id": "name", "task": task, "dimension": dimension, "severity": "strength", "result": result}
    return pl.read_csv(text.encode()).select(**named).sort("id", "task", "dimension", "severity")
