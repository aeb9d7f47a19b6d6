"""`benchc models`: list, show, pin, fetch and check, with a hub of the test and small checkpoints."""

import base64
import importlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import polars as pl
import pytest
import yaml

from benchc.checking import models as checked_models
from benchc.checking.check_items import check_items
from benchc.checking.finding import Finding
from benchc.checking.locate import locate
from benchc.checking.pool import PoolFound
from benchc.config.catalogue import Model
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.models import checkpoint
from benchc.models.asking import AskedModel, Job
from benchc.models.hub import fetch as hub_fetch
from benchc.models.job import checkpoint_source
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.schemas.parquet import TableType, write_table
from benchc.schemas.pool import POOL
from scripts.benchc import main
from scripts.commands.models import fetch
from tests.config.trial import MODELS
from tests.models.hub_server import FIRST, SECOND, Hub, Repository
from tests.models.test_adapter import base_model, entry_of, loaded, matrices, same_weights, write_adapter
from tests.models.test_check_models import change_weights, pool  # noqa: F401
from tests.stages import call_stage

REPO = "owner/tiny"
URL = "http://127.0.0.1:9"
WEIGHTS = "0.47 MB"  # of the small checkpoint
ENTRIES: dict[str, dict[str, Any]] = {
    "hub-model": {"repo": REPO, "revision": None},
    "pinned-model": {"repo": REPO, "revision": FIRST},
    "folder-model": {"path": "checkpoint"},
    "absent-model": {"path": "nowhere"},
    "own-model": {"repo": "owner/own", "family": "llava_next", "recommended": "server"},
    "code-model": {"repo": REPO, "family": "moondream"},
    "served-model": {"repo": REPO, "family": None, "server": {"url": URL}},
    "closed-model": {"family": None, "scoring": "generate", "server": {"url": URL, "model": "gpt-4o"}},
    "trained-model": {"scoring": "text", "train": yaml.safe_load(MODELS)["small"]["train"]},
}
HEADER = "index\timage\tquestion\tA\tB\tanswer\tcategory"

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def hub(served: Hub, checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub with one model, and a working directory with a catalogue and a checkpoint."""
    served.repositories[REPO] = Repository()
    served.repositories[REPO].add(checkpoints["llava"], FIRST)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoint").symlink_to(checkpoints["llava"])
    usual = {"family": "llava", "scoring": "letter"}
    entries = {id_: {"label": id_, **usual, **keys} for id_, keys in ENTRIES.items()}
    Path("models.yaml").write_text("# Mine.\n" + yaml.safe_dump(entries, sort_keys=False))
    return served


@pytest.fixture
def command(
    hub: Hub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, torch_settings: None
) -> Command:
    """Run `benchc models` with the catalogue, without new processes."""

    def in_this_process(module: str, function: str, *arguments: object) -> Any:
        return getattr(importlib.import_module(module), function)(*arguments)

    def ran(*arguments: str) -> tuple[int, str, str]:
        status: object = 0
        # Each is a process of its own.
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        try:
            main(["models", *arguments, "--catalogue", "models.yaml"])
        except SystemExit as end:
            status = end.code
        out, err = capsys.readouterr()
        # Only what main raises is printed when a process ends.
        return (0 if status in (0, None) else 1), out, err if isinstance(status, int) else f"{err}{status}"

    monkeypatch.setattr(checked_models, "in_child", in_this_process)
    return ran


def rows(out: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines()]
    return {row[0]: row for row in cells}


def facts_of(out: str) -> dict[str, str]:
    return dict(re.split(r"  +", line, maxsplit=1) for line in out.splitlines())


def write_tsv(items: Iterable[tuple[int, str, str]]) -> None:
    lines = [f"{index}\t{image}\tWhich?\tred\tblue\t{answer}\tcolour" for index, image, answer in items]
    Path("n.tsv").write_text("\n".join([HEADER, *lines, ""]))


def png(pixels: np.ndarray) -> str:
    return base64.b64encode(encode_png(pixels)).decode()


BLACK = png(np.zeros((40, 56, 3), dtype=np.uint8))


def write_sources(sources: dict[str, Any]) -> None:
    Path("config").mkdir(exist_ok=True)
    Path("config/sources.yaml").write_text(yaml.safe_dump(sources))
    Path("config/demo-sources.yaml").write_text("{}")


def test_all_models_are_listed(command: Command, hub: Hub) -> None:
    status, out, _ = command("list")
    found = rows(out)
    assert status == 0 and hub.requests == []
    flags = [name for name, field in Model.model_fields.items() if field.annotation is bool]
    first, last = ["id", "label", "loaded by", "recommended", "revision"], ["verified", "here", "weights"]
    assert found["id"] == [*first, *flags, *last]
    kinds = {id_: (row[2], row[4], row[-2]) for id_, row in found.items()}
    assert kinds["hub-model"] == ("llava", "not pinned", "no")
    assert kinds["pinned-model"] == ("llava", FIRST[:12], "no")
    assert kinds["folder-model"] == ("llava", "", "yes") and found["folder-model"][-1] == WEIGHTS
    assert kinds["absent-model"] == ("llava", "", "folder is missing")
    assert kinds["own-model"] == ("transformers (llava_next)", "not pinned", "no")
    assert kinds["trained-model"] == ("trained (llava)", "", "made by runs")
    on_server = ("server", "that of the server", "on a server")
    assert kinds["served-model"] == kinds["closed-model"] == on_server
    assert {id_ for id_, row in found.items() if row[3] == "server"} == {"own-model"}
    command("fetch", "hub-model")
    assert rows(command("list")[1])["hub-model"][-2:] == ["yes", WEIGHTS]


def test_all_facts_of_one_are_shown(command: Command) -> None:
    facts = facts_of(command("show", "hub-model")[1])
    assert facts["catalogue"] == "models.yaml" and facts["page"] == f"https://huggingface.co/{REPO}"
    assert facts["here"] == "no" and facts["to fetch it"] == f"benchc models fetch {REPO}"
    # Every key of the catalogue, also one that is added later.
    assert set(Model.model_fields) <= set(facts)
    assert facts["repo"] == f'"{REPO}"' and facts["mem_mb"] == "2000"
    command("fetch", "hub-model")
    facts = facts_of(command("show", "hub-model")[1])
    assert (facts["here"], facts["commit here"], facts["weights"]) == ("yes", FIRST, WEIGHTS)


def test_long_values_are_wrapped_and_complete(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    note = "It needs " + "much more than one line of a terminal " * 5 + "with-a-long-word-that-is-not-broken."
    edit("hub-model", note=note)
    for columns, longest in (("80", 80), ("5", 60), ("1000", 1000)):
        monkeypatch.setenv("COLUMNS", columns)
        out = command("show", "hub-model")[1]
        assert f'note "{note}"' in " ".join(out.split()) and "..." not in out
        assert max(map(len, out.splitlines())) <= longest


@pytest.mark.parametrize("id_", ["served-model", "closed-model"])
def test_a_model_on_a_server_has_nothing_on_the_hub(command: Command, hub: Hub, id_: str) -> None:
    status, out, _ = command("show", id_)
    facts = facts_of(out)
    assert (status, facts["here"], facts["loaded by"]) == (0, "on a server", "server")
    assert not facts.keys() & {"page", "commit here", "to fetch it"}
    assert f"{id_} is on the server {URL}, which decides the revision" in command("pin", id_)[2]
    assert command("fetch", id_)[1] == f"{id_}: is on the server {URL}, nothing to download\n"
    status, _, err = command("check", id_)
    assert status == 1 and err.startswith(f"error: {URL}/v1/models: no server answers")
    assert hub.requests == []


def test_the_code_of_a_checkpoint_is_named_when_it_is_pinned(command: Command) -> None:
    page = f"code-model: its code at this commit, to read before you trust it: https://huggingface.co/{REPO}/"
    first, second = command("pin", "code-model")[1].splitlines()
    assert first == f"code-model: null -> {FIRST}, in models.yaml" and second == f"{page}tree/{FIRST}"
    assert command("pin", "code-model")[1].splitlines()[1] == second


def test_models_are_fetched_by_id_or_name(command: Command, hub: Hub, tmp_path: Path) -> None:
    status, out, err = command("fetch", "hub-model", "folder-model", "trained-model", f"{REPO}@{FIRST}")
    assert (status, err) == (0, "")
    fetched, folder, trained, again = out.splitlines()
    assert re.match(rf"{REPO}@{FIRST}: \d+ MB downloaded, {tmp_path}/hub/", fetched)
    assert folder == "folder-model: is the folder checkpoint, nothing to download"
    assert trained == "trained-model: is trained by runs, nothing to download"
    assert again.startswith(f"{REPO}@{FIRST}: was here already, ")


def test_all_of_a_run_are_fetched_by_its_rule(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    called = []

    def ran(*arguments: object, full: bool) -> None:
        called.append((*arguments, full))
        raise SystemExit(0)

    monkeypatch.setattr(fetch, "run", ran)
    assert command("fetch", "--config", "mine.yaml")[0] == 0
    assert called == [(Path("mine.yaml"), "--cores", "1", "fetch_models", True)]
    assert "error: give models, or --config" in command("fetch", "--config", "mine.yaml", "hub-model")[2]
    assert "error: give models, or --config" in command("fetch")[2]


def test_a_pinned_model_keeps_its_comments(command, hub, monkeypatch):
    path = Path("models.yaml")
    before = path.read_text()
    status, out, _ = command("pin", "hub-model")
    assert (status, out) == (0, f"hub-model: null -> {FIRST}, in models.yaml\n")
    assert path.read_text() == before.replace("revision: null", f'revision: "{FIRST}"', 1)
    hub.repositories[REPO].commits[SECOND] = hub.repositories[REPO].commits[FIRST]
    hub.repositories[REPO].branches["main"] = SECOND
    assert command("pin", "hub-model")[1].startswith(f"hub-model: is pinned to {FIRST}; --to main")
    assert f"hub-model: {FIRST} -> {SECOND}" in command("pin", "hub-model", "--to", "main")[1]
    assert yaml.safe_load(path.read_text())["hub-model"]["revision"] == SECOND
    # A commit of the cache is not pinned in place of the Hub's.
    command("fetch", "hub-model")
    before = Path("models.yaml").read_text()
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    status, _, err = command("pin", "hub-model", "--to", "main")
    assert status == 1 and f"error: {REPO}: the Hub cannot be reached (ConnectError" in err
    assert Path("models.yaml").read_text() == before


@pytest.mark.parametrize("name", ["show", "pin", "fetch", "check"])
def test_an_unknown_id_is_one_line(command: Command, name: str) -> None:
    status, _, err = command(name, "hub-modell")
    assert status == 1
    assert err == 'error: models.yaml: there is no model "hub-modell" (did you mean hub-model?)'
    far = command(name, "zzz")[2]
    assert far.endswith('"zzz"; `benchc models list` shows all, and --catalogue FILE names another catalogue')


def test_errors_are_one_line(command: Command, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    error = command("fetch", "hub-model", "absent-model")[2]
    assert "error: absent-model: there is no folder nowhere; copy the model there" in error
    assert hub.requests == []
    assert "folder-model is not on the Hub; only models with a repo" in command("pin", "folder-model")[2]
    assert "there is no such model on the Hub" in command("pin", "own-model")[2]
    hub.repositories[REPO].gated = True
    assert "is gated: accept its licence on" in command("fetch", "hub-model")[2]
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert "the Hub refuses your token (HF_TOKEN)" in command("fetch", "hub-model")[2]
    assert "trained-model: made by the run; a model that a run" in command("check", "trained-model")[2]
    assert command("check", "hub-model")[2].endswith(f"run: benchc models fetch {REPO}@{FIRST}")
    Path("models.yaml").write_text("a: {label: A}\nb: [1]\n")
    first, *others = command("list")[2].splitlines()
    assert first.startswith("error: models.yaml: a.") and all(line.startswith("error: ") for line in others)
    Path("models.yaml").unlink()
    assert "error: models.yaml: cannot be read (No such file or directory)" in command("list")[2]


def test_a_model_of_the_cache_answers_generated_items(command, tmp_path):
    command("fetch", "pinned-model")
    status, out, _ = command("check", "pinned-model")
    assert status == 0
    assert out.startswith("pinned-model: /") and re.search(
        r" s per prediction \(.* s in the model on the CPU, .* s encoding\), label mass ", out
    )
    assert re.search(r"^letters: A is token \d+, B is token \d+", out, re.MULTILINE)
    assert re.search(r"^generated items: \d of 3 items correct \([\d.]+ %, chance is ", out, re.MULTILINE)
    # Damaged weights are fetched anew.
    (file,) = tmp_path.glob("hub/**/model.safetensors")
    os.truncate(file.resolve(), 2000)
    error = command("check", "pinned-model")[2]
    folder = re.search(r"is damaged or incomplete; delete (\S+) and run: ", error)
    assert folder is not None and error.endswith(f"benchc models fetch {REPO}@{FIRST}")
    shutil.rmtree(folder[1])
    command("fetch", "pinned-model")
    assert command("check", "pinned-model")[0] == 0


def write_items(pool: PoolFound, answer: int) -> None:  # noqa: F811
    """Write two items, whose words the small checkpoint's tokenizer knows, with the same answer."""
    answers = pl.lit(answer, pl.Int64)
    write_table(pool.sample.with_columns(answer=answers), "pool.parquet", POOL)


def test_the_accuracy_on_a_source_is_measured(command, pool):  # noqa: F811
    correct = []
    for answer in range(4):
        write_items(pool, answer)
        status, out, _ = command("check", "folder-model", "--source", "pool.parquet")
        assert status == 0
        correct += re.findall(r"^clean accuracy: (\d) of 2 items correct", out, re.MULTILINE)
    # Each of the two items has one answer.
    assert len(correct) == 4 and sum(map(int, correct)) == 2
    out = command("check", "folder-model", "--source", "pool.parquet", "--items", "1")[1]
    assert " of 1 item correct" in out
    # The published one is shown beside it.
    edit("folder-model", label="Emu3-Chat")
    write_items(pool, 0)
    assert "published: 35.2 % on the " in command("check", "folder-model", "--source", "pool.parquet")[1]


def test_what_is_no_source_is_refused_with_what_to_give(command: Command, pool: PoolFound) -> None:  # noqa: F811
    def refused(source: str) -> str:
        status, out, err = command("check", "folder-model", "--source", source)
        assert status == 1 and out == ""
        return err

    give = "give a TSV file, or pool/items.parquet of a run"
    write_table(pl.DataFrame({"a": [1]}), "other.parquet", TableType("other", 1, {"a": pl.Int64}))
    assert refused("other.parquet") == f"error: other.parquet: is no pool of a run, or is damaged; {give}"
    assert refused("none.parquet") == f"error: none.parquet: there is no such file; {give}"
    write_table(pool.sample, "open.parquet", POOL)
    assert "open.parquet: none of its items has an answer" in refused("open.parquet")


def test_the_id_of_a_source_is_taken_where_its_file_is_here(command: Command, tmp_path: Path) -> None:
    sources = {
        "far": {"label": "F", "url": "https://example.org/far.tsv", "task_column": "category"},
        "near": {"label": "N", "path": "n.tsv", "task_column": "category", "reader": {"index_below": 2}},
        "made": {"label": "M", "generated": {"groups": 1}, "task_column": "category"},
    }
    files = dict.fromkeys(("questions", "annotations", "images"), "n.tsv")
    open_ = {"label": "V", "convert": {"format": "vqav2", "files": files}, "task_column": "category"}
    write_sources(sources | {"open": open_})
    write_tsv((index, BLACK, "A") for index in (1, 2))
    # With the reader's options of the catalogue.
    assert check_items("near", 10)["id"].to_list() == ["near/1"]
    far = command("check", "folder-model", "--source", "far")[2]
    address = "https://example.org/far.tsv"
    assert far == f"error: far: is not on this machine; download {address} to results/downloads/far.tsv"
    of_run = {"label": "R", "path": "results/r-bench/released.tsv", "task_column": "category"}
    write_sources(sources | {"open": open_, "later": of_run})
    later = command("check", "folder-model", "--source", "later")[2]
    assert later == (
        "error: later: is not on this machine; make results/r-bench/released.tsv, or name another"
    )
    assert "made: is generated by a run" in command("check", "folder-model", "--source", "made")[2]
    refused = command("check", "folder-model", "--source", "open")[2]
    assert refused == "error: open: has open-ended questions; give a source with options"
    assert "no such id in config/sources.yaml" in command("check", "folder-model", "--source", "no.tsv")[2]


def edit(id_: str, **keys: object) -> None:
    entries = yaml.safe_load(Path("models.yaml").read_text())
    entries[id_] |= keys
    Path("models.yaml").write_text(yaml.safe_dump(entries))


def test_a_model_is_verified_where_its_accuracy_is_the_published_one(command: Command, hub: Hub) -> None:
    write_sources({"near": {"label": "N", "path": "n.tsv", "task_column": "category"}})
    noise = np.random.default_rng(0)
    images = [png(noise.integers(0, 256, (40, 56, 3), np.uint8)) for _ in range(8)]
    write_tsv((index, image, "AB"[index % 3 == 0]) for index, image in enumerate(images))

    def verified(id_: str = "pinned-model") -> str:
        return rows(command("list")[1])[id_][-3]

    missing = command("verify", "pinned-model", "--source", "near")[2]
    assert "models.yaml: pinned-model has no published accuracy on near; add it: " in missing
    published = {"percent": 1, "tolerance": 0.1, "reference": "Table 1"}
    edit("pinned-model", published={"near": published})
    absent = command("verify", "pinned-model", "--source", "near")[2]
    assert f"error: {REPO}: its revision {FIRST} is not in the Hub's cache" in absent
    command("fetch", "pinned-model")
    status, out, err = command("verify", "pinned-model", "--source", "near")
    assert status == 1 and "pinned-model: is not verified, its accuracy differs by " in err
    checked = command("check", "pinned-model", "--source", "near")[1]
    accuracy = 100 * int(re.findall(r"clean accuracy: (\d) of 8 items", checked)[0]) / 8
    assert f"pinned-model: {accuracy:.1f} % of 8 items, published 1 % with a tolerance" in out
    assert verified() == "" and not Path("results/verified").exists()
    near = published | {"percent": accuracy - 1, "tolerance": 1}
    edit("pinned-model", published={"near": near})
    status, out, err = command("verify", "pinned-model", "--source", "near")
    assert status == 0 and "8 predictions, 8 from the cache" in err
    assert out.endswith("verified: results/verified/pinned-model/near.json\n")
    measured = f"near: {accuracy:.1f} % of 8 items ({accuracy - 1:g} % published)"
    expected = f"{measured}, {date.today()}, revision {FIRST[:12]}, cpu"
    assert verified() == expected and expected in " ".join(command("show", "pinned-model")[1].split())
    # Information about a model changes nothing, and what decides its predictions does.
    edit("pinned-model", label="Another", mem_mb=9000)
    assert verified() == expected
    edit("pinned-model", dtype="bfloat16")
    assert verified() == ""
    # Neither counts a record that was measured to differ, one of another number, nor one that is none.
    edit("pinned-model", dtype="float32", published={"near": published | {"percent": accuracy}})
    assert verified() == ""
    edit("pinned-model", published={"near": near})
    assert verified() == expected
    path = Path("results/verified/pinned-model/near.json")
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"correct": content["correct"] - 1}))
    assert verified() == ""
    path.write_text("{}")
    assert verified() == ""
    edit("pinned-model", published={"near": published})
    command("verify", "pinned-model", "--source", "near")
    assert not path.exists()
    # The files of a model in a folder decide, too.
    folder = Path("checkpoint").resolve()
    Path("checkpoint").unlink()
    shutil.copytree(folder, "checkpoint")
    edit("folder-model", published={"near": published | {"percent": accuracy}})
    assert command("verify", "folder-model", "--source", "near")[0] == 0
    assert verified("folder-model").startswith("near: ")
    change_weights(Path("checkpoint"), "lm_head", 2.0)
    assert verified("folder-model") == ""


