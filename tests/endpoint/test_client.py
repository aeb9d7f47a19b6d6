"""The endpoint client against a real server: retries, concurrency, recording, and no trace of the key."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from benchc.endpoint.api_key import read_key
from benchc.endpoint.client import Endpoint, EndpointError, EndpointSettings
from benchc.endpoint.recording import request_hash
from benchc.errors import InputError
from tests.endpoint.replies import OK, ReplyingServer, replying

KEY = "sk-secret/with+1234=="


def endpoint(server: ReplyingServer, *, key: str | None = None, **options: Any) -> Endpoint:
    chosen = {name: options.pop(name) for name in ("mode", "folder", "resume") if name in options}
    settings = EndpointSettings(server.url, **{"attempts": 4, "first_wait_s": 0.01, **options})
    return Endpoint(settings, read_key(key and "MY_KEY", {"MY_KEY": key or ""}), **chosen)


@pytest.mark.parametrize(
    "failure",
    [(429, {}, "slow down"), (500, {}, "oops"), (503, {}, ""), (408, {}, ""), None, (200, {}, '{"ok": tr')],
    ids=["429", "500", "503", "408", "closed", "malformed"],
)
def test_a_failure_that_passes_is_tried_again(failure, capsys):
    with replying(failure, failure, OK) as server, endpoint(server) as client:
        assert client.post("/v1", {"a": 1}).content() == {"ok": True}
        assert [body for _, _, body, _ in server.requests] == [{"a": 1}] * 3
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("; attempt ")[2][:6] for line in lines] == ["2 of 4", "3 of 4"]
    assert all(line.startswith(f"{server.url}: ") for line in lines)


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (
            (500, {}, '{"error": {"message": "out\\nof memory"}}'),
            r"answers 500 out of memory after 4 attempts; look",
        ),
        ((429, {}, "x" * 5000), r"the server answers 429 x{300} after 4 attempts"),
        (
            (200, {}, "<html>\n</html>"),
            r"the answer is not JSON: '<html> </html>' after 4 attempts; check that",
        ),
        (None, r"the connection broke \(.+\) after 4 attempts"),
    ],
)
def test_a_failure_that_stays_is_one_sentence(failure, sentence):
    with replying(failure) as server, endpoint(server) as client:
        with pytest.raises(EndpointError, match=f"^{server.url}/v1: .*{sentence}") as caught:
            client.get("/v1")
        assert len(server.requests) == 4
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://127.0.0.1:{port}", "http://no-such-host.invalid:{port}"])
def test_a_wrong_address_is_one_sentence_at_once(address, capsys):
    with replying(OK) as server:
        wrong = address.format(port=server.server_address[1])
    start = time.monotonic()
    with (
        Endpoint(EndpointSettings(wrong)) as client,
        pytest.raises(EndpointError, match=r"no server answers \(.+\); start it, or correct `url`") as caught,
    ):
        client.get("/v1")
    assert str(caught.value).startswith(f"{wrong}/v1: ") and "\n" not in str(caught.value)
    assert time.monotonic() - start < 5 and capsys.readouterr().err == ""


def test_a_server_that_goes_away_after_an_answer_is_waited_for():
    with replying((200, {"Connection": "close"}, "{}")) as server:
        client = endpoint(server, attempts=3)
        assert client.get("/v1").ok
    with client, pytest.raises(EndpointError, match=r"no server answers .* after 3 attempts; start it, or"):
        client.get("/v1")


def test_a_slow_server_is_tried_again():
    def slow(headers: object, body: object) -> object:
        time.sleep(0.5)
        return OK

    with (
        replying(slow) as server,
        endpoint(server, timeout_s=0.1, attempts=2) as client,
        pytest.raises(EndpointError, match=r"no answer within 0.1 s after 2 attempts; raise `timeout_s`"),
    ):
        client.get("/v1")
    with replying(slow, OK) as server, endpoint(server, timeout_s=0.1) as client:
        assert client.get("/v1").ok


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_is_respected(as_date):
    wait = format_datetime(datetime.now(UTC) + timedelta(seconds=2.5), usegmt=True) if as_date else "1.2"
    with replying((429, {"Retry-After": wait}, ""), OK) as server, endpoint(server) as client:
        start = time.monotonic()
        assert client.get("/v1").ok
        # A date has whole seconds.
        assert 1.0 < time.monotonic() - start < 4


def test_a_refusal_is_an_answer_and_is_not_tried_again():
    with (
        replying((400, {}, '{"error": {"message": "no such setting"}}')) as server,
        endpoint(server) as client,
    ):
        answer = client.post("/v1", {})
        assert (answer.ok, answer.shown()) == (False, "400 no such setting")
        assert len(server.requests) == 1
        assert not answer._replace(status=302).ok


@pytest.mark.parametrize(
    "reply",
    [
        (401, {}, '{"error": "Unauthorized"}'),
        (403, {}, "<html>Forbidden</html>"),
        (404, {}, '{"detail": "Not Found"}'),
        (502, {}, "<html>Bad gateway</html>"),
        (200, {}, "<html>Welcome</html>"),
        None,
    ],
    ids=["401", "403", "404", "502", "a page", "no reply"],
)
def test_a_request_that_a_job_can_do_without_ends_nothing(reply):
    asked = []

    def without_version(headers: Any, body: Any) -> Any:
        asked.append(body)
        return reply if body == {"optional": True} else OK

    with replying(without_version) as server, endpoint(server, attempts=7) as client:
        assert client.optional("/tokenize", {"optional": True}) is None
        assert client.post("/v1", {}).ok
    transient = reply is None or reply[0] in (200, 502)
    assert asked.count({"optional": True}) == (3 if transient else 1)


def test_an_optional_request_that_is_answered():
    with replying(OK) as server, endpoint(server) as client:
        answers = client.optional("/version"), client.optional("/tokenize", {"a": 1})
        assert [answer is not None and answer.content() for answer in answers] == [{"ok": True}] * 2
        assert [request[:3] for request in server.requests] == [
            ("GET", "/version", None),
            ("POST", "/tokenize", {"a": 1}),
        ]


@pytest.mark.parametrize("api_path", ["", "/v1beta/openai", "/v1"])
def test_a_service_may_have_another_path(api_path):
    with (
        replying((400, {}, "no"), OK, (403, {}, "no")) as server,
        endpoint(server, api_path=api_path) as client,
    ):
        assert not client.post("/v1/chat/completions", {}).ok
        assert client.get("/version").ok
        with pytest.raises(
            EndpointError, match=rf"^{server.url}{api_path}/models: the server refuses access"
        ):
            client.get("/v1/models")
        paths = [request[1] for request in server.requests]
    assert paths == [f"{api_path}/chat/completions", "/version", f"{api_path}/models"]


def test_requests_at_once_are_bounded_and_answers_in_order():
    barrier = threading.Barrier(3, timeout=5)

    def together(headers: object, body: dict[str, int]) -> tuple[int, dict[str, str], str]:
        barrier.wait()
        time.sleep(0.01 * (body["n"] % 3))
        return 200, {}, json.dumps(body)

    with replying(together) as server, endpoint(server, concurrency=3) as client:
        bodies = [{"n": number} for number in range(12)]
        assert [answer.content() for answer in client.post_all("/v1", bodies)] == bodies
        assert server.most_at_once == 3


def test_waiting_for_a_connection_is_no_failure():
    def slow(headers: object, body: object) -> object:
        time.sleep(0.2)
        return OK

    with (
        replying(slow) as server,
        endpoint(server, concurrency=1, timeout_s=0.3, attempts=1) as client,
        ThreadPoolExecutor(4) as threads,
    ):
        assert all(answer.ok for answer in threads.map(client.get, ["/v1"] * 4))


def test_a_server_of_this_machine_is_asked_without_a_proxy(monkeypatch):
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    with replying(OK) as server, endpoint(server) as client:
        assert client.get("/v1").ok


def test_the_first_request_that_fails_for_good_ends_all_others():
    def reply(headers: object, body: dict[str, int]) -> tuple[int, dict[str, str], str]:
        # One fails after its attempts; the others would wait for a minute.
        return (500, {}, "broken") if body["n"] == 0 else (429, {"Retry-After": "60"}, "")

    with replying(reply) as server, endpoint(server, concurrency=4) as client:
        start = time.monotonic()
        with pytest.raises(EndpointError, match="500 broken after 4 attempts"):
            client.post_all("/v1", [{"n": number} for number in range(20)])
        with pytest.raises(EndpointError, match="500 broken"):
            client.get("/v1")
        assert time.monotonic() - start < 5


# Keys.


def reply_with_everything(headers: Any, body: object) -> tuple[int, dict[str, str], str]:
    """Reply with an error that repeats all headers, as some proxies do."""
    return 500, {}, json.dumps({"error": {"message": f"bad request with {dict(headers)}"}})


def everything(folder: Path) -> str:
    return "".join(path.name + path.read_text() for path in folder.rglob("*") if path.is_file())


def test_a_key_is_sent_and_shown_nowhere(tmp_path, capsys):
    written = {"plain": f"Bearer {KEY}", "slashes": KEY.replace("/", "\\/"), "url": f"?{quote(KEY, safe='')}"}
    accepted = (200, {}, json.dumps(written).replace("\\\\", "\\"))
    refused = (400, {}, f"Authorization: Bearer {KEY}\n")
    replies = (reply_with_everything, accepted, refused)
    with replying(*replies) as server, endpoint(server, key=KEY, mode="record", folder=tmp_path) as client:
        texts = [repr(client), repr(vars(client)), repr(client.settings)]
        texts += [repr(client.post("/v1", {"a": 1})), repr(client.get("/v2"))]
        assert {headers["Authorization"] for *_, headers in server.requests} == {f"Bearer {KEY}"}
    with (
        replying(reply_with_everything) as server,
        endpoint(server, key=KEY) as client,
        pytest.raises(EndpointError, match=r"bad request with .*\*\*\*") as caught,
    ):
        client.get("/v1")
    shown: BaseException | None = caught.value
    while shown is not None:
        texts.append(repr(shown))
        shown = shown.__cause__
    for status in (401, 403):
        with replying((status, {}, f"wrong key {KEY}")) as server, endpoint(server, key=KEY) as client:
            with pytest.raises(EndpointError, match=r"refuses access .*correct the variable") as caught:
                client.get("/v1")
            texts.append(str(caught.value))
            assert len(server.requests) == 1
    captured = capsys.readouterr()
    texts += [captured.out, captured.err, everything(tmp_path)]
    assert len(everything(tmp_path)) > 100 and "***" in captured.err
    for text in texts:
        assert "secret" not in text and KEY not in text


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(KEY).replace("/", "\\/"),
        '"' + "".join(f"\\u{ord(letter):04x}" for letter in KEY) + '"',
        json.dumps(json.dumps("".join(f"\\u{ord(letter):04X}" for letter in KEY))),
        json.dumps(quote(KEY, safe="").lower()),
        '"\\u0073' + KEY[1:] + '"',
    ],
    ids=["slashes", "escaped", "escaped twice", "address", "one letter"],
)
def test_a_key_that_is_escaped_is_shown_nowhere(tmp_path, written):
    reply = (400, {}, f'{{"error": {{"message": {written}}}}}')
    with replying(reply) as server, endpoint(server, key=KEY, mode="record", folder=tmp_path) as client:
        answer = client.get("/v1")
    assert "***" in answer.shown() and "***" in everything(tmp_path)
    for text in (answer.shown(), answer.text, everything(tmp_path)):
        assert KEY not in text and "0073" not in text and "1234" not in text


def test_a_key_comes_from_the_variable_that_is_named():
    assert read_key(None, {}).header() == {}
    key = read_key("MY_KEY", {"MY_KEY": KEY})
    assert key.header() == {"Authorization": f"Bearer {KEY}"}
    assert KEY not in f"{key} {key!r}"
    for environment in ({}, {"MY_KEY": ""}):
        with pytest.raises(
            InputError, match="variable MY_KEY, which should have the server's key, is not set"
        ):
            read_key("MY_KEY", environment)
    for wrong in ("short", f"{KEY}\n", f"Bearer {KEY}", "schlüssel-1234", 'quoted"1234', r"escaped\1234"):
        with pytest.raises(InputError, match="variable MY_KEY is no key") as caught:
            read_key("MY_KEY", {"MY_KEY": wrong})
        assert wrong not in str(caught.value) and "secret" not in str(caught.value)


def test_without_a_key_a_refusal_says_how_to_give_one():
    with (
        replying((401, {}, "")) as server,
        endpoint(server) as client,
        pytest.raises(EndpointError, match=r"refuses access \(401\); set `api_key_env`"),
    ):
        client.get("/v1")


# Recording.


def test_what_was_recorded_is_replayed_without_a_server(tmp_path):
    image = "data:image/png;base64," + "A" * 5000
    body = {"b": [{"url": image}], "a": "ä"}
    replies = ((500, {}, ""), OK, (400, {}, "no"))
    with replying(*replies) as server, endpoint(server, mode="record", folder=tmp_path) as client:
        recorded = [client.post("/v1", body), client.get("/v2")]
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json"))
    assert files == sorted(
        f"{request_hash(*request)[:2]}/{request_hash(*request)}.json"
        for request in (("POST", "/v1", body), ("GET", "/v2", None))
    )
    # Images are recorded by their digest.
    assert "AAAA" not in everything(tmp_path) and '"a": "ä"' in everything(tmp_path)
    settings = EndpointSettings("http://another.invalid:1")
    with Endpoint(settings, mode="replay", folder=tmp_path) as client:
        assert [client.post("/v1", {"a": "ä", "b": [{"url": image}]}), client.get("/v2")] == recorded
        missing = request_hash("POST", "/v1", {"a": 2})
        with pytest.raises(
            InputError, match=f"{missing}.json: no answer to this request to /v1 was recorded"
        ):
            client.post("/v1", {"a": 2})
        (tmp_path / files[0]).write_text("{")
        (tmp_path / files[1]).write_text("[]")
        with pytest.raises(InputError, match="is not a recorded answer; delete it and record it again"):
            client.get("/v2")


def test_answers_of_a_folder_without_sub_folders_are_still_read(tmp_path):
    with replying(OK) as server, endpoint(server, mode="record", folder=tmp_path) as client:
        recorded = client.post("/v1", {"a": 1})
    (file,) = tmp_path.rglob("*.json")
    file.rename(tmp_path / file.name)
    file.parent.rmdir()
    with Endpoint(EndpointSettings("http://another.invalid:1"), mode="replay", folder=tmp_path) as client:
        assert client.post("/v1", {"a": 1}) == recorded
    with (
        replying(OK) as server,
        endpoint(server, mode="record", folder=tmp_path, resume=True) as client,
    ):
        assert client.post("/v1", {"a": 1}) == recorded and not server.requests


def test_the_hash_depends_on_all_of_a_request_and_not_on_the_order_of_its_keys():
    requests = [
        ("POST", "/a", {"x": 1, "y": 2}),
        ("POST", "/b", {"x": 1, "y": 2}),
        ("GET", "/a", {"x": 1, "y": 2}),
        ("POST", "/a", {"x": 1, "y": 3}),
        ("POST", "/a", None),
    ]
    assert len({request_hash(*request) for request in requests}) == len(requests)
    assert request_hash("POST", "/a", {"y": 2, "x": 1}) == request_hash(*requests[0])
    assert request_hash("GET", "/version", None) == "505cec0ac01d33352305ef5fd7e11733"


def test_a_mode_without_its_folder_is_refused(tmp_path):
    for mode, folder in (("replay", None), ("record", None), ("live", tmp_path)):
        with pytest.raises(ValueError, match=f"the mode {mode} "):
            Endpoint(EndpointSettings("http://a"), mode=mode, folder=folder)


def test_an_impossible_address_is_one_sentence():
    with pytest.raises(EndpointError, match="http://a:99999: is no address of a server"):
        Endpoint(EndpointSettings("http://a:99999"))


def test_a_recording_that_is_resumed_asks_only_for_what_it_lacks(tmp_path):
    bodies = [{"a": number} for number in range(3)]
    with replying(OK) as server, endpoint(server, mode="record", folder=tmp_path) as client:
        client.post("/v1", bodies[1])
    other = (200, {}, '{"ok": 2}')
    for resume, asked in ((True, [bodies[0], bodies[2]]), (False, bodies)):
        with (
            replying(other) as server,
            endpoint(server, mode="record", folder=tmp_path, resume=resume, concurrency=1) as client,
        ):
            found = [answer.content()["ok"] for answer in client.post_each("/v1", bodies)]
            assert [body for _, _, body, _ in server.requests] == asked
        assert found == [2, True if resume else 2, 2]


def test_a_refusal_that_was_recorded_is_asked_again(tmp_path):
    with replying((400, {}, "no"), OK) as server:
        for ok in (False, True, True):
            with endpoint(server, mode="record", folder=tmp_path, resume=True) as client:
                assert client.post("/v1", {"a": 1}).ok == ok
        assert len(server.requests) == 2
