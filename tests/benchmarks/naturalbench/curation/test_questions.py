"""The writer of questions behind a real server: rounds, bad replies, recording, replay and resuming."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.naturalbench import settings
from benchc.benchmarks.naturalbench.curation import questions
from benchc.benchmarks.naturalbench.curation.questions import first_slots, open_slots, written_questions
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.endpoint.client import Endpoint, EndpointError, EndpointSettings
from benchc.endpoint.service import Service
from benchc.endpoint.template import Template, read_template
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table, write_table
from tests.benchmarks.made import chat, frame_of
from tests.benchmarks.naturalbench.drawn import sample, write_drawn
from tests.endpoint.replies import ReplyingServer, replying
from tests.stages import call_stage

ROOT = Path(__file__).resolve().parents[4]
TEMPLATES = {
    "yes_no": Template("{caption_0}/{caption_1}/{language}"),
    "multiple_choice": Template("{caption_1}-{caption_0}"),
}
WRITER = questions.Writer("gpt", 0.5, TEMPLATES)
SAMPLES = {f"p{n}": (sample(f"a{n}", f"dog {n}"), sample(f"b{n}", f"cat {n}")) for n in range(6)}
GOOD = json.dumps(
    {
        "0": {"Question": "Dog?", "Caption1 Answer": "Yes", "Caption2 Answer": "No"},
        "1": {"Question": "Cat?", "Caption1 Answer": "No", "Caption2 Answer": "Yes"},
    }
)
REFUSED = (400, {}, '{"error": {"code": "content_filter", "message": "no"}}')


@pytest.mark.parametrize("file", settings.Writer(model="m").templates.values())
def test_the_shipped_templates_are_valid_and_show_both_captions_in_order(file):
    given = {"caption_0": "a first dog", "caption_1": "a second dog", "language": "Hindi"}
    prompt = read_template(ROOT / file, questions.REQUIRED, questions.OPTIONAL).filled(**given)
    assert prompt.index("a first dog") < prompt.index("a second dog")
    assert "in Hindi" in prompt and '"Caption1 Answer"' in prompt
    assert "{caption" not in prompt and "{language" not in prompt


def client(server: ReplyingServer, **options: object) -> Endpoint:
    return Endpoint(
        EndpointSettings(f"{server.url}/v1", concurrency=2, attempts=2, first_wait_s=0.01), **options
    )


def written(reply: object, slots: object = None, round_: int = 0) -> pl.DataFrame:
    with replying(reply) as server, client(server) as endpoint:
        return written_questions(slots or first_slots(["p1"], ["yes_no"]), SAMPLES, WRITER, round_, endpoint)


def test_each_pair_and_type_is_one_request_in_its_own_words():
    with replying(chat(GOOD)) as server, client(server) as endpoint:
        slots = first_slots(["p1", "p2"], ["yes_no", "multiple_choice"])
        table = written_questions(slots, SAMPLES, WRITER, 2, endpoint)
        bodies = [body for _, path, body, _ in server.requests if path == "/v1/chat/completions"]
    asked = sorted(body["messages"][0]["content"] for body in bodies)
    assert asked == ["cat 1-dog 1", "cat 2-dog 2", "dog 1/cat 1/English", "dog 2/cat 2/English"]
    assert all((body["model"], body["temperature"], body["seed"]) == ("gpt", 0.5, 2) for body in bodies)
    assert dict(table.schema) == dict(QUESTIONS.columns)
    assert table.select("pair", "type", "q_idx").rows() == [*product(("p1", "p2"), TEMPLATES, (0, 1))]
    assert table.filter(type="yes_no")["question"].to_list() == ["Dog?", "Cat?"] * 2
    assert table["ok"].to_list() == [True, True, False, False] * 2
    hashes = [template.hash for template in TEMPLATES.values() for _ in range(2)]
    assert table["template"].to_list() == hashes * 2
    assert table["request"].n_unique() == 4
    # Rounds differ in their requests.
    hashes = [written(chat(GOOD), round_=round_)["request"][0] for round_ in (0, 1, 1)]
    assert hashes[0] != hashes[1] == hashes[2]
    # A later round takes only the questions that were not kept.
    reasons = {("p1", 1): "disagreement", ("p3", 0): "no_question", ("p3", 1): "no_question"}
    asked = product(("p1", "p2", "p3"), (0, 1))
    kept = frame_of(KEPT, ((p, "yes_no", q, (p, q) not in reasons, reasons.get((p, q))) for p, q in asked))
    slots = open_slots(kept)
    assert dict(slots) == {("p1", "yes_no"): [1], ("p3", "yes_no"): [0, 1]}
    table = written(chat(GOOD), slots, 1)
    asked = table.select("pair", "q_idx", "question").rows()
    assert asked == [("p1", 1, "Cat?"), ("p3", 0, "Dog?"), ("p3", 1, "Cat?")]
    assert open_slots(kept.filter("kept")) == {}
    # Nothing to ask is an empty table.
    with replying(chat(GOOD)) as server, client(server) as endpoint:
        assert written_questions({}, SAMPLES, WRITER, 1, endpoint).schema == pl.Schema(QUESTIONS.columns)
        assert server.requests == []


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (chat("sorry"), "the reply is not JSON"),
        (chat(None), "the reply is empty"),
        (chat("  "), "the reply is empty"),
        (chat(GOOD, "length"), "the reply is cut off"),
        (REFUSED, "the server refuses the request: 400 no"),
    ],
)
def test_a_bad_reply_is_a_row_with_its_reason(reply, reason):
    table = written(reply)
    assert table["ok"].to_list() == [False, False] and table["reason"].to_list() == [reason] * 2
    assert table["question"].to_list() == table["answer_0"].to_list() == [None, None]
    assert table["request"].null_count() == 0


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((404, {}, '{"error": {"message": "no such model"}}'), r"^gpt: .* \(404 no such model\); correct"),
        ((400, {}, "[]"), r"gpt: the server refuses a request \(400 \[\]\)"),
        ((200, {}, "{}"), "gpt: the server's answer has no message; give the address"),
        ((200, {}, '{"choices": [{"message": null}]}'), "gpt: the server's answer has no message"),
    ],
)
def test_a_server_that_refuses_all_requests_stops_the_job(reply, message):
    with pytest.raises(InputError, match=message):
        written(reply)


def recorded(folder, slots, *replies):
    """Return the questions that a job writes, which keeps replies, and how many requests it made."""
    with replying(*replies) as server, client(server, mode="record", folder=folder, resume=True) as endpoint:
        return written_questions(slots, SAMPLES, WRITER, 0, endpoint), len(server.requests)


def test_a_killed_job_asks_only_for_what_it_lacks(tmp_path):
    slots = first_slots(list(SAMPLES), ["yes_no"])
    with pytest.raises(EndpointError, match="out of memory"):
        recorded(tmp_path, slots, *[chat(GOOD)] * 3, (500, {}, "out of memory"))
    kept = [*tmp_path.rglob("*.json")]
    assert 1 <= len(kept) <= 3
    table, requests = recorded(tmp_path, slots, chat(GOOD))
    assert requests == 6 - len(kept) and table["ok"].all()
    assert set(table["request"]) == {file.stem for file in tmp_path.rglob("*.json")}
    # What the server refused is asked again.
    for reply, ok in ((REFUSED, False), (chat(GOOD), True), (REFUSED, True)):
        table, _ = recorded(tmp_path / "refused", first_slots(["p1"], ["yes_no"]), reply)
        assert table["ok"].to_list() == [ok, ok]


def test_the_stage_records_and_replays_without_server_or_key(tmp_path, monkeypatch, capsys):
    captions, pairs = write_drawn(tmp_path, 4)
    template = tmp_path / "prompt.txt"
    template.write_text("{caption_0} {caption_1}")
    common = {"pairs": pairs, "captions": captions, "model": "gpt", "templates": {"yes_no": template}}
    service = Service(api_key_env="MY_KEY", recordings=tmp_path / "recordings")
    replay = replace(service, mode="replay")

    def write(number, output, **options):
        given = common | options
        call_stage("naturalbench.write_questions", **given, round=number, output=tmp_path / output)

    monkeypatch.setenv("MY_KEY", "sk-secret-1234")
    with replying(chat(GOOD)) as server:
        write(0, "0.parquet", service=replace(service, url=server.url))
        assert len(server.requests) == 3
        assert {headers["Authorization"] for *_, headers in server.requests} == {"Bearer sk-secret-1234"}
    footer = read_footer(tmp_path / "0.parquet")
    assert (footer["mode"], footer["url"]) == ("record", server.url) and "secret" not in str(footer)
    assert "round 0: 3 requests, 6 of 6 questions usable" in capsys.readouterr().err
    monkeypatch.delenv("MY_KEY")
    write(0, "again.parquet", service=replay)
    first, again = (read_table(tmp_path / name, QUESTIONS) for name in ("0.parquet", "again.parquet"))
    assert first.equals(again) and first["ok"].all()
    # Another template has other requests.
    template.write_text("{caption_1} {caption_0}")
    with pytest.raises(InputError, match="no answer to this request to /chat/completions was recorded"):
        write(0, "new.parquet", service=replay)
    # A round without open questions asks nobody.
    kept = first.select("pair", "type", "q_idx", kept=pl.lit(True), reason=pl.lit(None, pl.String))
    write_table(kept, tmp_path / "kept.parquet", KEPT)
    write(1, "1.parquet", service=replay, kept=tmp_path / "kept.parquet")
    assert read_table(tmp_path / "1.parquet", QUESTIONS).height == 0
    with pytest.raises(InputError, match="--kept is given from round 1 on, and only then"):
        write(1, "1.parquet")
    with pytest.raises(InputError, match=r"is given with --service\.mode=record and replay, and only then"):
        write(0, "1.parquet", service=replace(service, mode="live"))
    common["templates"] = {"maybe": template}
    with pytest.raises(SystemExit):
        write(0, "1.parquet")
    assert "'yes_no' or 'multiple_choice'" in capsys.readouterr().err
