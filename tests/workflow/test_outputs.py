"""Declarations of tables and figures: each agrees with its function, each rule has its own settings."""

import inspect
import json
from pathlib import Path

import pytest
import yaml

from benchc.rendering.output import KINDS, function_of, inputs_of, settings_of
from tests.workflow.checkout import ROOT, Checkout
from tests.workflow.declared import run_of

CONFIGS = (
    "config/demo-diagnostics.yaml",
    "config/demo-vqa-robustness.yaml",
    "config/demo-naturalbench.yaml",
    "config/demo-r-bench.yaml",
    "config/demo-mllm-ic.yaml",
)


@pytest.mark.parametrize("config", CONFIGS)
def test_every_module_of_a_table_figure_or_page_is_declared_and_agrees(config, subtests):
    run = run_of(config)
    for declared in run.outputs:
        with subtests.test(declared.name):
            function = function_of(declared.module(run.package))
            assert declared.inputs.keys() == inputs_of(function).keys()
            for name, files in declared.inputs.items():
                assert isinstance(files, str) == (inputs_of(function)[name] is Path)
            settings, parameters = settings_of(function), inspect.signature(function).parameters
            required = {name for name in settings if parameters[name].default is inspect.Parameter.empty}
            assert required <= declared.settings.keys() <= settings.keys()
            returned = inspect.get_annotations(function, eval_str=True)["return"]
            assert KINDS[returned.__name__] == declared.kind
    for kind in ("table", "figure", "page"):
        folder = ROOT / f"benchc/benchmarks/{run.package}/{kind}s"
        named = {path.stem for path in folder.glob("*.py") if f"\ndef {path.stem}(" in path.read_text()}
        assert named <= {declared.name for declared in run.outputs}
    assert len(run.outputs) > 15


# Where the tests add declarations.
OUTPUTS = "benchc/benchmarks/bench_c/outputs.py"
FIRST = "    return [\n        *_paper_tables(run, settings),\n"


def test_settings_arrive_as_the_configuration_has_them():
    settings = {declared.name: declared.settings for declared in run_of(CONFIGS[0]).outputs}
    assert settings["intervals"]["draws"] == 2000 and settings["rank_swaps"]["draws"] == 20000
    assert list(settings["figure6"]["groups"].items())[:1] == [("contrast", "photometric")]
    assert settings["figure4"] == {"label": "Tiny-LLaVA-M", "corruption": "fog", "severity": 5}


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
    added = "".join(
        f'table("{name}", "{name}", inputs={{"words": "<results>/{name}.txt"}}, '
        f'settings={{"number": {number}}}, caption="{name} **x**"),\n'
        for number, name in enumerate(("first", "second"), start=1)
    )
    checkout.edit(OUTPUTS, FIRST, FIRST.replace("[\n", f"[\n{added}"))
    checkout.make("first", "second", cores=1)
    for number, name in enumerate(("first", "second"), start=1):
        assert (results / f"tables/{name}.md").read_text() == f"{name} {number}"
    recorded = [
        json.loads(path.read_text())["params"]
        for path in (checkout.folder / ".snakemake/metadata").iterdir()
        if path.is_file()
    ]
    for number, name in enumerate(("first", "second"), start=1):
        own = [params for params in recorded if any(f"tables/{name}.py" in value for value in params)]
        assert len(own) == 3
        assert all(f"'number={number}'" in params for params in own)
    assert checkout.plan("first", "second") == {}
    checkout.edit(OUTPUTS, '"number": 2', '"number": 7')
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
    added = (
        'table("joined", "joined", inputs={"one": "<results>/a.txt", "two": "<results>/b.txt", '
        '"several": ["<results>/b.txt", "<results>/a.txt"]}, settings={"label": "{x} $10^{3}$"}, '
        'data=["data.csv"], caption="see $10^{3}$ of {n}"),\n'
    )
    checkout.edit(OUTPUTS, FIRST, FIRST.replace("[\n", f"[\n{added}"))
    checkout.make("joined", cores=1)
    assert (results / "tables/joined.md").read_text() == "abba{x} $10^{3}$"
    assert checkout.plan("joined") == {}
    one_two = '"one": "<results>/{}.txt", "two": "<results>/{}.txt"'
    several = '["<results>/{}.txt", "<results>/{}.txt"]'
    for old, new in (
        (one_two.format("a", "b"), one_two.format("b", "a")),
        (several.format("b", "a"), several.format("a", "b")),
    ):
        checkout.edit(OUTPUTS, old, new)
        assert checkout.plan("joined") == {"joined": 1}
        checkout.edit(OUTPUTS, new, old)
        assert checkout.plan("joined") == {}
    (checkout.folder / "data.csv").write_text("2\n")
    assert checkout.plan("joined") == {"joined": 1}


def test_a_change_of_a_label_reruns_what_prints_it_and_no_inference(tmp_path, python):
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    checkout.python = python
    checkout.make("describe_models", cores=1)
    path = checkout.folder / "config/demo-models.yaml"
    models = yaml.safe_load(path.read_text())
    models["tiny-llava-m"]["year"] = 2025
    path.write_text(yaml.safe_dump(models, sort_keys=False))
    assert checkout.plan("describe_models") == {"describe_models": 1}
    # The order of keys in the catalogue does not matter.
    models["tiny-llava-m"] = dict(reversed(models["tiny-llava-m"].items()))
    path.write_text(yaml.safe_dump(models, sort_keys=False))
    checkout.make("describe_models", cores=1)
    facts = json.loads((checkout.folder / "results/demo/models.json").read_text())
    assert facts["benchmark"] == "bench-c" and facts["models"]["tiny-llava-m"]["year"] == 2025
    assert list(facts["models"]) == ["tiny-llava-m", "tiny-llava-l", "tiny-internvl-m", "tiny-idefics3-m"]


def test_a_label_does_not_end_the_script_of_the_report(tmp_path, python):
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    checkout.python = python
    (checkout.folder / "benchc/benchmarks/bench_c/tables/labelled.py").write_text(
        "import polars as pl\n\nfrom benchc.rendering.output import Table\n\n\n"
        "def labelled(label: str, labels: dict[str, str]) -> Table:\n"
        "    return Table(pl.DataFrame({'label': [label, *labels.values()]}), label, label)\n"
    )
    hostile = "</script><script>alert(1)</script>"
    added = (
        f'table("labelled", "labelled", inputs={{}}, settings={{"label": "{hostile}", '
        f'"labels": {{"a": "{hostile}"}}}}, caption="x"),\n'
    )
    checkout.edit(OUTPUTS, FIRST, FIRST.replace("[\n", f"[\n{added}"))
    checkout.make("labelled", cores=1)
    assert (
        checkout.folder / "results/demo/tables/labelled.csv"
    ).read_text() == f"label\n{hostile}\n{hostile}\n"
    checkout.snakemake("--report", "report.html", "--cores", "1", "labelled")
    assert "alert(1)" not in (checkout.folder / "report.html").read_text().replace(
        r"\u003cscript>alert(1)", ""
    )
