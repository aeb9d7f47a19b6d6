"""Record how a release was made: counts, and what captions, encoders, settings, model and people made it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.curation.release import (
    counts_of,
    encoder_facts,
    read_release,
    sha256_of,
    shortening_facts,
)
from benchc.command_line import Json, Seed
from benchc.schemas.parquet import read_footer


def record_release(
    *,
    release: Path,
    pairs: Path,
    captions: Path,
    questions: list[Path],
    kept: list[Path],
    embeddings: list[Path],
    name: str,
    date: str,
    subsets: Annotated[Mapping[str, str], Json],
    caption_files: Annotated[Mapping[str, Path] | None, Json] = None,
    weights: Annotated[Mapping[str, list[Path]] | None, Json] = None,
    mining: Annotated[Mapping[str, Any], Json],
    seed: Seed,
    version: str,
    annotators: list[str],
    output: Path,
) -> None:
    """Record how a release was made: counts, and what captions, encoders, settings, model and people made it.

    Args:
        release: curate/groups.tsv
        pairs: curate/kept_pairs.parquet or curate/pairs.parquet
        captions: curate/captions.parquet
        questions: curate/questions/{round}.parquet, in order
        kept: curate/kept/{round}.parquet, in the same order
        embeddings: curate/embeddings/{encoder}.parquet of the encoders that found the pairs
        name: of the release
        date: of the release, YYYY-MM-DD
        subsets: the subset of the groups of each data set of captions
        caption_files: file of each data set of captions; none of one that is drawn
        weights: files of each encoder that is not on the Hub
        mining: settings of mining
        seed: of mining
        version: of benchc
        annotators: ids of all who reviewed
        output: curate/groups.json to write
    """
    used, samples, groups = read_release(pairs, captions, questions, kept)
    files = caption_files or {}
    record = {
        "name": name,
        "date": date,
        "benchc": version,
        "sha256": sha256_of(release),
        **counts_of(groups, samples, subsets),
        # Drawn captions have no file.
        "captions": {
            id_: {"subset": subset} | ({"sha256": sha256_of(files[id_])} if id_ in files else {})
            for id_, subset in subsets.items()
        },
        **({"shortening": shortening} if (shortening := shortening_facts(captions)) else {}),
        "encoders": encoder_facts(embeddings, weights or {}),
        "mining": mining,
        "seed": seed,
        # Of all rounds; the model may have changed between them.
        "rounds": [read_footer(path) for path in questions],
        "annotators": annotators,
        "pairs": used.height,
    }
    write_text(output, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
