"""Contents by which a reader failed: another error than its own, a hang, or memory without bound."""

import json
import math
from typing import Any

from tests.fuzzing.mutations import LONG
from tests.fuzzing.readers import (
    ANNOTATED,
    AS_JSON,
    ASKED,
    BLUE,
    CAPTIONS,
    CHAT_REPLY,
    ERROR_ROWS,
    LETTERS,
    LISTS,
    LOGITS,
    PAIRS,
    QUESTIONS,
    RED,
    hub_row,
    lines,
    made,
    parquet,
    write_pairs_file,
    written,
    zipped,
)
from tests.sources.tsv_files import image_bytes

NESTED = b"[" * 100_000
TYPES: list[Any] = [{"a": 1}, 1, ["Yes"], b"\xff"]


def lists(levels: int) -> Any:
    return [lists(levels - 1)] if levels else []


def shortened(data: bytes) -> bytes:
    return data[:40] + data[45:]


FOUND: dict[str, list[bytes]] = {
    # Each list in a list doubled the marks of its escapes.
    "source JSON Lines": [lines(json.dumps(AS_JSON[0] | {"other": lists(200)}))],
    "source Parquet": [
        # Of a column that is required here, pyarrow ended the process.
        parquet(QUESTIONS).replace(b"\x15\x0c%\x02\x18\x05bytes", b"\x15\x0c%\x00\x18\x05bytes"),
        parquet(QUESTIONS).replace(b"\x19\x18\x05index", b"\x19\x1f\x05index"),
    ],
    # polars panicked.
    "user table Parquet": [
        LOGITS.replace(b"ARROW:schema", b"ARROW\xbaschema"),
        parquet([{"id": b"\xff", "severity": 1, "logits": [1.0]}]),
    ],
    "VQAv2 questions": [ASKED.replace(b"42000", b"4" * 5000), NESTED],
    "VQAv2 annotations": [ANNOTATED.replace(b"42000", b"4" * 5000)],
    # A zip whose parts are before its beginning.
    "VQAv2 zip": [shortened(zipped({"q.json": ASKED}))],
    "zip of images": [shortened(zipped({"a.png": RED, "b.png": BLUE}))],
    # Half of a character, as JSON and Python may escape it.
    "captions tsv": [CAPTIONS["tsv"][1].replace(b"'a'", b"'\\ud800'")],
    "captions docci": [CAPTIONS["docci"][1].replace(text, b'"\\ud800"') for text in (b'"a.png"', b'"a"')],
    "captions xm3600": [CAPTIONS["xm3600"][1].replace(b'["a"]', b'["\\ud800"]')],
    "source with lists": [LISTS.replace(b"red", b"\\ud800")],
    "shortened caption": [CHAT_REPLY.replace(b"Score", b"\\ud800")],
    "captions flickr30k": [b"a.png#" + b"1" * 5000 + b"\tred\n"],
    "captions flickr30k ": [b"image_name| comment_number| comment\na.png| " + b"1" * 5000 + b"| red\n"],
    "NaturalBench Parquet": [
        *(
            parquet([hub_row(1, (0, 1), **{name: value})])
            for value in TYPES
            for name in ("Question_Type", *LETTERS)
        ),
        parquet([hub_row(1, (0, 1), Image_0={"bytes": RED, "path": 3})]),
    ],
    "released pairs": [
        *(
            parquet([{"score": 3.5, "ref_image": picture, "dis_image": picture, **PAIRS[0], name: value}])
            for picture in [{"bytes": RED}]
            for name, value in (("distortion", "1" * 5000), ("strength", [1]), ("type", b"MCQ"))
        ),
        made(lambda path: write_pairs_file(path, [{**PAIRS[2], "answer": "['\\ud800']"}])),
    ],
    # polars takes much memory for a column.
    "errors csv": [b"model,c" * LONG + b"\n"],
    "errors Parquet": [
        parquet([{**row, "X": 1, "x": 2} for row in ERROR_ROWS]),
        parquet([{**row, "model": [1]} for row in ERROR_ROWS]),
    ],
    "models.json": [NESTED],
    "revision": [NESTED],
    "record of a download": [NESTED],
    "config.json": [NESTED, b'{"model_type": "llava", "text_config": null}'],
    "index of weights": [NESTED, json.dumps({"weight_map": {"a": "x" * 300}}).encode()],
    "adapter": [NESTED],
    "recorded answer": [NESTED, b'{"status": [], "text": "{}"}', b'{"status": 200, "text": "<html>"}'],
    "answer of a model's server": [
        *(json.dumps({"prompt_token_ids": value}).encode() for value in (3, {"a": 1}, [{}])),
        *(
            json.dumps(
                {
                    "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                    "usage": {"completion_tokens": count},
                }
            ).encode()
            for text, count in ((["part"], 3), ("a", None), ("a", math.inf))
        ),
        json.dumps(
            {
                "choices": [
                    {
                        "logprobs": {
                            "content": [{"token": "token_id:" + "1" * 5000, "logprob": 1, "top_logprobs": []}]
                        }
                    }
                ]
            }
        ).encode(),
        json.dumps({"meta_info": {"input_token_logprobs": [[-0.5, math.inf, None]]}}).encode(),
    ],
    # 6,241 × 4,096 pixels: nothing is wrong but its size, which the limit of a test left out.
    "GIF image": [image_bytes(form="GIF").replace(b"GIF87a", b"GIF87aa")],
    # Four parts of a pattern could match the same white space.
    "reply with options": [
        b"answer" + b" " * LONG + b"x",
        b"B) red" + b"\n" * LONG + b"x",
        b"dark red " * LONG,
    ],
    "questions of a reply, multiple_choice": [
        b"```" + b"\n" * LONG,
        written("?" + "\n" * 1900 + "x", ("A", "B")),
    ],
}
