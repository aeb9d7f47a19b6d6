"""Record how a release was made: counts, and what captions, encoders, settings, model and people made it.

Writes curate/groups.json.
"""

import argparse
import hashlib
import json
from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.curation.release import counts_of
from benchc.schemas.parquet import read_footer
from scripts.argument_types import seed_argument
from scripts.command import Parser, run
from scripts.naturalbench.release_arguments import add_release, parse_release, read_release

ENCODER_KEYS = ("library", "name", "pretrained", "commit")


def main() -> None:
    arguments = parse_arguments()
    pairs, samples, groups = read_release(arguments)
    subsets = dict(arguments.dataset)
    files_of_captions = dict(arguments.caption_file)
    weights: dict[str, dict[str, str]] = {}
    for id_, file in arguments.weights:
        weights.setdefault(id_, {})[file] = sha256_of(file)
    record = {
        "name": arguments.name,
        "date": arguments.date,
        "benchc": arguments.version,
        "sha256": sha256_of(arguments.release),
        **counts_of(groups, samples, subsets),
        # Drawn captions have no file.
        "captions": {
            id_: {"subset": subset}
            | ({"sha256": sha256_of(files_of_captions[id_])} if id_ in files_of_captions else {})
            for id_, subset in subsets.items()
        },
        "encoders": {
            id_: {key: footer.get(key) for key in ENCODER_KEYS} | {"sha256": weights.get(id_, {})}
            for footer in map(read_footer, arguments.embeddings)
            for id_ in [str(footer["encoder"])]
        },
        "mining": arguments.mining,
        "seed": arguments.seed,
        # Of all rounds; the model may have changed between them.
        "rounds": [read_footer(path) for path in arguments.questions],
        "annotators": arguments.annotators,
        "pairs": pairs.height,
    }
    write_text(arguments.output, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def sha256_of(path: str) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add_release(parser)
    add = parser.add_argument
    add("--release", required=True, help="curate/groups.tsv")
    add("--name", required=True, help="name of the release")
    add("--date", required=True, help="date of the release, YYYY-MM-DD")
    for flag, text in (
        ("--caption-file", "file of a data set of captions; none where they are drawn"),
        ("--weights", "a file of an encoder that is not on the Hub, once for each file"),
    ):
        add(flag, nargs=2, action="append", default=[], metavar=("ID", "FILE"), help=text)
    add(
        "--embeddings",
        type=Path,
        nargs="+",
        required=True,
        help="curate/embeddings/{encoder}.parquet of the encoders that found the pairs",
    )
    add("--mining", type=json.loads, required=True, metavar="JSON", help="settings of mining")
    add("--seed", type=seed_argument, required=True, help="seed of mining")
    add("--version", required=True, help="version of benchc")
    add("--annotators", nargs="+", required=True, metavar="ID", help="all who reviewed")
    add("--output", type=Path, required=True, help="curate/groups.json to write")
    return parse_release(parser)


if __name__ == "__main__":
    run(main)
