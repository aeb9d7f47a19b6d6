"""A job starts a server for its model, and asks no other one."""

import os
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchc.endpoint.client import EndpointError
from benchc.errors import InputError
from benchc.models import over_http
from benchc.models.asking import AskedModel, Job
from benchc.models.job import checkpoint_source
from benchc.models.over_http import opened
from benchc.models.protocol import ModelError, UnitInput
from tests.models import vllm_like
from tests.models.conftest import QUESTIONS
from tests.models.vllm_like import TinyServer

SERVER = f"{sys.executable} {vllm_like.__file__} {{model}} --model {{model}} --port {{port}}"
SLEEPING = f"{sys.executable} -c 'import time; time.sleep(60)' {{model}} {{port}}"


def started(folder: Path, log: Path, command: str = SERVER) -> Any:
    """Return the model of a job that starts its server, as a context."""
    asked, job = AskedModel(label="tiny", location=str(folder), server_command=command), Job(server_log=log)
    return opened(asked, checkpoint_source(asked, job, None), "letter", None, job)


@pytest.fixture
def another(checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The server of another job, at the port that this job chooses."""
    server = TinyServer(checkpoints["llava"], str(checkpoints["llava"]), key="of another job").start()
    monkeypatch.setattr(over_http, "free_port", lambda: server.server_address[1])
    yield server
    server.stop()


def test_a_started_server_has_a_key_of_its_own(checkpoints, variants, tmp_path):
    with started(checkpoints["llava"], tmp_path / "server.log") as model:
        [(scores, _)] = model.compute(model.model, QUESTIONS[0], [UnitInput(variants)])
    assert scores.logits.shape == (len(variants), 3)
    assert model.identity["command"] == SERVER
    assert model.identity["model"] == checkpoints["llava"].name


OVERRIDES = """ --hf-overrides '{"head_dtype": "float32"}'"""


@pytest.mark.parametrize("version", ["0.25.1", "0.9.2rc1.dev3+g1234567"])
def test_a_head_dtype_that_the_server_ignores_is_refused(checkpoints, tmp_path, another, version):
    another.name, another.key, another.version = str(checkpoints["llava"]), None, version
    sentence = (
        f"^tiny: `command` asks for a head_dtype, which vLLM {re.escape(version)} ignores; use vLLM 0.26"
    )
    opening = started(checkpoints["llava"], tmp_path / "server.log", SLEEPING + OVERRIDES)
    with pytest.raises(ModelError, match=sentence), opening:
        raise AssertionError("its logits are rounded")


@pytest.mark.parametrize("version", ["0.26.0", "0.100.0", "1.0.0", "dev"])
def test_a_head_dtype_that_the_server_knows_is_in_the_identity(checkpoints, tmp_path, another, version):
    another.name, another.key, another.version = str(checkpoints["llava"]), None, version
    with started(checkpoints["llava"], tmp_path / "server.log", SLEEPING + OVERRIDES) as model:
        assert model.identity["command"] == SLEEPING + OVERRIDES


def test_code_of_a_served_folder_is_part_of_the_identity(checkpoints, tmp_path, another):
    folder = tmp_path / "model"
    shutil.copytree(checkpoints["llava"], folder)
    another.name, another.key = str(folder), None
    revisions = []
    for _ in range(2):
        with started(folder, tmp_path / "server.log", SLEEPING) as model:
            revisions.append(model.identity["revision"])
        (folder / "modeling.py").write_text("TEMPERATURE = 2\n")
    assert len(set(revisions)) == 2


def test_the_server_of_another_job_at_the_port_is_not_asked(checkpoints, tmp_path, another):
    folder, log = checkpoints["llava"], tmp_path / "server.log"
    reason = r"/v1/models: the server refuses access \(401 .*\); another server has its port; run snakemake"
    with pytest.raises(EndpointError, match=reason), started(folder, log, SLEEPING):
        raise AssertionError("it is another server")


def test_a_server_that_dies_half_way_says_so(checkpoints, variants, tmp_path, monkeypatch):
    log = tmp_path / "server.log"
    monkeypatch.setattr("benchc.endpoint.client.MAX_WAIT", 0.2)
    sentence = "^tiny: its server ended while it was asked, with exit status 137: .*; look at its output in"
    with pytest.raises(InputError, match=sentence) as caught, started(checkpoints["llava"], log) as model:
        (server,) = [
            process
            for process in psutil.Process().children(recursive=True)
            if process.cmdline()[1] == vllm_like.__file__
        ]
        os.kill(server.pid, signal.SIGKILL)
        model.compute(model.model, QUESTIONS[0], [UnitInput(variants)])
    assert str(log) in str(caught.value) and "\n" not in str(caught.value)
