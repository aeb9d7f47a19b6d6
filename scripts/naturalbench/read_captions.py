"""Read data sets of captioned images, and write one sample for each image or caption."""

from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.curation.caption_sets import CaptionSet, DrawnCaptions, Which
from benchc.benchmarks.naturalbench.curation.captions import read_caption_set
from benchc.benchmarks.naturalbench.demo.captioned import drawn_samples
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS, CaptionsFooter
from benchc.command_line import Json
from benchc.schemas.parquet import write_table
from benchc.schemas.printed import csv_text
from benchc.sources.report import summary


def read_captions(
    *,
    datasets: Annotated[list[CaptionSet | DrawnCaptions], Json],
    which: Which = "first",
    captions: Path,
    report: Path,
) -> None:
    """Read data sets of captioned images, and write one sample for each image or caption, sorted by id.

    Args:
        datasets: id, form, file, folder of the images (null for a tsv) and language of each; of one that is
            drawn, id, count, seed and language
        which: which captions of an image are samples
        captions: curate/captions.parquet to write
        report: report on rejected rows to write (CSV): id, line, kind, reason
    """
    frames, reports = [], []
    for source in datasets:
        if isinstance(source, DrawnCaptions):
            frame, rejected = drawn_samples(source, which)
        else:
            frame, rejected = read_caption_set(source, which)
        print(summary(source.id, frame.height, rejected, "sample"))
        frames.append(frame)
        reports.append(rejected)
    write_text(report, csv_text(pl.concat(reports)))
    write_table(pl.concat(frames).sort("id"), captions, CAPTIONS, CaptionsFooter(captions=which))
