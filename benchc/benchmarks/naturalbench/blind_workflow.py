"""The part of a run of NaturalBench in which models answer other benchmarks with and without the images."""

from benchc.benchmarks.naturalbench.settings import Settings
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.models.registry import ANSWERING

ITEMS = "<results>/pool/blind.parquet"


class BlindSources:
    """The other benchmarks, and the models that answer them.

    Attributes:
        labels: of the sources by id, in the order of tables and figures
        task_columns: of the sources by id
        models: those that are asked
        seen, unseen: their predictions with the images and without
    """

    def __init__(self, settings: Settings, config: Config) -> None:
        entries = {id_: config.all_sources[id_] for id_ in settings.blind.sources}
        if with_open_questions := [id_ for id_, source in entries.items() if source.convert is not None]:
            raise InputError(
                f"Remove {with_open_questions[0]} from blind.sources: it has open questions, which have no "
                "options."
            )
        self.labels = {id_: source.label for id_, source in entries.items()}
        self.task_columns = {id_: source.task_column for id_, source in entries.items()}
        self.models = asked_models(settings, config)
        self.seen = [f"<results>/predictions/blind/{id_}/clean.parquet" for id_ in self.models]
        self.unseen = [f"<results>/predictions/blind/{id_}/no_image.parquet" for id_ in self.models]


def asked_models(settings: Settings, config: Config) -> list[str]:
    """Return the models that are asked: those of blind.models, or all of models that have probabilities.

    Raises InputError where one of blind.models has none.
    """
    without = [id_ for id_ in settings.models if config.models[id_].scoring in ANSWERING]
    named = settings.blind.models
    if named is None:
        return [id_ for id_ in settings.models if id_ not in without]
    if wrong := [id_ for id_ in named if id_ in without]:
        raise InputError(
            f"Remove {wrong[0]} from blind.models: it only answers, so that its options have no "
            "probabilities."
        )
    return [id_ for id_ in settings.models if id_ in named]
