import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from benchc.checking import server
from benchc.checking.finding import Finding
from benchc.checking.models import check_models
from benchc.models.server.chat import CHAT, TOKENIZE
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from scripts.benchc import main
from tests.checking.collected import collected, lines
from tests.checking.runs import config_of
from tests.models import vllm_like
from tests.models.conftest import NAME, checkpoints, serve  # noqa: F401
from tests.models.sglang_like import SglangLikeServer
from tests.models.test_check_models import pool  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]


def check(scoring: str = "letter", **server: Any) -> list[Any]:
    model = {"repo": server.pop("repo", NAME), "path": server.pop("path", None)}
    model["system_prompt"] = server.pop("system_prompt", None)
    entry = {**model, "scoring": scoring, "family": None, "max_new_tokens": 3, "server": server}
    config = config_of({"s": {"path": "s.tsv"}}, {"far": entry})
    found, rates = collected(check_models(config, None, load=True))  # type: ignore[arg-type]
    assert rates == {}
    return found


def test_a_server_that_answers(serve, monkeypatch):  # noqa: F811
    own = serve()
    (only,) = lines(check(url=own.url), "ok")
    assert only == f"far: vllm 0.33.0 answers at {own.url}, with logprob_token_ids"
    (error,) = lines(check(url=own.url, repo="owner/large"), "error")
    assert error.startswith("far: owner/large: the server serves another model, owner/tiny; start it with")
    # The first answer has the time of all others.
    monkeypatch.setattr(server, "TIMEOUT", 0.001)
    assert lines(check("generate", url=own.url), "ok")
    assert lines(check(url=own.url), "error")


def test_a_server_that_cannot_score_texts_and_one_of_sglang(serve, checkpoints):  # noqa: F811
    own = serve(refuses=("prompt_logprobs",))
    assert lines(check(url=own.url), "ok")
    (error,) = lines(check("text", url=own.url), "error")
    assert error.startswith(f"far: {NAME}: the server returns no log-probabilities of the prompt (400 ")
    other = SglangLikeServer(checkpoints["llava"], NAME)
    other.start()
    (only,) = lines(check(url=other.url), "ok")
    other.stop()
    assert only == f"far: sglang 0.5.23 answers at {other.url}, with token_ids_logprob"


def test_a_service_with_another_path(serve):  # noqa: F811
    server = serve(api_path="/beta/openai")
    assert lines(check("generate", url=server.url, api_path="/beta/openai"), "ok")
    (error,) = lines(check("generate", url=server.url), "error")
    assert "does not list its models (404" in error and "`api_path`" in error


NO_SYSTEM = "{% for message in messages if message['role'] == 'user' %}<image>Which? ASSISTANT:{% endfor %}"


def test_a_lost_system_prompt_is_found_before_the_run(serve):  # noqa: F811
    server = serve()
    (only,) = check("generate", url=server.url, system_prompt="Be brief.")
    assert only.level == "ok"
    server.processor.chat_template = NO_SYSTEM
    for scoring in ("letter", "generate"):
        (error,) = lines(check(scoring, url=server.url, system_prompt="Be brief."), "error")
        assert "template has no place for a system prompt" in error


def test_no_server_and_no_key(serve, monkeypatch):  # noqa: F811
    (error,) = lines(check(url="http://127.0.0.1:9"), "error")
    assert error.startswith("far: http://127.0.0.1:9/v1/models: no server answers (")
    assert error.endswith("); start it, or correct `url`")
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    (error,) = lines(check(url="http://127.0.0.1:9", api_key_env="NO_SUCH_KEY"), "error")
    assert error.startswith("far: the environment variable NO_SUCH_KEY, which should have the server's key")


def test_the_commands_on_models_know_servers(serve, tmp_path, capsys, monkeypatch):  # noqa: F811
    # The commands set both, for good.
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    server = serve()
    keys = {"label": "A", "scoring": "letter", "repo": NAME}
    urls = {"near": server.url, "far": "http://127.0.0.1:9"}
    entries = {id_: keys | {"server": {"url": url}} for id_, url in urls.items()}
    (tmp_path / "models.yaml").write_text(yaml.safe_dump(entries))
    catalogue = ["--catalogue", str(tmp_path / "models.yaml")]
    with pytest.raises(SystemExit, match=r"^error: http://127.0.0.1:9/v1/models: no server answers"):
        main(["models", "check", "far", *catalogue])
    main(["models", "fetch", "near", *catalogue])
    assert capsys.readouterr().out == f"near: is on the server {server.url}, nothing to download\n"
    main(["models", "list", *catalogue])
    cells = [cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].split("|")]
    assert {"near", "server", "on a server"} <= set(cells)


def test_of_a_server_that_jobs_start_program_and_model_are_found(checkpoints, monkeypatch):  # noqa: F811
    options = "{model} --revision {revision} --port {port}"
    command = f"{sys.executable} -m vllm serve {options}"
    (only,) = check(repo=None, path=str(checkpoints["llava"]), command=command)
    what = "its jobs start its server, which was not tried; `benchc models check far` tries it"
    assert (only.level, only.text) == ("skipped", f"is here, {checkpoints['llava']}; {what}")
    (error,) = lines(check(command=f"no-such-program {options}"), "error")
    absent = "far: `command` starts the program 'no-such-program', which is not on this machine"
    assert error.startswith(absent)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    (error,) = lines(check(command=command), "error")
    assert error.endswith(f"run: benchc models fetch {NAME}")


