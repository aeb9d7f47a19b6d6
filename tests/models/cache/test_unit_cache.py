"""The prediction cache: exact, in bounded memory, and unharmed by kills, edits and concurrent jobs."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchc.errors import InputError
from benchc.models.asking import Job
from benchc.models.cache import unit_cache
from benchc.models.cache.identities import CachedIdentity, cached_identities
from benchc.models.cache.unit_cache import (
    IDENTITY_FILE,
    AnswerCache,
    PredictionCache,
    ShardIndex,
    adopted_from,
    checked,
    index_file,
    key_number,
    line_of,
    unit_key,
    units_of_shard,
    write_identity,
)
from benchc.models.prediction_code import ENTRY, prediction_code
from benchc.models.protocol import OptionScores, Reply

ROOT = Path(__file__).resolve().parents[3]
IDENTITY = {"model": "owner/name", "revision": "1"}
SCORES = OptionScores(
    np.array([[0.1, -2.5e-7], [1 / 3, 3e30]], dtype=np.float32), np.array([0.1, 1], dtype=np.float32)
)
PIXELS = ["i", "j"]


def open_cache(root: Path, name: str = "a", **identity: str) -> PredictionCache:
    return PredictionCache(root, IDENTITY | identity, name)


def same(a: OptionScores, b: OptionScores) -> bool:
    return a.logits.tobytes() == b.logits.tobytes() and a.label_mass.tobytes() == b.label_mass.tobytes()


def shards(root: Path) -> list[Path]:
    return sorted(root.rglob("*.units"))


def fill(root: Path, *prompts: str, name: str = "a") -> None:
    with open_cache(root, name) as cache:
        for prompt in prompts:
            cache.put(prompt, PIXELS, SCORES, False)


def found(root: Path, *prompts: str) -> list[bool]:
    with open_cache(root) as cache:
        return [cache.get(prompt, PIXELS) is not None for prompt in prompts]


def test_scores_come_back_bit_for_bit(tmp_path):
    with open_cache(tmp_path) as cache:
        cache.put("p", PIXELS, SCORES, False)
        cache.put("r", PIXELS, SCORES, True)
        assert same(cache.get("r", PIXELS).value, SCORES)
    with open_cache(tmp_path) as cache:
        scores, split, adopted = cache.get("p", PIXELS)
        assert same(scores, SCORES) and scores.logits.dtype == np.float32
        assert (split, adopted) == (False, None)
        assert cache.get("r", PIXELS).split
        assert cache.get("p", ["j", "i"]) is None
        assert cache.get("q", PIXELS) is None


def test_answers_come_back_as_they_were(tmp_path):
    replies = [Reply("a b\n\u00e4\x1f", "stop", 3), Reply("", "length", 0)]
    with AnswerCache(tmp_path, IDENTITY, "a") as cache:
        cache.put("p", PIXELS, replies, False)
    with AnswerCache(tmp_path, IDENTITY, "a") as cache:
        found = cache.get("p", PIXELS).value
    assert found == replies and all(type(each) is Reply for each in found)


def test_another_identity_shares_nothing_and_the_order_of_its_facts_is_not_part_of_it(tmp_path):
    fill(tmp_path, "p")
    with open_cache(tmp_path, revision="2") as cache:
        assert cache.get("p", PIXELS) is None
    with PredictionCache(tmp_path, dict(reversed(IDENTITY.items())), "a") as cache:
        assert cache.get("p", PIXELS) is not None


def test_jobs_of_one_name_write_different_shards_and_a_job_without_new_units_writes_none(tmp_path):
    with open_cache(tmp_path, "w") as one, open_cache(tmp_path, "w") as other:
        one.put("p", PIXELS, SCORES, False)
        other.put("q", PIXELS, SCORES, False)
    assert found(tmp_path, "p", "q") == [True, True]
    assert len(shards(tmp_path)) == 2
    assert all(shard.name.startswith("w-") for shard in shards(tmp_path))


def test_an_incomplete_line_is_skipped_and_computed_again(tmp_path):
    fill(tmp_path, "p", "q")
    [shard] = shards(tmp_path)
    whole = shard.read_bytes()
    for length in range(whole.index(b"\n") + 1, len(whole)):
        shard.write_bytes(whole[:length])
        assert found(tmp_path, "p", "q") == [True, False]
    fill(tmp_path, "q")
    assert found(tmp_path, "p", "q") == [True, True]


@pytest.mark.parametrize("place", [0, 33, 35, 40, 60, -2])
def test_an_edited_record_is_computed_again(tmp_path, place):
    fill(tmp_path, "p", "q")
    [shard] = shards(tmp_path)
    lines = shard.read_bytes().splitlines(keepends=True)
    edited = bytearray(lines[0])
    edited[place] = ord("1") if edited[place] != ord("1") else ord("2")
    shard.write_bytes(bytes(edited) + lines[1])
    assert found(tmp_path, "p", "q") == [False, True]
    # A correct copy in another shard is found, whichever is read first.
    fill(tmp_path, "p", name="0")
    fill(tmp_path, "p", name="z")
    assert found(tmp_path, "p", "q") == [True, True]


def test_a_shard_that_is_edited_or_pruned_while_a_job_runs_is_not_served(tmp_path):
    fill(tmp_path, "p", "q", "r")
    [shard] = shards(tmp_path)
    with open_cache(tmp_path) as cache:
        content = shard.read_bytes()
        shard.write_bytes(content.replace(content[40:44], b"AAAA", 1))
        assert cache.get("p", PIXELS) is None
        assert cache.get("q", PIXELS) is not None
    with open_cache(tmp_path) as cache:
        shard.unlink()
        assert cache.get("q", PIXELS) is None
        shutil.rmtree(cache.folder)
        cache.put("q", PIXELS, SCORES, False)
    assert found(tmp_path, "q") == [True]


def test_what_a_job_of_this_format_has_written_is_found(tmp_path, read):
    """Else all would be computed again."""
    folder = tmp_path / "owner--name/1b654fcedf0bab5c"
    folder.mkdir(parents=True)
    (folder / "a.units").write_bytes(
        b"6a2f67a920ab9a89c37455a6d82206d2 0 2 zczMPb03hrSrqqo+F3YXcg== zczMPQAAgD8= b18af0bb3008ef6d\n"
        b"bba1d60aef8bb2caca4c232ee9e2746e 0 2 zczMPb03hrSrqqo+F3YXcg== zczMPQAAgD8= b0906466786419d7\n"
    )
    numbers, starts = "899aab20a9672f6a cab28bef0ad6a1bb", "0000000000000000 5c00000000000000"
    for index in ("", f"db65ec365ba3d7d9bd4f21b1afcb3d27 {numbers} {starts}"):
        if index:
            (folder / "a.index").write_bytes(bytes.fromhex(index))
        with open_cache(tmp_path, language="\u00e9") as cache:
            assert all(same(cache.get(prompt, PIXELS).value, SCORES) for prompt in "pq")
            assert cache.key_numbers().tolist() == [0x6A2F67A920AB9A89, 0xBBA1D60AEF8BB2CA]
    assert read == ["a.units"]  # then there is an index


def test_files_of_an_older_format_are_ignored(tmp_path):
    with open_cache(tmp_path) as cache:
        old = {"key": unit_key("p", PIXELS).decode(), "logits": [[0.0, 1.0]], "mass": [1.0], "split": False}
        (cache.folder / "w.jsonl").write_text(f"{old}\n")
    assert found(tmp_path, "p") == [False]


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "owner--name").write_text("a file where a folder belongs")
    with pytest.raises(InputError, match=r"the prediction cache cannot be written .*--cache"):
        open_cache(tmp_path)


def test_the_cache_of_another_user_is_read_and_its_time_of_use_stays(tmp_path, monkeypatch):
    fill(tmp_path, "p")

    def forbidden(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(unit_cache.os, "utime", forbidden)
    assert found(tmp_path, "p") == [True]


FACTS = {"model": "o/m", "scoring": "letter", "modules": "", "code": prediction_code((), ENTRY)}


def test_a_cache_is_listed_by_identity_and_those_of_other_code_are_not_current(tmp_path):
    others = {
        "1": {},
        "2": {"entry": "benchc.models.server.served"},
        "3": {"code": "0"},
        "4": {"modules": "benchc.models.that_was_renamed"},
        "5": {"code": "z"},
    }
    for name, facts in others.items():
        (tmp_path / "o--m" / name).mkdir(parents=True)
        file = tmp_path / "o--m" / name / IDENTITY_FILE
        file.write_text(json.dumps(FACTS | facts))
        os.utime(file, (time.time() - 10_000.5 * 86_400,) * 2)
    # Of another format.
    (tmp_path / "o--m/0").mkdir()
    (tmp_path / f"o--m/0/{IDENTITY_FILE}").write_text('{"model": "o/m"}')
    found = cached_identities(tmp_path)
    assert [each.name for each in found] == list(others)
    assert [each.is_current() for each in found] == [True, False, False, False, False]
    assert {round(each.days_unused, 2) for each in found} == {10_000.5}
    found[0].delete()
    assert len(cached_identities(tmp_path)) == 4
    with pytest.raises(
        InputError, match=r"/o--m/1: cannot be deleted \(No such file or directory\); correct"
    ):
        found[0].delete()
    for text in ("{", "[]"):
        (tmp_path / f"o--m/0/{IDENTITY_FILE}").write_text(text)
        with pytest.raises(InputError, match=r"not an identity of predictions \(.+\); delete .*/o--m/0$"):
            cached_identities(tmp_path)


def test_an_absent_cache_is_an_error_unless_it_is_the_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cached_identities(Job.cache) == []
    for name in ("absent", "zzz"):
        with pytest.raises(InputError, match=f"^{name}: there is no such folder; give that of a prediction"):
            cached_identities(Path(name))


WORKER = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from tests.models.cache.test_unit_cache import PIXELS, SCORES, open_cache
from pathlib import Path
root, first, last, killed = Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "killed"
with open_cache(root, "w") as cache:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(first, last):
        cache.put(f"p{number}", PIXELS, SCORES, False)
    if killed:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def start(root: Path, first: int, last: int, end: str = "finished") -> subprocess.Popen[bytes]:
    arguments = [str(ROOT), str(root), str(first), str(last), end]
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", WORKER, *arguments], stdin=pipe, stdout=pipe)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    return process


def test_a_killed_job_loses_nothing_that_it_put(tmp_path):
    process = start(tmp_path, 0, 3, "killed")
    process.communicate(b"\n")
    assert process.returncode == -signal.SIGKILL
    assert found(tmp_path, "p0", "p1", "p2", "p3") == [True, True, True, False]


def test_two_processes_at_once_lose_nothing(tmp_path):
    # Both compute 500 to 999.
    processes = [start(tmp_path, 0, 1000), start(tmp_path, 500, 1500)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [process.wait() for process in processes] == [0, 0]
    assert len(shards(tmp_path)) == 2
    assert all(found(tmp_path, *(f"p{number}" for number in range(1500))))


READER = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.models.cache.test_unit_cache import PIXELS, SCORES, open_cache
from pathlib import Path
with open_cache(Path(sys.argv[2])) as cache:
    hits = [cache.get(f"p{number * 997}", PIXELS) is not None for number in range(1100)]
    cache.put("new", PIXELS, SCORES, False)
assert hits == [True] * 1004 + [False] * 96, hits.index(False)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_a_million_units_in_many_shards_take_less_than_200_mb(tmp_path):
    with open_cache(tmp_path) as cache:
        write_identity(cache.folder, IDENTITY)
    for shard in range(100):
        with (cache.folder / f"s{shard}.units").open("wb") as file:
            file.writelines(line(f"p{number}") for number in range(shard * 10_000, (shard + 1) * 10_000))
    command = [sys.executable, "-c", READER, str(ROOT), str(tmp_path)]
    peak = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout
    assert int(peak) < 200 * 1024  # KiB


OTHER = OptionScores(-SCORES.logits, SCORES.label_mass)


def line(prompt: str, scores: OptionScores = SCORES) -> bytes:
    return line_of(unit_key(prompt, PIXELS), PredictionCache.encoded(scores), False)


@pytest.mark.parametrize(
    ("shard", "code"), [("m/adopted/ff/a.units", "ff"), ("0m/i/a.units", None), ("z/i/a.units", None)]
)
def test_an_adopted_shard_is_below_its_folder(shard: str, code: str | None) -> None:
    assert adopted_from(Path(shard)) == code


def test_a_jobs_own_units_override_adopted_ones_and_no_other_unit_is_served(tmp_path):
    fill(tmp_path, "p")
    [own] = shards(tmp_path)
    adopted = own.parent / "adopted/code/z.units"
    adopted.parent.mkdir(parents=True)
    adopted.write_bytes(line("p", OTHER))
    with open_cache(tmp_path) as cache:
        unit = cache.get("p", PIXELS)
    assert same(unit.value, SCORES) and unit.adopted is None
    shutil.rmtree(adopted.parent)
    with open_cache(tmp_path) as cache:
        own.write_bytes(line("q", OTHER))  # at the same place
        assert cache.get("p", PIXELS) is None


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the shards whose lines are read, as they are."""
    names: list[str] = []
    lines_of = unit_cache._lines_of

    def counted(shard: Path) -> Iterator[tuple[bytes, int]]:
        names.append(shard.name)
        return lines_of(shard)

    monkeypatch.setattr(unit_cache, "_lines_of", counted)
    return names


