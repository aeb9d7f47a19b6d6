"""Snakemake records the params of every job, so that a changed one reruns it."""

import json

import pytest

from tests.workflow.checkout import Checkout

LIST = """
import inspect, json
print("PARAMS", json.dumps({
    each.name: {
        str(name): sorted(inspect.signature(value).parameters)
        for name, value in each.params._allitems() if callable(value)
    }
    for each in workflow.rules
}))
"""
# Command lines, whose settings are recorded one by one, captions, and the texts of the configuration, whose
# digest is recorded. Snakemake records no param whose function takes more than wildcards.
UNRECORDED = {"call", "caption", "texts"}


@pytest.mark.parametrize("corrupted", ["files", "on_the_fly"])
def test_every_param_depends_on_wildcards_alone(tmp_path, python, corrupted):
    checkout = Checkout(tmp_path / "benchc", "config/demo-diagnostics.yaml")
    checkout.python = python
    checkout.configure(corruptions={"corrupted": corrupted})
    with (checkout.folder / "Snakefile").open("a") as file:
        file.write(LIST)
    line = next(line for line in checkout.snakemake("-n").stdout.splitlines() if line.startswith("PARAMS "))
    functions = json.loads(line.removeprefix("PARAMS "))
    assert {"infer", "corrupt", "table1", "figure6"} <= functions.keys()
    unrecorded = {
        (rule, name)
        for rule, params in functions.items()
        for name, arguments in params.items()
        if arguments != ["wildcards"] and name not in UNRECORDED
    }
    assert unrecorded == set()
