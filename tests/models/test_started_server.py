"""A job starts a server for its model, and asks no other one."""

import os
import re
import shutil
import signal
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import huggingface_hub.constants
import psutil
import pytest

from benchc.endpoint.client import EndpointError
from benchc.errors import InputError
from benchc.models import cards, over_http
from benchc.models.asking import AskedModel, Job
from benchc.models.generation import Generation
from benchc.models.gpus import held_gpus
from benchc.models.job import checkpoint_source
from benchc.models.over_http import opened
from benchc.models.protocol import ModelError, UnitInput
from benchc.models.server.served import UNKNOWN, OtherModelError
from tests.models import vllm_like
from tests.models.conftest import QUESTIONS
from tests.models.stand_ins.nvidia_smi import TWO, use_machine, write_nvidia_smi
from tests.models.vllm_like import TinyServer

SERVER = f"{sys.executable} {vllm_like.__file__} {{model}} --model {{model}} --port {{port}}"
SLEEPING = f"{sys.executable} -c 'import time; time.sleep(60)' {{model}} {{port}}"


def started(
    folder: Path, log: Path, command: str = SERVER, gpus: int = 1, device: Literal["cpu", "cuda"] = "cpu"
) -> Any:
    """Return the model of a job that starts its server, as a context."""
    asked = AskedModel(label="tiny", location=str(folder), server_command=command, device=device)
    job = Job(server_log=log, gpus=gpus)
    return opened(asked, checkpoint_source(asked, job, None), "letter", None, job)


