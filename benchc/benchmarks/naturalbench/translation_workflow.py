"""The part of a run of NaturalBench that translates questions and asks models again (Table 5)."""

from pathlib import Path

from benchc.benchmarks.naturalbench.settings import Settings, Translate
from benchc.errors import InputError
from benchc.workflow.sources import local

GROUPS = "<results>/translated/groups.parquet"
QUESTIONS = "<results>/translated/questions.parquet"


class Translation:
    """The translator of a run, and what models are asked about translated questions.

    Attributes:
        reading: that of Table 5, for which alone models are asked
        template: the prompt
        recordings: the folder of the translator's replies
        service: how jobs reach the translator
        records_replies: whether the run writes the replies that it replays
    """

    def __init__(self, settings: Settings, translate: Translate, *, simulated: bool) -> None:
        self.reading = settings.table_reading
        self.template = local(translate.template)
        if not Path(self.template).is_file():
            raise InputError(f"translate.template: there is no file {self.template}; correct the path.")
        own = f"results/{settings.name}/translated/recordings"
        self.recordings = own if translate.recordings is None else local(translate.recordings)
        self.service = translate.service(self.recordings)
        self.records_replies = simulated and translate.mode == "replay" and translate.recordings is None

    def predictions(self, model: str) -> list[str]:
        """Return a model's predictions about translated questions; none where it answers them."""
        file = f"<results>/predictions/translated/{model}/clean.parquet"
        return [] if self.reading == "decoding" else [file]

    def answers(self, model: str) -> list[str]:
        """Return a model's answers to translated questions; none where its predictions are read."""
        file = f"<results>/answers/translated/{model}/clean.parquet"
        return [file] if self.reading == "decoding" else []
