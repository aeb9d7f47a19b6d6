"""The outputs that a configuration declares, and which of them follow from a file."""

from collections.abc import Collection

import yaml

from benchc.closure import module_file, source_closure
from benchc.config.load import load
from benchc.rendering.declaration import Output
from benchc.workflow.run import Run
from tests.workflow.checkout import ROOT


def run_of(config: str, **changes: object) -> Run:
    """Return the run of a configuration of the checkout, with other values of some keys."""
    path = ROOT / config
    return Run(load(yaml.safe_load(path.read_text()) | changes, ROOT, file=str(path)))


def outputs_of(config: str, **changes: object) -> list[Output]:
    """Return the tables, figures and pages of a configuration that its report requires."""
    return [output for output in run_of(config, **changes).outputs if output.wanted]


def running(outputs: list[Output], file: str) -> list[str]:
    """Return the names of the outputs of Bench-C whose code contains a file."""
    modules = {output.name: module_file(output.module("bench_c")) for output in outputs}
    return [name for name, module in modules.items() if file in source_closure([module], ROOT)]


def files_of(output: Output) -> set[str]:
    """Return the input files of an output."""
    inputs = [[files] if isinstance(files, str) else files for files in output.inputs.values()]
    return {file for files in inputs for file in files}


def following(outputs: list[Output], *beginnings: str, names: Collection[str] = ()) -> dict[str, int]:
    """Return a job for each output with an input that begins so below the run's folder, and what follows.

    ``names``: further outputs that are made again.
    """
    changed = tuple(f"<results>/{beginning}" for beginning in beginnings)
    found: dict[str, int] = {}
    while True:
        new = [
            output
            for output in outputs
            if output.name not in found
            and (output.name in names or any(file.startswith(changed) for file in files_of(output)))
        ]
        if not new:
            return found
        found |= {output.name: 1 for output in new}
        changed += tuple(f"<results>/{file}" for output in new for file in output.files.values())
