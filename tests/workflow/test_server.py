"""A run with a target on a server that its jobs start: killed, resumed, and equal to the model in the job."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import psutil
import yaml

from benchc.models.asking import AskedModel, Job
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.predictions import PREDICTIONS
from tests.models import vllm_like
from tests.stages import command_of
from tests.workflow.checkout import Checkout
from tests.workflow.conftest import MODELS
from tests.workflow.test_runs import wait_for

SERVER = Path(vllm_like.__file__)
COMMAND = f"{sys.executable} {SERVER} {{model}} --model {{model}} --port {{port}}"
KEY = "sk-secret-1234"
SERVED = {"label": "Served", "scoring": "letter", "path": "checkpoints/letters"}
SERVED["server"] = {"command": COMMAND, "concurrency": 3}


def servers(checkout: Checkout) -> list[psutil.Process]:
    """Return the servers that the checkout's jobs have started and that still run."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(SERVER) in process.cmdline() and process.cwd() == str(checkout.folder):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
            continue
    return found


def units_in(cache: Path) -> int:
    """Return the number of cached units of the served target."""
    return sum(path.read_bytes().count(b"\n") for path in cache.glob("*/*/small-served-*.units"))


def served_checkout(finished: Checkout, folder: Path) -> Checkout:
    """Return the finished run with two other targets: a model on a server, and the same one here."""
    checkout = finished.copy(folder)
    # A test edits them.
    checkpoints = (folder / "checkpoints").resolve()
    (folder / "checkpoints").unlink()
    shutil.copytree(checkpoints, folder / "checkpoints")
    here = {**MODELS["letters"], "label": "Here", "path": "checkpoints/letters"}
    models = yaml.safe_load((checkout.folder / "config/small-models.yaml").read_text())
    models |= {"served": SERVED, "here": here}
    (checkout.folder / "config/small-models.yaml").write_text(yaml.safe_dump(models, sort_keys=False))
    figures = {
        "figure3": {"target": "served"},
        "figure4": {"target": "served", "corruption": "gaussian_blur", "severity": 5},
        "figure5": {"target": "served", "item": None, "corruptions": None},
    }
    checkout.configure(
        targets=["served", "here"], diagnostics={"random_subset": None, "option_order": 2}, figures=figures
    )
    return checkout


def predictions(checkout: Checkout, model: str) -> tuple[dict, np.ndarray]:
    path = checkout.folder / f"results/small/predictions/selected/{model}/all.parquet"
    rows = read_table(path, PREDICTIONS).sort("id", "corruption", "severity")
    padded = [row + [-np.inf] * (4 - len(row)) for row in rows["logits"].to_list()]
    logits = np.array(padded)
    return read_footer(path), logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def test_a_run_with_a_server(tmp_path, finished, monkeypatch):
    checkout = served_checkout(finished, tmp_path / "benchc")
    is_killed_and_resumed_to_the_end(checkout)
    where_a_server_is_reruns_nothing_and_what_it_runs_does(checkout)
    monkeypatch.setenv("TINY_KEY", KEY)
    a_running_server_needs_no_torch_and_shows_no_key(checkout, tmp_path)
    a_server_that_does_not_start_is_one_line(checkout)


