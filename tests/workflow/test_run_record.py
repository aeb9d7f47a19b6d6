"""The record of a run: hashes, inputs, costs; and what benchc verify finds."""

import hashlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from benchc.workflow import job_facts
from benchc.workflow.job_facts import facts_file, recorded_facts, tries_of
from benchc.workflow.records import RECORDS, records_in
from benchc.workflow.run_record import (
    Hashes,
    begin,
    code_revision,
    finish,
    hash_of,
    read_record,
    stages_of,
)
from tests.workflow.checkout import Checkout

FOLDER = "results/small"


def record_of(checkout: Checkout, folder: str = FOLDER) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((checkout.folder / folder / "run.json").read_text())
    return record


def sha256(path: Path) -> str:
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def verify(checkout: Checkout, folder: str = FOLDER) -> tuple[int, str]:
    done = checkout.module("scripts.benchc", "verify", folder)
    return done.returncode, done.stdout


def test_each_output_has_its_hash_its_rule_and_its_inputs(finished: Checkout) -> None:
    record, folder = record_of(finished), finished.folder / FOLDER
    assert [record["outputs"][name]["hash"] for name in ("pool/items.parquet", "tables/table1.csv")] == [
        sha256(folder / "pool/items.parquet"),
        sha256(folder / "tables/table1.csv"),
    ]
    # By Snakemake's own records.
    snakemakes = {
        str(output.relative_to(FOLDER)): json.loads(path.read_bytes())
        for output, path in records_in(finished.folder / RECORDS).items()
        if output.is_relative_to(FOLDER)
    }
    assert {*record["outputs"]} == {*snakemakes}
    for name, output in record["outputs"].items():
        inputs = {Path(path) for path in snakemakes[name]["input"]}
        named = {path.relative_to(FOLDER) if path.is_relative_to(FOLDER) else path for path in inputs}
        assert (output["rule"], {*map(Path, output["inputs"])}) == (snakemakes[name]["rule"], named)
        for path, found in output["inputs"].items():
            if (folder / path).is_file():
                assert found == sha256(folder / path)
            elif (finished.folder / path).is_file():
                assert found.startswith("sample:")


def test_costs_are_those_of_the_jobs(finished: Checkout) -> None:
    record = record_of(finished)
    (call,) = record["calls"]
    assert (call["result"], call["executor"], call["host"]) == ("finished", "local", socket.gethostname())
    assert call["tried_again"] == 0
    assert call["start"] < call["end"]
    stages = record["stages"]
    # One job for each corruption and clean images, and for each model.
    assert (stages["corrupt"]["jobs"], stages["embed"]["jobs"]) == (4, 1)
    assert stages["corrupt"]["hosts"] == [socket.gethostname()]
    assert 50 < stages["infer"]["peak_mb"] < 5000 and stages["infer"]["asked_mb"] is None
    infer = next(output for output in record["outputs"].values() if output["rule"] == "infer")
    assert {"torch", "transformers"} <= {*infer["versions"]} and "gpus" not in infer
    configuration = record["configuration"]["config.yaml"]
    assert configuration == yaml.safe_load((finished.folder / FOLDER / "config.yaml").read_text())


def test_a_run_that_was_moved_matches_and_each_change_is_named(finished: Checkout, tmp_path: Path) -> None:
    checkout = finished.copy(tmp_path / "benchc", ".snakemake")
    moved = checkout.folder / "other/run"
    moved.parent.mkdir()
    (checkout.folder / FOLDER).rename(moved)
    status, text = verify(checkout, "other/run")
    assert (status, text.splitlines()[-1]) == (0, "all outputs match")

    (moved / "corrupted/clean.parquet").unlink()
    status, text = verify(checkout, "other/run")
    assert status == 1 and "missing: corrupted/clean.parquet\n" in text and "changed after" not in text
    table = moved / "tables/table1.csv"
    changed = table.read_bytes().replace(b"0", b"1", 1)
    table.write_bytes(changed)
    (moved / "tables/table2.md").unlink()
    status, text = verify(checkout, "other/run")
    assert status == 1
    assert "changed after it was made: tables/table1.csv\n" in text and "missing: tables/table2.md\n" in text
    assert "error: other/run: does not match its record" in text and "all outputs match" not in text
    # An input of many tables.
    subset = moved / "subsets/selected.parquet"
    subset.write_bytes(subset.read_bytes() + b"0")
    assert (
        "changed after outputs were made from it: subsets/selected.parquet ("
        in verify(checkout, "other/run")[1]
    )


