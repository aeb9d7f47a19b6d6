"""Arguments that describe the requests to the writer of questions."""

import argparse
from typing import get_args

from benchc.benchmarks.naturalbench.curation.questions import Writer
from benchc.benchmarks.naturalbench.curation.template import Template, read_template
from benchc.benchmarks.naturalbench.kinds import QuestionType
from benchc.errors import InputError

TYPES: tuple[QuestionType, ...] = get_args(QuestionType)


def add_writer(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", required=True, help="name of the model at the endpoint")
    add("--temperature", type=float, default=1.0, help="of the replies; default: %(default)s")
    add(
        "--template",
        nargs=2,
        action="append",
        required=True,
        metavar=("TYPE", "FILE"),
        help=f"prompt of a type of questions ({' or '.join(TYPES)}), once for each type that is written",
    )


def writer_of(arguments: argparse.Namespace) -> Writer:
    """Return the writer. Raises InputError for a type that is not known, and a template that is not valid."""
    known = {str(kind): kind for kind in TYPES}
    templates: dict[QuestionType, Template] = {}
    for name, file in arguments.template:
        if name not in known:
            raise InputError(f"--template {name}: is no type of questions; give {' or '.join(TYPES)}")
        templates[known[name]] = read_template(file)
    return Writer(arguments.model, arguments.temperature, templates)