def test_a_source_that_is_not_whole_verifies_nothing(command: Command) -> None:
    write_tsv((index, BLACK, answer) for index, answer in enumerate("ABC"))
    edit("folder-model", published={"near": {"percent": 50, "tolerance": 20, "reference": "Table 1"}})
    entry = {"label": "N", "path": "n.tsv", "task_column": "category"}
    found = []
    for published in ({}, {"items": 3}):
        write_sources({"near": entry | {"published": published}})
        found.append(command("verify", "folder-model", "--source", "near")[2].splitlines()[-1])
    assert found == [
        "error: n.tsv: of near, 1 row cannot be read, the first: the answer is C, an option without text; "
        "mend the file, without which an accuracy is not comparable",
        "error: n.tsv: has 2 items, but near as published has 3; give the whole file, without which an "
        "accuracy is not comparable",
    ]
    assert not Path("results/verified").exists()
    given = command("verify", "folder-model", "--source", "n.tsv")[2]
    assert given.startswith("error: --source n.tsv: is no id of a source; add an entry for it to config/sou")


def test_what_cannot_be_loaded_is_an_error_before_it_is_fetched(command: Command, hub: Hub) -> None:
    assert "run `benchc models pin code-model`, which writes" in command("check", "code-model")[2]
    edit("own-model", env=None, note="Its package is old.")
    error = command("check", "own-model")[2]
    assert error.startswith("error: own-model: no job can load it") and error.endswith("Its package is old.")
    assert hub.requests == []