def test_an_input_elsewhere_that_changed_or_is_not_here_is_told(finished: Checkout, tmp_path: Path) -> None:
    checkout = finished.copy(tmp_path / "benchc", ".snakemake")
    source = checkout.folder / "data/shapes.tsv"
    source.write_bytes(source.read_bytes() + b"\n")
    status, text = verify(checkout)
    assert (
        status == 1 and "changed after outputs were made from it: ./data/shapes.tsv (sources/shapes." in text
    )
    source.unlink()
    status, text = verify(checkout)
    assert status == 0 and "outside the folder cannot be compared" in text


def test_what_is_made_again_alone_leaves_the_others_outdated(finished: Checkout, tmp_path: Path) -> None:
    checkout = finished.copy(tmp_path / "benchc", "corrupted")
    before = record_of(checkout)
    checkout.configure(pool={"per_task": 2, "total": None})
    checkout.make("--until", "pool")
    record = record_of(checkout)
    assert record["outputs"]["pool/items.parquet"] != before["outputs"]["pool/items.parquet"]
    name = "predictions/pool/letters/all.parquet"
    assert record["outputs"][name] == before["outputs"][name]
    assert [call["result"] for call in record["calls"]] == ["finished", "finished"]
    assert record["calls"][1]["jobs"] == 1
    status, text = verify(checkout)
    assert status == 1 and "changed after outputs were made from it: pool/items.parquet (" in text


def test_a_file_changed_by_hand_stays_one_after_another_call(finished: Checkout, tmp_path: Path) -> None:
    checkout = finished.copy(tmp_path / "benchc", "corrupted")
    image = next((checkout.folder / FOLDER / "page/images").glob("*.webp"))
    image.write_bytes(image.read_bytes() + b"0")
    checkout.configure(figures={"figure5": {"target": "other", "item": None, "corruptions": None}})
    checkout.make("--until", "figure5")
    status, text = verify(checkout)
    assert status == 1 and "changed after it was made: page/images\n" in text


def test_a_killed_call_is_completed_by_the_next(finished: Checkout, tmp_path: Path) -> None:
    checkout = finished.copy(tmp_path / "benchc", "corrupted")
    path = checkout.folder / FOLDER / "run.json"
    record = json.loads(path.read_text())
    outputs = record.pop("outputs")
    record["calls"][0] |= {"end": None, "result": None}
    path.write_text(json.dumps(record))
    checkout.snakemake("-n")
    record = record_of(checkout)
    assert record["calls"][0]["result"] == "killed"
    there = {name for name in outputs if not name.startswith("corrupted/")}
    assert {*record["outputs"]} == there


