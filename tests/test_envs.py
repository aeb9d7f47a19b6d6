"""The pinned environments agree with the lock that everything is tested with."""

from pathlib import Path

import pytest
import yaml

from benchc.models.registry import UnknownFamilyError, family_module

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


def test_every_model_that_can_be_read_has_its_environment():
    names = {path.stem for path in ENVIRONMENTS}
    for catalogue in ("config/models.yaml", "config/demo-models.yaml"):
        for id_, model in yaml.safe_load((ROOT / catalogue).read_text()).items():
            try:
                family_module(model["family"])
            except UnknownFamilyError:
                continue
            assert model.get("env", "transformers") in names, id_
