import base64
import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.curation.caption_sets import CaptionSet, Form, Which
from benchc.benchmarks.naturalbench.curation.captions import image_bytes, read_caption_set
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.schemas.parquet import check_frame
from benchc.sources.error import SourceError
from tests.shared_data import SHARED, needs_shared

REAL = SHARED / "data/real/caption"


def picture(value: int) -> bytes:
    return encode_png(np.full((3, 4, 3), value, np.uint8))


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for number, name in enumerate(("1.jpg", "2.jpg", "3.jpg")):
        (folder / name).write_bytes(picture(number))
    return folder


Read = tuple[pl.DataFrame, list[tuple[str, int | None, str]]]


def read(
    text: str | bytes, form: Form, images: Path | None, folder: Path, which: Which = "first", locale: str = ""
) -> Read:
    path = folder / "captions"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    frame, report = read_caption_set(CaptionSet("set", form, path, images, "English", locale or None), which)
    check_frame(frame, path, CAPTIONS)
    assert set(report["kind"]) <= {"rejected"}
    return frame, [(id_, line, reason) for id_, line, _, reason in report.iter_rows()]


CSV = 'image,split,caption\n1.jpg,a,"A dog, running."\n2.jpg,a,Two men\n1.jpg,b, It barks. \n'


def test_an_images_sample_has_its_first_caption(images: Path, tmp_path: Path) -> None:
    frame, remarks = read(CSV, "csv", images, tmp_path)
    assert frame["id"].to_list() == ["set/1.jpg", "set/2.jpg"]
    assert frame["caption"].to_list() == ["A dog, running.", "Two men"]
    assert frame["image"].to_list() == ["set://1.jpg", "set://2.jpg"]
    assert frame["file"].to_list() == [str(images / "1.jpg"), str(images / "2.jpg")]
    assert frame["bytes"].null_count() == 2 and set(frame["language"]) == {"English"}
    assert remarks == []
    assert list(image_bytes(frame)) == [picture(0), picture(1)]
    # All captions may be samples.
    frame, _ = read(CSV, "csv", images, tmp_path, "all")
    assert frame["id"].to_list() == ["set/1.jpg#0", "set/1.jpg#1", "set/2.jpg#0"]
    assert frame["caption"].to_list() == ["A dog, running.", "It barks.", "Two men"]
    assert frame["image"].to_list() == ["set://1.jpg", "set://1.jpg", "set://2.jpg"]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", CSV.replace("Two men", "Two\0men")),
        ("flickr30k", "1.jpg#0\tA dog, running.\n2.jpg#0\tTwo\0men\n"),
        ("docci", '{"image_file": "1.jpg", "description": "A dog, running."}\n'
        '{"image_file": "2.jpg", "description": "Two\\u0000men"}\n'),
    ],
)  # fmt: skip
def test_a_caption_with_nul_is_rejected(images: Path, tmp_path: Path, form: Form, text: str) -> None:
    frame, remarks = read(text, form, images, tmp_path)
    assert frame["caption"].to_list() == ["A dog, running."]
    assert [reason for _, _, reason in remarks] == ["contains a NUL character"]


def test_two_columns_of_one_name_are_refused(images: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="captions: has two columns 'image'; remove one"):
        read("image,caption,caption,image\n1.jpg,a,b,2.jpg\n", "csv", images, tmp_path)
    frame, _ = read("image,caption,note,note\n1.jpg,a,b,c\n", "csv", images, tmp_path)
    assert frame["caption"].to_list() == ["a"]


