"""Keep cached predictions after an edit of code that changed none of them, such as a refactoring.

The arguments are those of one infer job (`snakemake -n -p` prints them). A sample of its units is computed
again. If every bit agrees with the cached predictions of the former code, all of these are used from now on,
and footers say how many of a file's predictions they are. If one bit differs, nothing is adopted.
"""

import argparse
from collections.abc import Sequence

from benchc.errors import InputError
from benchc.models.items import refuse_open_questions
from benchc.pluralize import pluralize
from scripts.argument_types import positive_argument, seed_argument
from scripts.command import Parser, run
from scripts.inference_arguments import (
    add_cache_folder,
    add_images,
    add_items,
    add_model,
    check_images,
    checkpoint_source,
    image_source,
    items_of,
    on_server,
)


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.cache_adopt") -> None:
    arguments = parse_arguments(argv, prog)
    # After the arguments: --help and their errors need not wait for torch.
    from benchc.models.adoption import Evaluated, adopt, adoptable, verify
    from benchc.models.identity import prediction_identity
    from benchc.models.predict import load_model

    if on_server(arguments):
        raise InputError(
            "--server-url, --server-command: a server does not give the same bits twice, so that its "
            "predictions cannot be adopted; run snakemake, which computes them again"
        )
    items = items_of(arguments)
    refuse_open_questions(items)
    scorer = load_model(checkpoint_source(arguments), arguments.family, arguments.scoring, arguments.threads)
    identity = prediction_identity(scorer, arguments.family, arguments.scoring)
    found = [
        cached for cached in adoptable(arguments.cache, identity) if arguments.identity in (None, cached.name)
    ]
    if not found:
        raise InputError(
            f"{arguments.cache}: no cached predictions differ from those of {identity['model']} "
            f"({identity['scoring']}) in their code alone; `benchc cache --cache {arguments.cache}` lists all"
        )
    cached = found[0]
    evaluated = Evaluated(arguments.items, items, image_source(arguments))
    verify(cached, scorer, evaluated, arguments.sample, arguments.sample_seed)
    adopt(arguments.cache, cached, identity)
    print(
        f"{identity['model']}, {identity['scoring']}: adopted {pluralize(cached.units(), 'unit')} of "
        f"{cached.name}; {pluralize(arguments.sample, 'unit')} computed again, every bit agrees"
    )


def parse_arguments(argv: Sequence[str] | None, prog: str) -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__, prog)
    add_model(parser)
    add_items(parser)
    add_images(parser)
    add_cache_folder(parser)
    add = parser.add_argument
    add("--sample", type=positive_argument, default=50, help="units to compute again [%(default)s]")
    add("--sample-seed", type=seed_argument, default=0, help="seed of the choice of units [%(default)s]")
    add("--identity", help="which to adopt, as `benchc cache` shows it; default: the last one used")
    for name in ("--shard", "--output"):
        add(name, help="ignored, so that the arguments of an infer job can be given unchanged")
    arguments = parser.parse_args(argv)
    check_images(parser, arguments)
    return arguments


if __name__ == "__main__":
    run(main)
