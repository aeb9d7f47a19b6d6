"""How a run trains its tiny models, as arguments of the jobs."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from benchc.config.catalogue import Model
from benchc.config.settings import Demo
from benchc.demo.tiny.families import CLOSED_LISTS
from benchc.demo.tiny.settings import TrainingSettings
from benchc.demo.tiny.size import TinySize
from benchc.workflow.code import By, code_of
from benchc.workflow.made_once import FOLDER, captioned_training_set, named, training_set


class TrainedModels:
    """The models that a run trains itself; each is in a folder whose name tells how it was trained.

    Attributes:
        folders: the name of the folder of each by id
        ids: the reverse
        closed_lists: the folders of those that answer from a closed list
        prompted: the folders of all others
        sizes, trainings: how each is built and trained
        training_sets: the file on which each is trained, by its folder
        code: digests of each one's architecture, which is imported by name
    """

    def __init__(self, entries: Mapping[str, Model], demo: Demo | None) -> None:
        trained = {id_: model for id_, model in entries.items() if model.train is not None}
        self.folders = {id_: named(id_, *_made_of(model, demo)) for id_, model in trained.items()}
        self.ids = {folder: id_ for id_, folder in self.folders.items()}
        by_folder = {self.folders[id_]: model for id_, model in trained.items()}
        self.closed_lists = [folder for folder, model in by_folder.items() if model.family in CLOSED_LISTS]
        self.prompted = [folder for folder in by_folder if folder not in self.closed_lists]
        self.training_sets = {folder: _training_set(model, demo) for folder, model in by_folder.items()}
        given = {folder: _given(model) for folder, model in by_folder.items()}
        self.sizes = By("trained", {folder: _of(TinySize, values) for folder, values in given.items()})
        self.trainings = By(
            "trained", {folder: _of(TrainingSettings, values) for folder, values in given.items()}
        )
        self.code = By("trained", {folder: _code(model) for folder, model in by_folder.items()})

    def folder(self, id_: str) -> str:
        """Return the folder of a model that the run trains."""
        return f"{FOLDER}/{self.folders[id_]}"


def _training_set(model: Model, demo: Demo | None) -> str:
    assert demo is not None and model.train is not None  # which the configuration's checks ensure
    return captioned_training_set(demo) if model.train.captions else training_set(demo)


def _made_of(model: Model, demo: Demo | None) -> tuple[object, ...]:
    assert model.train is not None
    return (
        _training_set(model, demo),
        model.family,
        model.scoring,
        # A new setting with a default changes no name.
        model.train.model_dump(exclude_defaults=True),
        code_of("scripts/train_demo_model.py"),
        _code(model),
    )


def _given(model: Model) -> dict[str, Any]:
    assert model.train is not None
    return {"scoring": model.scoring, **model.train.model_dump()}


def _code(model: Model) -> list[str]:
    return code_of(f"benchc/demo/tiny/{model.family}.py")


def _of(settings: type, values: dict[str, Any]) -> Any:
    return settings(**{each.name: values[each.name] for each in fields(settings) if each.name in values})
