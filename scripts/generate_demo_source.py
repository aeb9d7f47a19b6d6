"""Generate one of the demo's data sets as a TSV file in VLMEvalKit's format."""

from pathlib import Path

from benchc.atomic import atomic_write
from benchc.demo.source import generate_source
from benchc.demo.world import SOURCES
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--source", required=True, choices=list(SOURCES), help="data set to generate")
    parser.add_argument("--seed", required=True, type=int, help="seed of the images")
    parser.add_argument(
        "--groups",
        required=True,
        type=int,
        help="groups per category; a group has one item per option",
    )
    parser.add_argument("--output", required=True, type=Path, help="TSV file to write")
    arguments = parser.parse_args()

    frame = generate_source(arguments.source, seed=arguments.seed, groups=arguments.groups)
    output: Path = arguments.output
    with atomic_write(output) as file:
        frame.write_csv(file, separator="\t", quote_style="always")
    print(f"{output}: {frame.height:,} items in {frame['category'].n_unique()} categories")


if __name__ == "__main__":
    run(main)
