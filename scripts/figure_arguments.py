"""Arguments that the figures' scripts share."""

import argparse
from pathlib import Path


def add_selected(parser: argparse.ArgumentParser) -> None:
    """Add the table of the selection."""
    parser.add_argument("--selected", type=Path, required=True, metavar="FILE", help="table of the selection")


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the two files that every figure is written to."""
    parser.add_argument("--png", type=Path, required=True, metavar="FILE", help="picture to write, 300 dpi")
    parser.add_argument("--pdf", type=Path, required=True, metavar="FILE", help="vector drawing to write")
