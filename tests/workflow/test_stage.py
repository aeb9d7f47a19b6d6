"""What is recorded of a rule's stage, and what its command line gives to the function."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest

from benchc.errors import InputError
from benchc.workflow import stage as stages
from benchc.workflow.code import By, code_params, contents_of
from benchc.workflow.stage import as_json, options, setting_texts, stage, unrecorded
from tests.workflow.checkout import Checkout

CHECKED = stages._check_names


@pytest.fixture(autouse=True)
def any_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tests of this process give stages settings of their own."""
    monkeypatch.setattr(stages, "_check_names", lambda *arguments: None)


def test_a_stage_and_its_settings_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "_check_names", CHECKED)
    assert stage("pool", per_task=3, total=None)
    with pytest.raises(InputError, match=r"the stage 'pool' has no parameter per_taks; .* per_task, total"):
        stage("pool", per_taks=3)
    with pytest.raises(InputError, match="there is no stage 'pol'"):
        stage("pol", per_task=3)


@dataclass(frozen=True)
class Crop:
    side: int
    centre: bool = True


@dataclass(frozen=True)
class Shown:
    label: str
    crop: Crop | None = None
    levels: Mapping[str, int] = field(default_factory=dict)


ONE, TWO = SimpleNamespace(model="one"), SimpleNamespace(model="two")


def texts(params: Mapping[str, Any], wildcards: object = ONE) -> set[str]:
    """Return what Snakemake compares of a job: the texts of its params without their names."""
    found = [value for name, value in params.items() if name != "call"]
    return {value(wildcards) if callable(value) else value for value in found}


def recorded(params: Mapping[str, Any], wildcards: object = ONE) -> list[str]:
    """Return the texts that are not empty."""
    return sorted(filter(None, texts(params, wildcards)))


def command(params: Mapping[str, Any], wildcards: object = ONE, **job: Any) -> list[str]:
    """Return the words of a job's command line."""
    given = {"input": {}, "output": {}, "threads": 1, "resources": None, **job}
    words: list[str] = params["call"](wildcards, **given)
    return words


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (6, {"a": "a=6"}),
        (0.5, {"a": "a=0.5"}),
        (False, {"a": "a=false"}),
        (None, {}),
        ("6", {"a": 'a="6"'}),
        ("é\n</b>", {"a": 'a="é\\n\\u003c/b>"'}),
        ([1, None], {"a": "a=[1, null]"}),
        ([], {"a": "a=[]"}),
        ({"y": 1, "z": [2]}, {"a.y": "a.y=1", "a.z": "a.z=[2]"}),
        # The order of a mapping may be that of a table's rows.
        ({"z": 1, "y": 2}, {"a.z": "a.z=1", "a.y": "a.y=2", "a": 'a=["z", "y"]'}),
        (Shown("x"), {"a.label": 'a.label="x"'}),
        (Shown("x", Crop(3)), {"a.label": 'a.label="x"', "a.crop.side": "a.crop.side=3"}),
        (Shown("x", levels={"low": 1}), {"a.label": 'a.label="x"', "a.levels.low": "a.levels.low=1"}),
        ([Crop(3)], {"a": 'a=[{"side": 3}]'}),
    ],
)
def test_each_entry_of_a_setting_is_a_record(value: object, expected: dict[str, str]) -> None:
    assert setting_texts("a", value) == expected


def test_a_new_field_with_a_default_is_no_change() -> None:
    before = make_dataclass("Before", [("side", int)])(3)
    new = [("centre", bool, field(default=True)), ("levels", list, field(default_factory=list))]
    after = make_dataclass("After", [("side", int), *new])
    assert setting_texts("a", after(3)) == setting_texts("a", before)
    assert [*options("a", after(3))] == [*options("a", before)] == ["--a.side=3"]
    assert setting_texts("a", after(3, centre=False)) != setting_texts("a", before)


