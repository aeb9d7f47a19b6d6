import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2 as httpx
import pytest
from tenacity import RetryCallState, Retrying

from benchc.config.server import Server
from benchc.endpoint import client as endpoint_client
from benchc.endpoint.answer import Answer
from benchc.endpoint.api_key import read_key
from benchc.endpoint.client import (
    LARGEST_ANSWER,
    Endpoint,
    EndpointError,
    EndpointSettings,
    _retry_after,
    _TransientError,
)
from benchc.endpoint.recording import request_hash
from benchc.errors import InputError
from tests.endpoint.replies import OK, ReplyingServer, replying

KEY = "sk-secret/with+1234=="


def endpoint(server: ReplyingServer, *, key: str | None = None, **options: Any) -> Endpoint:
    chosen = {name: options.pop(name) for name in ("mode", "folder", "resume") if name in options}
    settings = EndpointSettings(server.url, **{"attempts": 4, "first_wait_s": 0.01, **options})
    return Endpoint(settings, read_key(key and "MY_KEY", {"MY_KEY": key or ""}), **chosen)


def failed(sentence: str, *replies: Any, **options: Any) -> tuple[Exception, ReplyingServer]:
    """Ask a server; its error is one line with the address and the sentence."""
    with replying(*replies) as server, endpoint(server, **options) as client:
        with pytest.raises(EndpointError, match=f"^{server.url}/v1: .*{sentence}") as caught:
            client.get("/v1")
        assert "\n" not in str(caught.value)
    return caught.value, server


def later(seconds: float) -> Any:
    """Return a function that replies after some time."""
    return lambda *_: time.sleep(seconds) or OK


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
        ((500, {}, '{"error": {"message": "out\\nof memory"}}'), r"500 out of memory after 4 attempts; look"),
        ((429, {}, "x" * 5000), r"the server answers 429 x{300} after 4 attempts"),
        ((200, {}, "<html>\n</html>"), r"the answer is not JSON: '<html> </html>' after 4 attempts; check"),
        (None, r"the connection broke \(.+\) after 4 attempts"),
    ],
)
def test_a_failure_that_stays_is_one_sentence(failure, sentence):
    _, server = failed(sentence, failure)
    assert len(server.requests) == 4


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


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (httpx.ConnectTimeout(""), r"no server answers \(time-out\); start it, or"),
        (httpx.ConnectError("refused"), r"no server answers \(refused\); start it, or"),
        (httpx.ReadError(""), r"the connection broke \(ReadError\) after 2 attempts; look"),
        (httpx.ReadError("cut off"), r"the connection broke \(cut off\) after 2 attempts; look"),
    ],
)
def test_an_error_of_the_connection_is_shown_by_its_words_or_else_its_kind(error, sentence, monkeypatch):
    def stream(*_: object, **__: object) -> None:
        raise error

    with Endpoint(EndpointSettings("http://127.0.0.1:1", attempts=2, first_wait_s=0.01)) as client:
        monkeypatch.setattr(client._client, "stream", stream)
        with pytest.raises(EndpointError, match=f"^http://127.0.0.1:1/v1: {sentence}"):
            client.get("/v1")


def test_a_server_that_is_slow_or_goes_away_is_tried_again():
    failed("no answer within 0.1 s after 2 attempts; raise `time", later(0.5), timeout_s=0.1, attempts=2)
    with replying(later(0.5), OK) as server, endpoint(server, timeout_s=0.1) as client:
        assert client.get("/v1").ok
    with replying((200, {"Connection": "close"}, "{}")) as server:
        client = endpoint(server, attempts=3)
        assert client.get("/v1").ok
    with client, pytest.raises(EndpointError, match=r"no server answers .* after 3 attempts; start it, or"):
        client.get("/v1")
    # Waiting for a connection is no failure.
    one = {"concurrency": 1, "timeout_s": 0.3, "attempts": 1}
    with replying(later(0.2)) as server, endpoint(server, **one) as client, ThreadPoolExecutor(4) as threads:
        assert all(answer.ok for answer in threads.map(client.get, ["/v1"] * 4))


