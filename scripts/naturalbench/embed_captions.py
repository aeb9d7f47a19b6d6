"""Embed the images and captions of samples by one encoder.

Writes embeddings/{encoder}.parquet, one row per sample in the order of the captions. Reports how many
captions the encoder truncates. Reproducible to the byte for a fixed number of threads.
"""

from pathlib import Path

import torch

from benchc.benchmarks.naturalbench.curation.embed import embedded
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.embeddings import EMBEDDINGS
from benchc.images import ALPHAS
from benchc.models.image_text_encoders import LIBRARIES, load_image_text_encoder
from benchc.models.offline import work_offline
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.revision import read_revision
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--captions", type=Path, required=True, help="curate/captions.parquet")
    parser.add_argument("--id", required=True, help="the encoder's id in the configuration")
    parser.add_argument("--library", choices=LIBRARIES, default="open_clip", help="default: %(default)s")
    parser.add_argument("--image-encoder", required=True, help="name of a model of the library, or a folder")
    parser.add_argument("--pretrained", help="open_clip's tag of the weights; none for a folder")
    parser.add_argument(
        "--revision-file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="the commit of the encoder on the Hub; default, or without FILE: that in the Hub's cache",
    )
    parser.add_argument(
        "--alpha", choices=ALPHAS, default="drop", help="how to handle transparency; default: %(default)s"
    )
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--output", type=Path, required=True, help="curate/embeddings/{encoder}.parquet")
    arguments = parser.parse_args()
    work_offline()
    torch.set_num_threads(arguments.threads)

    captions = read_table(arguments.captions, CAPTIONS)
    file = arguments.revision_file
    commit = read_revision(file).commit if file else None
    encoder = load_image_text_encoder(
        arguments.library, arguments.image_encoder, arguments.pretrained, commit
    )
    frame, queries = embedded(captions, encoder, arguments.alpha)
    truncated = int(frame["truncated"].sum())
    print(f"{arguments.id} truncates {truncated:,} of {frame.height:,} captions")
    footer = {
        "encoder": arguments.id,
        "queries": queries,
        "library": arguments.library,
        "name": arguments.image_encoder,
        "pretrained": arguments.pretrained,
        "commit": commit,
        "truncated": truncated,
        "torch": str(torch.__version__),
    }
    write_table(frame, arguments.output, EMBEDDINGS, footer)


if __name__ == "__main__":
    run(main)
