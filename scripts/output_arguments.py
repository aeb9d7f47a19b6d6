"""The command line that tables and figures share."""

import argparse
from pathlib import Path
from typing import Any

from benchc.errors import InputError
from benchc.rendering.output import call, function_of
from scripts.command import Parser


def output_parser(module: str, doc: str | None) -> Parser:
    """Return a parser of an output's module, its inputs and settings, and where it is written."""
    parser = Parser(module, doc)
    add = parser.add_argument
    add("module", metavar="MODULE", help="dotted path of the module; yours may be outside benchc")
    add(
        "--input",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "FILE"),
        help="an input of the function and its file or files; once for each input",
    )
    add("--set", nargs="*", default=[], metavar="NAME=JSON", help="settings of the function")
    add("--output", required=True, metavar="PATH", help="what to write, without the ending")
    return parser


def call_output(arguments: argparse.Namespace) -> Any:
    """Return what the function of an output makes of the inputs and settings of the command line."""
    files = {name: [Path(path) for path in paths] for name, *paths in arguments.input}
    if len(files) != len(arguments.input):
        raise InputError("--input: an input is given twice; give all its files at once")
    for text in arguments.set:
        if "=" not in text:
            raise InputError(f"--set {text}: it is not of the form NAME=JSON, such as draws=2000")
    settings = dict(text.partition("=")[::2] for text in arguments.set)
    if len(settings) != len(arguments.set):
        raise InputError("--set: a setting is given twice; give each once")
    return call(function_of(arguments.module), files, settings)
