"""The console command `benchc`, in a checkout and in an installed package."""

import sys
from importlib import import_module

from benchc.home import HOME


def main() -> None:
    """Run the command line, whose commands are scripts of the pipeline's home."""
    if str(HOME) not in sys.path:
        sys.path.insert(0, str(HOME))
    import_module("scripts.benchc").main()