def test_flickr30k_files(images: Path, tmp_path: Path) -> None:
    text = "1.jpg#1\tSecond .\n1.jpg#0\tFirst .\n2.jpg#0\tTwo\u2028men .\r\n3.jpg#0 no tab\n3.jpg\tnone\n"
    frame, remarks = read(text, "flickr30k", images, tmp_path)
    assert frame["caption"].to_list() == ["First .", "Two\u2028men ."]
    reason = "is not: image name#caption number, tab, caption"
    assert remarks == [("set/3.jpg#0 no tab", 4, reason), ("set/3.jpg", 5, reason)]
    # A caption number that is there twice.
    frame, remarks = read("z.jpg#0\tz\n1.jpg#0\ta\n1.jpg#0\tb\n", "flickr30k", images, tmp_path)
    assert frame["caption"].to_list() == ["a"]
    assert remarks == [
        ("set/z.jpg", 1, "image 'z.jpg' is no file below the folder of images"),
        ("set/1.jpg", 3, "caption 0 of image 1.jpg is there twice"),
    ]
    # A number has at most nine digits.
    frame, remarks = read(f"1.jpg#{'9' * 9}\ta\n2.jpg#{'1' * 10}\tb\n", "flickr30k", images, tmp_path, "all")
    assert frame["id"].to_list() == ["set/1.jpg#999999999"] and remarks == [
        ("set/2.jpg#1111111111", 2, reason)
    ]
    # A byte order mark is of the first line alone.
    mark = "\N{ZERO WIDTH NO-BREAK SPACE}"
    frame, remarks = read(f"{mark}1.jpg#0\tA dog.\n{mark}2.jpg#0\tTwo.\n", "flickr30k", images, tmp_path)
    assert frame["id"].to_list() == ["set/1.jpg"]
    assert [(name, line) for name, line, _ in remarks] == [(f"set/{mark}2.jpg", 2)]
    # The published file has one row without its second separator.
    text = (
        "image_name| comment_number| comment\n1.jpg| 1| Second | with a bar .\n1.jpg| 0| First .\n"
        "2.jpg| 4   A dog runs across the grass .\n2.jpg| 3| Two men .\n3.jpg| 5\n3.jpg| x| Three .\n"
        "image_name| comment_number| comment\n"
    )
    frame, remarks = read(text, "flickr30k", images, tmp_path, "all")
    assert frame["id"].to_list() == ["set/1.jpg#0", "set/1.jpg#1", "set/2.jpg#3"]
    assert frame["caption"].to_list() == ["First .", "Second | with a bar .", "Two men ."]
    reason = "is not: image name | caption number | caption"
    lines = [("set/2.jpg", 4), ("set/3.jpg", 6), ("set/3.jpg", 7), ("set/image_name", 8)]
    assert remarks == [(*line, reason) for line in lines]


def test_docci(images: Path, tmp_path: Path) -> None:
    rows = [
        {"example_id": "test_0", "split": "test", "image_file": "1.jpg", "description": " A long text. "},
        {"example_id": "test_1", "split": "test", "image_file": "2.jpg"},
        {"image_file": "3.jpg", "description": 5},
    ]
    text = "\n".join([*map(json.dumps, rows), "{cut", "[]", "[" * 100_000])
    frame, remarks = read(text, "docci", images, tmp_path)
    assert frame.select("id", "caption").rows() == [("set/1.jpg", "A long text.")]
    assert [line for _, line, _ in remarks] == [2, 3, 4, 5, 6]
    assert remarks[0][2] == "has no texts image_file and description"
    assert remarks[2][2].startswith("is not JSON (")


# As the published file: an object of each locale, with the captions and two tokenised forms of them.
XM3600 = "\n".join(
    json.dumps(row, ensure_ascii=False)
    for row in (
        {
            "image/key": "1",
            "image/locale": "zh",
            "en": {"caption": ["A dog.", "It barks."], "caption/tokenized": ["A dog .", "It barks ."]},
            "zh": {"caption": ["一只狗。", " 狗在叫。"], "caption/tokenized": ["一 只 狗 。", "狗 在 叫 。"]},
        },
        {"image/key": "2", "image/locale": "hi", "en": {"caption": ["Two men."]}, "zh": {"caption": []}},
        {"key": "4", "en": {"caption": ["x"]}, "zh": {"caption": ["x"]}},
        {"image/key": "3", "image/locale": "hi", "en": "none", "zh": {"caption": ["两个人。"]}},
    )
)


def test_xm3600_has_the_captions_of_one_locale(images: Path, tmp_path: Path) -> None:
    frame, remarks = read(XM3600, "xm3600", images, tmp_path, locale="zh")
    assert frame.select("id", "caption").rows() == [("set/1.jpg", "一只狗。"), ("set/3.jpg", "两个人。")]
    absent = "has no captions of the locale"
    assert remarks == [("set/2.jpg", 2, f"{absent} 'zh'"), ("set/", 3, "has no text image/key")]
    frame, remarks = read(XM3600, "xm3600", images, tmp_path, "all", "en")
    assert frame["id"].to_list() == ["set/1.jpg#0", "set/1.jpg#1", "set/2.jpg#0"]
    assert frame["caption"].to_list() == ["A dog.", "It barks.", "Two men."]
    assert remarks[1] == ("set/3.jpg", 4, f"{absent} 'en'")
    with pytest.raises(SourceError, match=r"none of its rows became a sample; .*first: has no caption"):
        read(XM3600, "xm3600", images, tmp_path, locale="cn")


