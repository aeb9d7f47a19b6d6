"""Long captions are shortened by a writer behind a real server: what is asked, kept and left out."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchc.benchmarks.naturalbench.curation.release import shortening_facts
from benchc.benchmarks.naturalbench.curation.shorten import Shortener, read_shortener, shorten
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS, CaptionsFooter
from benchc.benchmarks.naturalbench.settings import Shorten
from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.endpoint.service import Service
from benchc.endpoint.template import Template
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table, write_table
from tests.benchmarks.made import chat, frame_of
from tests.endpoint.replies import ReplyingServer, replying
from tests.stages import call_stage

ROOT = Path(__file__).resolve().parents[4]
SHORTENER = Shortener("gpt", 0.5, Template("{below} {language}: {caption}"), below=10, attempts=3)
# EDGE has as many characters as the limit; SHORT has fewer, but more bytes.
LONG, EDGE, SHORT = "a dog on a lawn", "0123456789", "狗狗狗狗狗狗狗狗狗"


def captions(*texts: str) -> pl.DataFrame:
    rows = [
        (f"set/{n}", "set", f"set://{n}", f"{n}.jpg", None, text, "English") for n, text in enumerate(texts)
    ]
    return frame_of(CAPTIONS, rows)


def asked(server: ReplyingServer) -> list[tuple[str, int]]:
    return [(body["messages"][0]["content"], body["seed"]) for _, _, body, _ in server.requests]


def shortened(*replies: Any, texts: tuple[str, ...]) -> tuple[Any, Any, list[tuple[str, int]]]:
    with replying(*replies) as server:
        settings = EndpointSettings(f"{server.url}/v1", concurrency=1, attempts=1)
        with Endpoint(settings) as endpoint:
            return *shorten(captions(*texts), SHORTENER, endpoint), asked(server)


def test_only_captions_of_the_limit_and_more_are_asked_for() -> None:
    kept, report, requests = shortened(chat(" a\n dog "), chat("ten - one"), texts=(SHORT, LONG, EDGE))
    assert requests == [(f"10 English: {LONG}", 0), (f"10 English: {EDGE}", 0)]
    expected = captions(SHORT, "a dog", "ten - one")
    assert kept.equals(expected) and report.is_empty()
    # A reply that is not short enough is asked for again, and left out at last.
    long = chat("x" * 10)
    kept, report, requests = shortened(long, chat("x" * 9), texts=(LONG, SHORT))
    assert requests == [(f"10 English: {LONG}", 0), (f"10 English: {LONG}", 1)]
    assert kept.select("id", "caption").rows() == [("set/0", "x" * 9), ("set/1", SHORT)]
    assert report.is_empty()
    kept, report, requests = shortened(long, texts=(LONG, SHORT))
    assert [seed for _, seed in requests] == [0, 1, 2]
    assert kept["id"].to_list() == ["set/1"]
    reason = "the reply has 10 characters, not fewer than 10"
    assert report.rows() == [("set/0", None, "rejected", reason)]
    # Nothing long asks nothing.
    kept, report, requests = shortened(chat("x"), texts=(SHORT,))
    assert requests == [] and report.is_empty() and kept.equals(captions(SHORT))


def test_the_shipped_template_shows_the_caption_and_the_limit(tmp_path: Path) -> None:
    settings = Shorten()
    assert (settings.below, settings.attempts) == (230, 4)  # the limit: appendix A of the paper
    shortener = read_shortener("m", 1.0, ROOT / settings.template, settings.below, settings.attempts)
    prompt = shortener.request("A red {caption}.", "Hindi", 0)["messages"][0]["content"]  # type: ignore[index]
    assert "Caption: A red {caption}." in prompt
    assert "fewer than 230 characters" in prompt and "in Hindi" in prompt
    (tmp_path / "t.txt").write_text("{caption}")
    with pytest.raises(InputError, match=r"lacks the placeholder \{below\}; add it"):
        read_shortener("m", 1.0, tmp_path / "t.txt", 230, 4)


def test_the_stage_records_and_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(captions(LONG, SHORT), "long.parquet", CAPTIONS, CaptionsFooter(captions="first"))
    Path("t.txt").write_text("{caption} {below}")
    common = {"captions": "long.parquet", "template": "t.txt", "model": "gpt", "below": 10}
    outputs = {"shortened": "short.parquet", "report": "r.csv"}
    with replying(chat("a dog")) as server:
        service = Service(url=f"{server.url}/v1", recordings=Path("kept"))
        call_stage("naturalbench.shorten_captions", **common, **outputs, service=service)
    again = {"shortened": "again.parquet", "report": "r.csv"}
    call_stage("naturalbench.shorten_captions", **common, **again, service=replace(service, mode="replay"))
    assert "shortened: 2 samples" in capsys.readouterr().err
    for path, mode in (("short.parquet", "record"), ("again.parquet", "replay")):
        assert read_table(path, CAPTIONS)["caption"].to_list() == ["a dog", SHORT]
        assert read_footer(path)["captions"] == "first"
        facts = shortening_facts(Path(path))
        template = Template("{caption} {below}").hash
        url = f"{server.url}/v1" if mode == "record" else None
        expected = {"below": 10, "model": "gpt", "temperature": 1.0, "template": template}
        assert facts == expected | {"mode": mode, "url": url}
    assert shortening_facts(Path("long.parquet")) == {}
    # A run without any short caption stops.
    write_table(captions(LONG), "long.parquet", CAPTIONS, CaptionsFooter(captions="first"))
    with (
        replying(chat(LONG)) as server,
        pytest.raises(InputError, match=r"no caption was shortened to fewer than 10 .*the reply has 15 char"),
    ):
        service = Service(url=f"{server.url}/v1", mode="live")
        call_stage("naturalbench.shorten_captions", **common, service=service, shortened="s", report="r.csv")
