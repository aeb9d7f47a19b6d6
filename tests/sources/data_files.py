"""The same questions in each format that is read, for the tests of the readers."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.sources.tsv_files import encoded, write_tsv

OPTIONS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def question(index: object, images: Sequence[bytes] | str, **values: object) -> dict[str, Any]:
    """Return a question; ``images`` are files, or the index of the question that has them."""
    plain = {"index": index, "images": images, "question": "Which colour is it?", "hint": ""}
    return plain | {"options": ["red", "blue"], "answer": "A", "category": "colour"} | values


def write_as_tsv(folder: Path, questions: Sequence[Mapping[str, Any]]) -> Path:
    rows = []
    for one in questions:
        texts = one["images"] if isinstance(one["images"], str) else [encoded(data) for data in one["images"]]
        rows.append(_lettered(one) | {"image": texts[0] if len(texts) == 1 else str(texts)})
    return write_tsv(folder / "my.tsv", rows)


def write_as_folder(
    folder: Path, questions: Sequence[Mapping[str, Any]], name: str = "my.csv", column: str = "image"
) -> Path:
    """Write a csv and a folder of images below it."""
    rows = []
    for one in questions:
        names = _saved(folder, one)
        rows.append(_lettered(one) | {column: names if isinstance(names, str) else str(names)})
    return write_csv(folder / name, rows)


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    return write_tsv(path, rows, delimiter=",", lineterminator="\r\n")


def write_as_json_lines(folder: Path, questions: Sequence[Mapping[str, Any]], *, paths: bool) -> Path:
    """Write JSON Lines with a list of options; images are paths or base64."""
    rows = []
    for one in questions:
        values = {name: value for name, value in one.items() if name != "images"}
        given = _saved(folder, one) if paths else one["images"]
        if not isinstance(given, str):
            given = [each if isinstance(each, str) else encoded(each) for each in given]
            given = given[0] if len(given) == 1 else given
        rows.append(values | {"image": given})
    return write_json_lines(folder / "my.jsonl", rows)


def write_json_lines(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(values) + "\n" for values in rows))
    return path


FILE = pa.struct({"bytes": pa.binary(), "path": pa.string()})


def write_parquet(
    path: Path, rows: Sequence[Mapping[str, Any]], labels: Mapping[str, Sequence[str]] | None = None
) -> Path:
    """Write rows as Hugging Face's ``datasets`` does; a mapping in a cell is an image, also in a list."""
    features: dict[str, object] = {
        name: {"names": names, "_type": "ClassLabel"} for name, names in (labels or {}).items()
    }
    arrays = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        first = next(value for value in values if value is not None)
        several = isinstance(first, list) and first and isinstance(first[0], dict)
        kind = pa.list_(FILE) if several else FILE if isinstance(first, dict) else None
        arrays[name] = pa.array(values, kind)
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(pa.table(arrays).replace_schema_metadata(metadata), path, row_group_size=2)
    return path


def write_as_parquet(folder: Path, questions: Sequence[Mapping[str, Any]]) -> Path:
    """Write the Hub's layout: images with their bytes, options as a list, answers as class labels."""
    rows = []
    for one in questions:
        images = [{"bytes": data, "path": f"{number}.png"} for number, data in enumerate(one["images"])]
        answer = OPTIONS.index(one["answer"])
        rows.append(dict(one) | {"images": images, "answer": answer})
    return write_parquet(folder / "test-00000-of-00001.parquet", rows, {"answer": list("ABCD")})


def _lettered(one: Mapping[str, Any]) -> dict[str, str]:
    values = {name: str(value) for name, value in one.items() if name not in ("images", "options")}
    return values | dict(zip(OPTIONS, one["options"], strict=False))


def _saved(folder: Path, one: Mapping[str, Any]) -> list[str] | str:
    if isinstance(one["images"], str):
        return one["images"]
    (folder / "img").mkdir(exist_ok=True)
    names = [f"img/{one['index']}_{number}.png" for number in range(len(one["images"]))]
    for name, data in zip(names, one["images"], strict=True):
        (folder / name).write_bytes(data)
    return names[0] if len(names) == 1 else names
