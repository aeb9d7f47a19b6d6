"""Questions are translated behind a real server: what is asked, refused, left out, kept and continued."""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.naturalbench import translation
from benchc.benchmarks.naturalbench.groups import groups_of_pool
from benchc.benchmarks.naturalbench.places import Source
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS, GroupsFooter
from benchc.benchmarks.naturalbench.schemas.translations import TRANSLATIONS
from benchc.benchmarks.naturalbench.settings import Translate
from benchc.benchmarks.naturalbench.translation import Text, Translator, languages, read_translation
from benchc.endpoint.client import EndpointError
from benchc.endpoint.language_model import UnusableError
from benchc.endpoint.service import Service
from benchc.endpoint.template import Template
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from tests.benchmarks.made import chat
from tests.benchmarks.naturalbench.group_files import group, write_pool
from tests.endpoint.replies import replying
from tests.stages import call_stage

ROOT = Path(__file__).resolve().parents[3]
YES_NO = Text("狗在跑吗？", None, ("Yes", "No"))
CHOICE = Text("狗在哪里？", "看图。", ("在草地上", "在沙滩上"))
TRANSLATED = {"Question": "Where is the dog?", "Hint": "Look.", "Option A": "grass", "Option B": "sand"}
# A group of each language and method; the rows of a group share an image by i_idx.
ROWS = [
    *group("zh", 4, language="Chinese"),
    *group("en", 8),
    *group("en2", 24, language="english"),
    *group("hi", 12, options=("कुत्ता", "बिल्ली"), language="Hindi"),
    *group("drawn", 16, language="Chinese", method="random"),
    *group("zh2", 20, language="chinese"),
]


def upper(_: Any, body: Mapping[str, Any]) -> tuple[int, dict[str, str], str]:
    """Reply with each text in capitals, which stands for a translation."""
    prompt = body["messages"][0]["content"]
    asked = json.loads(prompt[prompt.index("{") :])
    return chat(json.dumps({key: f"EN {value.upper()}" for key, value in asked.items()}))


@pytest.fixture
def arguments(tmp_path: Path) -> dict[str, Any]:
    """The arguments of the stage, but for the service."""
    tsv, pool = write_pool(tmp_path, ROWS)
    groups = groups_of_pool(pool, {"nb": Source(tsv, "Photos")}).table
    write_table(groups, tmp_path / "groups.parquet", GROUPS, GroupsFooter(pool="p"))
    (tmp_path / "t.txt").write_text("{language}: {text}")
    outputs = {"questions": "questions", "translated_pool": "items", "translated": "groups"}
    made = {name: tmp_path / f"translated/{file}.parquet" for name, file in outputs.items()}
    given = {"pool": pool, "groups": tmp_path / "groups.parquet", "template": tmp_path / "t.txt"}
    return given | made | {"model": "gpt", "attempts": 2}


def translate(arguments: Mapping[str, Any], *replies: Any, **service: Any) -> list[dict[str, Any]]:
    """Run the stage with a server that gives these replies; return the requests."""
    with replying(*replies) as server:
        given = {"mode": "live", "url": f"{server.url}/v1", "concurrency": 1} | service
        call_stage("naturalbench.translate_questions", **arguments, service=Service(**given))
        return [body for _, _, body, _ in server.requests]