def test_a_model_to_fetch_for_a_server_that_jobs_start(monkeypatch):
    to_fetch = Finding("models", "fetch", "far", "5 GB, from the Hub: owner/tiny")
    monkeypatch.setattr(server, "locate", lambda *_: to_fetch)
    fetch, skipped = check(command=f"{sys.executable} {{model}} {{revision}} {{port}}")
    assert (fetch.level, skipped.level) == ("fetch", "skipped")
    assert fetch.text == f"{to_fetch.text}; the run fetches it, or benchc models fetch {NAME}"
    assert skipped.text.startswith("its jobs start its server, which was not tried;")


def written(folder: Path, entry: dict[str, Any]) -> list[str]:
    """Write an entry, and return the words of `benchc models check` for it."""
    entries = {"far": {"label": "Far", "scoring": "letter"} | entry}
    (folder / "models.yaml").write_text(yaml.safe_dump(entries))
    return ["models", "check", "far", "--catalogue", "models.yaml"]


def checked(folder: Path, entry: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Run `benchc models check` for an entry in a process without torch."""
    (folder / "without").mkdir(exist_ok=True)
    (folder / "without/torch.py").write_text("raise ImportError('asking a server imports torch')\n")
    command = [sys.executable, "-m", "scripts.benchc", *written(folder, entry)]
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'without'}:{ROOT}"}
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that checks an entry in this process, and returns what it writes to both streams."""
    monkeypatch.chdir(tmp_path)

    def call(entry: dict[str, Any], *arguments: str) -> tuple[str, str]:
        capsys.readouterr()
        main([*written(tmp_path, entry), *arguments])
        return capsys.readouterr()

    return call


def test_a_model_on_a_running_server_answers_items(serve, tmp_path, pool, called):  # noqa: F811
    server = serve()
    entry = {"label": "Emu3-Chat", "repo": NAME, "server": {"url": server.url}}
    done = checked(tmp_path, entry)
    assert done.returncode == 0, done.stderr
    # A warning about the label mass may be between them.
    first, second, *_, generated = done.stdout.splitlines()
    assert first == f"ok: vllm 0.33.0 answers at {server.url}, with logprob_token_ids"
    assert re.fullmatch(r"ok: [\d.e-]+ s per prediction, label mass \d+ %", second)
    assert re.fullmatch(r"generated items: \d of 3 items correct \(.* %, chance is .* %\)", generated)
    correct = []
    for answer in range(4):
        items = pool.sample.with_columns(answer=pl.lit(answer, pl.Int64))
        write_table(items, tmp_path / "pool.parquet", POOL)
        output, _ = called(entry, "--source", "pool.parquet")
        correct += re.findall(r"^clean accuracy: (\d) of 2 items correct", output, re.MULTILINE)
        assert "published: 35.2 % on the " in output
    assert len(correct) == 4 and sum(map(int, correct)) == 2


def test_a_closed_model_answers_in_its_own_words(serve, called):  # noqa: F811
    server = serve(refuses=("max_tokens", "temperature"), api_path="/beta/openai")
    address = {"url": server.url, "api_path": "/beta/openai", "model": NAME}
    output, _ = called({"scoring": "generate", "max_new_tokens": 3, "server": address})
    first, second = output.splitlines()
    assert first.endswith("with max_completion_tokens (sampled)")
    assert re.fullmatch(r"\w+: \S+ s per answer, \d of 3 answers choose an option, \d cut off.*", second)


def test_models_check_asks_with_the_system_prompt(serve, called):  # noqa: F811
    server = serve()
    entry = {"scoring": "generate", "max_new_tokens": 3, "system_prompt": "Be brief."}
    entry |= {"server": {"url": server.url, "model": NAME}}
    assert "warning" not in called(entry)[1]
    asked = [body["messages"] for path, body in server.answered if path == CHAT]
    assert {messages[0]["role"] for messages in asked} == {"system"}
    server.fault = lambda path, body: (404, {}, "{}") if path == TOKENIZE else None
    (warning,) = [line for line in called(entry)[1].splitlines() if line.startswith("warning")]
    assert warning.startswith("warning: far: the server does not show its prompts by /tokenize, so it is not")
    assert "warning" not in called(entry | {"system_prompt": None})[1]


# It serves another model.
OTHER = """
import http.server, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"data": [{"id": "another"}]}')

http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
"""


def test_a_server_is_started_asked_and_stopped(tmp_path, checkpoints, called):  # noqa: F811
    program = f"{sys.executable} {vllm_like.__file__} {{model}} --port {{port}} --model "
    entry = {"path": str(checkpoints["llava"]), "server": {"command": f"{program} {{model}}"}}
    # The program of the server may import what this process may not.
    entry["server"]["command"] = f"env PYTHONPATH= {entry['server']['command']}"
    done = checked(tmp_path, entry)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^ok: loaded in \d+ s, \S+ s per prediction, label mass", done.stdout, re.MULTILINE)
    assert (tmp_path / "logs/models_check/far.log").is_file()
    (tmp_path / "other.py").write_text(OTHER)
    entry["server"]["command"] = f"{sys.executable} {tmp_path}/other.py {{model}} {{port}}"
    end = "the server serves another model, another; let `command` serve it as {model}"
    with pytest.raises(SystemExit) as caught:
        called(entry)
    assert str(caught.value) == f"error: {checkpoints['llava']}: {end}"
