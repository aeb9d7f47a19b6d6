"""What the paper's supplement prints in Tables A.1 and A.2, with three digits as printed, and in Table A.3.

Models have the paper's names, corruptions those of the suite.
"""

from importlib import resources

import polars as pl

from benchc.benchmarks.vqa_robustness.published.names import CORRUPTIONS


def published_table_a1() -> pl.DataFrame:
    """Return Table A.1: columns model, corruption, level (0 to 5) and error; 6 models, 14 corruptions."""
    return _read("table_a1.csv")


def published_table_a2() -> pl.DataFrame:
    """Return Table A.2: columns corruption, question_class and accuracy; 14 corruptions, 7 classes."""
    return _read("table_a2.csv").unpivot(
        index="corruption", variable_name="question_class", value_name="accuracy"
    )


def published_table_a3() -> pl.DataFrame:
    """Return Table A.3: columns kind, question, truth and reply, as text; 3 examples of 5 kinds."""
    return pl.read_csv(_bytes("table_a3.csv"), infer_schema=False)


def _read(name: str) -> pl.DataFrame:
    names = pl.col("corruption").str.to_lowercase().replace_strict(CORRUPTIONS)
    return pl.read_csv(_bytes(name)).with_columns(names)


def _bytes(name: str) -> bytes:
    return resources.files("benchc.benchmarks.vqa_robustness.published").joinpath(name).read_bytes()