def rest(shard: Path) -> None:
    """Make a shard look as if no job had written to it for an hour."""
    os.utime(shard, (time.time() - 3600,) * 2)


def test_no_line_is_read_of_a_shard_whose_job_has_ended(tmp_path, read):
    fill(tmp_path, *map(str, range(50)))
    [shard] = shards(tmp_path)
    assert index_file(shard).stat().st_size == 16 + 16 * 50
    read.clear()
    assert found(tmp_path, "0", "49", "50") == [True, True, False]
    cached = CachedIdentity(shard.parent, IDENTITY, 0)
    assert cached.units() == 50
    assert cached.bytes() == shard.stat().st_size + 16 + 16 * 50
    assert read == []


@pytest.mark.parametrize("added", [line("q"), line("q")[:-1], b"\n", b"x" * 100])
def test_the_index_of_a_shard_that_grew_is_not_used(tmp_path, read, added):
    fill(tmp_path, "p")
    [shard] = shards(tmp_path)
    with shard.open("ab") as file:
        file.write(added)
    read.clear()
    assert found(tmp_path, "p", "q") == [True, added == line("q")]
    assert read == [shard.name]


def test_the_index_of_a_shard_that_lost_a_line_or_of_another_is_not_used(tmp_path, read):
    fill(tmp_path, "p", "q", name="0")
    [one] = shards(tmp_path)
    one.write_bytes(line("q"))  # which ends as before
    assert found(tmp_path, "p", "q") == [False, True]
    fill(tmp_path, "r", "s", name="1")
    fill(tmp_path, "t", "u", name="2")
    _, one, other = shards(tmp_path)
    assert one.stat().st_size == other.stat().st_size
    shutil.copy(index_file(one), index_file(other))
    read.clear()
    assert found(tmp_path, "s", "t") == [True, True]
    assert other.name in read and one.name not in read


