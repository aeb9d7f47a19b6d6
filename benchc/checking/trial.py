"""What trying a model measured. Imports no torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """What was measured.

    ``device``: where the model ran, cpu, cuda or server. ``loading``: seconds until it was ready; None where
    a server had loaded it before. ``seconds``: of one prediction, the mean of ``predictions``, without the
    time of its images. ``asking``: seconds of the trial in which its model was ready.
    ``label_mass``: mean total probability of the options, in [0, 1]. ``uses_images``: whether grey images
    change a logit. ``correct``: the items that are answered correctly when clean; ``answered``: all.
    ``letters``: the tokens of the options' letters; none where texts are scored, and over a server.
    ``peak_mb``: largest main memory of the process in MB; None over a server, and where the system does not
    say. ``gpu_mb``: the same of the GPU; None elsewhere. ``one_by_one``: whether each variant of an image
    passed through the model alone, since its numbers depend on the others. ``model_seconds``: of ``seconds``,
    those in which the model computes; in the others, its input is encoded. ``image_seconds``: those before,
    in which the images of a prediction are decoded and corrupted. Both are None where no worker process can
    encode.
    """

    device: str
    loading: float | None
    seconds: float
    predictions: int
    label_mass: float
    uses_images: bool
    correct: int
    answered: int
    letters: tuple[int, ...] = ()
    peak_mb: float | None = None
    gpu_mb: float | None = None
    one_by_one: bool = False
    model_seconds: float | None = None
    image_seconds: float | None = None
    asking: float = 0.0


@dataclass(frozen=True)
class AnswersTrial:
    """What was measured of a model that only generates.

    ``device``, ``loading``, ``asking``: as of :class:`Trial`. ``seconds``: of one answer, the mean of
    ``timed``, without the time of its images. ``answers``: those to clean images, of which ``with_option``
    choose an option, and ``cut_off`` have the most tokens allowed; ``examples``: the first two. ``bare``:
    whether the model reads the bare question, without options and instruction; ``may_be_longer``: whether its
    code would write more tokens than are allowed.
    ``model_seconds`` is as of :class:`Trial`.
    """

    device: str
    loading: float | None
    seconds: float
    answers: int
    with_option: int
    cut_off: int
    examples: tuple[str, ...] = ()
    bare: bool = False
    may_be_longer: bool = True
    model_seconds: float | None = None
    timed: int = 0
    asking: float = 0.0
