"""Data sets of captioned images, as settings of a job. Imports nothing heavy: rules use it, too."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Form = Literal["csv", "tsv", "flickr30k", "docci", "xm3600"]
# Of an image, the captions that are samples.
Which = Literal["first", "all"]


@dataclass(frozen=True)
class CaptionSet:
    """A data set of captioned images: its id, form and files, and the language of its questions.

    ``locale``: of the captions, where the file has those of several.
    """

    id: str
    form: Form
    file: Path
    images: Path | None
    language: str
    locale: str | None = None


@dataclass(frozen=True)
class DrawnCaptions:
    """Captioned images that the run draws: their id, number and seed, and the language of their questions."""

    id: str
    count: int
    seed: int
    language: str