def test_a_folder_without_whole_weights_is_not_here(command: Command, checkpoints: dict[str, Path]) -> None:
    Path("checkpoint").unlink()
    Path("checkpoint").mkdir()
    assert rows(command("list")[1])["folder-model"][-2:] == ["no weights", ""]
    assert "error: checkpoint: no weights; copy the model there again" in command("check", "folder-model")[2]
    Path("checkpoint/model.gguf").touch()
    assert rows(command("list")[1])["folder-model"][-2] == "yes"
    shutil.copytree(checkpoints["llava"], "checkpoint", dirs_exist_ok=True)
    with Path("checkpoint/model.safetensors").open("r+b") as file:
        file.truncate(2000)
    assert rows(command("list")[1])["folder-model"][-2] == "model.safetensors is damaged or incomplete"


def test_a_model_that_ignores_its_images_fails(command: Command, checkpoints: dict[str, Path]) -> None:
    Path("checkpoint").unlink()
    shutil.copytree(checkpoints["llava"], "checkpoint")
    change_weights(Path("checkpoint"), "multi_modal_projector", 0.0)
    status, out, _ = command("check", "folder-model")
    assert status == 1 and "error: its predictions do not change if the images become grey" in out


LORA, BOTH = "owner/lora", "owner/both"
ADAPTED: dict[str, dict[str, Any]] = {
    "adapted": {"repo": REPO, "adapter": LORA},
    "folder-adapted": {"path": "checkpoint", "adapter": LORA, "adapter_revision": FIRST},
}