def is_killed_and_resumed_to_the_end(checkout: Checkout) -> None:
    command = [sys.executable, "-m", "snakemake", "--configfile", checkout.config, "--cores", "1"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    process = subprocess.Popen(
        [*command, "results/small/predictions/selected/served/all.parquet"],
        cwd=checkout.folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    cache = checkout.folder / "results/.cache"
    wait_for(lambda: process.poll() is not None or units_in(cache) > 2, seconds=300)
    running = servers(checkout)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert running
    wait_for(lambda: not servers(checkout), seconds=20)

    checkout.snakemake("--unlock")
    checkout.make("--rerun-incomplete", "table1", cores=2)
    assert servers(checkout) == []
    assert checkout.plan("table1") == {}
    cached, computed = checkout.predictions()["selected/served"]
    assert cached > 2 and cached + computed == sum(checkout.predictions()["selected/here"])
    footer, found = predictions(checkout, "served")
    _, expected = predictions(checkout, "here")
    assert (footer["server"], footer["asked"], footer["device"]) == ("vllm", "logprob_token_ids", "server")
    assert footer["revision"] == predictions(checkout, "here")[0]["revision"]
    np.testing.assert_allclose(np.exp(found), np.exp(expected), atol=1e-4)
    table = pl.read_csv(checkout.folder / "results/small/tables/table1.csv")
    assert table.height == 2
    log = (checkout.folder / "logs/small/infer/selected/served/all.log").read_text()
    assert "served: vllm 0.33.0, logprob_token_ids, 3 requests at once" in log
    assert [path.name for path in (checkout.folder / "logs/small/servers").iterdir()]


def where_a_server_is_reruns_nothing_and_what_it_runs_does(checkout: Checkout) -> None:
    models = checkout.folder / "config/small-models.yaml"
    text = models.read_text()
    infer = "results/small/predictions/selected/served/all.parquet"
    for key, value in (("concurrency", "concurrency: 5"), ("", "concurrency: 3\n    timeout_s: 7")):
        models.write_text(text.replace("concurrency: 3", value))
        assert checkout.plan(infer) == {}, key
    models.write_text(text.replace("{port}", "{port} --verbose"))
    assert checkout.plan(infer) == {"infer": 1}
    models.write_text(text)
    code = checkout.folder / "checkpoints/letters/modeling.py"
    code.write_text("TEMPERATURE = 2\n")
    assert (checkout.plan(infer), checkout.plan(infer.replace("served", "here"))) == ({"infer": 1}, {})
    code.unlink()
    # Nor does the code of servers rerun the jobs of other models.
    here = infer.replace("served", "here")
    checkout.edit("benchc/models/over_http.py", "REQUESTS_PER_UNIT = 5", "REQUESTS_PER_UNIT = 6")
    assert (checkout.plan(here), checkout.plan(infer)) == ({}, {"infer": 1})
    checkout.edit("benchc/models/over_http.py", "REQUESTS_PER_UNIT = 6", "REQUESTS_PER_UNIT = 5")
    for scoring, plan in (("text", {}), ("letter", {"infer": 1})):
        with edited(checkout.folder / f"benchc/models/server/{scoring}.py", "EDITED = True\n"):
            assert checkout.plan(infer) == plan, scoring


@contextmanager
def edited(file: Path, line: str) -> Iterator[None]:
    text = file.read_text()
    file.write_text(text + line)
    yield
    file.write_text(text)


def a_server_that_does_not_start_is_one_line(checkout: Checkout) -> None:
    models = checkout.folder / "config/small-models.yaml"
    text = models.read_text()
    models.write_text(text.replace("--model {model}", "--modle {model}"))
    result = checkout.snakemake(
        "--cores",
        "1",
        "--show-failed-logs",
        "results/small/predictions/selected/served/all.parquet",
        check=False,
    )
    models.write_text(text)
    assert result.returncode
    lines = {line.strip() for line in result.stdout.splitlines() if "error: served: " in line}
    assert len(lines) == 1
    pattern = (
        r"error: served: its server ended while it started: .*required: --model; correct `command` .*log\)"
    )
    assert re.fullmatch(pattern, lines.pop())
    assert "Traceback" not in result.stdout


def a_running_server_needs_no_torch_and_shows_no_key(checkout: Checkout, folder: Path) -> None:
    (folder / "without").mkdir()
    (folder / "without/torch.py").write_text("raise ImportError('a server's job imports torch')\n")
    results = checkout.folder / "results/small"
    server = vllm_like.TinyServer(checkout.folder / "checkpoints/letters", "owner/tiny").start()
    command = command_of(
        "infer",
        model=AskedModel(label="tiny", location="owner/tiny"),
        scoring="letter",
        job=Job(server_url=server.url, api_key_env="TINY_KEY", shard="w", cache=folder / "keys/cache"),
        pool=results / "pool/items.parquet",
        subset=results / "subsets/selected.parquet",
        corrupted=sorted((results / "corrupted").glob("*.parquet")),
        output=folder / "keys/all.parquet",
    )
    environment = {**os.environ, "PYTHONPATH": str(folder / "without")}
    done = subprocess.run(command, cwd=checkout.folder, env=environment, text=True, capture_output=True)
    server.stop()
    assert done.returncode == 0, done.stderr
    assert {headers.get("Authorization") for headers in server.headers_seen} == {f"Bearer {KEY}"}
    written = [path.read_bytes() for path in (folder / "keys").rglob("*") if path.is_file()]
    assert len(written) == 4 and not [text for text in written if KEY.encode() in text]
    assert KEY not in done.stdout + done.stderr
    keys = ["id", "corruption", "severity"]
    paths = folder / "keys/all.parquet", results / "predictions/selected/served/all.parquet"
    rows, expected = (read_table(path, PREDICTIONS).sort(keys) for path in paths)
    assert rows.select(keys).equals(expected.select(keys))
    np.testing.assert_allclose(rows["label_mass"], expected["label_mass"], atol=1e-5)


def test_only_a_server_that_jobs_start_needs_the_files_of_its_model(tmp_path, python):
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    checkout.python = python
    command = "vllm serve {model} --revision {revision} --port {port}"
    servers = {"far": {"url": "http://node7:8000"}, "near": {"command": command}}
    with (checkout.folder / "config/demo-models.yaml").open("a") as file:
        for name, server in servers.items():
            entry = {"label": name, "scoring": "letter", "repo": "owner/tiny", "server": server}
            file.write(yaml.safe_dump({name: entry}))
    targets = yaml.safe_load((checkout.folder / checkout.config).read_text())["targets"]
    checkout.configure(targets=[*targets, *servers])
    plans = {name: checkout.plan(f"results/demo/predictions/selected/{name}/all.parquet") for name in servers}
    assert "fetch_model" not in plans["far"] and plans["near"]["fetch_model"] == 1