def test_a_unit_that_was_put_is_among_the_numbers_once(tmp_path):
    with open_cache(tmp_path) as cache:
        for prompts in (["p"], ["p", "q"]):
            cache.put(prompts[-1], PIXELS, SCORES, False)
            expected = sorted(key_number(unit_key(each, PIXELS)) for each in prompts)
            assert cache.key_numbers().tolist() == expected


def test_a_damaged_index_is_not_used(tmp_path, read):
    fill(tmp_path, "p", "q")
    [shard] = shards(tmp_path)
    index = index_file(shard)
    whole = index.read_bytes()
    flipped = [whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :] for k in range(len(whole))]
    damaged = [*flipped, *(whole[:length] for length in range(len(whole))), whole + whole[-16:], whole * 2]
    for data in damaged:
        index.write_bytes(data)
        assert found(tmp_path, "p", "q", "r") == [True, True, False]
    index.unlink()
    index.mkdir()  # cannot be read or replaced, which is no error
    rest(shard)
    assert found(tmp_path, "p", "q", "r") == [True, True, False]
    assert len(read) == 1 + len(damaged) + 1


def test_a_shard_whose_job_was_killed_gets_its_index_from_a_reader(tmp_path, read, monkeypatch):
    fill(tmp_path, "p", "q")
    [shard] = shards(tmp_path)
    index_file(shard).unlink()
    shard.write_bytes(shard.read_bytes()[:-9])
    os.utime(shard, (1000, 1000))
    read.clear()
    # Its job may still run, on a machine whose clock is ahead: an index would soon be out of date.
    for now in (999.0, 1001.0, 1600.0):
        monkeypatch.setattr(unit_cache, "time", SimpleNamespace(time=lambda now=now: now))
        assert found(tmp_path, "p", "q") == [True, False]
    assert read == [shard.name] * 3 and not index_file(shard).exists()
    # It has written nothing for more than ten minutes.
    monkeypatch.setattr(unit_cache, "time", SimpleNamespace(time=lambda: 1601.0))
    assert found(tmp_path, "p", "q") == found(tmp_path, "p", "q") == [True, False]
    assert read == [shard.name] * 4
    # It did run.
    shard.write_bytes(line("p") + line("q"))
    assert found(tmp_path, "p", "q") == [True, True]


