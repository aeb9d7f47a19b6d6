"""The configurations of DOCCI and XM3600 plan without a network, and read files of the published form."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchc.benchmarks.naturalbench.planning.plan import plan_of
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.config.load import read_config
from benchc.images import encode_png
from benchc.schemas.parquet import read_table
from tests.workflow.checkout import ROOT, Checkout

LONG = "A close view of a brown dog that stands on a green lawn. " * 9
DOCCI = [
    {"example_id": f"train_0000{n}", "split": "train", "image_file": f"{n}.jpg", "description": LONG}
    for n in (0, 1)
]
XM3600 = [
    {
        "image/key": str(n),
        "image/locale": "hi",
        **{
            locale: {"caption": [f"{text} {n}", "second"], "caption/tokenized": ["a", "b"]}
            for locale, text in (("en", "A dog"), ("zh", "一只狗"), ("hi", "एक कुत्ता"))
        },
    }
    for n in (0, 1)
]
DOCCI_FILE, XM3600_FILE = "data/docci/docci_descriptions.jsonlines", "data/xm3600/captions.jsonl"
JOBS = {
    **{"read_captions": 1, "mine": 1, "choose_pairs": 1, "keep_pairs": 1, "assemble": 1, "record_release": 1},
    # Of pairs and four rounds, by two people.
    **{"review_form": 10, "write_questions": 4, "keep_reviewed": 4},
}
RUNS = [
    pytest.param("docci", DOCCI_FILE, DOCCI, 2, "long_captions", [LONG.strip()] * 2, id="docci"),
    pytest.param("xm3600-zh", XM3600_FILE, XM3600, 1, "captions", ["一只狗 0", "一只狗 1"], id="zh"),
    pytest.param("xm3600-hi", XM3600_FILE, XM3600, 1, "captions", ["एक कुत्ता 0", "एक कुत्ता 1"], id="hi"),
]


@pytest.mark.parametrize(("name", "file", "rows", "encoders", "table", "captions"), RUNS)
def test_a_run_is_planned_and_reads_its_captions(
    name, file, rows, encoders, table, captions, tmp_path: Path, python: Path
) -> None:
    checkout = Checkout(tmp_path / "benchc", f"config/naturalbench-curate-{name}.yaml")
    checkout.python = python
    images = (checkout.folder / file).parent / "images"
    images.mkdir(parents=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (checkout.folder / file).write_text("\n".join(lines) + "\n")
    for number in (0, 1):
        (images / f"{number}.jpg").write_bytes(encode_png(np.full((3, 4, 3), number, np.uint8)))
    jobs = checkout.plan()
    assert jobs.items() >= JOBS.items()
    assert jobs["embed_captions"] == jobs["fetch_tagged_encoder"] == encoders
    assert jobs.get("shorten_captions", 0) == (table == "long_captions")
    target = f"results/naturalbench-curate-{name}/curate/{table}.parquet"
    checkout.make(target)
    found = read_table(checkout.folder / target, CAPTIONS)
    assert found["caption"].to_list() == captions


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        # Table 3 of the paper: about 3,300 pairs of DOCCI. A pair of XM3600's 3,600 images has two.
        ("docci", "≤ 6,600 requests in round 0 (≤ 3,300 pairs × 2 types), ≤ 26,400 in 4 rounds."),
        *(
            (f"xm3600-{locale}", "≤ 1,800 requests in round 0 (≤ 1,800 pairs × 1 type), ≤ 7,200 in 4 rounds.")
            for locale in ("zh", "hi")
        ),
    ],
)
def test_a_plan_says_what_the_writer_is_asked(name: str, asked: str, tmp_path: Path) -> None:
    config = read_config(ROOT / f"config/naturalbench-curate-{name}.yaml")
    size, *shorten, questions, _ = plan_of(config, tmp_path).notes
    assert "as published" in size and questions == f"curation asks gpt-4o-2024-08-06 for questions: {asked}"
    long = "curation asks gpt-4o-2024-08-06 to shorten those of ≈ 15,000 captions that have 230 char"
    assert [note.startswith(long) for note in shorten] == [True] * (name == "docci")
