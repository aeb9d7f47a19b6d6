"""Shared code depends on no benchmark, so that a benchmark can be deleted without other changes."""

import ast
import io
import re
import shutil
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]

# The benchmarks' names in every spelling; `benchc` is the package.
NAMES = re.compile(
    r"(?<![a-z])(bench[-_ ]c|vqa[-_ ]?robustness|natural[-_ ]?bench|r[-_ ]?bench|mllm[-_ ]?ic)(?![a-z])"
    r"|(?-i:BenchC)|(?<!\d)849(?!\d)",
    re.IGNORECASE,
)
# Suites of corruptions carry the names of the papers that they are from, and any benchmark may use them.
NAMES_OF_SUITES = {
    "benchc/corruptions/registry.py",  # the list of suites
    "benchc/corruptions/reference.py",  # the page on corruptions shows a call with a suite
}
# What may be used from Python without a model's libraries, wherever Snakemake is absent.
LIGHT = ("benchc.corruptions", ("torch", "transformers", "snakemake"))

# The modules that ask Snakemake what it would run, run it, and are a part of it.
USE_SNAKEMAKE = ("benchc.planning.dry_run", "scripts.commands.run_snakemake", "benchc.cluster.submitted")

Graph = dict[str, set[str]]


def graph_of(root: Path) -> Graph:
    """Return what every module below benchc/ and scripts/ imports, inside functions as well.

    `from a import b` is both a and a.b.
    """
    graph: Graph = {}
    for path in sorted([*root.glob("benchc/**/*.py"), *root.glob("scripts/**/*.py")]):
        parts = path.relative_to(root).with_suffix("").parts
        package = parts[:-1]
        name = ".".join(package if parts[-1] == "__init__" else parts)
        found = graph.setdefault(name, set())
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else ()
                module = ".".join([*base, *([node.module] if node.module else [])])
                found.update([module, *(f"{module}.{alias.name}" for alias in node.names)])
    return graph


def owner(module: str, benchmarks: set[str]) -> str | None:
    """Return the benchmark whose folder a module is in; None for shared ones."""
    match module.split("."):
        case ["benchc", "benchmarks", name, *_]:
            return name if name in benchmarks else None
        case ["scripts", name, *_] if name in benchmarks:
            return name
    return None


def forbidden(graph: Graph) -> list[str]:
    """Return one sentence for each module and reason for which the layout forbids what it imports."""
    benchmarks = {name.split(".")[2] for name in graph if name.startswith("benchc.benchmarks.")}
    room, heavy = LIGHT
    light = reached(graph, room)
    found: dict[tuple[str, str], str] = {}
    for module, imported in graph.items():
        own = owner(module, benchmarks)
        for target in sorted(imported):
            theirs, package = owner(target, benchmarks), target.split(".")[0]
            reasons = [
                (theirs not in (None, own), f"{own or 'shared code'} needs no {theirs}"),
                (module.startswith("benchc") and package == "scripts", "the library needs no script"),
                (package == "snakemake" and module not in USE_SNAKEMAKE, "only the Snakefile and rules do"),
                (module in light and package in heavy, f"{room} needs it and must do without"),
            ]
            for violated, reason in reasons:
                if violated:
                    found.setdefault((module, reason), f"{module} imports {target}: {reason}")
    return list(found.values())


def reached(graph: Graph, room: str) -> set[str]:
    """Return the modules of a package and all that they import."""
    pending = {name for name in graph if name == room or name.startswith(f"{room}.")}
    found: set[str] = set()
    while pending:
        module = pending.pop()
        found.add(module)
        pending |= {target for target in graph[module] if target in graph} - found
    return found


def shared_files(root: Path) -> Iterator[Path]:
    """Yield the files of code that belong to no benchmark."""
    own = {path.name for path in (root / "benchc/benchmarks").iterdir() if path.is_dir()}
    yield root / "Snakefile"
    yield from (
        path
        for path in sorted((root / "rules").rglob("*"))
        if path.is_file() and not own & {part.split(".")[0] for part in path.relative_to(root).parts}
    )
    yield from sorted((root / "scripts").glob("*.py"))
    for path in sorted((root / "benchc").rglob("*.py")):
        place = path.relative_to(root / "benchc").as_posix()
        if not place.startswith(("benchmarks/", "corruptions/suites/")):
            yield path


def names_in(root: Path) -> Iterator[str]:
    """Yield the lines of shared code that name a benchmark."""
    for path in shared_files(root):
        place = path.relative_to(root).as_posix()
        if place in NAMES_OF_SUITES:
            continue
        text = path.read_text()
        # A kernel's docstring says which paper it is from.
        code = without_prose(text) if place.startswith("benchc/corruptions/") else text
        for number, line in enumerate(code.splitlines(), start=1):
            if NAMES.search(line):
                yield f"{place}:{number}: {line.strip()}"


