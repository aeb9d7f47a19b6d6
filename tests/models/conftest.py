"""Small checkpoints with random weights, saved and loaded like published ones."""

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import torch

from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.models.tf32 import forbid_tf32
from tests.models.hub_server import Hub, serving
from tests.models.sglang_like import SglangLikeServer
from tests.models.vllm_like import TinyServer

FAMILIES = ("llava", "internvl", "idefics3")
NAME = "owner/tiny"  # of a model on a server

SERVERS: dict[str, type[TinyServer]] = {"vllm": TinyServer, "sglang": SglangLikeServer}

Serve = Callable[..., TinyServer]
Start = Callable[..., TinyServer]

QUESTIONS = (
    Question("Which colour is the square?", ("red", "green", "blue")),
    Question("How many dots are there?", ("1", "2", "3", "12"), hint="Count the black ones only."),
    Question("图中所示建筑名称为？", ("天坛", "故宫", "黄鹤楼", "少林寺")),
)


def save_checkpoint(folder: Path, family: str) -> Path:
    """Save a random model of the family with a tokenizer trained on QUESTIONS."""
    import importlib

    from benchc.demo.tiny.size import TinySize

    texts = []
    for question in QUESTIONS[:2]:
        texts += [f"USER: \n{prompt(question)} ASSISTANT:" for prompt in (letter_prompt, text_prompt)]
        texts += [f" {answer}" for answer in (*question.options, *"ABCD")]
    torch.manual_seed(7)
    size = TinySize(hidden=48, vision_layers=1, text_layers=2, patch=8, image_side=32)
    model, processor = importlib.import_module(f"benchc.demo.tiny.{family}").build(texts * 20, size)
    # The initial weights give nearly uniform answers; larger ones show every mistake.
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {family: save_checkpoint(tmp_path_factory.mktemp(family), family) for family in FAMILIES}


@pytest.fixture(scope="session")
def scorers(checkpoints: dict[str, Path]) -> dict[tuple[str, str], object]:
    return {
        (family, scoring): load_scorer(family, scoring, CheckpointSource(str(folder)))
        for family, folder in checkpoints.items()
        for scoring in ("letter", "text", "text_mean")
    }


@pytest.fixture
def variants() -> list[list[np.ndarray]]:
    rng = np.random.default_rng(3)
    return [[rng.integers(0, 256, (40, 56, 3), dtype=np.uint8)] for _ in range(5)]


@pytest.fixture
def image() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 256, (40, 56, 3), dtype=np.uint8)


@pytest.fixture
def folder(checkpoints: dict[str, Path], tmp_path: Path) -> Path:
    """A checkpoint that a test may change."""
    return Path(shutil.copytree(checkpoints["llava"], tmp_path / "model"))


@pytest.fixture
def torch_settings() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    forbid_tf32()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def silent(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The test shows no progress, and transformers logs nothing."""
    monkeypatch.setattr(logging.getLogger("transformers"), "propagate", True)
    yield
    assert capsys.readouterr().err == "" and not caplog.get_records("call")


@pytest.fixture
def serve(checkpoints: dict[str, Path]) -> Iterator[Serve]:
    started = []

    def start(family: str = "llava", **settings: Any) -> TinyServer:
        started.append(TinyServer(checkpoints[family], NAME, **settings).start())
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def start() -> Iterator[Start]:
    started = []

    def start(folder: Path, kind: str = "vllm", **settings: Any) -> TinyServer:
        started.append(SERVERS[kind](folder, NAME, **settings).start())
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub without repositories, an empty cache, and no token."""
    constants = huggingface_hub.constants
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_STORED_TOKENS_PATH", str(tmp_path / "tokens"))
    with serving() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        template = hub.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(huggingface_hub.hf_api.api, "endpoint", hub.endpoint)
        yield hub
