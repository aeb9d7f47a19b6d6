"""What benchc verify finds, by records of a few files, and records that it does not read."""

import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchc.closure import content_sample
from benchc.errors import InputError
from benchc.workflow.run_record import Hashes, hash_of, read_record
from benchc.workflow.verification import verified
from scripts.commands.verify import verify

CALL = {"result": "finished", "benchc": "1.0", "revision": None, "modified": None}


def sha256(content: str) -> str:
    return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"


def output(content: str, **inputs: str | None) -> dict[str, Any]:
    return {
        **{"rule": "pool", "job": "a", "seconds": 1.0, "made": "2026-11-27T00:00:00+00:00"},
        **{"hash": sha256(content), "inputs": inputs},
    }


def write(folder: Path, **changes: Any) -> None:
    record = {"format": 1, "calls": [CALL], "outputs": {}, **changes}
    (folder / "run.json").write_text(json.dumps(record))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run: b is made from a, which is made from a file outside, and c from one inside."""
    monkeypatch.chdir(tmp_path)
    found = tmp_path / "results/small"
    found.mkdir(parents=True)
    for name in ("a", "b", "c", "own"):
        (found / name).write_text(name)
    Path("data").write_text("data")
    outputs = {
        "a": output("a", **{"./data": f"sample:{content_sample('data')}"}),
        "b": output("b", a=sha256("a")),
        "c": output("c", own=sha256("own"), a=sha256("a")),
    }
    write(found, outputs=outputs)
    return found


def test_a_run_matches(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(folder).recorded == 3 and verified(folder).matches
    verify(folder)
    head, last = capsys.readouterr().out.splitlines()
    assert head == f"{folder}: 3 outputs in run.json; its last call was by benchc 1.0, no commit"
    assert last == "all outputs match"


def test_an_output_that_is_not_there_is_named_once(folder: Path) -> None:
    (folder / "a").unlink()
    found = verified(folder)
    assert (found.missing, found.changed, found.outdated, found.matches) == (["a"], [], {}, False)


def test_an_input_in_the_folder_that_is_not_there_is_missing(folder: Path) -> None:
    write(folder, outputs={name: output(name, own=sha256("own")) for name in ("a", "b")})
    (folder / "own").unlink()
    found = verified(folder)
    assert (found.missing, found.outdated) == (["own"], {})


def test_an_output_that_was_edited_makes_what_is_made_from_it_outdated(folder: Path) -> None:
    (folder / "a").write_text("other")
    found = verified(folder)
    assert (found.missing, found.changed, found.outdated) == ([], ["a"], {"a": ["b", "c"]})
    (folder / "a").unlink()
    (folder / "a").mkdir()
    assert verified(folder).changed == ["a"]


def test_only_an_input_that_changed_is_no_match(folder: Path) -> None:
    (folder / "own").write_text("other")
    found = verified(folder)
    assert (found.changed, found.outdated, found.matches) == ([], {"own": ["c"]}, False)


def test_an_input_that_was_changed_while_its_job_ran_is_outdated(folder: Path) -> None:
    write(folder, outputs={"a": output("a", own=None)})
    assert verified(folder).outdated == {"own": ["a"]}


def test_an_input_outside_is_compared_where_it_is_here(folder: Path) -> None:
    Path("data").write_text("else")
    assert verified(folder).outdated == {"./data": ["a"]}
    Path("data").unlink()
    found = verified(folder)
    assert (found.elsewhere, found.missing, found.matches) == (["./data"], [], True)


def test_a_large_file_is_compared_as_it_was_recorded(folder: Path) -> None:
    sampled = f"sample:{content_sample(folder / 'a')}"
    write(folder, outputs={"a": output("a") | {"hash": sampled}})
    assert verified(folder).matches
    # One job read it as it is, and of the other it is unknown.
    write(folder, outputs={"b": output("b", a=sampled), "c": output("c", a=None)})
    assert verified(folder).outdated == {"a": ["c"]}


def test_a_folder_whose_files_are_large_together_matches(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchc.workflow.run_record.WHOLE_BYTES", 5)
    (folder / "weights").mkdir()
    for name, size in (("a", 4), ("b", 4), ("large", 6)):
        (folder / "weights" / name).write_text("x" * size)
    hashes = Hashes(folder, {})
    made = {name: output("a") | {"hash": hashes.of(folder / name)} for name in ("weights", "a")}
    write(folder, outputs=made)
    assert verified(folder).matches
    (folder / "weights/b").write_text("yyyy")
    assert verified(folder).changed == ["weights"]


def test_a_file_that_cannot_be_read_is_not_called_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreadable = folder / "b"

    def refuse(path: Path, *, whole: bool) -> str:
        if path == unreadable:
            raise PermissionError(13, "Permission denied", str(path))
        return hash_of(path, whole=whole)

    monkeypatch.setattr("benchc.workflow.verification.hash_of", refuse)
    with pytest.raises(PermissionError):
        verify(folder)
    # One outside may be of another user.
    unreadable = Path("data")
    assert verified(folder).elsewhere == ["./data"]


MADE = "(benchc run results/small/config.yaml results/small/a --cores 2)"
WHOLE = "run again the configuration that it was made with"


@pytest.mark.parametrize(
    ("lost", "edited", "mend"),
    [
        ("a", "", f"make what is missing by name {MADE}, or copy it again if it is a copy"),
        ("a", "own", f"make what is missing by name {MADE}, then run its configuration again, or copy"),
        ("", "c", f"delete what was changed, then make it by name {MADE.replace('/a ', '/c ')}, or copy"),
        (
            "",
            "a",
            f"delete what was changed, then make it by name {MADE}, then run its configuration again, or",
        ),
        (
            "a",
            "c",
            f"delete what was changed, then make what is missing by name (such as {MADE[1:]}, or copy",
        ),
        ("", "own", "run its configuration again, or copy it again if it is a copy"),
        ("config.yaml", "", f"{WHOLE}, or copy it again if it is a copy"),
        ("", "config.yaml", f"delete what was changed, then {WHOLE}, or copy"),
        ("a", "config.yaml", f"delete what was changed, then {WHOLE}, or copy"),
        ("config.yaml", "own", f"{WHOLE}, or copy"),
    ],
)
def test_how_a_run_is_made_to_match_is_a_sentence(folder: Path, lost: str, edited: str, mend: str) -> None:
    record = json.loads((folder / "run.json").read_text())
    (folder / "config.yaml").write_text("name: small\n")
    outputs = {"config.yaml": output("name: small\n"), **record["outputs"]}
    write(folder, outputs=outputs, run="small")
    for name in filter(None, [lost]):
        (folder / name).unlink()
    for name in filter(None, [edited]):
        (folder / name).write_text("other")
    with pytest.raises(InputError, match=f"{folder}: does not match its record; {re.escape(mend)}"):
        verify(folder)
    elsewhere = folder.rename(folder.parent / "copy")
    again = "copy it again"
    mend = f"run it again where it was made, and {again}" if edited == "own" else f"{again} from where"
    with pytest.raises(InputError, match=f"^{elsewhere}: does not match its record; {mend}"):
        verify(elsewhere)


def test_links_to_a_run_that_is_not_here_are_told_from_lost_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.rename("results/demo")
    folder.mkdir()
    for name in ("a", "b", "own"):
        (folder / name).symlink_to(f"../demo/{name}")
    (folder / "c").write_text("c")
    Path("results/demo/run.json").rename(folder / "run.json")
    verify(folder)
    for copy, options in (("copied", {"symlinks": True}), ("whole", {})):
        shutil.copytree(folder, Path(copy) / "small", **options)
    verify(Path("whole/small"))
    mend = "its links need copied/demo: copy that, too, or copy the run with the files of its links (cp -aL)"
    with pytest.raises(InputError, match=f"^copied/small: does not match its record; {re.escape(mend)}$"):
        verify(Path("copied/small"))
    assert capsys.readouterr().out.endswith("\nmissing: copied/demo, to which a is a link and 2 more\n")
    (Path("copied/small/c")).unlink()
    with pytest.raises(InputError, match=f"record; copy it again from where it was made; {re.escape(mend)}$"):
        verify(Path("copied/small"))
    shutil.copytree("results/demo", "copied/demo")
    Path("copied/small/c").write_text("c")
    verify(Path("copied/small"))
    for lost in ("missing", "own"):  # a link to itself
        Path("copied/demo/own").unlink()
        Path("copied/demo/own").symlink_to(lost)
        with pytest.raises(InputError, match=f"its links need copied/demo/{lost}: copy"):
            verify(Path("copied/small"))


# ---- Records from elsewhere ----


def test_a_copy_of_the_page_has_no_record(folder: Path) -> None:
    (folder / "run.json").unlink()
    with pytest.raises(
        InputError, match=r"small/run\.json: there is none; give a run that has ended, .*--copy"
    ):
        verify(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{cut off",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": 1}',
        json.dumps({"format": 2, "calls": [CALL], "outputs": {}}).encode(),
        json.dumps({"format": True, "calls": [CALL], "outputs": {}}).encode(),
        json.dumps({"format": 1, "calls": [], "outputs": {}}).encode(),
        json.dumps({"format": 1, "calls": ["a"], "outputs": {}}).encode(),
        json.dumps({"format": 1, "calls": [CALL | {"revision": 5}], "outputs": {}}).encode(),
        json.dumps({"format": 1, "calls": [CALL]}).encode(),  # of a killed call
        json.dumps({"format": 1, "calls": [CALL], "outputs": {}, "stages": {"a": float("nan")}}).encode(),
    ],
)
def test_a_record_that_cannot_be_read_is_named(folder: Path, content: bytes) -> None:
    (folder / "run.json").write_bytes(content)
    with pytest.raises(InputError, match=r"small/run\.json: is no record of a run that this version reads"):
        verify(folder)


@pytest.mark.parametrize(
    "outputs",
    [
        ["a"],
        {"a": None},
        {"a": {"hash": None}},
        {"a": output("a") | {"inputs": ["b"]}},
        {"a": output("a") | {"inputs": {"b": 1}}},
        {"a": output("a") | {"seconds": "1"}},
        *({name: output("a")} for name in ("../../data", "/etc/passwd", "b/../../c", "./data", ".", "")),
    ],
)
def test_outputs_of_other_types_or_outside_the_folder_are_no_record(folder: Path, outputs: Any) -> None:
    write(folder, outputs=outputs)
    assert read_record(folder) == {}
    with pytest.raises(InputError, match="is no record of a run"):
        verify(folder)


@pytest.mark.parametrize("name", ["absent", "results/small/a"])
def test_a_folder_that_is_none_has_no_record(folder: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"^{name}: there is no such folder; give results/<name> of a run"):
        verify(Path(name))


def test_names_from_a_record_do_no_harm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder / "pipe")
    names = ["\x1b[2J", "pipe", "\ud800", "nul\0", "long" * 100]
    inputs = dict.fromkeys(["/dev/zero", "./\x1b[2J", "./\ud800"], "sample:")
    write(folder, outputs={name: output("a", **inputs) for name in names})
    with pytest.raises(InputError, match="does not match its record"):
        verify(folder)
    text = capsys.readouterr().out
    assert text.count("missing: ") == 5 and "missing: \\x1b[2J\n" in text and "\x1b" not in text
    assert "3 inputs outside the folder cannot be compared" in text


def test_of_many_files_the_first_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, outputs={f"file{number:02}": output("a") for number in range(12)})
    with pytest.raises(InputError):
        verify(folder)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [*(f"missing: file{number:02}" for number in range(10)), "missing: 2 more"]