def tsv(*rows: tuple[str, ...]) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter="\t", lineterminator="\n").writerows(
        [("index", "image", "answer", "image_file"), *rows]
    )
    return file.getvalue()


def test_tsv_has_its_images(tmp_path: Path) -> None:
    one, two = (base64.b64encode(picture(value)).decode() for value in (1, 2))
    text = tsv(
        ("0", one, '["It\'s a dog", "A \\u00e9"]', "a.png"),
        ("1", two, "['In Python', \"it's\"]", ""),
        ("2", "0", '["Of the image of row 0"]', "b.png"),
        ("3", "9", '["x"]', "c.png"),
        ("4", one, "A dog", "d.png"),
        ("5", one, "[]", "e.png"),
        ("6", f"['{one}', '{two}']", '["x"]', "f.png"),
        ("7", two, '["x"]', "a.png"),
        ("8", "AAAA" * 40, '["x"]', "g.png"),
        ("9", base64.b64encode(picture(3)).decode(), '["x"]', "n" * 201),
        ("10", base64.b64encode(picture(4)).decode(), '["Of a long name"]', "n" * 200),
        ("11", base64.b64encode(picture(5)).decode(), '["x"]', "a\x1b.png"),
        ("12", base64.b64encode(picture(6)).decode(), '["x"]', "h.png", "too", "many"),
    )
    frame, remarks = read(text, "tsv", None, tmp_path, "all")
    name = "n" * 200
    assert frame["id"].to_list() == ["set/1#0", "set/1#1", "set/a.png#0", "set/a.png#1", f"set/{name}#0"]
    assert frame["caption"].to_list() == ["In Python", "it's", "It's a dog", "A é", "Of a long name"]
    assert frame["bytes"].to_list() == [picture(number) for number in (2, 2, 1, 1, 4)]
    assert frame["file"].null_count() == 5
    found = {id_: reason for id_, _, reason in remarks}
    assert found["set/b.png"] == "image b.png: is a copy of image a.png"
    assert found["set/c.png"] == "image '9' is neither an image in base64 nor the index of a row before"
    assert found["set/d.png"].startswith("the answer 'A dog' is no list of texts")
    assert found["set/e.png"].startswith("the answer '[]' is no list of texts")
    assert found["set/f.png"] == "has 2 images; a sample has one"
    assert found["set/a.png"] == "names its image a.png, which is the name of a different image"
    assert found["set/h.png"] == "has 6 fields where the header has 4"
    assert "are not a complete image" in found["set/g.png"] and len(remarks) == 10
    wrong = "the image's name is not one line of 1 to 200 characters"
    assert found[f"set/{name}n"] == found["set/a\x1b.png"] == wrong


