"""Let a language model write two questions of each type for each pair, from the captions of its images.

Writes curate/questions/{round}.parquet. Round 0 asks for all pairs; a later one for the questions that people
did not keep in the round before. In mode record, a killed job continues with the replies that it has.
"""

import argparse
import sys
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit, urlunsplit

import polars as pl

from benchc.benchmarks.naturalbench.curation.questions import (
    first_slots,
    open_slots,
    write_questions,
)
from benchc.benchmarks.naturalbench.curation.samples import read_samples
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.endpoint.api_key import read_key
from benchc.endpoint.client import Endpoint, EndpointSettings, Mode
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table
from scripts.argument_types import natural_argument, positive_argument
from scripts.command import Parser, run
from scripts.naturalbench.writer_arguments import add_writer, writer_of


def main() -> None:
    arguments = parse_arguments()
    pairs = read_table(arguments.pairs, PAIRS)
    samples = read_samples(arguments.captions, pairs)
    writer = writer_of(arguments)
    if arguments.round == 0:
        slots = first_slots(pairs["pair"].to_list(), list(writer.templates))
    else:
        slots = open_slots(read_table(arguments.kept, KEPT))
    live = arguments.mode == "live"
    with Endpoint(
        EndpointSettings(arguments.url, arguments.concurrency, arguments.timeout_s),
        read_key(None if arguments.mode == "replay" else arguments.api_key_env),
        arguments.mode,
        None if live else arguments.recordings,
        resume=True,
    ) as endpoint:
        questions = write_questions(slots, samples, writer, arguments.round, endpoint)
    footer = {
        "round": arguments.round,
        "model": writer.model,
        "temperature": writer.temperature,
        "templates": {kind: template.hash for kind, template in writer.templates.items()},
        "mode": arguments.mode,
        # Nobody is asked in a replay.
        "url": None if arguments.mode == "replay" else public_address(arguments.url),
    }
    write_table(questions, arguments.output, QUESTIONS, footer)
    usable = int(questions["ok"].sum())
    print(
        f"round {arguments.round}: {pluralize(len(slots), 'request')}, {usable:,} of "
        f"{pluralize(questions.height, 'question')} usable",
        file=sys.stderr,
    )
    reasons = questions.filter(~pl.col("ok"))["reason"].value_counts(sort=True)
    for reason, count in reasons.head(5).iter_rows():
        print(f"{count:,}: {reason}", file=sys.stderr)


def public_address(url: str) -> str:
    """Return a URL without what may be secret: a user with a password, and a query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--round", type=natural_argument, required=True, help="0, 1, 2 or 3")
    add("--pairs", type=Path, required=True, help="curate/kept_pairs.parquet or curate/pairs.parquet")
    add("--captions", type=Path, required=True, help="curate/captions.parquet")
    add(
        "--kept", type=Path, nargs="?", help="curate/kept/{round}.parquet of the round before; not of round 0"
    )
    add("--mode", choices=get_args(Mode), default="record", help="default: %(default)s")
    add("--url", default="https://api.openai.com/v1", help="default: %(default)s")
    add("--api-key-env", help="environment variable with the server's key; default: no key")
    add("--recordings", type=Path, help="folder of the kept replies; not of the mode live")
    add("--concurrency", type=positive_argument, default=8, help="requests at once; default: %(default)s")
    add("--timeout-s", type=float, default=120.0, help="seconds to wait for a reply; default: %(default)s")
    add_writer(parser)
    add("--output", type=Path, required=True, help="curate/questions/{round}.parquet to write")
    arguments = parser.parse_args()
    if (arguments.round == 0) != (arguments.kept is None):
        parser.error("--kept is given from round 1 on, and only then")
    if arguments.mode != "live" and arguments.recordings is None:
        parser.error(f"--mode {arguments.mode} needs --recordings")
    return arguments


if __name__ == "__main__":
    run(main)
