"""Declarations of tables and figures: each agrees with its function, each rule has its own settings."""

import inspect
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from benchc.rendering.output import function_of, inputs_of, settings_of
from tests.workflow.checkout import ROOT, Checkout

COMMAND = re.compile(r"^Shell command: python -m scripts\.(table|figure) (.*) 2>&1", re.MULTILINE)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory, python: Path) -> dict[str, list[str]]:
    """The arguments of every printed output of the demo's configuration, by name."""
    checkout = Checkout(tmp_path_factory.mktemp("outputs") / "benchc", "config/demo-diagnostics.yaml")
    checkout.python = python
    output = checkout.snakemake("-n", "--printshellcmds").stdout
    words = [shlex.split(command) for _, command in COMMAND.findall(output)]
    return {command[0].rpartition(".")[2]: command for command in words}


def arguments(command: list[str], flag: str) -> list[list[str]]:
    """Return the values of each occurrence of a flag."""
    starts = [index for index, word in enumerate(command) if word == flag]
    values = []
    for start in starts:
        rest = command[start + 1 :]
        end = next((index for index, word in enumerate(rest) if word.startswith("--")), len(rest))
        values.append(rest[:end])
    return values


def test_every_module_of_a_table_or_figure_is_declared_and_agrees(commands, subtests):
    folder = ROOT / "benchc/benchmarks/bench_c"
    for name, command in commands.items():
        with subtests.test(name):
            function = function_of(command[0])
            inputs, settings = inputs_of(function), settings_of(function)
            given = {values[0]: values[1:] for values in arguments(command, "--input")}
            assert given.keys() == inputs.keys()
            assert all(several or len(given[name]) == 1 for name, several in inputs.items())
            (pairs,) = arguments(command, "--set")
            named = {pair.partition("=")[0] for pair in pairs}
            parameters = inspect.signature(function).parameters
            required = {name for name in settings if parameters[name].default is inspect.Parameter.empty}
            assert required <= named <= settings.keys()
    for kind in ("tables", "figures"):
        modules = (path for path in (folder / kind).glob("*.py") if path.stem != "__init__")
        outputs = {path.stem for path in modules if f"\ndef {path.stem}(" in path.read_text()}
        assert outputs <= set(commands)
    assert len(commands) > 20


def test_settings_arrive_as_the_configuration_has_them(commands):
    assert "draws=2000" in commands["intervals"] and "draws=20000" in commands["rank_swaps"]
    groups = next(word for word in commands["figure6"] if word.startswith("groups="))
    assert groups.startswith('groups={"contrast": "photometric", "gaussian_blur"')
    label, corruption, severity = arguments(commands["figure4"], "--set")[0]
    assert (label, corruption, severity) == ('label="Tiny-LLaVA-M"', 'corruption="fog"', "severity=5")


def test_two_outputs_of_one_loop_record_their_own_settings(tmp_path, python):
    """Loop variables bind late: a rule would record the settings of the loop's last one."""
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    checkout.python = python
    results = checkout.folder / "results/demo"
    for name in ("first", "second"):
        module = checkout.folder / f"benchc/benchmarks/bench_c/tables/{name}.py"
        module.write_text(
            "from pathlib import Path\n\nimport polars as pl\n\n"
            "from benchc.rendering.output import Table\n\n\n"
            f"def {name}(words: Path, number: int) -> Table:\n"
            "    text = f'{words.read_text()} {number}'\n"
            "    return Table(pl.DataFrame({'text': [text]}), text, text)\n"
        )
        (results / f"{name}.txt").parent.mkdir(parents=True, exist_ok=True)
        (results / f"{name}.txt").write_text(name)
    rules = checkout.folder / "rules/bench_c.smk"
    added = "".join(
        f'table("{name}", "{name}", inputs={{"words": "<results>/{name}.txt"}}, '
        f'settings={{"number": {number}}}, caption="{name} **x**"),\n'
        for number, name in enumerate(("first", "second"), start=1)
    )
    rules.write_text(rules.read_text().replace("OUTPUTS = [\n", f"OUTPUTS = [\n{added}"))
    checkout.make("first", "second", cores=1)
    for number, name in enumerate(("first", "second"), start=1):
        assert (results / f"tables/{name}.md").read_text() == f"{name} {number}"
    recorded = [
        json.loads(path.read_text())["params"]
        for path in (checkout.folder / ".snakemake/metadata").iterdir()
        if path.is_file()
    ]
    for number, name in enumerate(("first", "second"), start=1):
        own = [params for params in recorded if any(f"tables.{name}" in value for value in params)]
        assert len(own) == 3
        assert all(any(f"number={number}" in value for value in params) for params in own)
    assert checkout.plan("first", "second") == {}
    rules.write_text(rules.read_text().replace('"number": 2', '"number": 7'))
    assert checkout.plan("first", "second") == {"second": 1}


