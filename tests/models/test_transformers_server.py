"""Answers over transformers' own server, which nobody here has written, are those of the model in the job."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.endpoint.process import free_port, running
from benchc.models.checkpoint import load
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.question import Question
from benchc.models.server.generate import served_generator
from benchc.models.server.served import served_scorer
from tests.models import transformers_server
from tests.models.bos import ORIGINS, save_with_bos
from tests.models.conftest import FAMILIES, QUESTIONS

COMMIT = "0" * 40
GENERATION = Generation(6, "Answer with one word.")
OPEN = Question("Which colour is the square?", (), "Count the black ones only.")


@pytest.fixture(scope="module")
def folders(checkpoints: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The small checkpoints, and one with each origin of BOS."""
    with_bos = {
        name.replace(" ", "-"): save_with_bos(checkpoints["llava"], tmp_path_factory.mktemp("bos"), origin)
        for name, origin in ORIGINS.items()
    }
    return checkpoints | with_bos


@pytest.fixture(scope="module")
def endpoint(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """A client of a server of all these checkpoints, as ``owner/<name>``."""
    cache = tmp_path_factory.mktemp("hub")
    for name, folder in folders.items():
        repository = cache / f"models--owner--{name}"
        shutil.copytree(folder, repository / "snapshots" / COMMIT)
        (repository / "refs").mkdir()
        (repository / "refs/main").write_text(COMMIT)
    port = free_port()
    command = [sys.executable, transformers_server.__file__, str(port)]
    variables = {"HF_HUB_CACHE": str(cache), "HF_HUB_OFFLINE": "1"}
    log = tmp_path_factory.mktemp("logs") / "server.log"
    with (
        running(command, port, log, 120.0, "transformers", variables) as url,
        Endpoint(EndpointSettings(url, concurrency=2, attempts=1)) as client,
    ):
        yield client


@pytest.mark.parametrize("name", [*FAMILIES, *(name.replace(" ", "-") for name in ORIGINS)])
def test_answers_are_those_in_the_job(endpoint, folders, variants, name):
    # The server's image processor is torchvision's.
    job = Generator(load(CheckpointSource(str(folders[name]), image_backend="torchvision")), GENERATION)
    generator = served_generator(endpoint, {f"owner/{name}"}, {}, GENERATION)
    for question in (QUESTIONS[0], OPEN):
        assert generator.replies(question, variants) == job.replies(question, variants)
    facts = generator.identity()
    assert (facts["version"], facts["chat_template"]) == ("unknown", "unknown")


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_a_server_without_log_probabilities_is_refused(endpoint, scoring):
    sentence = (
        r"^owner/llava: the server refuses /tokenize \(404 .*\), without which options cannot be scored"
    )
    with pytest.raises(ModelError, match=sentence):
        served_scorer(endpoint, {"owner/llava"}, {}, scoring, 20)
