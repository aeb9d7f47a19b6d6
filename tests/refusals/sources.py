"""Wrong data files, and wrong images in them: each a source of one run that `benchc check` reads."""

import gzip
import io
import json
import lzma
import struct
import zlib
from typing import Any

import PIL.Image
import polars as pl
import yaml

from tests.refusals.case import Change, Table, case, folder, key, source, write
from tests.refusals.workspace import Workspace
from tests.sources.tsv_files import RED, encoded, image_bytes, open_row, row, write_tsv

CHECK = "benchc check CONFIG --no-models --no-network"
HEADER = "index\timage\tquestion\tA\tB\tanswer\tcategory\n"
JPEG = image_bytes(size=(400, 300), form="JPEG")


def has(id_: str, content: Any, file: str = "", **entry: Any) -> Change:
    """Return the change that adds a source to the run.

    ``content``: of its file, or its rows. ``entry``: keys of its entry in the catalogue.
    """

    def change(workspace: Workspace) -> None:
        name = file or f"data/{id_}.tsv"
        path = workspace.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            write_tsv(path, content)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        known = {"label": id_, "path": name, "task_column": "category", **entry}
        source(id_, known)(workspace)
        add(id_)(workspace)

    return change


def add(id_: str) -> Change:
    """Return the change that adds an id to the run's sources."""

    def change(workspace: Workspace) -> None:
        path = workspace.folder / workspace.config
        content = yaml.safe_load(path.read_text())
        key("sources", [*content["sources"], id_])(workspace)

    return change


