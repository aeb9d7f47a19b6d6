"""Let a language model shorten the captions of samples that are too long for encoders."""

import sys
from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.curation.shorten import read_shortener, shorten
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.command_line import PositiveInt
from benchc.endpoint.language_model import opened
from benchc.endpoint.service import Service
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.printed import csv_text
from benchc.sources.report import summary


def shorten_captions(
    *,
    captions: Path,
    below: PositiveInt = 230,
    attempts: PositiveInt = 4,
    template: Path,
    model: str,
    temperature: float = 1.0,
    service: Service | None = None,
    shortened: Path,
    report: Path,
) -> None:
    """Let a language model shorten the captions of samples that are too long for encoders.

    Other captions stay as they are. A sample whose caption no reply shortens enough is left out, and listed
    in the report. In mode record, a killed job continues with the replies that it has.

    Args:
        captions: curate/long_captions.parquet
        below: number of characters that every caption is to stay below
        attempts: requests for a caption, until a reply is short enough
        template: prompt, a text file with the placeholders {caption}, {below} and, if wanted, {language}
        model: name of the model at the endpoint
        temperature: of the replies
        shortened: curate/captions.parquet to write
        report: report on samples that are left out, to write (CSV): id, line, kind, reason
    """
    samples = read_table(captions, CAPTIONS)
    shortener = read_shortener(model, temperature, template, below, attempts)
    service = service or Service()
    with opened(service) as endpoint:
        kept, rejected = shorten(samples, shortener, endpoint)
    if kept.is_empty():
        raise InputError(
            f"no caption was shortened to fewer than {below:,} characters (the first: "
            f"{rejected['reason'][0]}); correct curate.shorten or curate.writer.model"
        )
    write_text(report, csv_text(rejected))
    which = str(read_footer(captions)["captions"])
    write_table(kept, shortened, CAPTIONS, shortener.footer(which, service))
    print(summary("shortened", kept.height, rejected, "sample"), file=sys.stderr)
