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


HOSTILE = "</script><script>alert(1)</script>"
BEGINNING = (
    "from pathlib import Path\n\nimport polars as pl\n\nfrom benchc.rendering.output import Table\n\n\n"
)
MODULES = {
    **{
        name: f"def {name}(words: Path, number: int) -> Table:\n"
        "    text = f'{words.read_text()} {number}'\n"
        "    return Table(pl.DataFrame({'text': [text]}), text, text)\n"
        for name in ("first", "second")
    },
    "joined": "def joined(one: Path, two: Path, several: list[Path], label: str) -> Table:\n"
    "    text = ''.join(path.read_text() for path in (one, two, *several)) + label\n"
    "    return Table(pl.DataFrame({'text': [text]}), text, text)\n",
    "labelled": "def labelled(label: str, labels: dict[str, str]) -> Table:\n"
    "    return Table(pl.DataFrame({'label': [label, *labels.values()]}), label, label)\n",
}
DECLARED = [
    *(
        f'table("{name}", "{name}", inputs={{"words": "<results>/{name}.txt"}}, '
        f'settings={{"number": {number}}}, caption="{name} **x**")'
        for number, name in enumerate(("first", "second"), start=1)
    ),
    'table("joined", "joined", inputs={"one": "<results>/a.txt", "two": "<results>/b.txt", '
    '"several": ["<results>/b.txt", "<results>/a.txt"]}, settings={"label": "{x} $10^{3}$"}, '
    'data=["data.csv"], caption="see $10^{3}$ of {n}")',
    f'table("labelled", "labelled", inputs={{}}, settings={{"label": "{HOSTILE}", '
    f'"labels": {{"a": "{HOSTILE}"}}}}, caption="x")',
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, python: Path) -> Checkout:
    """The demo with further tables, which have been made."""
    checkout = Checkout(tmp_path_factory.mktemp("outputs") / "benchc", "config/demo.yaml")
    checkout.python = python
    results = checkout.folder / "results/demo"
    results.mkdir(parents=True)
    for name in ("first", "second", "a", "b"):
        (results / f"{name}.txt").write_text(name)
    (checkout.folder / "data.csv").write_text("1\n")
    for name, function in MODULES.items():
        module = checkout.folder / f"benchc/benchmarks/bench_c/tables/{name}.py"
        module.write_text(BEGINNING + function)
    added = "".join(f"        {declared},\n" for declared in DECLARED)
    checkout.edit(OUTPUTS, FIRST, FIRST.replace("[\n", f"[\n{added}"))
    checkout.make(*MODULES, "describe_models", cores=1)
    assert checkout.plan(*MODULES, "describe_models") == {}
    return checkout


def plan_of_edit(checkout: Checkout, old: str, new: str, *targets: str) -> dict[str, int]:
    """Return the jobs of the targets that rerun after an edit of a declaration."""
    with checkout.restored(OUTPUTS):
        checkout.edit(OUTPUTS, old, new)
        return checkout.plan(*targets)


def test_two_outputs_of_one_loop_record_their_own_settings(checkout):
    """Loop variables bind late: a rule would record the settings of the loop's last one."""
    for number, name in enumerate(("first", "second"), start=1):
        assert (checkout.folder / f"results/demo/tables/{name}.md").read_text() == f"{name} {number}"
    recorded = [
        json.loads(path.read_text())["params"]
        for path in (checkout.folder / ".snakemake/metadata").iterdir()
        if path.is_file()
    ]
    for number, name in enumerate(("first", "second"), start=1):
        own = [params for params in recorded if any(f"tables/{name}.py" in value for value in params)]
        assert len(own) == 3
        assert all(f"'number={number}'" in params for params in own)
    assert plan_of_edit(checkout, '"number": 2', '"number": 7', "first", "second") == {"second": 1}


def test_swapped_inputs_rerun_an_output_and_braces_are_no_wildcards(checkout):
    """Snakemake records the inputs of a job as a set: a swap of two of them would go unnoticed."""
    assert (checkout.folder / "results/demo/tables/joined.md").read_text() == "abba{x} $10^{3}$"
    one_two = '"one": "<results>/{}.txt", "two": "<results>/{}.txt"'
    several = '["<results>/{}.txt", "<results>/{}.txt"]'
    for old, new in (
        (one_two.format("a", "b"), one_two.format("b", "a")),
        (several.format("b", "a"), several.format("a", "b")),
    ):
        assert plan_of_edit(checkout, old, new, "joined") == {"joined": 1}
    with checkout.restored("data.csv") as data:
        data.write_text("2\n")
        assert checkout.plan("joined") == {"joined": 1}


def test_a_change_of_a_label_reruns_what_prints_it_and_no_inference(checkout):
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


def test_a_label_does_not_end_the_script_of_the_report(checkout):
    table = checkout.folder / "results/demo/tables/labelled.csv"
    assert table.read_text() == f"label\n{HOSTILE}\n{HOSTILE}\n"
    checkout.snakemake("--report", "report.html", "--cores", "1", "labelled")
    assert "alert(1)" not in (checkout.folder / "report.html").read_text().replace(
        r"\u003cscript>alert(1)", ""
    )
