"""Arguments of the scripts that draw corruptions by family."""

import argparse

from benchc.errors import InputError


def add_families(parser: argparse.ArgumentParser) -> None:
    """Add the corruptions and their families."""
    parser.add_argument(
        "--corruptions",
        nargs="+",
        required=True,
        metavar="NAME",
        help="the corruptions, in the order in which they are drawn",
    )
    parser.add_argument(
        "--families",
        nargs="+",
        required=True,
        metavar="NAME",
        help="the family of each corruption, in the order of --corruptions",
    )


def families_of(arguments: argparse.Namespace) -> dict[str, str]:
    """Return each corruption's family, in the order given."""
    if len(arguments.families) != len(arguments.corruptions):
        raise InputError("--families: give one family to each corruption of --corruptions")
    return dict(zip(arguments.corruptions, arguments.families, strict=True))