@pytest.fixture
def lora(hub: Hub, checkpoints: dict[str, Path], tmp_path: Path) -> Path:
    """Add an adapter, and a model with an adapter beside it, to the hub; return the adapter's folder."""
    pairs = matrices(base_model(checkpoints["llava"]))
    # With a file of its training that is not read.
    folder = write_adapter(tmp_path / "lora", pairs, base_model_name_or_path=REPO)
    hub.repositories[LORA] = Repository()
    hub.repositories[LORA].add(folder, FIRST, **{"README.md": b"# Mine", "optimizer.pt": b"0"})
    both = {path.name: path.read_bytes() for path in checkpoints["llava"].iterdir()}
    other = write_adapter(tmp_path / "other", pairs, base_model_name_or_path="owner/absent")
    hub.repositories[BOTH] = Repository()
    hub.repositories[BOTH].add(other, FIRST, **both)
    catalogue = yaml.safe_load(Path("models.yaml").read_text())
    catalogue |= {id_: {"label": id_, "scoring": "letter", **keys} for id_, keys in ADAPTED.items()}
    Path("models.yaml").write_text(yaml.safe_dump(catalogue, sort_keys=False))
    return folder


def test_an_adapter_is_fetched_with_its_model(lora: Path, command: Command, hub: Hub) -> None:
    before = rows(command("list")[1])
    assert before["adapted"][2] == "transformers + adapter" and before["adapted"][-2] == "no"
    assert before["folder-adapted"][-2] == "adapter: no"
    shown = " ".join(command("show", "folder-adapted")[1].split())
    assert f"to fetch its adapter benchc models fetch {LORA}@{FIRST} --adapter" in shown
    status, _, err = command("check", "folder-adapted")
    assert status == 1 and err.endswith(f"run: benchc models fetch {LORA}@{FIRST} --adapter")
    status, out, _ = command("fetch", "adapted", "folder-adapted")
    first, second, third, fourth = out.splitlines()
    assert status == 0 and first.startswith(f"{REPO}@{FIRST}: ") and second.startswith(f"{LORA}@{FIRST}: ")
    assert third == "folder-adapted: is the folder checkpoint, nothing to download"
    assert fourth.startswith(f"{LORA}@{FIRST}: was here already")
    assert hub.downloaded()[-2:] == ["adapter_config.json", "adapter_model.safetensors"]
    hub.requests.clear()
    after = rows(command("list")[1])
    assert after["adapted"][-2] == after["folder-adapted"][-2] == "yes"
    assert [line.partition(":")[0] for line in command("check", "adapted")[1].splitlines()][1] == "ok"
    assert hub.requests == []


