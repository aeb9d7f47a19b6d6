"""The scripts from captions to Table 7, with a small trained encoder and drawn images."""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image

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

Run = Callable[..., None]
COUNT = 60


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(script: str, *arguments: str) -> None:
        module = import_module(f"scripts.naturalbench.{script}")
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        module.main()

    return call


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    torch.set_num_threads(1)
    frame = samples("s", captioned_images(COUNT, 3), "first", "English", None)
    pixels = np.stack([shrink(Image.fromarray(decode(data))) for data in frame["bytes"]])
    folder = tmp_path_factory.mktemp("encoder") / "clip"
    save_encoder(train_encoder(pixels, frame["caption"].to_list(), steps=8, seed=1, batch=32), folder)
    return str(folder)


DRAWN = json.dumps({"id": "drawn", "form": "generated", "count": COUNT, "language": "English"})
OTHER = json.dumps({"id": "another", "form": "generated", "count": 20, "language": "Hindi"})


def test_from_captions_to_pairs(run: Run, encoder: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(
        "read_captions",
        "--datasets",
        DRAWN,
        OTHER,
        "--seed",
        "3",
        "--output",
        "c.parquet",
        "--report",
        "r.csv",
    )
    assert "drawn: 60 samples\nanother: 20 samples" in capsys.readouterr().out
    assert Path("r.csv").read_text() == "id,line,kind,reason\n"
    captions = ("--captions", "c.parquet")
    options = ("--image-encoder", encoder, "--revision-file", "--output")
    run("embed_captions", *captions, "--id", "tiny", *options, "tiny.parquet")
    assert "tiny truncates 0 of 80 captions" in capsys.readouterr().out
    run("embed_captions", *captions, "--id", "tiny", *options, "again.parquet")
    assert Path("tiny.parquet").read_bytes() == Path("again.parquet").read_bytes()
    embeddings = read_table("tiny.parquet", EMBEDDINGS)
    assert embeddings["id"].to_list() == read_table("c.parquet", CAPTIONS)["id"].to_list()

    mine = ("--embeddings", "tiny.parquet", "--keep", "2", "--seed", "5", "--output", "m.parquet")
    run("mine", *captions, *mine)
    printed = capsys.readouterr().out
    assert "another: " in printed and "among 190 pairs of 20 samples" in printed
    mismatches, footer = read_table("m.parquet", MISMATCHES), read_footer("m.parquet")
    assert footer["samples"] == 80
    assert footer["mismatches"] == footer["left_out"] + mismatches.height  # type: ignore[operator]
    # Pairs have one data set.
    assert (mismatches["a"].str.split("/").list[0] == mismatches["b"].str.split("/").list[0]).all()

    choose = ("--mismatches", "m.parquet", "--pairs", "10", "--random-pairs", "3", "--seed", "5")
    run("choose_pairs", *captions, *choose, "--embeddings", "tiny.parquet", "--output", "p.parquet")
    assert "10 mined pairs, 3 random pairs" in capsys.readouterr().out
    pairs = read_table("p.parquet", PAIRS)
    kept = set(mismatches.select("a", "b").iter_rows())
    mined = pairs.filter(pl.col("method") == "mined")
    assert set(mined.select("a", "b").iter_rows()) <= kept
    assert pl.concat([pairs["a"], pairs["b"]]).n_unique() == 26
    # With all mismatches kept, no random pair is among them.
    run("mine", *captions, *mine[:2], "--keep", "1000", "--output", "every.parquet")
    every = set(read_table("every.parquet", MISMATCHES).select("a", "b").iter_rows())
    drawn = pairs.filter(pl.col("method") == "random")
    assert drawn.height == 3 and every.isdisjoint(drawn.select("a", "b").iter_rows())

    outputs = ("--output", "rc.parquet", "--output-pairs", "rp.parquet", "--report", "rr.csv")
    run("retrieval_pairs", *captions, "--pairs", "p.parquet", *outputs)
    assert "retrieval: 10 pairs" in capsys.readouterr().out
    run("embed_captions", "--captions", "rc.parquet", "--id", "tiny", *options, "retrieval.parquet")
    # The vectors of a sample are the same among fewer others.
    few = read_table("retrieval.parquet", EMBEDDINGS)
    assert few.height == 20 and few.equals(embeddings.filter(pl.col("id").is_in(few["id"].implode())))


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        (
            "choose_pairs",
            "--captions c --mismatches m --random-pairs 3 --output p",
            "--random-pairs needs --embeddings",
        ),
        ("retrieval_pairs", "--file f --output c --output-pairs p --report r", "--file needs --images"),
        (
            "retrieval_pairs",
            "--captions --pairs --output c --output-pairs p --report r",
            "give --captions and --pairs, or --file and --images",
        ),
        ("mine", "--captions c --embeddings e --keep 0 --output m", "0 is not a whole number of at least 1"),
    ],
)
def test_arguments_that_do_not_fit(
    script: str, arguments: str, message: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(script, *arguments.split())
    assert message in capsys.readouterr().err


def test_without_a_mismatch_there_is_nothing_to_choose(run: Run) -> None:
    run("read_captions", "--datasets", OTHER, "--output", "c.parquet", "--report", "r.csv")
    write_table(pl.DataFrame(schema=pl.Schema(MISMATCHES.columns)), "m.parquet", MISMATCHES)
    with pytest.raises(InputError, match="no pair of 20 samples is mismatched by all encoders; add samples"):
        run("choose_pairs", "--captions", "c.parquet", "--mismatches", "m.parquet", "--output", "p.parquet")
