"""Embed every item of a pool with an image encoder and a text encoder, for the selection of diverse items.

Writes selection/embeddings.parquet, one row per item in the order of the pool.
Reports how many texts the text encoder truncates. Reproducible to the byte for a fixed number of threads.
"""

from pathlib import Path

import torch

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.selection.embeddings import embeddings_frame, image_vectors, text_vectors
from benchc.images import ALPHAS
from benchc.models.encoder_names import hub_id
from benchc.models.encoders import load_image_encoder, load_text_encoder
from benchc.models.offline import work_offline
from benchc.models.revisions import commit_of
from benchc.progress import track
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.revision import read_revision
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--items", required=True, help="pool/items.parquet")
    parser.add_argument(
        "--image-encoder", required=True, help="name of an open_clip model, or a folder with one"
    )
    parser.add_argument("--pretrained", help="open_clip's tag of the weights; none for a folder")
    parser.add_argument(
        "--image-revision-file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="selection/image_encoder.json with the commit of the tag's weights on the Hub; default, or "
        "without FILE: that in the Hub's cache",
    )
    parser.add_argument("--text-encoder", default="all-MiniLM-L6-v2", help="default: %(default)s")
    parser.add_argument(
        "--text-revision-file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="selection/text_encoder.json with the commit of a text encoder on the Hub; default, or without "
        "FILE: that of its default branch in the Hub's cache",
    )
    parser.add_argument(
        "--alpha", choices=ALPHAS, default="drop", help="how to handle transparency; default: %(default)s"
    )
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--output", required=True, help="selection/embeddings.parquet")
    arguments = parser.parse_args()
    work_offline()
    torch.set_num_threads(arguments.threads)

    items = read_table(arguments.items, POOL)
    commit = text_encoder_commit(arguments.text_encoder, arguments.text_revision_file)
    texts, truncated = text_vectors(items, load_text_encoder(arguments.text_encoder, commit))
    print(f"{arguments.text_encoder} truncates {truncated.sum():,} of {len(truncated):,} texts")
    file = arguments.image_revision_file
    image_commit = read_revision(file).commit if file else None
    image_encoder = load_image_encoder(arguments.image_encoder, arguments.pretrained, image_commit)
    images = track(
        image_vectors(items, image_encoder, arguments.alpha),
        label="embed images",
        unit="items",
        total=items.height,
    )
    frame = embeddings_frame(items, images, texts, truncated)
    footer = {
        "image_encoder": arguments.image_encoder,
        "pretrained": arguments.pretrained,
        "image_encoder_commit": image_commit,
        "text_encoder": arguments.text_encoder,
        "text_encoder_commit": commit,
        "truncated": int(truncated.sum()),
        "torch": str(torch.__version__),
    }
    write_table(frame, arguments.output, EMBEDDINGS, footer)


def text_encoder_commit(name: str, file: Path | None) -> str | None:
    """Return the commit of a text encoder on the Hub, from ``file`` if given; None for any other encoder.

    Raises InputError where it cannot be found.
    """
    repo = hub_id(name)
    if repo is None:
        return None
    return read_revision(file, repo).commit if file else commit_of(repo, None)


if __name__ == "__main__":
    run(main)
