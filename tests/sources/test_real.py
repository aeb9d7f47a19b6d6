import base64
import csv
import io
import json
import lzma
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.sources.error import InvalidRowError
from benchc.sources.item_text import read_item_text
from benchc.sources.pool import assemble, choose, task_types
from benchc.sources.reader_options import ReaderOptions
from benchc.sources.references import AnswerFile, read_references
from benchc.sources.vlmevalkit import read_vlmevalkit
from tests.shared_data import ROOT, SHARED, needs_shared

REAL = SHARED / "data" / "real"
pytestmark = needs_shared


def test_the_catalogue_names_the_files() -> None:
    catalogue = yaml.safe_load((ROOT / "config/real-sources.yaml").read_text())
    files = {Path(source["path"].replace("${BENCHC_SHARED}", str(SHARED))) for source in catalogue.values()}
    assert files == {path for kind in ("mcq", "paired", "caption") for path in (REAL / kind).glob("*.tsv*")}


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a TSV, packed or not, by the standard library alone."""
    csv.field_size_limit(2**31 - 1)
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t"))


def test_all_items_of_all_sources_are_read_as_published() -> None:
    count = 0
    for path in sorted((REAL / "mcq").glob("*.tsv")):
        items, report = read_vlmevalkit(path, "s")
        published = sorted(rows_of(path), key=lambda values: int(values["index"]))
        assert report.filter(kind="rejected").height == 0, path
        assert items["id"].to_list() == [f"s/{values['index']}" for values in published]
        for item, values in zip(items.iter_rows(named=True), published, strict=True):
            texts = [values[letter] for letter in "ABCDE" if values.get(letter)]
            assert item["options"] == texts
            assert item["options"][item["answer"]] == values[values["answer"]]
            assert item["question"] == values["question"]
            assert (item["hint"] or "") == values.get("hint", "")
            assert (item["category"], item["l2_category"]) == (values["category"], values["l2-category"])
            assert [image["bytes"] for image in item["images"]] == [base64.b64decode(values["image"])]
        count += items.height
    assert count == 251


def test_all_captions_are_read_as_published() -> None:
    count = 0
    for path in sorted((REAL / "caption").glob("*.tsv")):
        items, report = read_vlmevalkit(path, "s", ReaderOptions(answer_lists=True))
        assert report.is_empty() and items["answer"].null_count() == items.height
        published = {f"s/{values['index']}": json.loads(values["answer"]) for values in rows_of(path)}
        pool = assemble(choose(task_types({"s": items}, {"s": "category"}), None, None), {"s": items})
        with TemporaryDirectory() as folder:
            write_table(pool, Path(folder) / "pool.parquet", POOL)
            references = read_references(Path(folder) / "pool.parquet", {"s": AnswerFile(path, lists=True)})
        found = dict(references.select("id", "answers").iter_rows())
        assert found == {id_: [text.strip() for text in texts] for id_, texts in published.items()}
        assert min(map(len, found.values())) >= 5
        count += items.height
    assert count == 31


def refused(name: str) -> dict[str, str]:
    """Return the reason of each refused row of a TSV without images, by index."""
    reasons = {}
    rows = rows_of(REAL / "rows" / f"{name}.noimage.tsv.xz")
    assert len(rows) > 1000
    for values in rows:
        try:
            text = read_item_text(values)
        except InvalidRowError as refusal:
            reasons[values["index"]] = str(refusal)
        else:
            assert text.options[text.answer] == values[values["answer"]]
    return reasons


def test_answers_without_option_text_and_questions_with_one_option_are_refused() -> None:
    reasons = refused("MMStar")
    without = "the answer is A, an option without text"
    assert sorted(reasons.values()) == ["option C is empty, but a later one is not", without, without]
    assert reasons["268"] == without
    assert refused("MMT-Bench_VAL") == {"8279": "has fewer than two options (1)"}