def test_a_check_says_that_an_adapter_is_fetched(lora: Path, hub: Hub) -> None:
    found = locate("m", entry_of(path="checkpoint", adapter=LORA), None)
    assert isinstance(found, Finding) and found.level == "fetch"
    assert found.text.startswith("its adapter, ") and found.text.endswith(f" from the Hub: {LORA}")
    hub.repositories[LORA].commits[FIRST].pop("adapter_config.json")
    with pytest.raises(InputError, match=f"{LORA}: has no file adapter_config.json at the commit {FIRST}"):
        hub_fetch.fetch_adapter(LORA, FIRST)


def test_an_adapter_is_fetched_by_its_id(lora: Path, command: Command) -> None:
    status, _, err = command("fetch", f"{LORA}@{FIRST}")
    assert status == 1 and f"{LORA}: is an adapter (adapter_config.json), not a model; in the mode" in err
    assert f"base model ('{REPO}'), and `adapter: {LORA}`" in err
    assert command("fetch", f"{LORA}@{FIRST}", "--adapter")[0] == 0
    status, _, err = command("fetch", f"{REPO}@{FIRST}", "--adapter")
    assert status == 1 and f"{REPO}: has no file adapter_config.json at the commit {FIRST}" in err


def test_an_adapter_is_pinned_with_its_model(lora: Path, command: Command) -> None:
    assert command("pin", "adapted", "folder-adapted")[1].splitlines() == [
        f"adapted: its adapter: null -> {FIRST}, in models.yaml",
        f"adapted: null -> {FIRST}, in models.yaml",
        f"folder-adapted: its adapter: is pinned to {FIRST}",
    ]
    entry = yaml.safe_load(Path("models.yaml").read_text())["adapted"]
    assert (entry["revision"], entry["adapter_revision"]) == (FIRST, FIRST)