def test_a_call_that_failed_says_so(finished: Checkout, tmp_path: Path) -> None:
    checkout = finished.copy(tmp_path / "benchc", "corrupted")
    (checkout.folder / "data/shapes.tsv").write_text("no table\n")
    done = checkout.snakemake("--cores", "2", "--retries", "1", "--until", "pool", check=False)
    assert done.returncode == 1
    call = record_of(checkout)["calls"][-1]
    assert (call["result"], call["jobs"], call["tried_again"]) == ("failed", 1, 1)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_call_that_the_user_stopped_says_so(tmp_path: Path, sent: signal.Signals) -> None:
    checkout = Checkout(tmp_path / "benchc", "config/demo-diagnostics.yaml")
    python = checkout.folder / "commands/python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/bash\ntouch {checkout.folder}/began\nsleep 3\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    checkout.python_of_jobs = python
    target = "results/demo-diagnostics/models.json"
    command = [sys.executable, "-m", "snakemake", "--configfile", checkout.config, "--cores", "1", target]
    # As a script starts it in the background: there, SIGINT is ignored.
    ignored = ["bash", "-c", "trap '' INT; exec \"$@\"", "bash", *command]
    with subprocess.Popen(
        ignored,
        cwd=checkout.folder,
        env=checkout.environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        while not (checkout.folder / "began").exists():
            assert process.poll() is None, process.stdout and process.stdout.read()
            time.sleep(0.1)
        process.send_signal(sent)
        text, _ = process.communicate(timeout=120)
    assert process.returncode == 1, text
    (call,) = record_of(checkout, "results/demo-diagnostics")["calls"]
    assert call["result"] == "stopped"


def test_a_folder_without_a_record_is_an_error(finished: Checkout) -> None:
    done = finished.module("scripts.benchc", "verify", "config")
    assert done.returncode == 1 and "error: config/run.json: there is none" in done.stdout


# ---- Facts of jobs, and hashes ----


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    return tmp_path


def test_tries_are_told_apart_and_a_killed_one_has_no_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    monkeypatch.setenv("BENCHC_MEM_MB", "2000")
    with pytest.raises(SystemExit), recorded_facts(["pool", "--a=1"]):
        raise SystemExit(2)
    module = "from benchc.workflow.job_facts import recorded_facts"
    script = f"import os; {module}\nwith recorded_facts(['pool', '--a=1']): os._exit(9)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    with recorded_facts(["pool", "--a=1"]):
        pass
    failed, killed, done = tries_of(facts_file(["pool", "--a=1"]))
    assert (failed["failed"], done["failed"]) == (True, False) and "end" not in killed
    assert done["start"] <= done["end"] <= time.time() and done["peak_mb"] > 10
    assert (done["slurm_job"], done["asked_mb"]) == ("12", 2000)
    assert tries_of(facts_file(["pool", "--a=2"])) == []


def test_a_call_by_hand_and_a_full_disk_do_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with recorded_facts(["pool"]):
        pass
    assert not [*tmp_path.iterdir()]
    (tmp_path / ".snakemake").mkdir()
    (tmp_path / ".snakemake/jobs").write_text("no folder")
    with recorded_facts(["pool"]):
        pass


def test_gpus_are_those_that_the_job_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Cuda:
        @staticmethod
        def is_initialized() -> bool:
            return True

        @staticmethod
        def device_count() -> int:
            return 2

        @staticmethod
        def get_device_name(number: int) -> str:
            return f"Card {number}"

    monkeypatch.setitem(sys.modules, "torch", type(sys)("torch"))
    monkeypatch.setattr(sys.modules["torch"], "cuda", Cuda, raising=False)
    monkeypatch.setattr(job_facts, "_driver", lambda: "580.1")
    with recorded_facts(["infer"]):
        pass
    (facts,) = tries_of(facts_file(["infer"]))
    assert (facts["gpus"], facts["driver"]) == (["Card 0", "Card 1"], "580.1")


def test_the_gpus_of_a_job_that_used_none_are_not_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda = SimpleNamespace(is_initialized=lambda: False)  # has no other method
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, __version__="9.1"))
    used = {resource.RUSAGE_SELF: 3_000_000, resource.RUSAGE_CHILDREN: 1_000_000}
    monkeypatch.setattr(resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=used[who]))
    monkeypatch.setattr(sys, "platform", "linux")
    with recorded_facts(["infer"]):
        pass
    (facts,) = tries_of(facts_file(["infer"]))
    assert "gpus" not in facts and facts["versions"]["torch"] == "9.1"
    # In KB.
    assert facts["peak_mb"] == 4000


def test_the_tries_of_a_file_that_is_no_record_of_a_job(folder: Path) -> None:
    file = facts_file(["a", "b"])
    assert file != facts_file(["b", "a"])
    file.parent.mkdir()
    file.write_text('{"end": 2}')
    assert tries_of(file) == [{"end": 2}]
    file.write_bytes(b"\xff")
    assert tries_of(file) == []


