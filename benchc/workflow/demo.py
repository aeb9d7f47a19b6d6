"""How a run trains its tiny models, as arguments of the jobs."""

from dataclasses import fields
from typing import Any

from benchc.demo.tiny.families import CLOSED_LISTS
from benchc.demo.tiny.settings import TrainingSettings
from benchc.demo.tiny.size import TinySize
from benchc.workflow.code import By, code_of
from benchc.workflow.models import Models


class TrainedModels:
    """The models that a run trains itself.

    Attributes:
        closed_lists: the ids of those that answer from a closed list
        prompted: the ids of all others
        sizes, trainings: how each is built and trained
        code: digests of each one's architecture, which is imported by name
    """

    def __init__(self, models: Models) -> None:
        entries = {id_: models.entries[id_] for id_ in models.trained}
        self.closed_lists = [id_ for id_, model in entries.items() if model.family in CLOSED_LISTS]
        self.prompted = [id_ for id_ in entries if id_ not in self.closed_lists]
        given = {
            id_: {"scoring": entries[id_].scoring, **training.model_dump()}
            for id_, training in models.trained.items()
        }
        self.sizes = By("model", {id_: _of(TinySize, values) for id_, values in given.items()})
        self.trainings = By("model", {id_: _of(TrainingSettings, values) for id_, values in given.items()})
        self.code = By(
            "model", {id_: code_of(f"benchc/demo/tiny/{model.family}.py") for id_, model in entries.items()}
        )


def _of(settings: type, values: dict[str, Any]) -> Any:
    return settings(**{each.name: values[each.name] for each in fields(settings) if each.name in values})
