"""Long captions, shortened by a language model for encoders that read short ones.

The paper has ChatGPT shorten those of DOCCI to below 230 characters (appendix A, step 1).
"""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.schemas.captions import ShortenedFooter
from benchc.endpoint.answer import Answer
from benchc.endpoint.client import Endpoint
from benchc.endpoint.language_model import UnusableError, chat_request, reply_text, usable_replies
from benchc.endpoint.service import Service
from benchc.endpoint.template import Template, read_template
from benchc.sources.report import Remark, report_frame

REQUIRED = ("caption", "below")
OPTIONAL = ("language",)
COLUMNS = ("id", "caption", "language")


@dataclass(frozen=True)
class Shortener:
    """The language model that shortens captions, as its requests describe it.

    Attributes:
        below: a caption with as many characters or more is shortened to fewer
        attempts: requests for a caption, until a reply is short enough
    """

    model: str
    temperature: float
    template: Template
    below: int
    attempts: int

    def request(self, caption: str, language: str, attempt: int) -> dict[str, object]:
        """Return the request for a shorter caption. The attempt is its seed: attempts differ."""
        prompt = self.template.filled(caption=caption, below=str(self.below), language=language)
        return chat_request(self.model, prompt, self.temperature, attempt)

    def shortened(self, answer: Answer) -> str:
        """Return the caption of a reply in one line; raises UnusableError where it is none or too long."""
        caption = " ".join(reply_text(answer, self.model).split())
        if len(caption) >= self.below:
            raise UnusableError(f"the reply has {len(caption):,} characters, not fewer than {self.below:,}")
        return caption

    def footer(self, captions: str, service: Service) -> ShortenedFooter:
        """Return the footer of the samples; ``captions``: which captions of an image they have."""
        return ShortenedFooter(
            captions=captions,
            below=self.below,
            model=self.model,
            temperature=self.temperature,
            template=self.template.hash,
            mode=service.mode,
            url=service.asked_at,
        )


def read_shortener(model: str, temperature: float, template: Path, below: int, attempts: int) -> Shortener:
    """Return the shortener with the template in a file. Raises InputError where that is not valid."""
    return Shortener(model, temperature, read_template(template, REQUIRED, OPTIONAL), below, attempts)


def shorten(
    samples: pl.DataFrame, shortener: Shortener, endpoint: Endpoint
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the samples (type CAPTIONS) with captions below the limit, and a report on those without.

    Captions that are short are kept as they are. A sample whose caption is still too long after all attempts
    is left out; the report has its id and the reason of the last attempt. Raises EndpointError, and
    InputError where the server refuses all requests or is not OpenAI-compatible.
    """
    long = samples.filter(pl.col("caption").str.len_chars() >= shortener.below)
    shorter, reasons = usable_replies(
        {id_: (caption, language) for id_, caption, language in long.select(*COLUMNS).iter_rows()},
        lambda asked, attempt: shortener.request(*asked, attempt),
        lambda _, answer: shortener.shortened(answer),
        attempts=shortener.attempts,
        endpoint=endpoint,
        label="shorten captions",
    )
    short = pl.col("id").replace_strict(shorter, default=pl.col("caption"), return_dtype=pl.String)
    kept = samples.filter(~pl.col("id").is_in(list(reasons))).with_columns(short.alias("caption"))
    remarks = [Remark(id_, None, "rejected", reason) for id_, reason in reasons.items()]
    return kept, report_frame(remarks)
