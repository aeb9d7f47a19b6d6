"""A machine that cannot compile a model says so before the model is loaded."""

import sysconfig
from pathlib import Path

import pytest

from benchc.models import checkpoint
from benchc.models.compilers import require_compilers
from benchc.models.protocol import CheckpointSource, ModelError

END = "or remove the key in the model catalogue"


@pytest.fixture
def programs(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("CC", raising=False)
    return folder


def install(folder: Path, name: str) -> Path:
    program = folder / name
    program.touch(mode=0o755)
    return program


def refused(device: str) -> str:
    with pytest.raises(ModelError) as error:
        require_compilers("m", device)
    return str(error.value)


def test_a_compiler_that_is_absent_is_one_sentence(programs, monkeypatch):
    start = "m: `compile: true` needs a "
    assert refused("cpu") == f"{start}C++ compiler, and there is no g++; install g++, {END}"
    plus = install(programs, "g++")
    require_compilers("m", "cpu")
    assert refused("cuda") == f"{start}C compiler, and there is no gcc or clang; install gcc, {END}"
    clang = install(programs, "clang")
    require_compilers("m", "cuda")
    # A variable names the compiler that is called, whatever else is there.
    monkeypatch.setenv("CC", "/nowhere/cc")
    assert refused("cuda") == f"{start}C compiler, and there is no /nowhere/cc (CC); correct CC, {END}"
    monkeypatch.setenv("CC", str(clang))
    monkeypatch.setenv("CXX", "c++-13")
    assert refused("cuda") == f"{start}C++ compiler, and there is no c++-13 (CXX); correct CXX, {END}"
    plus.rename(programs / "c++-13")
    require_compilers("m", "cuda")


def test_absent_headers_of_python_are_one_sentence(monkeypatch, tmp_path):
    headers = tmp_path / "include/python3.11"
    monkeypatch.setattr(sysconfig, "get_path", lambda name: {"include": str(headers)}[name])
    assert refused("cpu") == (
        f"m: `compile: true` needs Python.h, which is not in {headers}; install Python's headers (Debian's "
        f"python3.11-dev), {END}"
    )
    headers.mkdir(parents=True)
    (headers / "Python.h").touch()
    require_compilers("m", "cpu")


def test_a_job_says_so_before_it_loads_the_model(checkpoints, programs, monkeypatch):
    monkeypatch.setattr(checkpoint, "check_files", lambda *_: pytest.fail("it is loaded"))
    source = CheckpointSource(str(checkpoints["llava"]), compile=True)
    with pytest.raises(ModelError, match="`compile: true` needs a C"):
        checkpoint.load(source)
