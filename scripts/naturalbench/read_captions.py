"""Read data sets of captioned images, and write one sample for each image or caption.

Writes curate/captions.parquet, sorted by id, and a report on rejected rows.
"""

import json
from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.curation.captions import CaptionSet, read_captions, samples
from benchc.benchmarks.naturalbench.demo.captioned import captioned_images
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.schemas.parquet import write_table
from benchc.sources.report import SCHEMA, summary
from scripts.argument_types import seed_argument
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument(
        "--datasets",
        nargs="+",
        required=True,
        type=json.loads,
        metavar="JSON",
        help="a mapping of id, form, file, images and language each; of the form generated with count, and "
        "without file and images",
    )
    parser.add_argument(
        "--captions",
        choices=["first", "all"],
        default="first",
        help="which captions of an image are samples; default: %(default)s",
    )
    parser.add_argument(
        "--seed", type=seed_argument, default=0, help="of generated images; default: %(default)s"
    )
    parser.add_argument("--output", type=Path, required=True, help="curate/captions.parquet")
    parser.add_argument("--report", type=Path, required=True, help="CSV file: id, line, kind, reason")
    arguments = parser.parse_args()
    frames, reports = [], []
    for entry in arguments.datasets:
        id_, language = entry["id"], entry["language"]
        if entry["form"] == "generated":
            pictures = captioned_images(entry["count"], arguments.seed)
            frame, report = (
                samples(id_, pictures, arguments.captions, language, None),
                pl.DataFrame(schema=SCHEMA),
            )
        else:
            folder = Path(entry["images"]) if entry.get("images") else None
            source = CaptionSet(id_, entry["form"], Path(entry["file"]), folder, language)
            frame, report = read_captions(source, arguments.captions)
        print(summary(id_, frame.height, report, "sample"))
        frames.append(frame)
        reports.append(report)
    write_text(arguments.report, pl.concat(reports).write_csv())
    captions = pl.concat(frames).sort("id")
    write_table(captions, arguments.output, CAPTIONS, {"captions": arguments.captions})


if __name__ == "__main__":
    run(main)