def test_a_server_may_need_a_minute_to_restart(monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr(Endpoint, "_sleep", lambda _, seconds: waits.append(seconds))
    with (
        replying((503, {}, "")) as server,
        Endpoint(EndpointSettings(server.url)) as client,
        pytest.raises(EndpointError, match="after 7 attempts"),
    ):
        client.get("/v1")
    assert 60 < sum(waits) < 70


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_is_respected(as_date):
    wait = format_datetime(datetime.now(UTC) + timedelta(seconds=2.5), usegmt=True) if as_date else "1.2"
    with replying((429, {"Retry-After": wait}, ""), OK) as server, endpoint(server) as client:
        start = time.monotonic()
        assert client.get("/v1").ok
        # A date has whole seconds.
        assert 1.0 < time.monotonic() - start < 4


def test_settings_are_by_default_those_of_a_server_in_the_catalogue():
    settings, fields = EndpointSettings("http://a"), Server.model_fields
    assert settings.concurrency == fields["concurrency"].default
    assert settings.timeout_s == fields["timeout_s"].default


def test_a_wait_doubles_with_as_much_again_at_random_and_has_a_limit():
    def wait(attempt: int, retry_after: float = 0.0, first: float = 1.0) -> float:
        state = RetryCallState(Retrying(), None, (), {})
        state.attempt_number = attempt
        error = _TransientError("a", "b", retry_after) if retry_after else _TransientError("a", "b")
        state.set_exception((type(error), error, None))
        return Endpoint(EndpointSettings("http://127.0.0.1:1", first_wait_s=first))._wait(state)

    for attempt, least in ((1, 1), (2, 2), (4, 8)):
        assert least <= wait(attempt) <= least + 1
    assert 0.1 <= wait(1, first=0.1) <= 0.2
    assert [wait(1, 60), wait(1, 301), wait(20)] == [60, 300, 300]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1.5", 1.5), ("0", 0), ("-3", 0), ("", 0), ("soon", 0), ("Mon, 01 Jan 2001 00:00:00 GMT", 0)],
)
def test_a_wait_that_is_over_or_unreadable_is_none(text, seconds):
    assert _retry_after(httpx.Response(503, headers={"Retry-After": text})) == seconds
    assert _retry_after(httpx.Response(503)) == 0


@pytest.mark.parametrize(
    ("status", "ok", "is_redirect"),
    [(200, True, False), (299, True, False), (300, False, True), (399, False, True), (400, False, False)],
)
def test_what_a_status_says(status, ok, is_redirect):
    answer = Answer(status, "")
    assert (answer.ok, answer.is_redirect) == (ok, is_redirect)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"error": {"message": "no\\n such", "code": 3}}', "400 no such"),
        ('{"error": "no"}', "400 no"),
        ('{"error": {"code": 3}}', "400 {'code': 3}"),
        # As FastAPI's, and vLLM's before 0.10, which have no "error".
        ('{"detail": "no"}', "400 {'detail': 'no'}"),
        ('{"message": "no"}', "400 no"),
        ('["no"]', '400 ["no"]'),
        ("<p>no\n</p>", "400 <p>no </p>"),
        ("", "400"),
    ],
)
def test_the_reason_of_a_refusal_is_found_in_any_form(text, shown):
    assert Answer(400, text).shown() == shown


def test_a_refusal_is_an_answer_and_is_not_tried_again():
    # As nginx answers where its client went away.
    refusal = (499, {}, '{"error": {"message": "no such setting"}}')
    with replying(refusal) as server, endpoint(server) as client:
        answer = client.post("/v1", {})
        assert (answer.ok, answer.shown()) == (False, "499 no such setting")
        assert len(server.requests) == 1
        assert not answer._replace(status=302).ok
    with replying(OK) as server, endpoint(server) as client:
        answers = client.optional("/version"), client.optional("/tokenize", {"a": 1})
        assert [answer is not None and answer.content() for answer in answers] == [{"ok": True}] * 2
        asked = [("GET", "/version", None), ("POST", "/tokenize", {"a": 1})]
        assert [request[:3] for request in server.requests] == asked


