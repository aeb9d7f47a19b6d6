"""The pinned environments agree with the lock that everything is tested with."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from benchc.closure import module_file, source_closure
from benchc.models.asking import OVER_HTTP
from benchc.models.registry import SCORINGS, family_module
from benchc.models.supported import is_supported
from benchc.workflow import outputs

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = sorted((ROOT / "envs").glob("*.yaml"))


# The environments of models whose code needs an old transformers, and the versions that it decides.
OLD = {"monkey", "moondream", "transformers-4-37", "transformers-4-48"}
OF_TRANSFORMERS = {"transformers", "tokenizers", "huggingface-hub"}
CATALOGUES = ("config/models.yaml", "config/demo-models.yaml")


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return dict(line.lower().replace("_", "-").split("==") for line in lines if not line.startswith("#"))


def lines_of(environment: str) -> list[str]:
    packages: list[str] = yaml.safe_load((ROOT / f"envs/{environment}.yaml").read_text())["dependencies"][-1][
        "pip"
    ]
    return packages


def pins_of(environment: str) -> dict[str, str]:
    """Return the versions by package; of one from a repository, the commit."""
    found = {}
    for line in lines_of(environment):
        repository = re.fullmatch(r"([\w-]+) @ git\+https://github\.com/[\w-]+/[\w-]+@([0-9a-f]{40})", line)
        name, version = repository.groups() if repository else line.split("==")
        found[name.lower().replace("_", "-")] = version
    return found


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.stem)
def test_pins_are_those_of_the_lock(path):
    pins = pins_of(path.stem)
    if path.stem in OLD:
        # Those of our own code; the others are for the code of the models.
        pins = {name: pins[name] for name in third_party(inference_files("infer")) - OF_TRANSFORMERS}
    assert pins == {name: locked().get(name) for name in pins}


def test_every_supported_model_has_its_environment():
    names = {path.stem for path in ENVIRONMENTS}
    for catalogue in CATALOGUES:
        for id_, model in yaml.safe_load((ROOT / catalogue).read_text()).items():
            if is_supported(model.get("family")):
                environment = model.get("env", "transformers")
                # A model of which no environment can be pinned is served.
                assert environment in names or model.get("recommended") == "server", id_


@cache
def installed() -> Mapping[str, list[str]]:
    return packages_distributions()


@cache
def imported_by(file: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def third_party(files: list[str]) -> set[str]:
    """Return the distributions that the first-party files and what they import need, by static imports."""
    distributions = installed()
    names = set().union(*map(imported_by, source_closure(files, ROOT)))
    ours = {"benchc", "scripts", *sys.stdlib_module_names}
    # Some packages provide one module; OpenCV and imgaug come in several.
    chosen = {"cv2": "opencv-python-headless", "imgaug": "imaug"}
    return {(chosen.get(name) or distributions[name][0]).lower().replace("_", "-") for name in names - ours}


def rules() -> list[tuple[str, str]]:
    """Return the stage and the environment of every rule that runs one, except tables and figures."""
    found = []
    for path in sorted((ROOT / "rules").glob("*.smk")):
        for rule in path.read_text().split("\nrule ")[1:]:
            script = re.search(r"\bstage\(\s*\"([\w.]+)\"", rule)
            environment = re.search(r"\.\./envs/(\w+)\.yaml", rule)
            if script:
                found.append((script[1], environment[1] if environment else "transformers"))
    return found


def python_files(folder: str, pattern: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in (ROOT / folder).glob(pattern)]


def inference_files(script: str) -> list[str]:
    """Return the files of inference, with what it imports by name."""
    files = ["scripts/stage.py", f"scripts/{script.replace('.', '/')}.py"]
    # Kernels, for inference that corrupts on the fly.
    files += python_files("benchc/corruptions/kernels", "*.py")
    files += python_files("benchc/models/families", "*.py")
    return [*files, *{module_file(module) for module in (family_module("llava"), *SCORINGS.values())}]


@pytest.mark.parametrize(("script", "environment"), rules())
def test_an_environment_contains_what_its_rules_import(script, environment):
    name = script.rpartition(".")[2]
    if name in ("infer", "infer_orders", "infer_without_images", "answer"):
        needed = third_party(inference_files(script))
        for each in (environment, *OLD):
            assert needed - pins_of(each).keys() == set(), each
        # Models on a server need no old environment.
        assert third_party([module_file(OVER_HTTP)]) - pins_of(environment).keys() == set()
        return
    files = ["scripts/stage.py", f"scripts/{script.replace('.', '/')}.py"]
    if name in ("corrupt", "contact_sheet", "choose_samples", "hierarchy_features"):
        files += python_files("benchc/corruptions/kernels", "*.py")
    assert third_party(files) - pins_of(environment).keys() == set()


@pytest.mark.parametrize(("kind", "one"), [("table", "table3"), ("figure", "figure3"), ("page", "weights")])
def test_an_environment_contains_what_all_outputs_of_a_kind_import(kind, one):
    # Their rules are made in a loop, and their modules are imported by name.
    modules = python_files("benchc/benchmarks", f"*/{kind}s/*.py")
    assert one in {Path(module).stem for module in modules}
    needed = third_party(["scripts/stage.py", f"benchc/rendering/write_{kind}.py", *modules])
    assert needed - pins_of(Path(outputs.ENVIRONMENTS[kind]).stem).keys() == set()


@pytest.mark.parametrize("environment", sorted(OLD))
def test_the_pins_of_an_old_environment_exist_and_agree(environment, tmp_path):
    """What pip can say without installing: of each pin, that it exists and what it requires of the others."""
    pins, lock = pins_of(environment), locked()
    # Others are installed here in the version of the lock; a repository cannot be reached.
    asked = [
        line for line in lines_of(environment) if "==" in line and pins[_name(line)] != lock.get(_name(line))
    ]
    report = tmp_path / "report.json"
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--no-deps",
        "--quiet",
    ]
    done = subprocess.run([*command, "--report", report, *asked], capture_output=True, text=True, check=False)
    if "Could not find a version" not in done.stderr and done.returncode:
        pytest.skip(f"the package index cannot be reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    found = [each["metadata"] for each in json.loads(report.read_text())["install"]]
    assert {_name(each["name"]): each["version"] for each in found} == {
        _name(line): pins[_name(line)] for line in asked
    }
    for each in found:
        for text in each.get("requires_dist", ()):
            requirement = Requirement(text)
            version = pins.get(_name(requirement.name))
            if version is not None and (
                requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            ):
                assert requirement.specifier.contains(version), f"{each['name']} requires {text}"
        python = each.get("requires_python", "")
        assert SpecifierSet(python).contains("3.11.0"), f"{each['name']} requires Python {python}"


def _name(line: str) -> str:
    return line.split("==")[0].lower().replace("_", "-")
