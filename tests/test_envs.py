"""The pinned environments agree with the lock that everything is tested with."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

from benchc.closure import module_file, source_closure
from benchc.models.registry import SCORINGS, family_module
from benchc.models.supported import is_supported

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = sorted((ROOT / "envs").glob("*.yaml"))


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return dict(line.lower().replace("_", "-").split("==") for line in lines if not line.startswith("#"))


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.stem)
def test_pins_are_those_of_the_lock(path):
    packages = yaml.safe_load(path.read_text())["dependencies"][-1]["pip"]
    pins = dict(package.lower().replace("_", "-").split("==") for package in packages)
    assert pins == {name: locked().get(name) for name in pins}


def test_every_supported_model_has_its_environment():
    names = {path.stem for path in ENVIRONMENTS}
    for catalogue in ("config/models.yaml", "config/demo-models.yaml"):
        for id_, model in yaml.safe_load((ROOT / catalogue).read_text()).items():
            if is_supported(model.get("family")):
                assert model.get("env", "transformers") in names, id_


def third_party(files: list[str]) -> set[str]:
    """Return the distributions that the first-party files and what they import need, by static imports."""
    distributions = packages_distributions()
    names = set()
    for file in source_closure(files, ROOT):
        for node in ast.walk(ast.parse((ROOT / file).read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
    ours = {"benchc", "scripts", *sys.stdlib_module_names}
    # Some packages provide one module; OpenCV and imgaug come in several.
    chosen = {"cv2": "opencv-python-headless", "imgaug": "imaug"}
    return {(chosen.get(name) or distributions[name][0]).lower().replace("_", "-") for name in names - ours}


def rules() -> list[tuple[str, str]]:
    """Return the script and the environment of every rule that names one, except tables and figures."""
    found = []
    for path in sorted((ROOT / "rules").glob("*.smk")):
        for rule in path.read_text().split("\nrule ")[1:]:
            script = re.search(r"python -m scripts\.(\w+(?:\.\w+)*)", rule)
            environment = re.search(r"\.\./envs/(\w+)\.yaml", rule)
            if script:
                found.append((script[1], environment[1] if environment else "transformers"))
    return found


def python_files(folder: str, pattern: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in (ROOT / folder).glob(pattern)]


def pinned(environment: str) -> set[str]:
    packages = yaml.safe_load((ROOT / f"envs/{environment}.yaml").read_text())["dependencies"][-1]["pip"]
    return {package.split("==")[0].lower().replace("_", "-") for package in packages}


@pytest.mark.parametrize(("script", "environment"), rules())
def test_an_environment_contains_what_its_rules_import(script, environment):
    files = [f"scripts/{script.replace('.', '/')}.py"]
    name = script.rpartition(".")[2]
    if name in ("corrupt", "infer", "infer_orders", "contact_sheet"):
        # Kernels are imported by name: when corrupting, and in inference that corrupts on the fly.
        files += python_files("benchc/corruptions/kernels", "*.py")
    if name in ("infer", "infer_orders"):
        files += python_files("benchc/models/families", "*.py")
        files.append("scripts/served_model.py")
        files += {module_file(module) for module in (family_module("llava"), *SCORINGS.values())}
    assert third_party(files) - pinned(environment) == set()


@pytest.mark.parametrize("kind", ["table", "figure"])
def test_an_environment_contains_what_all_tables_or_figures_import(kind):
    # Their rules are made in a loop, and their modules are imported by name.
    rule_file = (ROOT / "rules/outputs.smk").read_text()
    environments = ast.literal_eval(re.search(r"^OUTPUT_ENVIRONMENTS = (.*)$", rule_file, re.MULTILINE)[1])
    modules = python_files("benchc/benchmarks", f"*/{kind}s/*.py")
    assert f"benchc/benchmarks/bench_c/{kind}s/{kind}3.py" in modules
    assert third_party([f"scripts/{kind}.py", *modules]) - pinned(environments[kind]) == set()
