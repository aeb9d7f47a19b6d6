"""The command `benchc`: its help, its errors and the shell's completion."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.benchc import commands, main

ROOT = Path(__file__).resolve().parents[1]


def run_python(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=os.environ | environment, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_list_of_commands_imports_none_of_them() -> None:
    code = (
        "import sys; from scripts.benchc import main; main(['--help'])\n"
        "print([name for name in sys.modules if name in ('polars', 'numpy', 'pydantic', 'torch')"
        " or name.startswith('scripts.commands')])"
    )
    *lines, imported = run_python("-c", code).splitlines()
    assert imported == "[]"
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert listed == [*commands(), "--install-completion"]


@pytest.mark.parametrize("name", [*commands(), "cache adopt", "cache prune", "models check", "models pin"])
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([*name.split(), "--help"])
    out = capsys.readouterr().out
    assert out.startswith(f"usage: benchc {name} ")
    assert any(f"\n{title}:\n  " in out for title in ("commands", "arguments", "options"))
    assert max(map(len, out.splitlines())) <= 80


def test_a_description_stands_beside_its_option_in_filled_lines(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--help"])
    assert capsys.readouterr().out.endswith(
        "options:\n"
        "  --seconds-per-prediction FLOAT\n"
        "                          rate of every model, instead of those measured on\n"
        "                          finished jobs of this run, or of others\n"
        "  --output PATH           CSV file to write, one row per stage and model\n\n"
    )


def test_the_shell_completes_commands_and_options(tmp_path: Path) -> None:
    run_python("-m", "scripts.benchc", "--install-completion", "--shell=bash", HOME=str(tmp_path))
    script = tmp_path / ".local/share/bash-completion/completions/benchc"

    def completed(*words: str) -> list[str]:
        words_given = f'COMP_WORDS=("$@"); COMP_CWORD={len(words) - 1}'
        code = f"source {script}; {words_given}; _benchc; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(
            ["bash", "-c", code, "bash", *words], text=True, capture_output=True, check=True
        )
        return done.stdout.split()

    assert completed("benchc", "wh") == ["what-reruns"]
    assert {"--no-models", "--help"} <= {*completed("benchc", "check", "--")}
    assert {*completed("benchc", "models", "")} == {"list", "show", "pin", "fetch", "check", "verify"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("partitions: {cpu: }\nenvironment: {HF_HOME: /scratch/me}\n", "/scratch/me"),
        ("partitions: {cpu: }\n", "before"),
        ("partitions: [", "before"),
    ],
)
def test_commands_that_look_for_models_have_the_variables_of_the_site(
    content: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", "before")
    (tmp_path / "slurm").mkdir()
    (tmp_path / "slurm/site.yaml").write_text(content)
    main(["plan", "--help"])
    assert os.environ["HF_HOME"] == "before"
    main(["models", "--help"])
    assert os.environ["HF_HOME"] == expected
