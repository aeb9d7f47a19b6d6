"""The stages from captions to pairs for retrieval, with a small trained encoder and drawn images."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image

from benchc.benchmarks.naturalbench.curation.caption_sets import DrawnCaptions
from benchc.benchmarks.naturalbench.curation.captions import samples
from benchc.benchmarks.naturalbench.demo.captioned import captioned_images
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.naturalbench.schemas.mismatches import MISMATCHES
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.demo.encoder import save_encoder, train_encoder
from benchc.demo.training_set import shrink
from benchc.errors import InputError
from benchc.images import decode
from benchc.schemas.parquet import read_footer, read_table, write_table
from tests.stages import call_stage

COUNT = 60


@pytest.fixture(autouse=True)
def _in_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def stage(name: str, /, **arguments: Any) -> None:
    call_stage(f"naturalbench.{name}", **arguments)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    torch.set_num_threads(1)
    frame = samples("s", captioned_images(COUNT, 3), "first", "English", None)
    pixels = np.stack([shrink(Image.fromarray(decode(data))) for data in frame["bytes"]])
    folder = tmp_path_factory.mktemp("encoder") / "clip"
    save_encoder(train_encoder(pixels, frame["caption"].to_list(), steps=3, seed=1, batch=32), folder)
    return str(folder)


DRAWN = DrawnCaptions("drawn", COUNT, 3, "English")
OTHER = DrawnCaptions("another", 20, 3, "Hindi")


def test_from_captions_to_pairs(encoder: str, capsys: pytest.CaptureFixture[str]) -> None:
    stage("read_captions", datasets=[DRAWN, OTHER], captions="c.parquet", report="r.csv")
    assert "drawn: 60 samples\nanother: 20 samples" in capsys.readouterr().out
    assert Path("r.csv").read_text() == "id,line,kind,reason\n"
    tiny = {"encoder": "tiny", "name": encoder}
    stage("embed_captions", captions="c.parquet", **tiny, output="tiny.parquet")
    assert "tiny truncates 0 of 80 captions" in capsys.readouterr().out
    for counts in ("0 vectors from the cache, 160", "160 vectors from the cache, 0"):
        stage("embed_captions", captions="c.parquet", **tiny, cache="other", output="again.parquet")
        assert f"{counts} computed" in capsys.readouterr().out
        assert Path("tiny.parquet").read_bytes() == Path("again.parquet").read_bytes()
    footer = read_footer("tiny.parquet")
    assert (footer["device"], footer["batch"]) == ("cpu", 32)
    embeddings = read_table("tiny.parquet", EMBEDDINGS)
    assert embeddings["id"].to_list() == read_table("c.parquet", CAPTIONS)["id"].to_list()

    vectors: dict[str, Any] = {"captions": "c.parquet", "embeddings": ["tiny.parquet"]}
    stage("mine", **vectors, keep=2, seed=5, output="m.parquet")
    printed = capsys.readouterr().out
    assert "another: " in printed and "among 190 pairs of 20 samples" in printed
    mismatches, footer = read_table("m.parquet", MISMATCHES), read_footer("m.parquet")
    assert footer["samples"] == 80
    assert footer["mismatches"] == footer["left_out"] + mismatches.height  # type: ignore[operator]
    # Pairs have one data set.
    assert (mismatches["a"].str.split("/").list[0] == mismatches["b"].str.split("/").list[0]).all()

    chosen = {"pairs": 10, "random_pairs": 3, "seed": 5, "output": "p.parquet"}
    stage("choose_pairs", **vectors, mismatches="m.parquet", **chosen)
    assert "10 mined pairs, 3 random pairs" in capsys.readouterr().out
    pairs = read_table("p.parquet", PAIRS)
    kept = set(mismatches.select("a", "b").iter_rows())
    mined = pairs.filter(pl.col("method") == "mined")
    assert set(mined.select("a", "b").iter_rows()) <= kept
    assert pl.concat([pairs["a"], pairs["b"]]).n_unique() == 26
    # With all mismatches kept, no random pair is among them.
    stage("mine", **vectors, keep=1000, output="every.parquet")
    every = set(read_table("every.parquet", MISMATCHES).select("a", "b").iter_rows())
    drawn = pairs.filter(pl.col("method") == "random")
    assert drawn.height == 3 and every.isdisjoint(drawn.select("a", "b").iter_rows())

    outputs = {"captions": "rc.parquet", "pairs": "rp.parquet", "report": "rr.csv"}
    stage("retrieval_pairs", curated_captions="c.parquet", curated_pairs="p.parquet", **outputs)
    assert "retrieval: 10 pairs" in capsys.readouterr().out
    stage("embed_captions", captions="rc.parquet", **tiny, output="retrieval.parquet")
    # The vectors of a sample are the same among fewer others.
    few = read_table("retrieval.parquet", EMBEDDINGS)
    assert few.height == 20 and few.equals(embeddings.filter(pl.col("id").is_in(few["id"].implode())))


@pytest.mark.parametrize(
    "given", [{"file": "f"}, {"curated_pairs": "p"}, {}, {"file": "f", "curated_pairs": "p"}]
)
def test_pairs_for_retrieval_are_of_curation_or_of_a_file(given: dict[str, str]) -> None:
    with pytest.raises(InputError, match="give --curated-captions and --curated-pairs, or --file and --im"):
        stage("retrieval_pairs", **given, captions="c", pairs="p", report="r")


def test_pairs_need_a_mismatch_and_random_ones_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        stage("mine", captions="c", embeddings=["e"], keep=0, output="m")
    assert "it should be at least 1" in capsys.readouterr().err
    stage("read_captions", datasets=[OTHER], captions="c.parquet", report="r.csv")
    write_table(pl.DataFrame(schema=pl.Schema(MISMATCHES.columns)), "m.parquet", MISMATCHES)
    files = {"captions": "c.parquet", "mismatches": "m.parquet", "output": "p.parquet"}
    with pytest.raises(InputError, match="no pair of 20 samples is mismatched by all encoders; add samples"):
        stage("choose_pairs", **files)
    with pytest.raises(InputError, match="--random-pairs needs --embeddings"):
        stage("choose_pairs", **files, random_pairs=3)