def test_a_request_has_what_models_read_but_for_the_labels() -> None:
    translator = Translator("gpt", 0.5, Template("{language}/{text}"), 3)
    body = translator.request(CHOICE, "Chinese", 2)
    assert (body["model"], body["temperature"], body["seed"]) == ("gpt", 0.5, 2)
    (message,) = body["messages"]  # type: ignore[misc]
    language, _, text = message["content"].partition("/")
    assert language == "Chinese" and "狗在哪里" in text
    asked = {"Question": "狗在哪里？", "Hint": "看图。", "Option A": "在草地上", "Option B": "在沙滩上"}
    assert [*json.loads(text).items()] == [*asked.items()]
    for labels in (("Yes", "No"), ("no", "YES")):
        assert YES_NO._replace(options=labels).fields == {"Question": "狗在跑吗？"}
    # A translation is read in a fence or not.
    text = json.dumps(TRANSLATED | {"Question": " Where is\n the dog? "})
    expected = Text("Where is the dog?", "Look.", ("grass", "sand"))
    for reply in (text, f"```json\n{text}\n```"):
        assert read_translation(reply, CHOICE) == expected
    # The labels of a question stay as the source has them.
    labels = YES_NO._replace(options=("no", "Yes"))
    assert read_translation('{"Question": "Is it?"}', labels) == Text("Is it?", None, ("no", "Yes"))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Where is the dog?", "the reply is not JSON"),
        ("[1]", "the reply is not a JSON object"),
        ({"Hint": None}, "it has no Hint"),
        ({"Option B": " "}, "it has no Option B"),
        ({"Question": ["Where?"]}, "it has no Question"),
        ({"Question": "x" * 2001}, "its Question has more than 2,000 characters"),
        ({"Answer": "A"}, "the reply has 'Answer', which was not asked for"),
        ({"Question": " 狗在哪里？\n"}, "the question is not translated"),
        ({"Option B": "Grass"}, "its options are equal"),
        ({"Option A": "No", "Option B": "Yes"}, "its options are Yes and No, which are other labels"),
    ],
)
def test_a_reply_that_is_no_translation_is_refused(reply: Any, reason: str) -> None:
    text = reply if isinstance(reply, str) else json.dumps(TRANSLATED | reply)
    with pytest.raises(UnusableError, match=f"^{reason}"):
        read_translation(text, CHOICE)

    # Nor by other blanks, nor without a key.
    spaced = YES_NO._replace(question="Il  corre\nora")
    with pytest.raises(UnusableError, match=r"^the question is not translated$"):
        read_translation('{"Question": "Il corre ora"}', spaced)
    for key in TRANSLATED:
        rest = {name: text for name, text in TRANSLATED.items() if name != key}
        with pytest.raises(UnusableError, match=f"^the reply has no {key}$"):
            read_translation(json.dumps(rest), CHOICE)


@given(st.text(max_size=60) | st.dictionaries(st.text(max_size=9), st.text(max_size=9)).map(json.dumps))
def test_any_other_reply_is_unusable_and_no_crash(reply: str) -> None:
    with pytest.raises(UnusableError):
        read_translation(reply, CHOICE)


def test_the_shipped_template_shows_language_and_texts() -> None:
    settings = Translate(model="m")
    translator = translation.read_translator("m", 1.0, ROOT / settings.template, settings.attempts)
    prompt = translator.request(CHOICE, "Hindi", 0)["messages"][0]["content"]  # type: ignore[index]
    assert "from Hindi into English" in prompt
    assert json.loads(prompt[prompt.index("{") : prompt.index("}") + 1]) == CHOICE.fields
    with pytest.raises(InputError, match=r"lacks the placeholder \{text\}; add it"):
        translation.read_translator("m", 1.0, ROOT / "config/prompts/../demo-models.yaml", 1)


