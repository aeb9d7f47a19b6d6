"""Measure what the tests notice: change one operator of the code, and run the tests beside its module.

    python -m tests.mutation [--minutes 60] [--seed 1] [--only benchc/statistics] [--to mutation.md]
                             [--coverage FILE]

cosmic-ray makes the mutants. A place of the code is drawn, then one of its mutants, so that a "+", which has
eleven, counts as much as a "not", which has one. The tests beside a module are the files that import it, or a
module of its folder that uses it, in the folder of tests of its name, or where there is no such folder, in
the nearest above; where there are none, the nearest elsewhere. They all run once, while coverage.py keeps
which test runs which line. For a mutant, the tests of its line are run first, then all files beside, three at
once, until a test fails. A mutant is killed where tests fail that pass without it, or where they take three
times as long as without it, and 20 seconds. Three files that fail without a mutant, or take more than 40
seconds, are run one by one, without those that do so alone; where none is left, a mutant is not judged.
Seconds are of the processor, at most three times as many in all. A minute of ``--minutes`` is one of mutants;
to find which test runs which line takes about 17 minutes more for all modules.

Mutants that no test can notice are in ``mutation_equivalent.yaml``, with the reason.
"""

import argparse
import ast
import difflib
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from itertools import chain
from pathlib import Path
from threading import Lock

import yaml

from benchc.rendering.markdown import markdown
from tests.conftest import ON_GPU
from tests.workflow.preloaded import preloaded_python

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = ROOT / "tests/mutation_equivalent.yaml"
MOST_SECONDS = 40
FILES_AT_ONCE = 3
MOST_STEPS = 3  # from a module to the tests of what uses it
WORKERS = 2
# What computes, selects, reads and asks: folders or modules of benchc. The last that fits is a module's area.
AREAS = {
    "metrics": ("benchmarks/*/metrics", "statistics"),
    "selection and curation": ("benchmarks/*/selection*", "benchmarks/*/curation"),
    "judges": ("judges", "benchmarks/*/judging"),
    "corruptions": ("corruptions",),
    "models and cache": ("models",),
    "servers and endpoint": ("models/server", "endpoint"),
    "schemas": ("schemas", "benchmarks/*/schemas"),
    "sources": ("sources",),
    "config": ("config",),
    "planning": ("planning", "benchmarks/*/planning"),
}
# They need a finished demo, or a GPU.
NOT_OF_SUITE = {"demo_run", ON_GPU}
# A type's own code is compared with the released package, pixel by pixel; times are measured.
LEFT_OUT = ("corruptions/kernels", "corruptions/times.py")
# "is" and "==" are the same for most values; what has lost its decorator cannot be imported, or is slower.
UNINFORMATIVE = re.compile(r"_(Is|IsNot)(_|$)|RemoveDecorator")
INFORMATIVE = ("_Is_IsNot", "_IsNot_Is")


@dataclass(frozen=True)
class Mutant:
    """One change of a module.

    Attributes:
        module: path of the module in the repository
        code: the whole module with the change
        change: the lines that differ, without the spaces at their start, "before -> after"
        line: number of the first of them
        lines: numbers of all lines of the changed statement; none where it is run by an import
    """

    module: str
    code: str
    change: str
    line: int
    lines: range


def area_of(module: str) -> str | None:
    path = Path(module).relative_to("benchc")
    names = [path.as_posix(), *(parent.as_posix() for parent in path.parents)]

    def holds(patterns: Sequence[str]) -> bool:
        return any(fnmatch(name, pattern) for name in names for pattern in patterns)

    fitting = [area for area, patterns in AREAS.items() if holds(patterns)]
    return None if not fitting or holds(LEFT_OUT) else fitting[-1]


