"""The encoders of a run of NaturalBench: their files, and which are fetched from the Hub."""

from collections.abc import Mapping

from benchc.benchmarks.naturalbench.settings import Demo, Encoder
from benchc.models.encoders.names import hub_id
from benchc.workflow import encoders
from benchc.workflow.code import Wildcards, contents_of


class Encoders:
    """The encoders of curation and retrieval: their entries by id.

    Attributes:
        tagged: those of open_clip whose weights are on the Hub
        on_hub: those that are fetched from the Hub as a whole
        trained: the one that the run trains, if any of them is it
    """

    def __init__(self, entries: Mapping[str, Encoder], demo: Demo | None) -> None:
        self.entries = entries
        self.trained = None
        if any(encoder.name == encoders.TRAINED for encoder in entries.values()):
            assert demo is not None and demo.image_encoder is not None  # which the checks ensure
            self.trained = encoders.TrainedEncoder(demo, demo.image_encoder.steps)
        self.tagged = [
            id_
            for id_, encoder in entries.items()
            if encoder.library == "open_clip" and encoders.tag_on_hub(encoder.pretrained)
        ]
        self.on_hub = [id_ for id_ in entries if self.repo(id_)]
        self.fetched = [f"<results>/encoders/{id_}.json" for id_ in [*self.tagged, *self.on_hub]]

    def repo(self, id_: str) -> str | None:
        """Return the id on the Hub of an encoder that is fetched as a whole; None for others."""
        encoder = self.entries[id_]
        return None if encoder.library == "open_clip" else hub_id(encoder.name)

    def location(self, id_: str) -> str:
        """Return the name of an encoder, or the folder of the one that the run trains."""
        trained = self._trained(id_)
        return trained.folder if trained else self.entries[id_].name

    def device(self, id_: str) -> str:
        """Return where an encoder computes."""
        return encoders.device(self.entries[id_].gpus)

    def files(self, id_: str) -> list[str]:
        """Return the files of an encoder that are the run's or the user's own."""
        encoder, trained = self.entries[id_], self._trained(id_)
        return trained.files if trained else encoders.files_of([encoder.name, encoder.pretrained])

    def contents(self, id_: str) -> list[str]:
        """Return the contents of the user's own files of an encoder."""
        return [] if self._trained(id_) else contents_of(self.files(id_))

    def revision_file(self, wildcards: Wildcards) -> str | list[str]:
        """Return the file with the commit of a job's encoder on the Hub; none for another one."""
        fetched = wildcards.encoder in [*self.tagged, *self.on_hub]
        return "<results>/encoders/{encoder}.json" if fetched else []

    def memory(self, id_: str) -> int:
        """Return the memory of an encoder in MB: BLIP-2 has 4.7 GB of weights in float32."""
        return 12000 if self.entries[id_].library == "blip2" else 4000

    def _trained(self, id_: str) -> encoders.TrainedEncoder | None:
        return self.trained if self.entries[id_].name == encoders.TRAINED else None
