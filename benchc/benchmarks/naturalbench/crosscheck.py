"""Checks across the keys that only NaturalBench has. Like the shared ones, they use raw values."""

from collections.abc import Iterator

from benchc.config.errors import unknown
from benchc.config.raw import at, block, texts
from benchc.config.settings import Raw


def curation_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each encoder that is not described, and where a run would do nothing."""
    known = [str(name) for name in block(raw, "encoders")]
    for key in ("curate.mine.encoders", "retrieval.encoders"):
        for position, name in texts(at(raw, key)):
            if name not in known:
                yield unknown(file, f"{key}[{position}]", name, known, "id in encoders")
    if texts(raw.get("models")) and not texts(raw.get("sources")):
        yield f"{file}: models are given without sources, whose groups they answer; add a source."
    if block(raw, "retrieval") and not block(raw, "curate") and at(raw, "retrieval.pairs") is None:
        yield f"{file}: retrieval.pairs is missing, since the run curates no pairs; give a file of pairs."
    if not texts(raw.get("models")) and not block(raw, "curate") and not block(raw, "retrieval"):
        yield f"{file}: the run has no models, no curate and no retrieval, so that it does nothing; add one."