def test_swapped_inputs_rerun_an_output_and_braces_are_no_wildcards(tmp_path, python):
    """Snakemake records the inputs of a job as a set: a swap of two of them would go unnoticed."""
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    checkout.python = python
    results = checkout.folder / "results/demo"
    results.mkdir(parents=True)
    for name in "ab":
        (results / f"{name}.txt").write_text(name)
    (checkout.folder / "benchc/benchmarks/bench_c/tables/joined.py").write_text(
        "from pathlib import Path\n\nimport polars as pl\n\n"
        "from benchc.rendering.output import Table\n\n\n"
        "def joined(one: Path, two: Path, several: list[Path], label: str) -> Table:\n"
        "    text = ''.join(path.read_text() for path in (one, two, *several)) + label\n"
        "    return Table(pl.DataFrame({'text': [text]}), text, text)\n"
    )
    (checkout.folder / "data.csv").write_text("1\n")
    rules = checkout.folder / "rules/bench_c.smk"
    added = (
        'table("joined", "joined", inputs={"one": "<results>/a.txt", "two": "<results>/b.txt", '
        '"several": ["<results>/b.txt", "<results>/a.txt"]}, settings={"label": "{x} $10^{3}$"}, '
        'data=["data.csv"], caption="see $10^{3}$ of {n}"),\n'
    )
    rules.write_text(rules.read_text().replace("OUTPUTS = [\n", f"OUTPUTS = [\n{added}"))
    checkout.make("joined", cores=1)
    assert (results / "tables/joined.md").read_text() == "abba{x} $10^{3}$"
    assert checkout.plan("joined") == {}
    one_two = '"one": "<results>/{}.txt", "two": "<results>/{}.txt"'
    several = '["<results>/{}.txt", "<results>/{}.txt"]'
    for old, new in (
        (one_two.format("a", "b"), one_two.format("b", "a")),
        (several.format("b", "a"), several.format("a", "b")),
    ):
        checkout.edit("rules/bench_c.smk", old, new)
        assert checkout.plan("joined") == {"joined": 1}
        checkout.edit("rules/bench_c.smk", new, old)
        assert checkout.plan("joined") == {}
    (checkout.folder / "data.csv").write_text("2\n")
    assert checkout.plan("joined") == {"joined": 1}


def test_a_change_of_a_label_reruns_what_prints_it_and_no_inference(tmp_path, python):
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    checkout.python = python
    checkout.make("models", cores=1)
    path = checkout.folder / "config/demo-models.yaml"
    models = yaml.safe_load(path.read_text())
    models["tiny-llava-m"]["year"] = 2025
    path.write_text(yaml.safe_dump(models, sort_keys=False))
    assert checkout.plan("models") == {"models": 1}
    # The order of keys in the catalogue does not matter.
    models["tiny-llava-m"] = dict(reversed(models["tiny-llava-m"].items()))
    path.write_text(yaml.safe_dump(models, sort_keys=False))
    checkout.make("models", cores=1)
    facts = json.loads((checkout.folder / "results/demo/models.json").read_text())
    assert facts["benchmark"] == "bench-c" and facts["models"]["tiny-llava-m"]["year"] == 2025
    assert list(facts["models"]) == ["tiny-llava-m", "tiny-llava-l", "tiny-internvl-m", "tiny-idefics3-m"]