def test_groups_in_other_languages_become_items_of_their_own(
    arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    requests = translate(arguments, upper)
    # Neither English groups nor random pairs; one request for a question, which has two items.
    assert len(requests) == 6 and {body["seed"] for body in requests} == {0}
    assert "drawn" not in str(requests) and "en 0" not in str(requests)
    table = read_table(arguments["questions"], TRANSLATIONS)
    slots = [*product(("nb/zh", "nb/hi", "nb/zh2"), (0, 1))]
    assert table.select("group", "q_idx").rows() == slots
    assert table["ok"].all() and languages(table) == [("Chinese", 1, 0), ("Hindi", 1, 0), ("chinese", 1, 0)]
    before, after = read_table(arguments["pool"], POOL), read_table(arguments["translated_pool"], POOL)
    texts = ("question", "options")
    assert after["id"].to_list() == [f"nb/{n}" for n in (*range(4, 8), *range(12, 16), *range(20, 24))]
    assert after.drop(texts).equals(before.join(after, on="id", how="semi").drop(texts))
    rows = {id_: (question, options) for id_, question, options in after.select("id", *texts).iter_rows()}
    assert rows["nb/7"] == ("EN IS IT ZH 1?", ["Yes", "No"])
    assert rows["nb/13"] == ("EN IS IT HI 0?", ["EN कुत्ता", "EN बिल्ली"])
    groups = read_table(arguments["translated"], GROUPS)
    original = read_table(arguments["groups"], GROUPS).join(groups, on="id", how="semi")
    assert groups.equals(original.with_columns(language=pl.lit("English")))
    digests = [pool_digest(arguments[name], QUESTION_COLUMNS) for name in ("translated_pool", "pool")]
    assert read_footer(arguments["translated"])["pool"] == digests[0] != digests[1]
    assert "Chinese: 1 group translated, 0 left out" in capsys.readouterr().err


def test_equal_questions_are_asked_once(arguments: dict[str, Any]) -> None:
    pool = read_table(arguments["pool"], POOL)
    same = pool.with_columns(pl.col("question").str.replace("zh2", "zh"))
    write_table(same, arguments["pool"], POOL)
    groups = read_table(arguments["groups"], GROUPS)
    groups = groups.with_columns(language=pl.col("language").replace("chinese", "Chinese"))
    write_table(groups, arguments["groups"], GROUPS)
    assert len(translate(arguments, upper)) == 4
    assert read_table(arguments["questions"], TRANSLATIONS).height == 6


def test_a_bad_reply_is_asked_for_again_and_its_group_left_out_at_last(
    arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    # The second question of zh is never translated, the first one of hi in the second attempt.
    def reply(headers: Any, body: Mapping[str, Any]) -> Any:
        prompt = body["messages"][0]["content"]
        bad = "zh 1?" in prompt or ("hi 0?" in prompt and body["seed"] == 0)
        return chat("Sorry.") if bad else upper(headers, body)

    requests = translate(arguments, reply)
    assert [body["seed"] for body in requests] == [0] * 6 + [1] * 2
    table = read_table(arguments["questions"], TRANSLATIONS)
    left = table.filter(~pl.col("ok")).select("group", "q_idx", "english_question", "reason").rows()
    assert left == [("nb/zh", 1, None, "the reply is not JSON")]
    assert languages(table) == [("Chinese", 0, 1), ("Hindi", 1, 0), ("chinese", 1, 0)]
    kept = ["nb/hi", "nb/zh2"]
    assert read_table(arguments["translated"], GROUPS)["group"].unique(maintain_order=True).to_list() == kept
    assert read_table(arguments["translated_pool"], POOL).height == 8
    printed = capsys.readouterr().err
    assert "Chinese: 0 groups translated, 1 left out" in printed
    assert "1 question: the reply is not JSON" in printed


def test_two_questions_with_one_translation_are_no_group(arguments: dict[str, Any]) -> None:
    def reply(headers: Any, body: Mapping[str, Any]) -> Any:
        same = "zh 0" in (prompt := body["messages"][0]["content"]) or "zh 1" in prompt
        return chat('{"Question": "Is it?"}') if same else upper(headers, body)

    translate(arguments, reply)
    table = read_table(arguments["questions"], TRANSLATIONS).filter(group="nb/zh")
    assert table["ok"].to_list() == [False, False]
    assert set(table["reason"]) == {"both questions of the group have this translation"}
    assert "nb/zh" not in read_table(arguments["translated"], GROUPS)["group"].to_list()


def test_nothing_to_translate_or_nothing_translated_stops_the_job(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"no group was translated \(the first reason: the reply is not J"):
        translate(arguments, chat("Sorry."))
    assert not arguments["translated"].exists()
    groups = read_table(arguments["groups"], GROUPS)
    write_table(groups.filter(language="English"), arguments["groups"], GROUPS)
    with pytest.raises(InputError, match="all groups are in English, so that nothing can be translated"):
        translate(arguments, upper)


def test_a_killed_job_continues_and_a_finished_one_is_replayed(
    arguments: dict[str, Any], tmp_path: Path
) -> None:
    kept = {"mode": "record", "recordings": tmp_path / "kept"}
    refused = (401, {}, '{"error": "no key"}')
    with pytest.raises(EndpointError, match="refuses access"):
        translate(arguments, *[upper] * 4, refused, **kept)
    assert len(list((tmp_path / "kept").rglob("*.json"))) == 4
    # The other two questions alone are asked about.
    assert len(translate(arguments, upper, **kept)) == 2
    whole = read_table(arguments["questions"], TRANSLATIONS)
    footer = read_footer(arguments["questions"])
    assert footer["mode"] == "record" and footer["url"].startswith("http://127.0.0.1")
    assert footer["template"] == Template("{language}: {text}").hash
    assert footer["pool"] == pool_digest(arguments["pool"], QUESTION_COLUMNS)
    assert translate(arguments, refused, **kept | {"mode": "replay"}) == []
    assert read_table(arguments["questions"], TRANSLATIONS).equals(whole)
    assert read_footer(arguments["questions"])["url"] is None
    # Another prompt has other requests.
    arguments["template"].write_text("Translate: {text}")
    service = Service(mode="replay", recordings=tmp_path / "kept")
    with pytest.raises(InputError, match="no answer to this request to /chat/completions was recorded"):
        call_stage("naturalbench.translate_questions", **arguments, service=replace(service, concurrency=1))
