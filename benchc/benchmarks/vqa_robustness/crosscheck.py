"""Checks across the keys that only VQA-robustness has. Like the shared ones, they use raw values."""

from collections.abc import Iterator

from benchc.config.errors import unknown
from benchc.config.raw import block, texts
from benchc.config.settings import Raw
from benchc.corruptions.registry import SUITES, all_corruptions_of, corruptions_of


def measured_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each corruption of VRE that the run does not have."""
    types = block(raw, "corruptions").get("types")
    if not isinstance(types, list):
        return
    known = [name for _, name in texts(types)]
    suite = block(raw, "corruptions").get("suite")
    if block(raw, "vre").get("corruptions") is None and isinstance(suite, str) and suite in SUITES:
        further = set(all_corruptions_of(SUITES[suite])) - set(corruptions_of(suite))
        if known and further.issuperset(known):
            yield (
                f"{file}: corruptions.types has none of the default set of {suite}, over which VRE is "
                "computed; add one, or name those of VRE in vre.corruptions."
            )
    for position, name in texts(block(raw, "vre").get("corruptions")):
        if name not in known:
            yield unknown(
                file, f"vre.corruptions[{position}]", name, known, "corruption in corruptions.types"
            )