def test_units_that_agree_in_the_first_half_of_their_keys_are_told_apart(tmp_path):
    """Also those whose numbers agree as float64."""
    keys = [f"{number:016x}{other:016x}".encode() for number in (2**62, 2**62 + 1) for other in (1, 2)]
    for name, members in (("a", keys[:3]), ("b", keys[1:])):
        lines = (line_of(key, [key[-1:], name.encode()], False) for key in members)
        (tmp_path / f"{name}.units").write_bytes(b"".join(lines))
    with closing(ShardIndex(tmp_path)) as index:
        values = [index.find(key).value for key in keys]
        assert values == [[b"1", b"a"], [b"2", b"b"], [b"1", b"b"], [b"2", b"b"]]
        assert index.find(keys[0][:-1] + b"3") is None


Change = tuple[str, int, int]
KINDS = ["job", "killed", "cut", "flip", "grow", "rest", "no index"]
CHANGES = st.tuples(st.sampled_from(KINDS), *[st.integers(0, 999)] * 2)


@settings(max_examples=60, deadline=None)
@example([("job", 0, 2), ("flip", 0, 91)])
@given(st.lists(CHANGES, max_size=12))
def test_a_cache_is_a_dictionary_of_the_lines_that_are_right(changes: list[Change]) -> None:
    keys = [unit_key(str(number), PIXELS) for number in range(20)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit_cache, "INSERTED", 3)
        for kind, first, second in changes:
            change(Path(folder), kind, first, second)
            read, whole = {}, {}
            for shard in shards(Path(folder)):
                data = shard.read_bytes()
                read.update({each[:32]: each for each in io.BytesIO(data) if checked(each)})
                # Where the end of the line before it is damaged, an index still has its start.
                starts = [data.rfind(each) for each in keys]
                ends = [data[start:].partition(b"\n")[0] + b"\n" for start in starts if start >= 0]
                whole.update({each[:32]: each for each in ends if checked(each)})
            with open_cache(Path(folder)) as cache:
                for number, key in enumerate(keys):
                    unit = cache.get(str(number), PIXELS)
                    assert unit is not None or key not in read
                    assert unit is None or line(str(number), unit.value) in (read.get(key), whole.get(key))
                numbers = {key_number(key) for key in read}
                assert numbers <= set(cache.key_numbers().tolist())