def test_rows_that_are_no_samples_are_listed(images: Path, tmp_path: Path) -> None:
    (images / "damaged.jpg").write_bytes(picture(1)[:-20])
    (images / "folder.jpg").mkdir()
    (tmp_path / "secret.jpg").write_bytes(picture(3))
    (images / "link.jpg").symlink_to("../secret.jpg")
    text = (
        "image,caption\n1.jpg,   \n1.jpg,Good\n,x\n4.jpg,x\n"
        "damaged.jpg,x\nfolder.jpg,x\n../a.jpg,x\n/a.jpg,x\n"
        f"2.jpg\n2.jpg,x,y\n{'n' * 201},x\na\tb.jpg,x\nlink.jpg,x\n"
    )
    frame, remarks = read(text, "csv", images, tmp_path)
    assert frame.select("id", "caption").rows() == [("set/1.jpg", "Good")]
    reasons = [(line, reason) for _, line, reason in remarks]
    name = "the image's name is not one line of 1 to 200 characters"
    assert (2, "has no caption") in reasons and all((line, name) in reasons for line in (4, 12, 13))
    assert (5, "image '4.jpg' is no file below the folder of images") in reasons
    assert any(line == 6 and "damaged.jpg: these" in reason for line, reason in reasons)
    assert (7, "image 'folder.jpg' is no file below the folder of images") in reasons
    for line, path in [(8, "../a.jpg"), (9, "/a.jpg")]:
        assert (
            line,
            f"image '{path}' is not a path below the folder of images without '..'; correct it, or copy the "
            "file there",
        ) in reasons
    assert (14, "image 'link.jpg' is a link out of the folder of images; copy the file there") in reasons
    assert (10, "has 1 fields where the header has 2") in reasons
    assert (11, "has 3 fields where the header has 2") in reasons
    assert [line for line, _ in reasons] == sorted(line for line, _ in reasons) and len(reasons) == 12
    # Two samples of one image would become a pair whose questions cannot alternate.
    (images / "copy.jpg").write_bytes(picture(0))
    names = ["1.jpg", "./1.jpg", "copy.jpg", "2.jpg"]
    assert (images / "1.jpg").read_bytes() == picture(0)
    text = "image,caption\n" + "".join(f"{name},Dog {n}\n" for n, name in enumerate(names))
    frame, remarks = read(text, "csv", images, tmp_path)
    assert frame["id"].to_list() == ["set/1.jpg", "set/2.jpg"]
    assert [reason for _, _, reason in remarks] == [
        "image ./1.jpg: is a copy of image 1.jpg",
        "image copy.jpg: is a copy of image 1.jpg",
    ]


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("csv", "picture,caption\n", "has no column 'image'; its columns are picture, caption"),
        ("csv", "", "has no column 'image'; its columns are none"),
        ("csv", 'image,caption\n1.jpg,"open', "line 2 is no comma-separated text"),
        ("csv", b"image,caption\n1.jpg,\xff\n", "the file is not UTF-8"),
        ("csv", "image,caption\n", "none of its rows became a sample; the reason of the first: it has no"),
        (
            "csv",
            "image,caption\n9.jpg,x\n1.jpg,\n",
            "the reason of the first: image '9.jpg' is no file below",
        ),
        ("flickr30k", b"1.jpg#0\ta\n\xff", "after line 1 the file is not UTF-8"),
        ("tsv", "index\tpicture\n", "has no column 'image'; its columns are index, picture"),
        ("docci", "", "it has no rows"),
    ],
)
def test_a_file_that_cannot_be_read(
    form: Form, text: str | bytes, message: str, images: Path, tmp_path: Path
) -> None:
    with pytest.raises(SourceError) as caught:
        read(text, form, None if form == "tsv" else images, tmp_path)
    assert message in str(caught.value) and str(tmp_path / "captions") in str(caught.value)


def test_a_line_is_as_long_as_its_limit_at_most(
    images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "1.jpg#0\tA dog\n"
    limit = "benchc.benchmarks.naturalbench.curation.caption_files.LARGEST_ROW"
    monkeypatch.setattr(limit, len(line))
    assert read(line * 2, "flickr30k", images, tmp_path)[0].height == 1
    monkeypatch.setattr(limit, len(line) - 1)
    with pytest.raises(SourceError, match="line 1 has more than 13 bytes; give a file as published"):
        read(line, "flickr30k", images, tmp_path)


def test_missing_files_and_folders(tmp_path: Path, images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(SourceError, match="missing: there is no such file; correct"):
        read_caption_set(CaptionSet("set", "csv", missing, images, "English"), "first")
    with pytest.raises(SourceError, match="missing: is no folder of images; correct `images` of set"):
        read_caption_set(CaptionSet("set", "csv", missing, missing, "English"), "first")
    frame, _ = read(CSV, "csv", images, tmp_path)
    (images / "2.jpg").unlink()
    with pytest.raises(InputError, match=r"sample 'set/2.jpg': its image .*2.jpg cannot be read \(No such"):
        list(image_bytes(frame))

    def denied(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(SourceError, match=r"first: image 1\.jpg: cannot be read \(Permission denied\)"):
        read(CSV, "csv", images, tmp_path)


@needs_shared
def test_real_captions() -> None:
    for name, count in (("COCO_caption", 15), ("Flickr8k_caption", 16)):
        source = CaptionSet("real", "tsv", REAL / f"{name}.tsv", None, "English")
        first, report = read_caption_set(source, "first")
        every, _ = read_caption_set(source, "all")
        assert (first.height, report.height) == (count, 0), name
        assert every.height >= 5 * count and set(first["image"]) == set(every["image"]), name
        assert set(first["caption"]) <= set(every["caption"]), name