def places_of(module: str) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """Return the mutants at each place of a module: names of operators with their number of occurrence."""
    import cosmic_ray.plugins
    from cosmic_ray.ast import ast_nodes, get_ast_from_path

    tree = get_ast_from_path(ROOT / module)
    spans = list(annotations((ROOT / module).read_text()))
    found = defaultdict(list)
    for name in cosmic_ray.plugins.operator_names():
        informative = name.endswith(INFORMATIVE) or not UNINFORMATIVE.search(name)
        operator = cosmic_ray.plugins.get_operator(name)
        if not informative or operator.arguments():
            continue
        positions = (span for node in ast_nodes(tree) for span in operator().mutation_positions(node))
        for occurrence, (start, _) in enumerate(positions):
            if not any(first <= start < last for first, last in spans):
                found[start].append((name, occurrence))
    return dict(found)


def annotations(code: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield start and end of what is for the type checker: annotations, and options of decorators."""
    for node in ast.walk(ast.parse(code)):
        found = [getattr(node, name, None) for name in ("annotation", "returns")]
        # `frozen=True` only refuses what the type checker refuses, too; others change the speed.
        found += getattr(node, "decorator_list", [])
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            found.append(node)
        # Names of types, as in `Reader = Callable[[str], int] | None`.
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Subscript):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if all(name[:1].isupper() and not name.isupper() for name in names):
                found.append(node)
        for each in filter(None, found):
            assert each.end_lineno is not None and each.end_col_offset is not None
            yield (each.lineno, each.col_offset), (each.end_lineno, each.end_col_offset)


def mutant(module: str, operator: str, occurrence: int) -> Mutant | None:
    import cosmic_ray.plugins
    from cosmic_ray.mutating import mutate_code

    before = (ROOT / module).read_text()
    try:
        after = mutate_code(before, cosmic_ray.plugins.get_operator(operator)(), occurrence)
        if after is None or ast.dump(ast.parse(before)) == ast.dump(ast.parse(after)):
            return None
    # "*values" as "/values"; cosmic-ray cannot replace the exception of `except module.Error`.
    except (SyntaxError, AttributeError):
        return None
    changes = difflib.SequenceMatcher(None, old := before.splitlines(), new := after.splitlines(), False)
    for kind, first, last, new_first, new_last in changes.get_opcodes():
        if kind != "equal":
            texts = (
                " ".join(line.strip() for line in lines)
                for lines in (old[first:last], new[new_first:new_last])
            )
            return Mutant(module, after, " -> ".join(texts), first + 1, statement(before, first + 1))
    return None


def statement(code: str, line: int) -> range:
    """Return the lines of the statement at a line of a function's body, none outside of functions."""
    if line not in in_functions(code):
        return range(0)
    nodes = ast.walk(ast.parse(code))
    starts = {node.lineno for node in nodes if isinstance(node, ast.stmt | ast.ExceptHandler)}
    first = max(start for start in starts if start <= line)
    return range(first, min((start for start in starts if start > line), default=line + 1))


def in_functions(code: str) -> set[int]:
    """Return the lines of all bodies of functions."""
    nodes = ast.walk(ast.parse(code))
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    bodies = (range(each.body[0].lineno, (each.end_lineno or 0) + 1) for each in functions)
    return set().union(*bodies)


class Coverage:
    """Which tests run which lines of benchc's functions, as pytest-cov stored it."""

    def __init__(self, file: Path) -> None:
        from coverage import CoverageData

        data = CoverageData(file)
        data.read()
        self._lines: dict[str, dict[int, set[str]]] = {}
        for path in data.measured_files():
            # Without a name: what an import ran.
            by_line = data.contexts_by_lineno(path).items()
            self._lines[path] = {line: set(filter(None, names)) for line, names in by_line}

    @property
    def measured(self) -> bool:
        """Return whether any test runs any line."""
        return any(names for lines in self._lines.values() for names in lines.values())

    def tests(self, module: str, lines: range) -> list[str]:
        """Return the ids of the tests that run a line; a fixture's lines are those of its whole file."""
        names = set().union(*(self._lines.get(module, {}).get(line, set()) for line in lines))
        found = set()
        for name in names:
            test, _, phase = name.rpartition("|")
            found.add(test if phase == "run" else test.partition("::")[0])
        return sorted(test for test in found if "::" not in test or test.partition("::")[0] not in found)

    def files(self, module: str) -> list[str]:
        """Return the files of tests that run one of the functions."""
        bodies = in_functions((ROOT / module).read_text())
        lines = self._lines.get(module, {})
        names = set().union(*(names for line, names in lines.items() if line in bodies))
        return sorted({name.partition("::")[0] for name in names})


def imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        # What is loaded by its name, and the scripts that tests run.
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            found |= {name, f"scripts.{name}"}
    return found


@cache
def imported_by() -> dict[str, set[Path]]:
    """Return the files of benchc, its scripts and its tests that import each module, by its dotted name."""
    found = defaultdict(set)
    tests = [path for path in (ROOT / "tests").rglob("test_*.py") if not NOT_OF_SUITE & {*path.parts}]
    for file in [*(ROOT / "benchc").rglob("*.py"), *(ROOT / "scripts").rglob("*.py"), *tests]:
        for name in imports(file):
            found[name].add(file.relative_to(ROOT))
    return found


def importers(files: set[Path]) -> set[Path]:
    return set().union(*(imported_by()[".".join(file.with_suffix("").parts)] for file in files))


@cache
def tests_beside(module: str) -> list[tuple[str, ...]]:
    """Return the files of tests that are run together, each where the ones before notice nothing."""
    path = Path(module)
    using = importers({path})
    near = using | importers({file for file in using if file.parent == path.parent})
    for _ in range(MOST_STEPS):
        if any(file.parts[0] == "tests" for file in near):
            break
        near = importers(near)
    folder = folder_of_tests(module)

    def rank(file: Path) -> tuple[bool, bool, bool, Path]:
        return file.stem != f"test_{path.stem}", file.parent != folder, file not in using, file

    tests = sorted((file for file in near if file.parts[0] == "tests"), key=rank)
    beside = [file for file in tests if not all(rank(file)[:2])] or tests
    named = tuple(str(file) for file in beside if not rank(file)[0])
    others = [str(file) for file in beside[len(named) :]]
    return [named, *at_once(others)] if named else at_once(others)


def folder_of_tests(module: str) -> Path:
    """Return the folder of tests of the module's name, or where there is none, the nearest above."""
    named = Path("tests", *Path(module).parent.parts[1:])
    return next(folder for folder in (named, *named.parents) if (ROOT / folder).is_dir())


def at_once(files: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(files[start : start + FILES_AT_ONCE]) for start in range(0, len(files), FILES_AT_ONCE)]


class Worker:
    """A clone of the repository, in which mutants are tried one after the other."""

    def __init__(self, folder: Path, python: Path, coverage: Coverage) -> None:
        self.folder, self.python, self.coverage = folder, python, coverage
        self.unchanged: dict[tuple[str, ...], float | None] = {}
        tracked = subprocess.run(
            ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
        ).stdout
        subprocess.run(
            ["cp", "--parents", "-t", folder, *os.fsdecode(tracked).strip("\0").split("\0")],
            cwd=ROOT,
            check=True,
        )
        # Bytecode by hash: a change within one second, of the same length, would go unnoticed.
        compiled = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash"]
        subprocess.run([*compiled, "benchc", "scripts", "tests"], cwd=folder, check=True)

    def passes(self, tests: tuple[str, ...], limit: float) -> bool:
        """Return whether no test fails, and they need no more seconds of the processor."""
        shared = os.environ.get("BENCHC_SHARED", str(ROOT.parent / "shared"))
        own = {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1", "BENCHC_SHARED": shared}
        own["BENCHC_TEST_SECONDS"] = str(math.ceil(limit))
        options = ["-m", "pytest", "-qx", "-p", "tests.limits_of_process", "-p", "no:cacheprovider"]
        ended = subprocess.run(
            [self.python, *options, *tests],
            **{"cwd": self.folder, "env": {**os.environ, **own}, "capture_output": True, "check": False},
        )
        return ended.returncode == 0

    def seconds(self, tests: tuple[str, ...]) -> float | None:
        """Return how long the tests take without a mutant, None where one fails or they take too long."""
        if tests not in self.unchanged:
            self.unchanged[tests] = None
            # The first run may be too slow, as it compiles what numba then keeps.
            for _ in range(2):
                start = time.monotonic()
                if self.passes(tests, MOST_SECONDS):
                    self.unchanged[tests] = time.monotonic() - start
                    break
        return self.unchanged[tests]

    def killed(self, mutant: Mutant) -> bool | None:
        """Return whether the tests beside notice the mutant, None where they cannot judge it."""
        groups = tests_beside(mutant.module)
        beside = {file for group in groups for file in group}
        # What a test loads by its name.
        in_folder = (
            file
            for file in self.coverage.files(mutant.module)
            if Path(file).parent == folder_of_tests(mutant.module)
        )
        groups = [*groups, *at_once([file for file in in_folder if file not in beside])]
        tests = self.coverage.tests(mutant.module, mutant.lines)
        files = (file for group in groups for file in group)
        near = tuple(test for file in files for test in tests if test.partition("::")[0] == file)
        judged = None
        for part in chain.from_iterable(map(self.judging, [near, *groups] if near else groups)):
            judged = self.fails_with(mutant, part, 20 + 3 * self.unchanged[part])
            if judged:
                break
        return judged

    def judging(self, group: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the group, or where a test fails or it takes too long, each of its files that does not."""
        if self.seconds(group) is not None:
            return [group]
        files = [(file,) for file in group if "::" not in file]
        return [file for file in files if self.seconds(file) is not None]

    def fails_with(self, mutant: Mutant, tests: tuple[str, ...], limit: float) -> bool:
        file = self.folder / mutant.module
        before = file.read_text()
        file.write_text(mutant.code)
        try:
            return not self.passes(tests, limit)
        finally:
            file.write_text(before)


def run_with_coverage(python: Path, only: str, file: Path) -> None:
    """Run all tests beside the modules, in as many processes as there are workers."""
    tests = {test for module in modules(only) for group in tests_beside(module) for test in group}
    # Its name does not begin with the file's and a dot: coverage removes such files, as its own.
    settings = file.with_name(f"settings-of-{file.name}.ini")
    settings.write_text(f"[run]\ndata_file = {file}\nrelative_files = true\n")
    options = ["--cov=benchc", "--cov-context=test", "--cov-report=", f"--cov-config={settings}"]
    parallel = ["--numprocesses", str(WORKERS), "--dist", "loadfile", "--disable-warnings"]
    command = [python, "-m", "pytest", "-q", *options, *parallel, *sorted(tests)]
    # 1: tests failed, which are left out of what judges a mutant.
    if subprocess.run(command, cwd=ROOT, check=False).returncode not in (0, 1) or not Coverage(file).measured:
        file.unlink(missing_ok=True)
        raise SystemExit("error: no test was run, or no line of it is known; install pytest-cov")


def modules(only: str) -> dict[str, int]:
    """Return the modules of all areas, each with the number of its lines."""
    paths = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "benchc").rglob("*.py")))
    lines = {path: len((ROOT / path).read_text().splitlines()) for path in paths if path.startswith(only)}
    return {path: number for path, number in lines.items() if number and area_of(path)}


def drawn(seed: int, only: str) -> Iterator[Mutant]:
    """Yield mutants of the areas' modules, each place once: of a module by the number of its lines."""
    weights = modules(only)
    print(f"{sum(weights.values()):,} lines in {len(weights)} modules")
    chosen = random.Random(seed)
    left: dict[str, list[list[tuple[str, int]]]] = {}
    while weights:
        (module,) = chosen.choices(list(weights), list(weights.values()))
        if module not in left:
            left[module] = list(places_of(module).values())
            chosen.shuffle(left[module])
        if not left[module]:
            del weights[module]
            continue
        found = mutant(module, *chosen.choice(left[module].pop()))
        if found is not None:
            yield found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coverage", type=Path, help="keep in this file which test runs which line")
    parser.add_argument("--only", default="benchc/", help="start of the modules' paths")
    parser.add_argument("--to", type=Path, help="a Markdown file for the score and the survivors")
    arguments = parser.parse_args()
    outcomes: dict[str, list[tuple[Mutant, bool | None]]] = defaultdict(list)
    mutants, lock = drawn(arguments.seed, arguments.only), Lock()
    with ExitStack() as stack:
        python = stack.enter_context(preloaded_python({**os.environ, "OMP_NUM_THREADS": "1"}))
        file = arguments.coverage or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "lines"
        if not file.exists():
            run_with_coverage(python, arguments.only, file)
        coverage = Coverage(file)
        end = time.monotonic() + 60 * arguments.minutes

        def work() -> None:
            worker = Worker(Path(stack.enter_context(tempfile.TemporaryDirectory())), python, coverage)
            while time.monotonic() < end:
                with lock:
                    each = next(mutants, None)
                if each is None:
                    return
                killed = worker.killed(each)
                area = area_of(each.module) or ""
                with lock:
                    outcomes[area].append((each, killed))
                    tried = sum(map(len, outcomes.values()))
                    if tried % 50 == 0:
                        print(
                            f"{tried} mutants, {(end - time.monotonic()) / 60:.0f} minutes left", flush=True
                        )
                if not killed:
                    word = "survived" if killed is False else "not judged"
                    if why_equivalent(each) is not None:
                        word += " (equivalent)"
                    print(f"{word}: {each.module}:{each.line}: {each.change}", flush=True)

        with ThreadPoolExecutor(WORKERS) as pool:
            for future in [pool.submit(work) for _ in range(WORKERS)]:
                future.result()
    text = report(outcomes)
    print(text)
    if arguments.to:
        arguments.to.parent.mkdir(parents=True, exist_ok=True)
        arguments.to.write_text(text)


@cache
def equivalent() -> dict[str, dict[str, str]]:
    return yaml.safe_load(EQUIVALENT.read_text()) or {}


def why_equivalent(mutant: Mutant) -> str | None:
    """Return why no test can notice a mutant; None where one could."""
    return equivalent().get(mutant.module, {}).get(mutant.change)


def report(outcomes: dict[str, list[tuple[Mutant, bool | None]]]) -> str:
    """Return the scores by area, and the survivors with the reason why each stays."""
    rows, totals = [], [0, 0, 0, 0]
    for area in AREAS:
        found = outcomes.get(area, [])
        same = sum(killed is False and why_equivalent(each) is not None for each, killed in found)
        counts = [sum(killed is wanted for _, killed in found) for wanted in (True, False, None)]
        counts = [counts[0], counts[1] - same, same, counts[2]]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        rows.append([area, *map(str, counts), score(counts)])
    rows.append(["all", *map(str, totals), score(totals)])
    text = markdown(["area", "killed", "survived", "equivalent", "not judged", "score, %"], rows)
    survivors = [each for found in outcomes.values() for each, killed in found if killed is False]
    for each in sorted(survivors, key=lambda each: (each.module, each.line)):
        reason = why_equivalent(each) or "no test notices it"
        text += f"\n- `{each.module}`, line {each.line}: `{each.change}`: {reason}"
    return text


def score(counts: Sequence[int]) -> str:
    killed, survived, *_ = counts
    return f"{100 * killed / (killed + survived):.1f}" if killed + survived else ""


if __name__ == "__main__":
    main()