def change(root: Path, kind: str, first: int, second: int) -> None:
    """Let a job put units, or harm a shard."""
    if kind in ("job", "killed"):
        with open_cache(root, f"{first % 5}") as cache:
            for number in range(first % 20, first % 20 + second % 10):
                scores = OptionScores(SCORES.logits + first, SCORES.label_mass)
                cache.put(str(number % 20), PIXELS, scores, False)
                assert same(cache.get(str(number % 20), PIXELS).value, scores)
    if kind == "job" or not shards(root):
        return
    shard = shards(root)[first % len(shards(root))]
    data = bytearray(shard.read_bytes())
    place = second % len(data) if data else 0
    if kind in ("killed", "no index"):
        index_file(shard).unlink(missing_ok=True)
    elif kind == "cut":
        shard.write_bytes(data[:place])
    elif kind == "flip" and data:
        # Not back to what it was, for which an index without the unit may have been written.
        data[place] = (data[place] + 1) % 256
        shard.write_bytes(data)
    elif kind == "grow":
        shard.write_bytes(data + line(str(second % 20)))
    rest(shard)


def test_the_units_of_a_shard_are_in_ascending_order_with_their_starts(tmp_path):
    shard = tmp_path / "a.units"
    prompts = [str(number) for number in range(30)]
    shard.write_bytes(b"".join(map(line, prompts)))
    numbers = (key_number(unit_key(each, PIXELS)) for each in prompts)
    expected = sorted((number, k * len(line("0"))) for k, number in enumerate(numbers))
    for _ in ("from lines", "from the index"):
        assert list(zip(*units_of_shard(shard, closed=True).tolist(), strict=True)) == expected
    shard.unlink()
    assert units_of_shard(shard).shape == (2, 0)


