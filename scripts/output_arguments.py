"""The command-line arguments that tables and figures share."""

import argparse
from pathlib import Path
from typing import Any

from benchc.errors import InputError
from benchc.rendering.output import call, function_of
from scripts.command import Parser


def output_parser(module: str, doc: str | None) -> Parser:
    """Return a parser of an output's module, inputs, settings and path."""
    parser = Parser(module, doc)
    add = parser.add_argument
    add("module", metavar="MODULE", help="dotted path of the module, which may be outside benchc")
    add(
        "--input",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "FILE"),
        help="an input of the function and its files; once per input",
    )
    add("--set", nargs="*", default=[], metavar="NAME=JSON", help="settings of the function")
    add("--output", required=True, metavar="PATH", help="path to write to, without the suffix")
    return parser


def call_output(arguments: argparse.Namespace) -> Any:
    """Call the function of an output with the inputs and settings of the command line."""
    files = {name: [Path(path) for path in paths] for name, *paths in arguments.input}
    if len(files) != len(arguments.input):
        raise InputError("--input: an input is given twice; give all its files in one --input")
    for text in arguments.set:
        if "=" not in text:
            raise InputError(f"--set {text}: should be NAME=JSON, such as draws=2000")
    settings = dict(text.partition("=")[::2] for text in arguments.set)
    if len(settings) != len(arguments.set):
        raise InputError("--set: a setting is given twice; give each once")
    return call(function_of(arguments.module), files, settings)
