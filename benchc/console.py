"""The console command `benchc`, in a checkout and in an installed package."""

import sys
from importlib import import_module

from benchc.home import HOME, NEEDS_PIPELINE, has_pipeline


def main() -> None:
    """Run the command line, whose commands are scripts of the pipeline's home."""
    if str(HOME) not in sys.path:
        sys.path.insert(0, str(HOME))
    try:
        import_module("scripts.benchc").main()
    except ModuleNotFoundError as error:
        if has_pipeline():
            raise
        raise SystemExit(f"error: {NEEDS_PIPELINE} (there is no module {error.name})") from error


if __name__ == "__main__":
    main()
