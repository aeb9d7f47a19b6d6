"""List the cached predictions of a folder, or change them.

One row is one identity: a model under a scoring, with all else that decides a prediction. It is current if
the code that computed its predictions is that of the present files.

commands (each has its own --help):
  prune     delete the predictions of a model, unused ones, or those of other code
  adopt     after an edit of code that changed no prediction, keep the cached ones
"""

import datetime
import sys
from collections.abc import Iterator, Mapping, Sequence

from benchc.models.cached_identities import CachedIdentity, cached_identities
from benchc.rendering.markdown import markdown
from scripts import cache_adopt, cache_prune
from scripts.command import Parser, run
from scripts.inference_arguments import add_cache_folder

COMMANDS = {"prune": cache_prune.main, "adopt": cache_adopt.main}


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.cache") -> None:
    given = list(sys.argv[1:] if argv is None else argv)
    if given and given[0] in COMMANDS:
        COMMANDS[given[0]](given[1:], f"{prog} {given[0]}")
        return
    parser = Parser(__spec__.name, __doc__, prog)
    add_cache_folder(parser)
    folder = parser.parse_args(given).cache
    print(table(cached_identities(folder)) or f"{folder} has no cached predictions\n", end="")


def table(identities: Sequence[CachedIdentity]) -> str:
    """Return the identities as a Markdown table, "" if there are none."""
    if not identities:
        return ""
    header = [
        "model",
        "scoring",
        "identity",
        "dtype",
        "device",
        "settings",
        "current",
        "units",
        "MB",
        "last use",
    ]
    rows = [
        [
            cached.facts["model"],
            cached.facts["scoring"],
            cached.name,
            cached.facts.get("dtype", ""),
            cached.facts.get("device", ""),
            ", ".join(settings_of(cached.facts)) or "–",
            "yes" if cached.is_current() else "no",
            f"{cached.units():,}",
            f"{cached.bytes() / 1e6:,.1f}",
            datetime.datetime.fromtimestamp(cached.last_use).strftime("%Y-%m-%d %H:%M"),
        ]
        for cached in identities
    ]
    return markdown(header, rows, text_columns=7)


def settings_of(facts: Mapping[str, str]) -> Iterator[str]:
    """Yield the settings of an identity that make inference faster, where they are not the default."""
    if facts.get("units_together"):
        yield f"together {facts['units_together']}"
    if facts.get("image_backend", "pil") != "pil":
        yield facts["image_backend"]
    if facts.get("compile") == "True":
        yield "compiled"


if __name__ == "__main__":
    run(main)
