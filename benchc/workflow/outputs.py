"""Rules of tables, figures and pages: what each declaration gives its rule."""

from collections.abc import Callable, Sequence
from typing import Any

from benchc.closure import module_file
from benchc.rendering.declaration import Output
from benchc.workflow.code import Wildcards, code_of, code_params, contents_of
from benchc.workflow.sources import local
from benchc.workflow.stage import WAITED_FOR, CommandLine, as_json, files, options

# Figures need packages that their inputs do not.
ENVIRONMENTS = {
    "table": "../envs/core.yaml",
    "figure": "../envs/figures.yaml",
    "page": "../envs/core.yaml",
}


def output_inputs(declared: Output) -> dict[str, Any]:
    """Return the inputs of an output's rule, by the names of the function's parameters.

    Those that are neither of the run nor of the user are files of benchc's package.
    """
    return {name: _found(given) for name, given in {**declared.inputs, WAITED_FOR: declared.data}.items()}


def _found(given: str | Sequence[str]) -> str | list[str]:
    if not isinstance(given, str):
        return [str(_found(file)) for file in given]
    return given if given.startswith("<results>") else local(given)


def output_files(declared: Output) -> dict[str, str]:
    """Return the files of an output's rule by format."""
    return {format: f"<results>/{file}" for format, file in declared.files.items()}


def output_params(declared: Output, package: str) -> dict[str, Any]:
    """Return the params of an output's rule; ``package``: that of its benchmark.

    Each input and setting is recorded by itself. The names of inputs are recorded here, since Snakemake does
    not, and would not notice a swap of two. The caption takes the output, so that it is not recorded.
    """
    module = declared.module(package)
    settings = {name: f"{name}={as_json(value)}" for name, value in declared.settings.items()}
    inputs = {f"input_{name}": f"input.{name}={as_json(files)}" for name, files in declared.inputs.items()}
    formats = {"formats": f"formats={as_json(declared.formats)}"}

    def call(wildcards: Wildcards, input: Any, output: Any) -> CommandLine:
        given = {**files(input, empty=True), **declared.settings}
        given["prefix"] = output[0].removesuffix(f".{declared.formats[0]}")
        if declared.kind == "table":
            given["formats"] = declared.formats
        return CommandLine(
            [module, *(option for name, value in given.items() for option in options(name, value))]
        )

    code = [*code_of(module_file(module), f"benchc/rendering/write_{declared.kind}.py"), *declared.code]
    return {
        **code_params(code, []),
        **{name: _constant(text) for name, text in (settings | inputs | formats).items()},
        # Of files that no rule writes: Snakemake misses an edit that keeps their time.
        "contents": lambda wildcards: contents_of(map(local, declared.files_of_user)),
        "caption": lambda wildcards, output: declared.paragraphs,
        "call": call,
    }


def _constant(text: str) -> Callable[[Wildcards], str]:
    # A function, since Snakemake expands braces in strings as wildcards.
    return lambda wildcards: text