def test_a_job_loads_the_commit_that_was_recorded(lora, hub, checkpoints, monkeypatch):
    record = Path("results/run/revisions/adapters/m.json")
    call_stage("fetch_model", repo=LORA, adapter=True, output=record)
    assert json.loads(record.read_text()) == {"repo": LORA, "revision": None, "commit": FIRST}
    hub.repositories[LORA].add(lora, SECOND)
    hub.requests.clear()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    asked = AskedModel(label="m", location=str(checkpoints["llava"]), adapter=LORA)
    source = checkpoint_source(asked, Job(adapter_file=record), None)
    assert (source.adapter, source.adapter_revision) == (LORA, FIRST)
    found = checkpoint.load(source)
    assert (found.identity["adapter"], found.identity["adapter_revision"]) == (LORA, FIRST)
    base = checkpoints["llava"]
    assert same_weights(loaded(base, LORA, adapter_revision=FIRST), loaded(base, lora))
    assert hub.requests == []
    with pytest.raises(ModelError, match=f"benchc models fetch {LORA}@{SECOND} --adapter"):
        checkpoint.load(CheckpointSource(str(checkpoints["llava"]), adapter=LORA, adapter_revision=SECOND))
    other = AskedModel(label="m", location="a", adapter="owner/other")
    with pytest.raises(InputError, match=f"is the revision of {LORA}, not of owner/other"):
        checkpoint_source(other, Job(adapter_file=record), None)


def test_a_repository_with_both_is_what_the_entry_says(lora, checkpoints, monkeypatch):
    hub_fetch.fetch(BOTH, FIRST)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=f"set `adapter: {BOTH}` for the model with this adapter, or `ada"):
        checkpoint.load(CheckpointSource(BOTH, FIRST))
    # Not the base that the adapter names.
    alone = loaded(Path(BOTH), "none", revision=FIRST)
    assert same_weights(alone, loaded(checkpoints["llava"]))
    adapted = loaded(Path(BOTH), BOTH, revision=FIRST, adapter_revision=FIRST)
    assert same_weights(adapted, loaded(checkpoints["llava"], lora))