@pytest.mark.parametrize(
    "reply",
    [*((status, {}, "<html>No</html>") for status in (401, 403, 404, 502)), (200, {}, "<html></html>"), None],
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


@pytest.mark.parametrize("api_path", ["", "/v1beta/openai", "/v1"])
def test_a_service_may_have_another_path(api_path):
    replies = ((400, {}, "no"), OK, OK, (403, {}, "no"))
    with replying(*replies) as server, endpoint(server, api_path=api_path) as client:
        assert not client.post("/v1/chat/completions", {}).ok
        assert client.get("/version").ok and client.get("/v1/").ok
        refusal = rf"^{server.url}{api_path}/models: the server refuses access"
        with pytest.raises(EndpointError, match=refusal):
            client.get("/v1/models")
        paths = [request[1] for request in server.requests]
    assert paths == [f"{api_path}/chat/completions", "/version", f"{api_path}/", f"{api_path}/models"]


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


def test_a_request_that_still_waits_is_not_sent_after_the_block():
    with replying(later(0.1)) as server:
        with endpoint(server, concurrency=1) as client:
            answers = client.post_each("/v1", [{}] * 9)
            assert next(answers).ok
        assert len(server.requests) < 9
        answers.close()  # type: ignore[attr-defined]


def test_what_nobody_waits_for_any_more_is_not_asked():
    with replying(later(0.1)) as server, endpoint(server, concurrency=1) as client:
        answers = client.post_each("/v1", [{}] * 9)
        assert next(answers).ok
        answers.close()  # type: ignore[attr-defined]
        assert client.post_all("/v1", [{"next": 1}])[0].ok
        assert len(server.requests) < 9


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"


@pytest.mark.parametrize("quick", [b"", HEAD], ids=["the head", "the text"])
@pytest.mark.parametrize("first", [None, OK], ids=["", "on a connection that is used again"])
def test_an_answer_that_drips_ends_at_the_limit(quick, first):
    def drips(*_: object) -> Iterator[bytes]:
        yield quick
        for letter in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1000:
            time.sleep(0.05)
            yield bytes([letter])

    replies = filter(None, [first, drips])
    with replying(*replies) as server, endpoint(server, timeout_s=0.4, attempts=2) as client:
        if first is not None:
            assert client.get("/v1").ok
        start = time.monotonic()
        with pytest.raises(EndpointError, match=r"no answer within 0\.4 s after 2 attempts; raise `time"):
            client.get("/v1")
        assert time.monotonic() - start < 3


def test_an_answer_has_a_largest_size(monkeypatch):
    sent = 0

    def endless(*_: object) -> Iterator[bytes]:
        nonlocal sent
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while sent < 2 * LARGEST_ANSWER:
            sent += 2**20
            yield b" " * 2**20

    failed("the answer has more than 64 MiB; check that the address", endless, attempts=1)
    assert LARGEST_ANSWER < sent < LARGEST_ANSWER + 16 * 2**20
    monkeypatch.setattr(endpoint_client, "LARGEST_ANSWER", len('{"ok": true}'))
    with replying(OK) as server, endpoint(server, attempts=1) as client:
        assert client.get("/v1").ok


def test_an_answer_that_would_take_too_much_is_refused():
    # Decompressed, a small answer may be of any size.
    for coding in ("gzip", "zstd"):
        sentence = rf"the answer is compressed \({coding}\), which it must not be"
        _, server = failed(sentence, (200, {"Content-Encoding": coding}, "x"), attempts=1)
    assert server.requests[0][3]["Accept-Encoding"] == "identity"
    failed(r"the answer is not JSON: '\[{60}'", (200, {}, "[" * 100_000), attempts=1)
    with replying((400, {}, "[" * 100_000)) as server, endpoint(server, attempts=1) as client:
        assert client.get("/v1").shown() == f"400 {'[' * 300}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_with_the_key(status):
    with replying(OK) as other:
        redirect = (status, {"Location": f"{other.url}/v1"}, "")
        _, server = failed(rf"the server redirects \({status}\), and", redirect, key=KEY)
        assert len(server.requests) == 1 and other.requests == []


def test_a_server_of_this_machine_is_asked_without_a_proxy(monkeypatch):
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    with replying(OK) as server, endpoint(server) as client:
        assert client.get("/v1").ok
    hosts = {"localhost": False, "[::1]": False, "example.org": True, "10.0.0.1": True}
    for host, trust_env in hosts.items():
        with Endpoint(EndpointSettings(f"http://{host}:1")) as client:
            assert client._client.trust_env is trust_env


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


def test_only_a_request_with_a_body_names_its_type() -> None:
    with replying(OK) as server, endpoint(server) as client:
        client.get("/v1")
        client.post("/v1", {"text": "é"})
    (_, _, nothing, of_get), (_, _, body, of_post) = server.requests
    assert nothing is None and "Content-Type" not in of_get
    assert body == {"text": "é"} and of_post["Content-Type"] == "application/json"


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
    shown: BaseException | None
    shown, _ = failed(r"bad request with .*\*\*\*", reply_with_everything, key=KEY)
    while shown is not None:
        texts.append(repr(shown))
        shown = shown.__cause__
    for status in (401, 403):
        error, server = failed("refuses access .*correct the var", (status, {}, f"wrong key {KEY}"), key=KEY)
        texts.append(str(error))
        assert len(server.requests) == 1
    captured = capsys.readouterr()
    texts += [captured.out, captured.err, everything(tmp_path)]
    assert len(everything(tmp_path)) > 100 and "***" in captured.err
    for text in texts:
        assert "secret" not in text and KEY not in text
    failed(r"refuses access \(401\); set `api_key_env`", (401, {}, ""))


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
        with pytest.raises(InputError, match="variable MY_KEY, which should have the server's key, is not"):
            read_key("MY_KEY", environment)
    assert read_key("MY_KEY", {"MY_KEY": "12345678"}).value == "12345678"
    for wrong in ("1234567", f"{KEY}\n", f"Bearer {KEY}", "schlüssel-1234", 'quoted"1234', r"escaped\1234"):
        with pytest.raises(InputError, match="variable MY_KEY is no key") as caught:
            read_key("MY_KEY", {"MY_KEY": wrong})
        assert wrong not in str(caught.value) and "secret" not in str(caught.value)


def test_what_was_recorded_is_replayed_without_a_server(tmp_path):
    image = "data:image/png;base64," + "A" * 5000
    long = "a long question, " * 20
    longest = "data:," + "x" * 194
    body = {"b": [{"url": image}], "a": "ä", "c": long, "d": longest, "e": f"{longest}x", "f": "data:,x"}
    replies = ((500, {}, ""), OK, (400, {}, "no"))
    with replying(*replies) as server, endpoint(server, mode="record", folder=tmp_path) as client:
        recorded = [client.post("/v1", body), client.get("/v2")]
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json"))
    hashes = [request_hash("POST", "/v1", body), request_hash("GET", "/v2", None)]
    assert files == sorted(f"{each[:2]}/{each}.json" for each in hashes)
    # Images are recorded by their digest, texts as they are.
    assert '"a": "ä"' in everything(tmp_path) and long in everything(tmp_path)
    shown = r'"data:image/png;base64,<5022 characters, [0-9a-f]{32}>"'
    assert "AAAA" not in everything(tmp_path) and re.search(shown, everything(tmp_path))
    assert all(f'"{short}"' in everything(tmp_path) for short in (longest, "data:,x"))
    assert '"data:,<201 characters, ' in everything(tmp_path)
    # A line for each field, for people.
    assert '\n "status": 200,\n' in everything(tmp_path)
    with Endpoint(ELSEWHERE, mode="replay", folder=tmp_path) as client:
        assert [client.post("/v1", dict(reversed(body.items()))), client.get("/v2")] == recorded
        missing = f"{request_hash('POST', '/v1', {'a': 2})}.json: no answer to this request to /v1"
        with pytest.raises(InputError, match=missing):
            client.post("/v1", {"a": 2})
        written = json.loads((tmp_path / files[0]).read_text())
        others = ({"status": "200"}, {"status": True}, {"text": 1}, {"status": 200, "text": "<html>"})
        for text in ("{", "[]", "{}", *(json.dumps(written | other) for other in others)):
            for file in files:
                (tmp_path / file).write_text(text)
            with pytest.raises(InputError, match="is not a recorded answer; delete it and record it again"):
                client.get("/v2")


ELSEWHERE = EndpointSettings("http://another.invalid:1")


def test_answers_of_a_folder_without_sub_folders_are_still_read(tmp_path):
    with replying(OK) as server, endpoint(server, mode="record", folder=tmp_path) as client:
        recorded = client.post("/v1", {"a": 1})
    (file,) = tmp_path.rglob("*.json")
    file.rename(tmp_path / file.name)
    file.parent.rmdir()
    with Endpoint(ELSEWHERE, mode="replay", folder=tmp_path) as client:
        assert client.post("/v1", {"a": 1}) == recorded
    with replying(OK) as server, endpoint(server, mode="record", folder=tmp_path, resume=True) as client:
        assert client.post("/v1", {"a": 1}) == recorded and not server.requests
    # The answer of a later version stands in a sub-folder, and comes first.
    with replying((400, {}, "no")) as server, endpoint(server, mode="record", folder=tmp_path) as client:
        later = client.post("/v1", {"a": 1})
    with Endpoint(ELSEWHERE, mode="replay", folder=tmp_path) as client:
        assert client.post("/v1", {"a": 1}) == later != recorded


def test_the_hash_depends_on_all_of_a_request_and_not_on_the_order_of_its_keys():
    body = {"x": 1, "y": 2}
    requests = [(*place, body) for place in (("POST", "/a"), ("POST", "/b"), ("GET", "/a"))]
    requests.append(("POST", "/a", {"x": 1, "y": 3}))
    requests.append(("POST", "/a", None))
    assert len({request_hash(*request) for request in requests}) == len(requests)
    assert request_hash("POST", "/a", {"y": 2, "x": 1}) == request_hash(*requests[0])
    # Answers that were recorded before are found.
    assert request_hash("GET", "/version", None) == "505cec0ac01d33352305ef5fd7e11733"
    assert request_hash("POST", "/v1", {"y": "é"}) == "dbbe6e4eae436c5db1ceaff57db6eb3b"


def test_a_mode_without_its_folder_and_an_impossible_address_are_refused(tmp_path):
    for mode, folder in (("replay", None), ("record", None), ("another", None), ("live", tmp_path)):
        lack = "needs a" if folder is None else "has no"
        with pytest.raises(ValueError, match=f"^the mode {mode} {lack} folder$"):
            Endpoint(EndpointSettings("http://a"), mode=mode, folder=folder)
    for address in ("http://a:99999", "http://a\x01b"):
        with pytest.raises(EndpointError, match=f"{address}: is no address of a server"):
            Endpoint(EndpointSettings(address))


def test_a_recording_that_is_resumed_asks_only_for_what_it_lacks(tmp_path):
    bodies = [{"a": number} for number in range(3)]
    recording = {"mode": "record", "folder": tmp_path, "concurrency": 1}
    with replying(OK) as server, endpoint(server, **recording) as client:
        client.post("/v1", bodies[1])
    other = (200, {}, '{"ok": 2}')
    for resume, asked in ((True, [bodies[0], bodies[2]]), (False, bodies)):
        with replying(other) as server, endpoint(server, **recording, resume=resume) as client:
            found = [answer.content()["ok"] for answer in client.post_each("/v1", bodies)]
            assert [body for _, _, body, _ in server.requests] == asked
        assert found == [2, True if resume else 2, 2]


def test_a_refusal_that_was_recorded_is_asked_again(tmp_path):
    with replying((400, {}, "no"), OK) as server:
        for ok in (False, True, True):
            with endpoint(server, mode="record", folder=tmp_path, resume=True) as client:
                assert client.post("/v1", {"a": 1}).ok == ok
        assert len(server.requests) == 2


def test_control_codes_of_a_server_change_no_terminal(capsys):
    with replying((503, {}, "a\x1b[2J\u202eb"), OK) as server, endpoint(server) as client:
        client.post("/v1", {"a": 1})
    assert r"the server answers 503 a\x1b[2J\u202eb; attempt 2 of 4" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wait", ["nan", f"Mon, 01 Jan 2030 00:00:00 +{'9' * 25}", f"Mon, {'9' * 25} Jan 2030"]
)
def test_a_wait_that_is_none_is_passed_over(wait):
    with replying((503, {"Retry-After": wait}, ""), OK) as server, endpoint(server) as client:
        assert client.post("/v1", {"a": 1}).content() == {"ok": True}
