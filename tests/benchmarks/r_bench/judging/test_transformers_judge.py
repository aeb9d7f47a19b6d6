"""The judge asks transformers' own server, which nobody here has written."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.endpoint.process import free_port, running
from benchc.endpoint.service import Service
from benchc.schemas.parquet import read_footer, read_table
from tests.benchmarks.r_bench.judging.replied import written
from tests.models import transformers_server
from tests.models.conftest import save_checkpoint
from tests.stages import call_stage

COMMIT = "0" * 40


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of a small model, owner/llava."""
    cache, folder = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("llava")
    repository = cache / "models--owner--llava"
    shutil.copytree(save_checkpoint(folder, "llava"), repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(COMMIT)
    port = free_port()
    command = [sys.executable, transformers_server.__file__, str(port)]
    variables = {"HF_HUB_CACHE": str(cache), "HF_HUB_OFFLINE": "1"}
    with running(command, port, folder / "server.log", 120.0, "transformers", variables) as found:
        yield found


def test_replies_of_a_real_server_are_read_and_replayed(tmp_path: Path, url: str) -> None:
    arguments = written(tmp_path) | {"judge.model": "owner/llava", "judge.repeats": 2}
    tables = []
    for mode, address in (("record", f"{url}/v1"), ("replay", "http://another.invalid:1/v1")):
        service = Service(mode=mode, url=address, recordings=tmp_path / "kept", concurrency=1)
        output = tmp_path / f"{mode}.parquet"
        call_stage("r_bench.judge", **arguments, service=service, output=output)
        tables.append(read_table(output, JUDGE_SCORES))
    recorded, replayed = tables
    assert recorded.equals(replayed)
    kept = {path.stem for path in (tmp_path / "kept").rglob("*.json")}
    assert kept == set(recorded["request_key"].drop_nulls()) and len(kept) == 2 * (1 + 3) + 2 * 2 + 2
    # A random model writes no scores but by chance.
    assert read_footer(tmp_path / "record.parquet")["unreadable"] > 0
