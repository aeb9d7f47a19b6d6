"""The models of the catalogues: which there are, where they are, and whether they work.

commands (each has its own --help):
  list      all models: how they are loaded, at which revision, and which are on this machine
  show      all that the catalogue and this machine know about one
  pin       write the present commit of models on the Hub into the catalogue
  fetch     download models, for jobs without a network
  check     load one and let it answer a few items; with a source, measure its accuracy
"""

import sys
from collections.abc import Sequence

from scripts import models_check, models_fetch, models_list, models_pin, models_show
from scripts.command import Parser, run

COMMANDS = {
    "list": models_list.main,
    "show": models_show.main,
    "pin": models_pin.main,
    "fetch": models_fetch.main,
    "check": models_check.main,
}


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.models") -> None:
    given = list(sys.argv[1:] if argv is None else argv)
    if given and given[0] in COMMANDS:
        COMMANDS[given[0]](given[1:], f"{prog} {given[0]}")
        return
    parser = Parser(__spec__.name, __doc__, prog)
    parser.add_argument("command", choices=COMMANDS, help="see above")
    parser.parse_args(given)


if __name__ == "__main__":
    run(main)