def test_a_swap_of_two_values_is_a_change() -> None:
    first, second = (
        stage("pool", tracked=False, **values) for values in ({"a": 1, "b": 2}, {"a": 2, "b": 1})
    )
    assert recorded(first) == ["a=1", "b=2"] and recorded(second) == ["a=2", "b=1"]


def test_each_job_has_the_entries_of_its_own_value() -> None:
    values = {"one": Shown("x", Crop(3, centre=False)), "two": Shown("y", levels={"low": 1})}
    params = stage("pool", tracked=False, shown=By("model", values), scale=2)
    assert recorded(params, ONE) == [
        "scale=2",
        "shown.crop.centre=false",
        "shown.crop.side=3",
        'shown.label="x"',
    ]
    assert recorded(params, TWO) == ["scale=2", 'shown.label="y"', "shown.levels.low=1"]
    assert command(params, ONE)[1:] == [
        "--shown.label=x",
        "--shown.crop.side=3",
        "--shown.crop.centre=false",
        "--scale=2",
    ]
    assert command(params, TWO)[1:] == ["--shown.label=y", '--shown.levels={"low": 1}', "--scale=2"]
    # An entry that only another job has is an empty param, of which each rule has one in any case.
    alone = stage("pool", tracked=False, shown=By("model", {"two": values["two"]}), scale=2)
    assert texts(params, TWO) == texts(alone, TWO)


def test_a_function_of_the_wildcards_returns_one_record() -> None:
    params = stage("pool", tracked=False, name=lambda wildcards: f"{wildcards.model}!", absent=lambda _: None)
    assert recorded(params) == ['name="one!"']
    assert command(params) == ["pool", "--name=one!"]
    params = stage("pool", tracked=False, crop=lambda wildcards: Crop(3))
    with pytest.raises(TypeError, match=r"^crop: its entries would not be recorded; .* By"):
        recorded(params)
    params = stage("pool", tracked=False, crop=lambda wildcards: {"side": 3})
    with pytest.raises(TypeError, match=r"^crop: "):
        recorded(params)


def test_what_changes_no_result_is_on_the_command_line_alone() -> None:
    params = stage(
        "pool",
        tracked=False,
        folder=unrecorded("cache"),
        workers=unrecorded(lambda threads: threads - 1),
        job=unrecorded(lambda wildcards, input: Shown(wildcards.model, Crop(len(input)))),
        size=5,
    )
    assert recorded(params) == ["size=5"]
    assert command(params, threads=3, input={"items": "a"}) == [
        "pool",
        "--items=a",
        "--folder=cache",
        "--workers=2",
        "--job.label=one",
        "--job.crop.side=1",
        "--size=5",
    ]


def test_inputs_and_outputs_are_arguments_but_for_those_that_are_waited_for() -> None:
    class Files(dict[str, object]):
        def __getitem__(self, key: Any) -> Any:
            return [*self.values()][key] if isinstance(key, int) else super().__getitem__(key)

    given = Files(pool="p", parts=["a", "b"], none=[], waited_for=["c"])
    words = command(stage("pool", tracked=False), input=given, output=Files(table="t", text="u"))
    assert words == ["pool", "--pool=p", '--parts=["a", "b"]', "--table=t", "--text=u"]


def test_keys_that_differ_in_one_sign_are_recorded_each() -> None:
    keys = {"a-b": 1, "a.b": 2, "a_b": 3, "a b": 4}
    expected = {f"columns.{key}={value}" for key, value in keys.items()}
    assert expected <= texts(stage("pool", tracked=False, columns=keys))
    assert expected <= texts(stage("pool", tracked=False, columns=By("model", {ONE.model: keys})))


def test_the_order_of_keys_inside_an_entry_is_no_change() -> None:
    one, other = ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}})
    assert setting_texts("s", one) == setting_texts("s", other)
    assert [*options("file", Path("a b"))] == ["--file=a b"]


def test_a_param_may_have_the_name_of_a_lists_method() -> None:
    params = stage("pool", tracked=False, count=3, index=4)
    assert {"count=3", "index=4"} <= texts(params) and not {"count", "index"} & params.keys()


