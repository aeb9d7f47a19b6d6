from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.published.encoders import LABELS, published_label
from benchc.benchmarks.naturalbench.published.retrieval import published_table7
from benchc.benchmarks.naturalbench.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.tables.table7 import table7
from benchc.errors import InputError
from benchc.models.encoders.encoders import tagged_weights
from benchc.models.encoders.names import Library
from benchc.schemas.parquet import write_table
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.drawn import embeddings_footer

IDS = [f"s/{number}" for number in range(8)]
PAIRS_OF_ROWS = [("p", "s/0", "s/1"), ("q", "s/2", "s/3"), ("r", "s/4", "s/5"), ("t", "s/6", "s/7")]


def written(path: Path, name: str, texts: list[int], ids: list[str] = IDS) -> Path:
    """Write an encoder whose images are axes, and whose texts are the given ones."""
    axes = np.eye(8).tolist()
    rows = [(id_, axes[n], axes[text], False) for n, (id_, text) in enumerate(zip(ids, texts, strict=True))]
    write_table(frame_of(EMBEDDINGS, rows), path / f"{name}.parquet", EMBEDDINGS, embeddings_footer(name))
    return path / f"{name}.parquet"


@pytest.fixture
def pairs() -> pl.DataFrame:
    frame = frame_of(PAIRS, [(*row, "mined") for row in PAIRS_OF_ROWS])
    return frame.select("pair", "a", "b")


def test_scores_are_in_per_cent_with_intervals_and_chance(tmp_path: Path, pairs: pl.DataFrame) -> None:
    # The first encoder exchanges the captions of one pair of four, the second those of all.
    files = [
        written(tmp_path, "some", [0, 1, 2, 3, 4, 5, 7, 6]),
        written(tmp_path, "none", [1, 0, 3, 2, 5, 4, 7, 6]),
    ]
    labels = {"none": "None", "some": "RN50 of OpenAI"}
    found = table7(files, pairs, labels, {"some": "CLIP OpenAI RN50"}, draws=200, seed=0)
    assert found.frame["label"].to_list() == ["Random", "RN50 of OpenAI", "None"]
    assert found.frame["pairs"].to_list() == [None, 4, 4]
    random, some, none = found.frame.iter_rows(named=True)
    assert [random[name] for name in ("text", "image", "group")] == [25, 25, 16.666666667]
    assert random["text_low"] is None
    assert [some[name] for name in ("text", "image", "group")] == [75, 75, 75]
    assert 0 <= some["group_low"] < 75 < some["group_high"] == 100
    assert [none[f"text{end}"] for end in ("", "_low", "_high")] == [0, 0, 0]
    assert "| Random" in found.markdown and "4 pairs" in found.markdown
    assert "75.0 [" in found.markdown and "25.0 [" not in found.markdown  # chance has no interval
    assert "RN50" in found.latex and found.summary == "table 7: 2 encoders on 4 pairs"
    assert found.published is not None
    assert found.published.rows() == [
        ("RN50 of OpenAI", "text", 75, 36.76, pytest.approx(38.24)),
        ("RN50 of OpenAI", "image", 75, 32.6, pytest.approx(42.4)),
        ("RN50 of OpenAI", "group", 75, 12.22, pytest.approx(62.78)),
    ]
    # A lost value is not compared.
    file = written(tmp_path, "siglip", [*range(8)])
    label = "SigLIP WebLI (English portion) ViT-B"
    found = table7([file], pairs, {"siglip": "SigLIP"}, {"siglip": label}, draws=100, seed=0)
    assert found.published is not None and found.published["value"].to_list() == ["image", "group"]


def test_files_belong_together_and_each_label_is_that_of_one_row(tmp_path: Path, pairs: pl.DataFrame) -> None:
    with pytest.raises(InputError, match=r"a\.parquet: is of the encoder a, which has no label"):
        table7([written(tmp_path, "a", [*range(8)])], pairs, {"b": "B"}, {}, draws=100, seed=0)
    with pytest.raises(InputError, match=r"b\.parquet: has no sample 's/6'"):
        table7([written(tmp_path, "b", [*range(6)], IDS[:6])], pairs, {"b": "B"}, {}, draws=100, seed=0)
    rows = published_table7()["label"].to_list()
    assert len(set(LABELS.values())) == len(LABELS)
    assert set(LABELS.values()) <= set(rows)
    # Of these, the paper does not say which weights.
    left = [row for row in rows[1:] if row not in LABELS.values()]
    assert left == ["CLIP LAION ViT-g-14", *(row for row in rows if row.startswith("SigLIP"))]
    # Each is one of open_clip, with its activation.
    for name, pretrained in LABELS:
        repository, _ = tagged_weights(name, pretrained)
        assert "/" in repository


@pytest.mark.parametrize(
    ("library", "name", "pretrained"),
    [
        ("open_clip", "ViT-B-32", "laion2b_s34b_b79k"),
        ("open_clip", "ViT-B-32-quickgelu", None),
        ("sentence_transformers", "ViT-H-14", "laion2b_s32b_b79k"),
    ],
)
def test_other_weights_are_not_compared(library: Library, name: str, pretrained: str | None) -> None:
    assert published_label(library, name, pretrained) is None
