"""List cached predictions, delete some, or keep them after a refactoring."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchc.models.asking import Job
from benchc.models.attentions import FLASH
from benchc.models.cache.identities import CachedIdentity, cached_identities
from benchc.rendering.markdown import markdown
from scripts.command import command_line
from scripts.commands.cache.adopt import adopt_cached
from scripts.commands.cache.prune import prune

app = command_line("cache")
app.command(adopt_cached, name="adopt")
app.command(prune)


@app.default
def list_cached(*, cache: Path = Job.cache) -> None:
    """List the cached predictions of a folder.

    One row is one identity: a model under a scoring, with all else that decides a prediction. It is current
    if the code that computed its predictions is that of the present files.

    Args:
        cache: folder of the prediction cache, which runs share
    """
    print(table(cached_identities(cache)) or f"{cache} has no cached predictions\n", end="")


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
    """Yield the settings of an identity that change the speed of inference; none where they are usual."""
    if facts.get("variants"):
        yield f"variants {facts['variants']}"
    if facts.get("units_together"):
        yield f"together {facts['units_together']}"
    if facts.get("image_backend", "pil") != "pil":
        yield facts["image_backend"]
    if facts.get("compile") == "True":
        yield "compiled"
    if FLASH in facts.get("attention", ""):
        yield FLASH