def parquet(frame: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(frame).write_parquet(file)
    return file.getvalue()


def bomb(width: int, height: int) -> bytes:
    """Return a PNG of some hundred bytes whose header says that it is large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def picture(mode: str, form: str) -> bytes:
    file = io.BytesIO()
    PIL.Image.new(mode, (24, 16)).save(file, form)
    return file.getvalue()


# fmt: off
SOURCES = Table(
    "Sources",
    "finished",
    CHECK,
    [
        case("An empty file", "empty data/empty.tsv: the file is empty; it needs a header line and rows of tab-separated fields", has("empty", "")),
        case("A header without rows", "rowless data/rowless.tsv: it has no rows; give a file with a row for each item", has("rowless", HEADER)),
        case("No header", "headless data/headless.tsv: has no column 'index'; its columns are 1, abc, Which?, red, blue, A, colour; name the column that has it by the source's key reader (benchc new: --reader): {\"columns\": {\"index\": \"NAME\"}}", has("headless", "1\tabc\tWhich?\tred\tblue\tA\tcolour\n")),
        case("No column of answers", "unanswered data/unanswered.tsv: has no column 'answer'; its columns are index, image, question, A, B, solution, category; name the column that has it by the source's key reader (benchc new: --reader): {\"columns\": {\"answer\": \"solution\"}}", has("unanswered", HEADER.replace("answer", "solution") + "1\n")),
        case("A column twice", "twice data/twice.tsv: column 'A' occurs twice in the header; rename one of them", has("twice", HEADER.replace("B", "A") + "1\n")),
        case("Commas in a file whose name says tabs", "commas data/commas.tsv: has no column 'index'; its columns are index,image,question,A,B,answer,category, since its fields are not separated by tabs: save it with them", has("commas", HEADER.replace("\t", ",") + "1,2\n")),
        case("A field without an end", "endless data/endless.tsv: line 2 is not tab-separated text (unexpected end of data); the file is truncated, or fields with quotes, separators or newlines are not in double quotes", has("endless", HEADER + '1\t"cut off')),
        case("Bytes that are not UTF-8", "latin data/latin.tsv: the file is not UTF-8 (*); save it as UTF-8", has("latin", HEADER.encode() + b"1\t\xff\t\t\t\t\t\n")),
        case("UTF-16", "wide data/wide.tsv: the file is not UTF-8 (*); save it as UTF-8", has("wide", HEADER.encode("utf-16"))),
        case("NUL characters", "nul data/nul.tsv: the header contains NUL characters; save the file as text in UTF-8", has("nul", HEADER.encode("utf-16-le"))),
        case("A cut xz file", "cut-xz data/cut.tsv.xz: after line 9 it is not a complete xz file (*); fetch it again", has("cut-xz", lzma.compress(HEADER.encode() * 9)[:-9], "data/cut.tsv.xz")),
        case("No xz file, though its name says so", "no-xz data/no.tsv.xz: it is not a complete xz file (*); fetch it again", has("no-xz", HEADER, "data/no.tsv.xz")),
        case("A packing that is not read", "gzip data/a.tsv.gz: .gz files are not read; convert it to a TSV, csv, JSON Lines (.jsonl) or Parquet file", has("gzip", gzip.compress(HEADER.encode()), "data/a.tsv.gz")),
        case("A file of another kind", "text data/a.txt: has no column 'index'; its columns are some text; name the column that has it by the source's key reader (benchc new: --reader): {\"columns\": {\"index\": \"NAME\"}}", has("text", "some text", "data/a.txt")),
        case("A spreadsheet of Excel", "excel data/a.xlsx: .xlsx files are not read; convert it to a TSV, csv, JSON Lines (.jsonl) or Parquet file", has("excel", b"PK\x03\x04", "data/a.xlsx")),
        case("A repeated index", "same data/same.tsv: 3 of 4 rows are rejected, 3 like this: index '1' is that of an earlier row; mend the file or the keys of reader, or raise max_rejected (0.5)", has("same", [row(1), row(1), row(1), row(1)])),
        case("No index", "unnamed data/unnamed.tsv: none of its rows became an item; the first, in line 2: has no index; mend the file or the keys of reader", has("unnamed", [row(""), row("")])),
        case("Rows of another length", "short data/short.tsv: none of its rows became an item; the first, in line 2: has 2 fields where the header has 7; mend the file or the keys of reader", has("short", HEADER + "1\tabc\n2\tabc\n")),
        case("A question of white space", "blank data/blank.tsv: none of its rows became an item; the first, in line 3: the question is only white space; mend the file or the keys of reader", has("blank", [row(1, question=" \n")])),
        case("An option of white space", "option data/option.tsv: none of its rows became an item; the first, in line 2: option B is only white space; mend the file or the keys of reader", has("option", [row(1, B=" \t")])),
        case("A missing option before another", "gap data/gap.tsv: none of its rows became an item; the first, in line 2: option B is empty, but a later one is not; mend the file or the keys of reader", has("gap", [row(1, B="", C="green")])),
        case("One option", "one data/one.tsv: none of its rows became an item; the first, in line 2: has fewer than two options (1); mend the file or the keys of reader", has("one", [row(1, B="")])),
        case("An answer without an option", "beyond data/beyond.tsv: none of its rows became an item; the first, in line 2: the answer is C, an option without text; mend the file or the keys of reader", has("beyond", [row(1, answer="C")])),
        case("An answer in a lower-case letter", "lower data/lower.tsv: none of its rows became an item; the first, in line 2: the answer 'a' is not one option letter: write A; mend the file or the keys of reader", has("lower", [row(1, answer="a")])),
        case("An answer of two letters", "letters2 data/letters2.tsv: none of its rows became an item; the first, in line 2: the answer 'AB' is not one option letter; mend the file or the keys of reader", has("letters2", [row(1, answer="AB")])),
        case("No answer", "silent data/silent.tsv: none of its rows became an item; the first, in line 2: the answer '' is not one option letter; mend the file or the keys of reader", has("silent", [row(1, answer="")])),
        case("No task type", "untyped data/untyped.tsv: none of its rows became an item; the first, in line 2: has no category, the task type (task_column of the source); mend the file or the keys of reader", has("untyped", [row(1, category=""), row(2, category=" ")])),
        case("A task column that the file lacks", "taskless data/taskless.tsv: none of its rows became an item; the first, in line 2: has no category, the task type (task_column of the source); mend the file or the keys of reader",
             has("taskless", [{k: v for k, v in row(1).items() if "category" not in k}])),
        case("Open questions in a benchmark of options", "all 2 items without options, first open/1, but option logits need options; remove their sources", has("open", [open_row(1), open_row(2)])),
        case("A column of image names that is not there", "nameless data/nameless.tsv: has no column 'photo'; its columns are index, image, question, hint, A, B, C, answer, category, l2_category",
             has("nameless", [row(1)], reader={"image_column": "photo"})),
        case("One name for two images", "photos data/photos.tsv: 4 of 5 rows are rejected, 4 like this: names its image 'x', which is the name of a different image; mend the file or the keys of reader, or raise max_rejected (0.5)",
             has("photos", [row(1, photo="x"), *(row(n, photo="x", image=encoded(image_bytes((n, 0, 0))))
                                                 for n in range(2, 6))], reader={"image_column": "photo"})),
        case("A column of options that is not there", "no-options data/no-options.tsv: has no column 'choices'; its columns are index, image, question, hint, A, B, C, answer, category, l2_category",
             has("no-options", [row(1)], reader={"options_column": "choices"})),
        case("Options that are no list", "no-list data/no-list.tsv: none of its rows became an item; the first, in line 2: column 'choices' is not a Python list of strings; mend the file or the keys of reader",
             has("no-list", [{**row(1), "choices": "red or blue"}], reader={"options_column": "choices"})),
        case("A renamed column that is not there", "renamed data/renamed.tsv: has no column 'prompt', which columns.question names; its columns are index, image, question, hint, A, B, C, answer, category, l2_category",
             has("renamed", [row(1)], reader={"columns": {"question": "prompt"}})),
        case("An index of an option that is a letter", "index data/index.tsv: none of its rows became an item; the first, in line 2: the answer 'A' is not the index of an option, from 0; mend the file or the keys of reader",
             has("index", [row(1)], reader={"answer_form": "index"})),
        case("The text of no option", "no-text data/no-text.tsv: none of its rows became an item; the first, in line 2: the answer 'A' is the text of no option; mend the file or the keys of reader", has("no-text", [row(1)], reader={"answer_form": "text"})),
        case("A condition on a column that is not there", "exclude data/exclude.tsv: has no column 'kind'; its columns are index, image, question, hint, A, B, C, answer, category, l2_category",
             has("exclude", [row(1)], reader={"exclude": {"kind": "sort"}})),
        case("All rows are left out", "all-out data/all-out.tsv: none of its rows became an item; the first, in line 2: category is colour; mend the file or the keys of reader", has("all-out", [row(1)], reader={"exclude": {"category": "colour"}})),
        case("JSON Lines that are no JSON", "no-json data/a.jsonl: has no JSON object; write one per line", has("no-json", "{'a': 1}\n", "data/a.jsonl")),
        case("JSON Lines with a list", "json-list data/b.jsonl: is a JSON list; write one object per line", has("json-list", "[1, 2]\n", "data/b.jsonl")),
        case("JSON that is nested without end", "json-deep data/c.jsonl: has no JSON object; write one per line", has("json-deep", "[" * 100_000 + "\n", "data/c.jsonl")),
        case("JSON Lines without a question", "json-short data/d.jsonl: has no column 'image'; its columns are index; add the column", has("json-short", json.dumps({"index": 1}) + "\n",
                                                      "data/d.jsonl")),
        case("A cut Parquet file", "cut-parquet data/a.parquet: is not a complete Parquet file (*); fetch it again", has("cut-parquet", parquet({"a": [1]})[:-8], "data/a.parquet")),
        case("No Parquet file, though its name says so", "no-parquet data/b.parquet: is not a complete Parquet file (*); fetch it again", has("no-parquet", HEADER, "data/b.parquet")),
        case("A Parquet file without a question", "short-parquet data/c.parquet: has no column 'image'; its columns are index; add the column", has("short-parquet", parquet({"index": [1]}),
                                                          "data/c.parquet")),
        case("A csv file whose rows differ in length", "rows-csv data/d.csv: has no column 'image'; its columns are index, question; add the column", has("rows-csv", "index,question\n1\n2\n",
                                                               "data/d.csv")),
    ],
    together=True,
)
SHARDS = Table(
    "Sources",
    "finished",
    CHECK,
    [
        case("One of two shards", "config/small-sources.yaml: shard.path is \"data/shards/test-00000-of-00002.parquet\", but is one of 2 shards, but its folder has the numbers 0; fetch all of them, each once.", has("shard", parquet({"index": [1]}),
                                          "data/shards/test-00000-of-00002.parquet")),
        case("A folder without a data file", "config/small-sources.yaml: nothing.path is \"data/nothing\", but has no csv, JSON Lines or Parquet file; add metadata.csv, or give a file or another folder.", folder("data/nothing"), source(
            "nothing", {"label": "N", "path": "data/nothing", "task_column": "category"}), add("nothing")),
        case("A folder with two data files", "config/small-sources.yaml: two.path is \"data/two\", but has data in a.csv, b.csv; name one of these files, of shards the first.", write("data/two/a.csv", "a\n"), write("data/two/b.csv", "a\n"),
             source("two", {"label": "Two", "path": "data/two", "task_column": "category"}), add("two")),
    ],
)
IMAGES = Table(
    "Images",
    "finished",
    CHECK,
    [
        case("No image", "i-none data/i-none.tsv: none of its rows became an item; the first, in line 2: has no image; mend the file or the keys of reader", has("i-none", [row(1, image="")])),
        case("Base64 that is cut", "i-cut64 data/i-cut64.tsv: none of its rows became an item; the first, in line 2: image 1 is not base64 (Non-base64 digit found); mend the file or the keys of reader", has("i-cut64", [row(1, image=encoded(RED)[:-3])])),
        case("Characters that are not base64", "i-chars data/i-chars.tsv: none of its rows became an item; the first, in line 2: image 1 is not base64 (Non-base64 digit found); mend the file or the keys of reader", has("i-chars", [row(1, image="é" * 80)])),
        case("A path in place of an image", "i-path data/i-path.tsv: none of its rows became an item; the first, in line 2: image 'photos/1.png' is neither an image in base64 nor the index of a row; mend the file or the keys of reader", has("i-path", [row(1, image="photos/1.png")])),
        case("A data address", "i-data data/i-data.tsv: none of its rows became an item; the first, in line 2: image 1 begins with 'data:image/png;base64'; remove this prefix and its comma; mend the file or the keys of reader", has("i-data", [row(1, image="data:image/png;base64," + encoded(RED))])),
        case("A web address", "i-web data/i-web.tsv: none of its rows became an item; the first, in line 2: image 1 is not base64 (Non-base64 digit found); mend the file or the keys of reader", has("i-web", [row(1, image="https://example.org/" + "a" * 80 + ".png")])),
        case("A text in base64", "i-text data/i-text.tsv: none of its rows became an item; the first, in line 2: image 1: these * bytes are not a complete image in a known format (AVIF, BMP, GIF, JPEG, JPEG2000, PNG, PPM, TIFF, WEBP); mend the file or the keys of reader", has("i-text", [row(1, image=encoded(b"no image at all" * 9))])),
        case("A web page in base64", "i-html data/i-html.tsv: none of its rows became an item; the first, in line 2: image 1: these * bytes are not a complete image in a known format (AVIF, BMP, GIF, JPEG, JPEG2000, PNG, PPM, TIFF, WEBP); mend the file or the keys of reader", has("i-html", [row(1, image=encoded(b"<html>" + b"x" * 90))])),
        case("A PNG that is cut", "i-png data/i-png.tsv: none of its rows became an item; the first, in line 2: image 1: these * bytes are not a complete image (Truncated File Read); mend the file or the keys of reader", has("i-png", [row(1, image=encoded(RED[:-20]))])),
        case("A JPEG that is cut", "i-jpeg data/i-jpeg.tsv: none of its rows became an item; the first, in line 2: image 1: these * bytes are not a complete image (image file is truncated (5 bytes not processed)); mend the file or the keys of reader", has("i-jpeg", [row(1, image=encoded(JPEG[:-500]))])),
        case("A PNG with a changed byte", "i-byte data/i-byte.tsv: none of its rows became an item; the first, in line 2: image 1: these * bytes are not a complete image in a known format (AVIF, BMP, GIF, JPEG, JPEG2000, PNG, PPM, TIFF, WEBP); mend the file or the keys of reader", has("i-byte", [row(1, image=encoded(RED[:40] + RED[44:]))])),
        case("A header alone", "i-header data/i-header.tsv: none of its rows became an item; the first, in line 2: image 1: these * bytes are not a complete image (image file is truncated (0 bytes not processed)); mend the file or the keys of reader", has("i-header", [row(1, image=encoded(bomb(40, 40)))])),
        case("An image of 169 million pixels", "i-large data/i-large.tsv: none of its rows became an item; the first, in line 2: image 1: the image has 13,000 × 13,000 pixels, and the limit is 40,000,000, and 32,768 a side: scale it down; mend the file or the keys of reader", has("i-large", [row(1, image=encoded(bomb(13_000, 13_000)))])),
        case("An image of 4,000 million pixels", "i-huge data/i-huge.tsv: none of its rows became an item; the first, in line 2: image 1: the image has far more than 40,000,000 pixels, the limit: scale it down; mend the file or the keys of reader",
             has("i-huge", [row(1, image=encoded(bomb(65_000, 65_000)))])),
        case("An image without a pixel", "i-empty data/i-empty.tsv: none of its rows became an item; the first, in line 2: image 1: these * bytes are not a complete image in a known format (AVIF, BMP, GIF, JPEG, JPEG2000, PNG, PPM, TIFF, WEBP); mend the file or the keys of reader", has("i-empty", [row(1, image=encoded(bomb(0, 0)))])),
        case("A vector image", "i-svg data/i-svg.tsv: none of its rows became an item; the first, in line 2: image 1: these * bytes are not a complete image in a known format (AVIF, BMP, GIF, JPEG, JPEG2000, PNG, PPM, TIFF, WEBP); mend the file or the keys of reader", has("i-svg", [row(1, image=encoded(b"<svg xmlns='x'>" + b" " * 90))])),
        case("A PDF", "i-pdf data/i-pdf.tsv: none of its rows became an item; the first, in line 2: image 1: these * bytes are not a complete image in a known format (AVIF, BMP, GIF, JPEG, JPEG2000, PNG, PPM, TIFF, WEBP); mend the file or the keys of reader", has("i-pdf", [row(1, image=encoded(b"%PDF-1.4" + b" " * 90))])),
        case("An image of a row that is not there", "i-row data/i-row.tsv: none of its rows became an item; the first, in line 2: image '99' is neither an image in base64 nor the index of a row; mend the file or the keys of reader", has("i-row", [row(1, image="99")])),
        case("An image of a row without one", "i-chain data/i-chain.tsv: none of its rows became an item; the first, in line 2: shares the image of row '2', which has none of its own; mend the file or the keys of reader", has("i-chain", [row(1, image="2"), row(2, image="3")])),
        case("A list of images that is broken", "i-list data/i-list.tsv: none of its rows became an item; the first, in line 2: has a broken list of images (ValueError); mend the file or the keys of reader",
             has("i-list", [row(1, image=f"['{encoded(RED)}', broken]")])),
        case("A list of images without one", "i-void data/i-void.tsv: none of its rows became an item; the first, in line 2: has a list of images that is empty or not of strings; mend the file or the keys of reader", has("i-void", [row(1, image=f"[{' ' * 90}]")])),
        case("The second of two images is damaged", "i-second data/i-second.tsv: none of its rows became an item; the first, in line 2: image 2: these * bytes are not a complete image (Truncated File Read); mend the file or the keys of reader",
             has("i-second", [row(1, image=f"['{encoded(RED)}', '{encoded(RED[:-20])}']")])),
        case("Two images where one is allowed", "i-two data/i-two.tsv: none of its rows became an item; the first, in line 2: has 2 images, and rows with one are read (one_image); mend the file or the keys of reader",
             has("i-two", [row(1, image=f"['{encoded(RED)}', '{encoded(RED)}']")], reader={"one_image": True})),
        case("Fewer paths than images", "i-paths data/i-paths.tsv: none of its rows became an item; the first, in line 2: image_path names 1 files, but image has 2; mend the file or the keys of reader", has("i-paths", [
            row(1, image=f"['{encoded(RED)}', '{encoded(RED)}']", image_path="['a.png']")])),
        case("An image file that is not there", "i-file data/files/metadata.csv: none of its rows became an item; the first, in line 2: image 'a.png' is neither a file below the folder of the data, an image in base64, nor the index of a row; mend the file or the keys of reader", has(
            "i-file", "file_name,question,A,B,answer,category\na.png,q,x,y,A,c\n", "data/files/metadata.csv",
            path="data/files")),
        case("An image file outside the folder", "i-outside data/outside/metadata.csv: none of its rows became an item; the first, in line 2: image '../../data/shapes.tsv' is not a path below the folder of the data without '..'; correct it, or copy the file there; mend the file or the keys of reader", has(
            "i-outside", "file_name,question,A,B,answer,category\n../../data/shapes.tsv,q,x,y,A,c\n",
            "data/outside/metadata.csv", path="data/outside")),
        case("An absolute path of an image", "i-absolute data/absolute/metadata.csv: none of its rows became an item; the first, in line 2: image '/etc/hostname' is neither a file below the folder of the data, an image in base64, nor the index of a row; mend the file or the keys of reader", has(
            "i-absolute", "file_name,question,A,B,answer,category\n/etc/hostname,q,x,y,A,c\n",
            "data/absolute/metadata.csv", path="data/absolute")),
    ],
    together=True,
)
FOLDERS = Table(
    "Images",
    "finished",
    "",
    [
        case("A folder of images that is not there", "photos: no such folder; give a folder of images",
             command="benchc corrupt photos --corruption fog --output out"),
        case("A folder without an image", "photos: contains no images (.png, .jpg, ...); give a folder of images", folder("photos"),
             command="benchc corrupt photos --corruption fog --output out"),
        case("Image files that cannot be read", "photos: 2 of 2 images could not be corrupted*; fix or remove them", write("photos/a.jpg", JPEG[:-500]), write("photos/b.jpg", "x"),
             command="benchc corrupt photos --corruption fog --output out"),
        case("An unknown corruption", "suite 'imagenet-c' has no corruption 'fogg'; did you mean 'fog'?", write("photos/a.png", RED),
             command="benchc corrupt photos --corruption fogg --output out"),
        case("An unknown suite", "unknown suite 'imagenet'; choose one of imagenet-c, mllm-ic, r-bench, vqa-robustness", write("photos/a.png", RED),
             command="benchc corrupt photos --corruption fog --suite imagenet --output out"),
        case("No corruption", "Command \"corrupt\" parameter --corruption is missing; see benchc corrupt --help", write("photos/a.png", RED), command="benchc corrupt photos --output out"),
        case("An own file without a corruption", "own.py: registers no corruption; put @corruption(...) of benchc.corruptions.own above a kernel", write("photos/a.png", RED), write("own.py", "x = 1\n"),
             command="benchc corrupt photos --corruption fog --own-files own.py --output out"),
        case("A severity that the suite lacks", "fog has the severities 1, 2, 3, 4, 5, not 9", write("photos/a.png", RED),
             command="benchc corrupt photos --corruption fog --severities 9 --output out"),
        case("The folder of the images as the output", "photos: is both input and output; give another --output", write("photos/a.png", RED),
             command="benchc corrupt photos --corruption fog --output photos"),
        case("An output of other settings", "out/fog/corruption.json: the images in its folder were made in another way (different: seed, alpha, recipe, libraries, code); give another --output, or delete out/fog", write("photos/a.png", RED), write("out/fog/corruption.json", "{}"),
             command="benchc corrupt photos --corruption fog --output out"),
        case("An item that the run lacks", "results/small/pool/items.parquet: there is no item 'shapes/99'; its ids are in the column id",
             command="benchc image results/small shapes/99 shot_noise 3 --output a.png"),
        case("A corruption that no suite has", "suite 'imagenet-c' has no corruption 'fogg'; did you mean 'fog'?",
             command="benchc image results/small shapes/1 fogg 3 --output a.png"),
        case("A severity that the run lacks", "shot_noise has no severity 9; give one of 1, 2, 3, 4, 5",
             command="benchc image results/small shapes/1 shot_noise 9 --output a.png"),
        case("An image that the item lacks", "results/small/pool/items.parquet: item 'shapes/1' has 1 image, counted from 0; none is 4",
             command="benchc image results/small shapes/1 shot_noise 3 --index 4 --output a.png"),
        case("An output that is no PNG", "--output a.jpg: the file is a PNG; give it a name that ends in .png",
             command="benchc image results/small shapes/1 shot_noise 3 --output a.jpg"),
    ],
)
TABLES = [SOURCES, SHARDS, IMAGES, FOLDERS]
