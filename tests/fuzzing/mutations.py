"""Hypothesis strategies of damaged and hostile files and texts, made from a valid one."""

import copy
import csv
import io
import json
import math
from collections.abc import Callable
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from hypothesis import strategies as st

# What a file is changed as, besides its bytes.
Form = Literal["bytes", "text", "json", "json lines", "yaml", "csv", "tsv", "parquet"]

LONG = 20_000
# Parts of a text that readers may stumble over.
PIECES = [
    *(b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff", b"\xc3", b"\r", b"\n", b"\r\n", b"\x1a", b"\x1b[2J"),
    *(b'"', b"'", b"`", b"\\", b",", b";", b"|", b"\t", b"#", b":", b"{", b"}", b"[", b"]", b"%", b"\\ud800"),
    *(
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"-1",
        b"0x1f",
        b"null",
        b"9" * 5000,
        b"~",
        b"<<: *a",
        b"!!python/name:os.",
    ),
    *(b"[" * 100_000, b'{"a":' * 100_000, b"- " * LONG, b"(" * LONG, b"-" * LONG),
    *(text.encode() for text in ("\u202e", "\u2028", "\u0085", "e\u0301", "\U0001f600", "\u0663", "\u00b2")),
]
NESTED: Any = []
for _ in range(500):
    NESTED = [NESTED]
VALUES = st.sampled_from(
    [
        *(None, True, False, 0, -1, 3, 2**31, 10**400, 1.5, math.nan, math.inf, 1e308),
        *(
            "",
            " ",
            "x" * 300 + ".png",
            "\U0001f600" * 90 + ".png",
            "\0",
            "\ud800",
            "\u202e",
            "a\nb",
            "../x",
            "/etc/passwd",
            "nan",
            "1" * 5000,
            "x" * LONG,
        ),
        *([], {}, [[]], [None], ["a", 1], {"": None}, {"a": {"a": []}}, NESTED),
    ]
) | st.text(max_size=8)


def mutated(form: Form, seed: bytes) -> st.SearchStrategy[bytes]:
    """Return a strategy of changes of ``seed``: of its bytes, and of its parts as ``form`` has them."""
    # A file has a row for each repetition.
    found = edited(seed, LONG if form == "text" else LONG // 10)
    return found if form not in _PARTS else found | _PARTS[form](seed)


@st.composite
def edited(draw: st.DrawFn, seed: bytes, most: int) -> bytes:
    """Return the bytes after up to four edits; ``most``: repetitions of a part."""
    data = seed
    for _ in range(draw(st.integers(1, 4))):
        near = draw(st.sampled_from([None, None, 0, len(data)]))
        place = draw(st.integers(0, len(data))) if near is None else near
        end = min(len(data), place + draw(st.integers(0, 12)))
        match draw(st.sampled_from(["insert", "replace", "cut", "flip", "repeat", "delete", "copy"])):
            case "insert":
                data = data[:place] + draw(st.sampled_from(PIECES) | st.binary(max_size=4)) + data[place:]
            case "replace":
                data = data[:place] + draw(st.sampled_from(PIECES) | st.binary(max_size=4)) + data[end:]
            case "cut":
                data = data[:place]
            case "flip" if place < len(data):
                data = data[:place] + bytes([data[place] ^ 1 << draw(st.integers(0, 7))]) + data[place + 1 :]
            case "repeat" if place < end:
                times = draw(st.sampled_from([2, 30, most]))
                data = data[:place] + data[place:end] * times + data[end:]
            case "delete":
                data = data[:place] + data[end:]
            case "copy":
                data += data[place:]
    return data


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value below ``node``."""
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    return [place for key in keys for place in [(*path, key), *places(node[key], (*path, key))]]


@st.composite
def _values(draw: st.DrawFn, seed: bytes, load: Callable[[bytes], Any], dump: Callable[[Any], str]) -> bytes:
    content = load(seed)
    for _ in range(draw(st.integers(1, 2))):
        known = places(content)
        path = draw(st.sampled_from(known)) if known and draw(st.integers(0, 9)) else ()
        node = content
        for key in path[:-1]:
            node = node[key]
        if not path:
            content = copy.deepcopy(draw(VALUES))
        elif isinstance(node, dict) and draw(st.booleans()):
            value = node.pop(path[-1])
            if (name := draw(st.none() | VALUES)) is not None:
                node[name if isinstance(name, str) else "x"] = value
        else:
            node[path[-1]] = copy.deepcopy(draw(VALUES))
    return dump(content).encode("utf-8", "surrogatepass")


@st.composite
def _cells(draw: st.DrawFn, seed: bytes, delimiter: str) -> bytes:
    rows = list(csv.reader(io.StringIO(seed.decode(), newline=""), delimiter=delimiter))
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.sampled_from(rows))
        place = draw(st.integers(0, max(0, len(row) - 1)))
        match draw(st.sampled_from(["cell", "cell", "add", "remove", "column", "row", "no row"])):
            case "cell" if row:
                row[place] = draw(VALUES.map(str))
            case "add":
                row.append(draw(VALUES.map(str)))
            case "remove" if row:
                del row[place]
            case "column" if row:  # twice
                for each in rows:
                    each.extend(each[place : place + 1])
            case "row":
                rows.append(list(row))
            case "no row" if len(rows) > 1:
                rows.remove(row)
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=draw(st.sampled_from([0, 1]))).writerows(rows)
    return file.getvalue().encode(errors="replace")


def _columns_of(height: int) -> list[pa.Array]:
    """Return columns of many types; the last two have texts that are none, and far more values than bytes."""
    count = range(height)
    return [
        pa.nulls(height),
        pa.array([True for _ in count]),
        pa.array([number % 3 for number in count], pa.uint8()),
        pa.array([-(2**62) for _ in count]),
        pa.array([math.nan if number % 2 else math.inf for number in count]),
        pa.array([0.5 for _ in count]),
        pa.array(["" if number % 2 else None for number in count]),
        pa.array(["a\0\n\u202e" for _ in count]),
        pa.array(["1" * 5000 for _ in count]),
        pa.array([b"\xff" for _ in count]),
        pa.array([[] if number % 2 else None for number in count], pa.list_(pa.string())),
        pa.array([[1.5, None] for _ in count]),
        pa.array([[["x"]] for _ in count]),
        pa.array([{"bytes": b"x", "path": 3} for _ in count]),
        pa.array(
            [{"bytes": None, "path": None} for _ in count],
            pa.struct({"bytes": pa.binary(), "path": pa.string()}),
        ),
        pa.array([0 for _ in count]).cast(pa.timestamp("ns")),
        pa.array(["same" for _ in count]).dictionary_encode(),
        pa.array([b"\xff" for _ in count], pa.binary()).view(pa.string()),
    ]


@st.composite
def _table(draw: st.DrawFn, seed: bytes) -> bytes:
    table = pq.read_table(io.BytesIO(seed))
    for _ in range(draw(st.integers(1, 2))):
        if not table.num_columns:
            break
        place = draw(st.integers(0, table.num_columns - 1))
        name = table.column_names[place]
        match draw(st.sampled_from(["values", "values", "values", "remove", "twice", "name", "no rows"])):
            case "values":
                table = table.set_column(place, name, draw(st.sampled_from(_columns_of(len(table)))))
            case "remove":
                table = table.remove_column(place)
            case "twice":
                table = table.append_column(name, table[place])
            case "name":
                names = list(table.column_names)
                names[place] = draw(st.sampled_from(["", "\0", " ID ", "a\nb", "x" * 5000]))
                table = table.rename_columns(names)
            case "no rows":
                table = table.slice(0, 0)
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def _json_lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines() if line.strip()]


def _as_json_lines(content: Any) -> str:
    return "\n".join(map(json.dumps, content)) if isinstance(content, list) else json.dumps(content)


_PARTS: dict[str, Callable[[bytes], st.SearchStrategy[bytes]]] = {
    "json": lambda seed: _values(seed, json.loads, json.dumps),
    "json lines": lambda seed: _values(seed, _json_lines, _as_json_lines),
    "yaml": lambda seed: _values(seed, yaml.safe_load, yaml.safe_dump),
    "csv": lambda seed: _cells(seed, ","),
    "tsv": lambda seed: _cells(seed, "\t"),
    "parquet": _table,
}