def test_the_code_of_a_stage_and_of_what_it_imports_is_recorded() -> None:
    tracked = stage("bench_c.kappa")
    lines = [text.split()[0] for text in recorded(tracked)]
    assert {"scripts/bench_c/kappa.py", "benchc/benchmarks/bench_c/selection/kappa.py"} <= {*lines}
    # The runner's code is in no stage.
    assert not {"scripts/stage.py", "scripts/command.py"} & {*lines}
    assert recorded(stage("bench_c.kappa", tracked=False)) == []


def test_code_of_another_job_is_no_change() -> None:
    def of_one(of_two: list[str]) -> set[str]:
        by = By("model", {"one": ["a 1", "b 1", "c 1"], "two": of_two})
        return texts(code_params(["a 1"], [by]), ONE)

    for of_two in (["a 1", "b 1"], ["a 1", "b 1", "d 1", "e 1", "f 1"], ["b 1", "c 1"], []):
        assert of_one(of_two) == {"a 1", "b 1", "c 1", ""}


def test_contents_are_recorded_and_no_argument(tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text("a")
    lines = contents_of([file, tmp_path / "absent"])
    assert len(lines) == 1 and lines[0].startswith(f"{file} 1 ")
    file.write_text("b")
    assert contents_of([file]) != lines
    for given in (lines, lambda wildcards: lines):
        params = stage("pool", tracked=False, contents=given)
        assert params["contents"](ONE) == lines and command(params) == ["pool"]
    assert "contents" not in stage("pool", tracked=False)


# ---- Through Snakemake, a shell and the runner ----

TEXTS = {
    "braces": "{wildcards} {0} {{x}} {",
    "quotes": """it's "quoted" \\ and \\n""",
    "shell": "$HOME $(date) `date` ; | & > /dev/null * ~ !",
    "lines": "one\ntwo\r\n\tthree ",
    "unicode": "é 北京 🙂 \u2028",
    "script": "</script><b>",
    "dash": "-x",
    "dashes": "--text=y",
    "null": "null",
    "number": "12",
    "json": '{"a": [1]}',
    "list": "[1, 2]",
    "true": "true",
    "blank": " ",
    "empty": "",
}
ECHO = '''
"""Write the arguments."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from benchc.command_line import Json
from benchc.echo_options import Options
from benchc.errors import InputError


def echo(
    *,
    text: str,
    constant: str,
    listed: list[str],
    mapping: Annotated[dict[str, str], Json],
    options: Options | None = None,
    fail: bool = False,
    output: Path,
) -> None:
    """Write the arguments.

    Args:
        text: of the job
    """
    if fail:
        raise InputError("the stage fails; mend it")
    found = [text, constant, listed, mapping, options and asdict(options)]
    output.write_text(json.dumps(found))
'''
OPTIONS = '''
"""Options of echo."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from benchc.command_line import Json


@dataclass(frozen=True)
class Inner:
    text: str = ""


@dataclass(frozen=True)
class Options:
    text: str
    inner: Inner = Inner()
    listed: tuple[str, ...] = ()
    mapping: Annotated[Mapping[str, str], Json] = field(default_factory=dict)
'''
RULES = """
import json
from pathlib import Path

from benchc.echo_options import Inner, Options
from benchc.workflow.code import By
from benchc.workflow.stage import RUN, stage, unrecorded

TEXTS = json.loads(Path("texts.json").read_text())
ALL = "".join(TEXTS.values())


def text_of(wildcards):
    return TEXTS[wildcards.text]


rule all:
    input:
        collect("{rule}/{text}.json", rule=["first", "second"], text=TEXTS),


rule first:
    output:
        "first/{text}.json",
    log:
        "logs/first/{text}.log",
    params:
        **stage(
            "echo",
            text=text_of,
            constant=ALL,
            listed=[*TEXTS.values()],
            mapping=TEXTS,
            options=By(
                "text",
                {
                    name: Options(text, Inner(text), (text, text), {text: text}) if text else None
                    for name, text in TEXTS.items()
                },
            ),
        ),
    shell:
        RUN


rule second:
    output:
        "second/{text}.json",
    log:
        "logs/second/{text}.log",
    params:
        **stage(
            "echo",
            text=text_of,
            constant=unrecorded(text_of),
            listed=[],
            mapping={},
            fail=unrecorded(config.get("fail", False)),
        ),
    shell:
        RUN
"""


@pytest.fixture(scope="module")
def echoed(tmp_path_factory: pytest.TempPathFactory, python: Path) -> Checkout:
    """A checkout with two rules of one stage, which have run."""
    checkout = Checkout(tmp_path_factory.mktemp("echoed") / "benchc", "config/demo.yaml")
    checkout.python = python
    files = {"scripts/echo.py": ECHO, "benchc/echo_options.py": OPTIONS, "echo.smk": RULES}
    files["texts.json"] = json.dumps(TEXTS)
    for name, content in files.items():
        (checkout.folder / name).write_text(dedent(content))
    checkout.make("--snakefile", "echo.smk")
    return checkout


def plan(checkout: Checkout) -> dict[str, int]:
    return checkout.plan("--snakefile", "echo.smk")


def test_every_text_arrives_as_it_is(echoed: Checkout) -> None:
    for name, text in TEXTS.items():
        options = {
            "text": text,
            "inner": {"text": text},
            "listed": [text, text],
            "mapping": {text: text},
        }
        first, second = (
            json.loads((echoed.folder / rule / f"{name}.json").read_text()) for rule in ("first", "second")
        )
        assert first == [text, "".join(TEXTS.values()), [*TEXTS.values()], TEXTS, options if text else None]
        assert second == [text, text, [], {}, None]
    assert plan(echoed) == {}


def edited(name: str, old: str, new: str) -> Callable[[Checkout], None]:
    return lambda checkout: checkout.edit(name, old, new)


@pytest.mark.parametrize(
    ("file", "old", "new", "jobs"),
    [
        ("texts.json", '"null": "null"', '"null": "none"', {"first": len(TEXTS), "second": 1}),
        ("echo.smk", "Inner(text)", 'Inner("z" if text == "-x" else text)', {"first": 1}),
        ("echo.smk", "listed=[]", 'listed=["a"]', {"second": len(TEXTS)}),
        ("echo.smk", "unrecorded(text_of)", 'unrecorded("other")', {}),
        ("scripts/echo.py", "the stage fails", "it fails", {"first": len(TEXTS), "second": len(TEXTS)}),
        ("scripts/echo.py", "text: of the job", "text: that of the job", {}),
        ("scripts/command.py", "status 2.", "the status 2.", {}),
        ("scripts/stage.py", '"--help"]', '"-h"]', {}),
    ],
)
def test_an_edit_reruns_the_jobs_whose_records_it_changes(
    echoed: Checkout, file: str, old: str, new: str, jobs: dict[str, int]
) -> None:
    with echoed.restored(file):
        edited(file, old, new)(echoed)
        assert plan(echoed) == jobs


def test_a_dry_run_names_the_setting_that_changed(echoed: Checkout) -> None:
    with echoed.restored("echo.smk"):
        echoed.edit("echo.smk", "Inner(text)", 'Inner("z" if text == "-x" else text)')
        output = echoed.snakemake("--snakefile", "echo.smk", "-n").stdout
    assert 'options.inner.text="-x"' in output and 'options.inner.text="z"' in output


def test_a_stage_that_fails_fails_its_job(echoed: Checkout) -> None:
    target = ["--snakefile", "echo.smk", "--cores", "1", "--forcerun", "second", "--config", "fail=true"]
    result = echoed.snakemake(*target, "--", "second/dash.json", check=False)
    assert result.returncode == 1
    log = echoed.folder / "logs/second/dash.log"
    assert log.read_text() == "error: the stage fails; mend it\n"


def test_json_of_a_report_ends_no_script() -> None:
    assert as_json({"</script>": 1}) == '{"\\u003c/script>": 1}'
