"""The server of a model is asked whether it answers, and serves what the run needs."""

from typing import Any

import pytest
import yaml

from benchc.checking.models import check_models
from scripts import models_check, models_fetch, models_list
from tests.checking.collected import collected, lines
from tests.checking.runs import config_of
from tests.models.conftest import checkpoints  # noqa: F401
from tests.models.sglang_like import SglangLikeServer
from tests.models.test_served import NAME, serve  # noqa: F401


def check(scoring: str = "letter", **server: Any) -> list[Any]:
    entry = {"repo": server.pop("repo", NAME), "scoring": scoring, "family": None, "server": server}
    config = config_of({"s": {"path": "s.tsv"}}, {"far": entry})
    found, rates = collected(check_models(config, None, load=True))  # type: ignore[arg-type]
    assert rates == {}
    return found


def test_a_server_that_answers(serve):  # noqa: F811
    server = serve()
    (only,) = lines(check(url=server.url), "ok")
    assert only == f"far: vllm 0.33.0 answers at {server.url}, with logprob_token_ids"
    (error,) = lines(check(url=server.url, repo="owner/large"), "error")
    assert error.startswith("far: owner/large: the server serves another model, owner/tiny; start it with")


def test_a_server_that_cannot_score_texts(serve):  # noqa: F811
    server = serve(refuses=("prompt_logprobs",))
    assert lines(check(url=server.url), "ok")
    (error,) = lines(check("text", url=server.url), "error")
    assert error.startswith(f"far: {NAME}: the server returns no log-probabilities of the prompt (400 ")


def test_an_sglang_server_that_answers(checkpoints):  # noqa: F811
    server = SglangLikeServer(checkpoints["llava"], NAME)
    server.start()
    (only,) = lines(check(url=server.url), "ok")
    server.stop()
    assert only == f"far: sglang 0.5.23 answers at {server.url}, with token_ids_logprob"


def test_no_server_and_no_key(serve, monkeypatch: pytest.MonkeyPatch):  # noqa: F811
    (error,) = lines(check(url="http://127.0.0.1:9"), "error")
    assert error.startswith("far: http://127.0.0.1:9/v1/models: no server answers (")
    assert error.endswith("); start it, or correct `url`")
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    (error,) = lines(check(url="http://127.0.0.1:9", api_key_env="NO_SUCH_KEY"), "error")
    assert error.startswith(
        "far: the environment variable NO_SUCH_KEY, which should have the server's key, is not"
    )


def test_the_commands_on_models_know_servers(serve, tmp_path, capsys, monkeypatch):  # noqa: F811
    # The commands set both, for good.
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    server = serve()
    keys = {"label": "A", "scoring": "letter", "repo": NAME}
    entries = {
        "near": keys | {"server": {"url": server.url}},
        "far": keys | {"server": {"url": "http://127.0.0.1:9"}},
    }
    (tmp_path / "models.yaml").write_text(yaml.safe_dump(entries))
    catalogue = ["--catalogue", str(tmp_path / "models.yaml")]
    models_check.main(["near", *catalogue])
    assert capsys.readouterr().out.startswith("ok: vllm 0.33.0 answers at ")
    with pytest.raises(SystemExit):
        models_check.main(["far", *catalogue])
    assert capsys.readouterr().out.startswith("error: http://127.0.0.1:9/v1/models: no server answers")
    models_fetch.main(["near", *catalogue])
    assert capsys.readouterr().out == f"near: is on the server {server.url}, nothing to download\n"
    models_list.main(catalogue)
    cells = [cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].split("|")]
    assert {"near", "server", "on a server"} <= set(cells)


def test_a_server_that_jobs_start_is_not_tried():
    (only,) = lines(check(command="vllm serve {model} --revision {revision} --port {port}"), "skipped")
    assert only == "far: its jobs start its server, which was not tried"