@pytest.fixture
def another(checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The server of another job, at the port that this job chooses."""
    server = TinyServer(checkpoints["llava"], str(checkpoints["llava"]), key="of another job").start()
    monkeypatch.setattr(over_http, "free_port", lambda: server.server_address[1])
    yield server
    server.stop()


# It says which GPUs it sees.
SEEING = "sh -c 'echo sees ${CUDA_VISIBLE_DEVICES-all}; exec sleep 60' {model} {port}"


@pytest.mark.parametrize(
    ("entry", "other", "sees"),
    [
        ({"gpus": 1, "device": "cuda"}, "1", "0"),
        ({"gpus": 1, "device": "cuda"}, "0", "1"),
        ({"gpus": 2, "device": "cuda"}, "", "0,1"),
        # A server may use one, whatever its entry says.
        ({"gpus": 1, "device": "cpu"}, "0", "1"),
    ],
)
def test_a_started_server_has_gpus_of_its_own_while_it_runs(
    checkpoints, tmp_path, another, monkeypatch, entry, other, sees
):
    use_machine(tmp_path, monkeypatch)
    another.name, another.key, log = str(checkpoints["llava"]), None, tmp_path / "server.log"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", other)
    with held_gpus(1, "other") if other else nullcontext():
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
        with started(checkpoints["llava"], log, SEEING, **entry):
            assert said(log) == f"sees {sees}\n"
            assert "CUDA_VISIBLE_DEVICES" not in os.environ
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", sees)
            # Another job would wait, or share them.
            monkeypatch.setattr("random.uniform", must_not_wait)
            with pytest.raises(AssertionError, match="it waits"), held_gpus(1, "another"):
                raise KeyError
        with held_gpus(entry["gpus"], "another") as held:
            assert held.environment["CUDA_VISIBLE_DEVICES"] == sees


def said(log: Path) -> str:
    """Return what the shell wrote; the job does not wait for it, since the server of another one answers."""
    end = time.monotonic() + 60
    while not log.read_text().endswith("\n") and time.monotonic() < end:
        time.sleep(0.01)
    return log.read_text()


def must_not_wait(*_: float) -> None:
    raise AssertionError("it waits")


def test_a_server_with_too_few_gpus_or_a_card_in_use_is_one_line_before_it_starts(
    checkpoints, tmp_path, another, monkeypatch, capsys
):
    use_machine(tmp_path, monkeypatch)
    monkeypatch.setattr(cards, "SECONDS_TO_FREE", 0.0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    log = tmp_path / "server.log"
    opening = started(checkpoints["llava"], log, SEEING, gpus=2, device="cuda")
    with pytest.raises(InputError, match=r"^tiny: needs 2 GPUs, but this job sees 1 "), opening:
        raise AssertionError("it is ready")
    assert not log.exists()
    uuid = "GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5"
    write_nvidia_smi(tmp_path, TWO, f"{uuid}, H100, 40512, 40571, 9.0\n")
    monkeypatch.setattr(over_http, "running", lambda *_: pytest.fail(capsys.readouterr().err))
    opening = started(checkpoints["llava"], log, SEEING, device="cuda")
    with pytest.raises(pytest.fail.Exception, match=r"^warning: tiny: other processes use 42"), opening:
        raise AssertionError("it is ready")


def test_a_server_that_fails_leaves_its_gpu(checkpoints, tmp_path, monkeypatch):
    use_machine(tmp_path, monkeypatch)
    ended = f"{sys.executable} -c 'raise SystemExit' {{model}} {{port}}"
    opening = started(checkpoints["llava"], tmp_path / "server.log", ended, gpus=2, device="cuda")
    with pytest.raises(InputError, match="ended while it started"), opening:
        raise AssertionError("it is not ready")
    monkeypatch.setattr("random.uniform", must_not_wait)
    with held_gpus(2, "another") as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "0,1"


def test_on_a_machine_without_gpus_a_server_sees_all(checkpoints, tmp_path, another, monkeypatch):
    use_machine(tmp_path, monkeypatch)
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    another.name, another.key, log = str(checkpoints["llava"]), None, tmp_path / "server.log"
    with started(checkpoints["llava"], log, SEEING):
        assert said(log) == "sees all\n"


OVERRIDES = """ --hf-overrides '{"head_dtype": "float32"}'"""


@pytest.mark.parametrize(
    ("version", "is_known"),
    [
        *((version, False) for version in ("0.25.1", "0.9.2rc1.dev3+g1234567")),
        *((version, True) for version in ("0.26.0", "0.100.0", "1.0.0", "dev")),
    ],
)
def test_a_head_dtype_that_the_server_ignores_is_refused(checkpoints, tmp_path, another, version, is_known):
    another.name, another.key, another.version = str(checkpoints["llava"]), None, version
    sentence = f"^tiny: `command` asks for a head_dtype, which vLLM {re.escape(version)} ignores; use vLLM 0"
    opening = started(checkpoints["llava"], tmp_path / "server.log", SLEEPING + OVERRIDES)
    with nullcontext() if is_known else pytest.raises(ModelError, match=sentence), opening as model:
        assert is_known and model.identity["command"] == SLEEPING + OVERRIDES
    with started(checkpoints["llava"], tmp_path / "server.log", SLEEPING) as model:
        assert model.identity["version"] == version


def test_another_server_than_vllm_may_have_a_head_dtype(checkpoints, tmp_path, start, monkeypatch):
    server = start(checkpoints["llava"], "sglang")
    server.name = str(checkpoints["llava"])
    monkeypatch.setattr(over_http, "free_port", lambda: server.server_address[1])
    with started(checkpoints["llava"], tmp_path / "server.log", SLEEPING + OVERRIDES) as model:
        assert (model.identity["server"], model.identity["version"]) == ("sglang", "0.5.23")


def test_so_many_units_are_asked_about_that_a_running_server_has_its_requests(another, variants, capsys):
    another.name, another.key = "owner/name", None
    job = Job(server_url=another.url)
    for more, scoring, generation in (
        ({}, "letter", None),
        ({"revision": "v1", "system_prompt": "Be brief."}, "generate", Generation(2)),
    ):
        asked = AskedModel(label="tiny", location="owner/name", **more)
        with opened(asked, checkpoint_source(asked, job, None), scoring, generation, job) as model:
            # A unit of five severities has five, so that three have fewer than 16.
            assert model.at_once == 4 and "16 requests at once" in capsys.readouterr().err
            assert model.identity["revision"] == more.get("revision", "that of the server")
            facts = [model.identity[name] for name in ("command", "system_prompt")]
            assert facts == ["", more.get("system_prompt", "")]
            # Nothing is split on a server.
            units = [UnitInput(variants[:1]), UnitInput(variants[1:2])]
            assert [split for _, split in model.compute(model.model, QUESTIONS[0], units)] == [False, False]
    # Of a server that returns no log-probabilities of given tokens, the largest 20, which is its own limit.
    another.token_ids = False
    with opened(asked, checkpoint_source(asked, job, None), "letter", None, job):
        assert 20 in {body.get("top_logprobs") for _, body in another.answered}


def test_what_serves_another_model_is_to_be_corrected(checkpoints, tmp_path, another):
    another.name, another.key = "owner/other", None
    asked, job = AskedModel(label="tiny", location="owner/name"), Job(server_url=another.url)
    for opening, fix in (
        (opened(asked, checkpoint_source(asked, job, None), "letter", None, job), "start "),
        (started(checkpoints["llava"], tmp_path / "log", SLEEPING), "let `command` serve it as {model}"),
    ):
        sentence = f"the server serves another model, owner/other; {re.escape(fix)}"
        with pytest.raises(OtherModelError, match=sentence), opening:
            pytest.fail("it is asked")


def test_a_model_that_is_not_here_is_no_servers_matter(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(over_http, "_started", lambda *_: pytest.fail("it is started"))
    opening = started(Path("owner/absent"), tmp_path / "log")
    with (
        pytest.raises(ModelError, match=r"^owner/absent: its default branch is not in the Hub's cach"),
        opening,
    ):
        pytest.fail("it is asked")


@pytest.mark.parametrize(
    ("system_prompt", "template", "is_seen"),
    [("", UNKNOWN, True), ("Be brief.", "4f1c", True), ("Be brief.", UNKNOWN, False)],
)
def test_a_system_prompt_that_may_not_reach_the_model_is_a_warning(system_prompt, template, is_seen):
    found = over_http.unseen_system_prompt({"system_prompt": system_prompt, "chat_template": template})
    assert (found is None) == is_seen
    assert is_seen or "so it is not known whether the model reads the `system_prompt`" in str(found)


def test_code_of_a_served_folder_is_part_of_the_identity(checkpoints, tmp_path, another):
    folder = tmp_path / "model"
    shutil.copytree(checkpoints["llava"], folder)
    another.name, another.key = str(folder), None
    revisions = []
    for _ in range(2):
        with started(folder, tmp_path / "server.log", SLEEPING) as model:
            revisions.append(model.identity["revision"])
            # What it reads is encoded on the server, while the job makes other images.
            assert model.prefetches and not model.encodes
        (folder / "modeling.py").write_text("TEMPERATURE = 2\n")
    assert len(set(revisions)) == 2


def test_the_server_of_another_job_at_the_port_is_not_asked(checkpoints, tmp_path, another):
    folder, log = checkpoints["llava"], tmp_path / "server.log"
    reason = r"/v1/models: the server refuses access \(401 .*\); another server has its port; run snakemake"
    with pytest.raises(EndpointError, match=reason), started(folder, log, SLEEPING):
        raise AssertionError("it is another server")


def test_a_started_server_has_a_key_of_its_own_and_says_so_where_it_dies_half_way(
    checkpoints, variants, tmp_path, monkeypatch
):
    log = tmp_path / "server.log"
    monkeypatch.setattr("benchc.endpoint.client.MAX_WAIT", 0.2)
    sentence = "^tiny: its server ended while it was asked, with exit status 137: .*; look at its output in"
    with pytest.raises(InputError, match=sentence) as caught, started(checkpoints["llava"], log) as model:
        [(scores, _)] = model.compute(model.model, QUESTIONS[0], [UnitInput(variants)])
        assert scores.logits.shape == (len(variants), 3)
        assert model.identity["command"] == SERVER
        assert model.identity["model"] == checkpoints["llava"].name
        children = psutil.Process().children(recursive=True)
        (server,) = [each for each in children if each.cmdline()[1] == vllm_like.__file__]
        os.kill(server.pid, signal.SIGKILL)
        model.compute(model.model, QUESTIONS[0], [UnitInput(variants)])
    assert str(log) in str(caught.value) and "\n" not in str(caught.value)