def test_the_index_of_a_short_shard_is_for_each_of_its_bytes(tmp_path):
    shard = tmp_path / "a.units"
    whole = line_of(unit_key("p", []), [b"1"], False)
    assert len(whole) < unit_cache.END_BYTES
    for data in (b"", whole, b"x" + whole[1:]):
        shard.write_bytes(data)
        assert units_of_shard(shard, closed=True).shape == (2, int(data == whole))
        assert index_file(shard).exists()


@pytest.mark.parametrize("name", ["a", "c"])
def test_units_that_are_put_are_inserted_several_at_once(tmp_path, monkeypatch, name):
    """One by one, each would take the time of all before it; their shard is opened once."""
    monkeypatch.setattr(unit_cache, "INSERTED", 3)
    other, shard = tmp_path / "b.units", tmp_path / f"{name}.units"
    other.write_bytes(line("p"))
    waiting, opened = [], set()
    with closing(ShardIndex(tmp_path)) as index:
        shard.write_bytes(b"".join(line(str(number)) for number in range(7)))
        for number in range(7):
            index.add(shard, unit_key(str(number), PIXELS), number * len(line("0")))
            waiting.append(len(index._new))
            assert index.find(unit_key(str(number), PIXELS)) is not None
            opened.add(index._open)
        assert index._shards == [other, shard]
    assert waiting == [1, 2, 0, 1, 2, 0, 1] and len(opened) == 1