def test_a_hash_is_computed_again_only_where_a_file_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "run/a"
    path.parent.mkdir()
    path.write_text("one")
    first = Hashes(folder / "run", {})
    assert first.of(path) == sha256(path) and [*first.known] == ["a"]
    calls: Counter[Path] = Counter()

    def counted(path: Path, *, whole: bool) -> str:
        calls[path] += 1
        return hash_of(path, whole=whole)

    monkeypatch.setattr("benchc.workflow.run_record.hash_of", counted)
    assert Hashes(folder / "run", first.known).of(path) == sha256(path)
    assert not calls
    path.write_text("two")
    again = Hashes(folder / "run", first.known)
    assert (again.of(path), again.of(path)) == (sha256(path), sha256(path))
    assert calls == {path: 1}
    assert again.of(folder / "absent") is None


def test_the_hash_of_a_folder_follows_names_and_contents(folder: Path) -> None:
    tree = folder / "tree"
    (tree / "b").mkdir(parents=True)
    (tree / "b/one").write_text("1")
    first = hash_of(tree, whole=True)
    (tree / ".snakemake_timestamp").touch()
    assert hash_of(tree, whole=True) == first
    (tree / "b/one").write_text("2")
    second = hash_of(tree, whole=True)
    (tree / "b/one").rename(tree / "b/two")
    assert len({first, second, hash_of(tree, whole=True)}) == 3


def test_a_job_with_several_outputs_counts_once() -> None:
    one = {
        "rule": "pool",
        "job": "a",
        "seconds": 2.0,
        "peak_mb": 5,
        "asked_mb": 9,
        "host": "n1",
        "gpus": ["x"],
    }
    other = {"rule": "pool", "job": "b", "seconds": 3.0, "host": "n2"}
    assert stages_of([one, one, other]) == {
        "pool": {
            "jobs": 2,
            "seconds": 5.0,
            "longest_seconds": 3.0,
            "peak_mb": 5,
            "asked_mb": 9,
            "hosts": ["n1", "n2"],
            "gpus": ["x"],
        }
    }


def test_the_revision_is_that_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchc.workflow.run_record.HOME", tmp_path)
    assert code_revision() == {"revision": None, "modified": None}
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    (tmp_path / "Snakefile").write_text("one")
    for words in (["init", "-q"], ["add", "Snakefile"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    revision = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    assert code_revision() == {"revision": revision, "modified": []}
    (tmp_path / "Snakefile").write_text("two")
    (tmp_path / "notes").touch()
    assert code_revision() == {"revision": revision, "modified": ["Snakefile"]}
    # A folder in someone else's repository is no checkout.
    (tmp_path / "inner").mkdir()
    monkeypatch.setattr("benchc.workflow.run_record.HOME", tmp_path / "inner")
    assert code_revision()["revision"] is None


def test_an_unreadable_record_is_kept_aside(folder: Path) -> None:
    (folder / "results/a").mkdir(parents=True)
    (folder / "results/a/run.json").write_text("{cut off")
    assert finish("a", "finished") is None
    assert (folder / "results/a/run.json.unreadable").read_text() == "{cut off"


def test_an_argument_that_is_not_utf_8_is_recorded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchc.workflow.run_record._call", {})
    assert begin("a", ["snakemake", "\udce4"], "local") is None
    assert read_record(Path("results/a"))["calls"][0]["command"] == "snakemake '\udce4'"


def test_a_line_that_was_cut_off_hides_no_later_try(folder: Path) -> None:
    file = facts_file(["pool"])
    file.parent.mkdir()
    file.write_text('{"start": 1, "host": "n1"}\n{"end": 2, "fai')
    with recorded_facts(["pool"]):
        pass
    first, second = tries_of(file)
    assert (first, second["host"]) == ({"start": 1, "host": "n1"}, socket.gethostname())
