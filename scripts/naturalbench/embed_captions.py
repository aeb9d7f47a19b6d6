"""Embed the images and captions of samples by one encoder."""

import sys
from pathlib import Path

from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.embeddings import EMBEDDINGS, EmbeddingsFooter
from benchc.command_line import PositiveInt
from benchc.models.encoders.names import BATCH, CACHE, Device, Library
from benchc.models.hub.offline import work_offline
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.revision import read_revision
from benchc.transparency import Alpha


def embed_captions(
    *,
    captions: Path,
    encoder: str,
    library: Library = "open_clip",
    name: str,
    pretrained: str | None = None,
    language: str | None = None,
    revision_file: Path | None = None,
    device: Device = "cpu",
    batch: PositiveInt = BATCH,
    alpha: Alpha = "drop",
    threads: PositiveInt = 1,
    cache: Path = CACHE,
    output: Path,
) -> None:
    """Embed the images and captions of samples by one encoder.

    Writes one row per sample in the order of the captions, and reports how many captions the encoder
    truncates. Reproducible to the byte on one device, with the same batches and number of threads.

    Args:
        captions: curate/captions.parquet
        encoder: the encoder's id in the configuration
        library: the library that loads it
        name: name of a model of the library, or a folder
        pretrained: open_clip's tag of the weights, or a file of weights; none for a folder
        language: of the captions, as the encoder's tokenizer calls it; none for one that needs none
        revision_file: encoders/{encoder}.json with the commit of an encoder on the Hub, unless it is that in
            the Hub's cache
        device: where images and captions are embedded
        batch: images, and of open_clip captions, that pass through the encoder at once
        alpha: how transparency is handled
        threads: of the CPU
        cache: folder of the prediction cache, which runs share: a killed job continues from it
        output: curate/embeddings/{encoder}.parquet to write
    """
    work_offline()
    # Imported here because --help needs no torch, which takes seconds.
    import torch

    from benchc.benchmarks.naturalbench.curation.embed import embedded
    from benchc.models.encoders.cached import CachedImageTextEncoder, encoder_identity, vector_cache
    from benchc.models.encoders.device import device_name, prepare
    from benchc.models.encoders.image_text import load_image_text_encoder
    from benchc.models.encoders.unit_vectors import same_vectors

    prepare({device}, threads)
    samples = read_table(captions, CAPTIONS)
    commit = read_revision(revision_file).commit if revision_file else None
    identity = encoder_identity(
        "images and texts", library, name, pretrained, commit, device, batch, language
    )
    loaded = load_image_text_encoder(library, name, pretrained, commit, language, device, batch)
    with vector_cache(cache, identity, f"embed-{encoder}") as kept:
        cached = CachedImageTextEncoder(loaded, batch, kept)
        frame, queries = embedded(samples, cached, alpha)
    print(cached.counts)
    for text in same_vectors(frame):
        print(f"warning: {encoder}: {text}", file=sys.stderr)
    truncated = int(frame["truncated"].sum())
    print(f"{encoder} truncates {truncated:,} of {frame.height:,} captions")
    footer = EmbeddingsFooter(
        encoder=encoder,
        queries=queries,
        library=library,
        name=name,
        pretrained=pretrained,
        commit=commit,
        language=language,
        device=device_name(device),
        batch=batch,
        truncated=truncated,
        torch=str(torch.__version__),
    )
    write_table(frame, output, EMBEDDINGS, footer)