def without_prose(text: str) -> str:
    """Return Python code with docstrings and comments blanked out, on the same lines."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and lines[token.start[0] - 1]:
            lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]]
    return "\n".join(lines)


def test_no_import_crosses_the_layout() -> None:
    assert forbidden(graph_of(ROOT)) == []


def test_shared_code_names_no_benchmark() -> None:
    assert list(names_in(ROOT)) == []


def test_the_files_that_may_name_suites_do() -> None:
    for place in NAMES_OF_SUITES:
        assert NAMES.search(without_prose((ROOT / place).read_text())), f"{place} needs no exception"


TREE = {
    "benchc/__init__.py": "",
    "benchc/shared.py": "import numpy",
    "benchc/corruptions/fog.py": "import benchc.shared",
    "benchc/benchmarks/__init__.py": "",
    "benchc/benchmarks/one/own.py": "from benchc import shared\nfrom .more import x\nimport scripts_x",
    "benchc/benchmarks/one/more.py": "",
    "benchc/benchmarks/two/own.py": "import torch",
    "scripts/one/stage.py": "from benchc.benchmarks.one import own",
    "scripts/stage.py": "from benchc import benchmarks",
    "rules/one.smk": "# R-Bench",
    "rules/captions/one/table.rst": "Bench-C",
    "rules/run.smk": "",
    "Snakefile": "",
}


def plant(root: Path, tree: dict[str, str]) -> Path:
    for place, text in tree.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text)
    return root


@pytest.mark.parametrize(
    ("place", "text", "found"),
    [
        ("benchc/shared.py", "def f():\n    from benchc.benchmarks import one", "shared code needs no one"),
        ("benchc/shared.py", "import benchc.benchmarks.one.own as o", "shared code needs no one"),
        ("scripts/stage.py", "from scripts.one.stage import x", "shared code needs no one"),
        ("scripts/stage.py", "from .one import stage", "shared code needs no one"),
        ("benchc/benchmarks/two/own.py", "from ..one.own import x", "two needs no one"),
        ("scripts/one/stage.py", "import benchc.benchmarks.two.own", "one needs no two"),
        ("benchc/benchmarks/one/own.py", "import scripts.stage", "the library needs no script"),
        ("scripts/stage.py", "from snakemake.utils import x", "only the Snakefile and rules do"),
        ("benchc/corruptions/fog.py", "if 1:\n    import torch", "must do without"),
        ("benchc/shared.py", "from transformers import AutoModel", "must do without"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path: Path, place: str, text: str, found: str) -> None:
    assert forbidden(graph_of(plant(tmp_path, TREE))) == []
    (sentence,) = forbidden(graph_of(plant(tmp_path, {place: text})))
    assert sentence.endswith(found)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("benchc/shared.py", '"""As in Bench-C."""'),
        ("benchc/shared.py", "class BenchC: pass"),
        ("benchc/shared.py", "x = 849"),
        ("benchc/corruptions/fog.py", '"""R-Bench."""\nx = "r-bench"  # theirs'),
        ("scripts/stage.py", "# naturalbench"),
        ("rules/run.smk", "bench_c.smk"),
        ("rules/captions/table.rst", "figure 3 of MLLM-IC"),
        ("Snakefile", "vqa_robustness"),
    ],
)
def test_a_name_is_found(tmp_path: Path, place: str, text: str) -> None:
    root = plant(tmp_path, TREE | {"benchc/corruptions/snow.py": '"""R-Bench."""\nx = 1  # Bench-C\n'})
    assert list(names_in(root)) == []
    (line,) = names_in(plant(root, {place: text}))
    assert line.startswith(place)


IMPORT_ALL = """
import importlib, pathlib, sys
sys.path.insert(0, ".")
for path in sorted([*pathlib.Path("benchc").rglob("*.py"), *pathlib.Path("scripts").rglob("*.py")]):
    parts = path.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    try:
        module = importlib.import_module(name)
        assert module.__file__.startswith(str(pathlib.Path.cwd())), module.__file__
    except Exception as error:
        print(f"{name}: {error!r}")
"""


@pytest.mark.parametrize(
    "benchmark", [path.parent.name for path in ROOT.glob("benchc/benchmarks/*/settings.py")]
)
def test_a_benchmark_can_be_deleted(tmp_path: Path, python: Path, benchmark: str) -> None:
    def excluded(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if name in (benchmark, f"{benchmark}.smk", "__pycache__")}

    for part in ("benchc", "scripts", "rules", "config"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=excluded)
    for path in (tmp_path / "config").glob("*.yaml"):
        if yaml.safe_load(path.read_text()).get("benchmark") == benchmark.replace("_", "-"):
            path.unlink()
    (tmp_path / f"config/schema/{benchmark.replace('_', '-')}.json").unlink()

    def run(*arguments: str) -> str:
        command = [python, "-m", *arguments]
        done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=True)
        return done.stdout

    (tmp_path / "import_all.py").write_text(IMPORT_ALL)
    assert run("import_all") == ""
    run("scripts.stage", "write_config_reference", "--schemas=schema", "--page=page.md")
    left = {path.name for path in (tmp_path / "config/schema").iterdir()}
    assert {path.name for path in (tmp_path / "schema").iterdir()} == left
    # A suite of corruptions may have its name.
    lines = [line for line in (tmp_path / "page.md").read_text().splitlines() if "suite" not in line.lower()]
    assert [line for line in lines if benchmark.replace("_", "-") in line] == []
