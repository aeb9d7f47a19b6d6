"""Embed every item of a pool with an image encoder and a text encoder, for the selection of diverse items."""

import sys
from pathlib import Path

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS, EmbeddingsFooter
from benchc.benchmarks.bench_c.selection.embeddings import embeddings_frame, image_vectors, text_vectors
from benchc.command_line import PositiveInt
from benchc.models.encoders.names import BATCH, CACHE, Device, hub_id
from benchc.models.hub.offline import work_offline
from benchc.models.revisions import commit_of
from benchc.progress import track
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.revision import read_revision
from benchc.transparency import Alpha


def embed(
    *,
    pool: Path,
    image_encoder: str,
    pretrained: str | None = None,
    image_revision_file: Path | None = None,
    image_device: Device = "cpu",
    image_batch: PositiveInt = BATCH,
    text_encoder: str = "all-MiniLM-L6-v2",
    text_revision_file: Path | None = None,
    text_device: Device = "cpu",
    text_batch: PositiveInt = BATCH,
    alpha: Alpha = "drop",
    threads: PositiveInt = 1,
    cache: Path = CACHE,
    output: Path,
) -> None:
    """Embed every item of a pool with an image and a text encoder, for the selection of diverse items.

    Writes one row per item in the order of the pool, and reports how many texts the text encoder truncates.
    Reproducible to the byte on one device, with the same batches and number of threads.

    Args:
        pool: pool/items.parquet
        image_encoder: name of an open_clip model, or a folder with one
        pretrained: open_clip's tag of the weights, or a file of weights; none for a folder
        image_revision_file: selection/image_encoder.json with the commit of the tag's weights on the Hub,
            unless it is that in the Hub's cache
        image_device: where images are embedded
        image_batch: images that pass through the encoder at once
        text_encoder: all-MiniLM-L6-v2, or the Hub id or folder of another sentence-transformers model
        text_revision_file: selection/text_encoder.json with the commit of a text encoder on the Hub, unless
            it is that of the default branch in the Hub's cache
        text_device: where texts are embedded
        text_batch: texts that pass through the encoder at once
        alpha: how transparency is handled
        threads: of the CPU
        cache: folder of the prediction cache, which runs share: a killed job continues from it
        output: selection/embeddings.parquet to write
    """
    work_offline()
    # Imported here because --help needs no torch, which takes seconds.
    import torch

    from benchc.models.encoders.cached import (
        CachedImageEncoder,
        CachedTextEncoder,
        encoder_identity,
        vector_cache,
    )
    from benchc.models.encoders.device import device_name, prepare
    from benchc.models.encoders.encoders import load_image_encoder, load_text_encoder
    from benchc.models.encoders.unit_vectors import same_vectors

    prepare({image_device, text_device}, threads)
    items = read_table(pool, POOL)
    commit = text_encoder_commit(text_encoder, text_revision_file)
    identity = encoder_identity(
        "texts", "sentence_transformers", text_encoder, None, commit, text_device, text_batch
    )
    encoder = load_text_encoder(text_encoder, commit, text_device, text_batch)
    with vector_cache(cache, identity, "embed") as kept:
        of_texts = CachedTextEncoder(encoder, text_batch, kept)
        texts, truncated = text_vectors(items, of_texts)
    print(of_texts.counts)
    print(f"{text_encoder} truncates {truncated.sum():,} of {len(truncated):,} texts")
    image_commit = read_revision(image_revision_file).commit if image_revision_file else None
    identity = encoder_identity(
        "images", "open_clip", image_encoder, pretrained, image_commit, image_device, image_batch
    )
    loaded = load_image_encoder(image_encoder, pretrained, image_commit, image_device, image_batch)
    with vector_cache(cache, identity, "embed") as kept:
        of_images = CachedImageEncoder(loaded, image_batch, kept)
        images = track(
            image_vectors(items, of_images, alpha), label="embed images", unit="items", total=items.height
        )
        frame = embeddings_frame(items, images, texts, truncated)
    print(of_images.counts)
    for text in same_vectors(frame):
        print(f"warning: {text}", file=sys.stderr)
    footer = EmbeddingsFooter(
        image_encoder=image_encoder,
        pretrained=pretrained,
        image_encoder_commit=image_commit,
        text_encoder=text_encoder,
        text_encoder_commit=commit,
        image_device=device_name(image_device),
        image_batch=image_batch,
        text_device=device_name(text_device),
        text_batch=text_batch,
        truncated=int(truncated.sum()),
        torch=str(torch.__version__),
    )
    write_table(frame, output, EMBEDDINGS, footer)


def text_encoder_commit(name: str, file: Path | None) -> str | None:
    """Return the commit of a text encoder on the Hub, from ``file`` if given; None for any other encoder.

    Raises InputError where it cannot be found.
    """
    repo = hub_id(name)
    if repo is None:
        return None
    return read_revision(file, repo).commit if file else commit_of(repo, None)
