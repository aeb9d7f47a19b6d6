"""Requests to a language model: which replies are used, asked for again, or end the job."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchc.config.language_model import LanguageModel
from benchc.endpoint import language_model
from benchc.endpoint.answer import Answer
from benchc.endpoint.client import EndpointError
from benchc.endpoint.language_model import (
    UnusableError,
    ask_once,
    chat_request,
    opened,
    reply_text,
    usable_replies,
)
from benchc.endpoint.service import Service
from benchc.errors import InputError
from tests.endpoint.replies import OK, replying


def reply(text: Any, finish: str | None = "stop") -> Answer:
    first, second = {"content": text}, {"content": "of several, the first is read"}
    choices = [{"message": first, "finish_reason": finish}, {"message": second, "finish_reason": "stop"}]
    return Answer(200, json.dumps({"choices": choices}))


@pytest.mark.parametrize(
    ("text", "finish", "unusable"),
    [
        (" yes\n", "stop", None),
        ("yes", None, None),
        ("yes", "length", "the reply is cut off"),
        # Cut off before its first word, as of a model that thinks.
        ("", "length", "the reply is cut off"),
        ("", "stop", "the reply is empty"),
        (" \n", "stop", "the reply is empty"),
        (None, "stop", "the reply is empty"),
        ([{"type": "text", "text": "yes"}], "stop", "the reply is empty"),
    ],
)
def test_a_reply_is_a_whole_text(text, finish, unusable):
    if unusable is None:
        assert reply_text(reply(text, finish), "m") == text
        return
    with pytest.raises(UnusableError, match=f"^{unusable}$"):
        reply_text(reply(text, finish), "m")


def test_half_a_surrogate_pair_is_replaced_as_no_file_can_hold_it():
    assert reply_text(reply("a\ud83d"), "m") == "a?"


@pytest.mark.parametrize(
    "text", ['{"choices": []}', '{"choices": null}', "{}", "[]", '{"choices": [{"message": "yes"}]}']
)
def test_an_answer_of_another_form_ends_the_job(text):
    with pytest.raises(InputError, match=r"^m: the server's answer has no message; give the address of a"):
        reply_text(Answer(200, text), "m")


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation", "invalid_prompt"])
def test_a_refusal_of_content_is_of_one_request(code):
    refusal = json.dumps({"error": {"message": "no", "code": code}})
    with pytest.raises(UnusableError, match=r"^the server refuses the request: 400 no$"):
        reply_text(Answer(400, refusal), "m")


@pytest.mark.parametrize(
    "text",
    [
        '{"error": {"message": "no", "code": "model_not_found"}}',
        '{"error": {"message": "no"}}',
        '{"error": "no"}',
        "no",
        "[]",
    ],
)
def test_any_other_refusal_is_of_all_requests(text):
    with pytest.raises(InputError, match=r"^m: the server refuses a request \(404.*\); correct `model`, `u"):
        reply_text(Answer(404, text), "m")


class Replying:
    """An endpoint that answers each request with its body."""

    def __init__(self) -> None:
        self.asked: list[list[Any]] = []

    def post_each(self, path: str, bodies: list[Any]) -> Any:
        assert path == "/chat/completions"
        self.asked.append([body["about"] for body in bodies])
        return iter([reply(f"{body['about']} {body['attempt']}") for body in bodies])


def test_only_what_has_no_usable_reply_is_asked_for_again_and_its_last_reason_kept(monkeypatch):
    labels: list[str] = []
    monkeypatch.setattr(language_model, "track", lambda each, *, label, **_: labels.append(label) or each)
    usable = {"a": 0, "b": 1, "c": 9}  # the attempt in which the reply is usable

    def read(about: str, answer: Answer) -> str:
        text = reply_text(answer, "m")
        if int(text[-1]) < usable[about]:
            raise UnusableError(f"not {text}")
        return text

    def ask(attempts: int, names: str) -> tuple[Any, list[list[str]]]:
        endpoint: Any = Replying()
        found = usable_replies(
            wanted={name.upper(): name for name in names},
            request=lambda about, attempt: {"about": about, "attempt": attempt},
            read=read,
            attempts=attempts,
            endpoint=endpoint,
            label="asked",
        )
        return found, endpoint.asked

    found, asked = ask(3, "abc")
    assert found == ({"A": "a 0", "B": "b 1"}, {"C": "not c 2"})
    assert asked == [["a", "b", "c"], ["b", "c"], ["c"]]
    assert labels == [f"asked, attempt {attempt}" for attempt in (1, 2, 3)]
    # No request where nothing is left to ask.
    assert ask(3, "ab") == (({"A": "a 0", "B": "b 1"}, {}), [["a", "b"], ["b"]])
    assert ask(3, "") == (({}, {}), [])


def test_a_request_has_a_system_message_only_where_there_is_one():
    user = {"role": "user", "content": "Which?"}
    settings = {"model": "m", "temperature": 0.5, "seed": 3}
    assert chat_request("m", "Which?", 0.5, 3) == {**settings, "messages": [user]}
    system = {"role": "system", "content": ""}
    assert chat_request("m", "Which?", 0.5, 3, "") == {**settings, "messages": [system, user]}


@pytest.mark.parametrize(("mode", "with_folder"), [("live", True), ("record", False), ("replay", False)])
def test_recordings_have_a_folder_and_nothing_else_has(mode, with_folder, tmp_path):
    with pytest.raises(InputError, match=r"--service\.recordings is given with --service\.mode=record and"):
        opened(Service(mode=mode, recordings=tmp_path if with_folder else None))


def test_a_killed_job_continues_with_its_replies_and_a_replay_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-12345678")
    with replying(OK, (500, {}, "no")) as server:
        given = {"url": server.url, "recordings": tmp_path, "api_key_env": "MY_KEY"}
        for _ in range(2):
            with opened(Service(mode="record", **given)) as endpoint:
                assert endpoint.post("/chat/completions", {"a": 1}).ok
        assert len(server.requests) == 1
        assert server.requests[0][3]["Authorization"] == "Bearer sk-12345678"
    monkeypatch.delenv("MY_KEY")
    with opened(Service(mode="replay", **given)) as endpoint:
        assert endpoint.post("/chat/completions", {"a": 1}).ok
    with pytest.raises(InputError, match="variable MY_KEY"):
        opened(Service(mode="record", **given))


def test_a_service_is_by_default_that_of_the_configuration():
    service, fields = Service(), LanguageModel.model_fields
    assert service.concurrency == fields["concurrency"].default
    assert service.timeout_s == fields["timeout_s"].default
    # What a live run asks is not kept.
    kept = {"live": None, "record": Path("r"), "replay": Path("r")}
    for mode, folder in kept.items():
        settings = LanguageModel.model_validate({"model": "m", "mode": mode, "url": "http://x"})
        assert settings.service("r").recordings == folder


def test_the_address_is_shown_without_a_password_and_not_in_a_replay():
    url = "https://me:secret@host:80/v1?key=secret#x"
    assert Service(url=url).asked_at == "https://host:80/v1"
    assert Service(url=url, mode="replay").asked_at is None


def test_one_short_request_shows_whether_a_model_answers():
    with replying(OK) as server:
        ask_once(Service(url=server.url), "m")
        [(_, path, body, _)] = server.requests
    assert (path, body["model"], len(body["messages"])) == ("/chat/completions", "m", 1)
    sentence = r"the server refuses a request \(404 no such model\); correct `model` or `url`"
    with replying((404, {}, "no such model")) as server, pytest.raises(EndpointError, match=sentence):
        ask_once(Service(url=server.url), "m")
    with replying((500, {}, "oops")) as server, pytest.raises(EndpointError, match="500 oops; look at"):
        ask_once(Service(url=server.url), "m")
    assert len(server.requests) == 1  # it is not tried again
