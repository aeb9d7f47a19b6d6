"""What the rules ask about the models that a run tunes: their ids, files and entries in a catalogue."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast

from benchc.benchmarks.naturalbench.settings import FineTuning, Settings
from benchc.benchmarks.naturalbench.tuned_names import tuned_id
from benchc.config.load import Config
from benchc.models.tuning.settings import Modality

FOLDER = "<results>/fine_tuning"
HALVES = f"{FOLDER}/halves.parquet"
TRAIN = "<results>/subsets/train_half.parquet"
TEST = "<results>/subsets/test_half.parquet"
QUESTIONS = "<results>/subsets/test_questions.parquet"


class FineTunedModels:
    """The models that a run tunes, each with the images or on the text alone.

    Attributes:
        ids: of the tuned models by modality
        config: the run's configuration, with the tuned models in place of its own
        train: the subset that they are tuned on
    """

    def __init__(self, config: Config, fine_tuning: FineTuning) -> None:
        settings = cast(Settings, config.settings)
        self.settings = fine_tuning
        self.ids: Mapping[Modality, list[str]] = {
            modality: [tuned_id(id_, modality) for id_ in fine_tuning.models]
            for modality in fine_tuning.modality
        }
        entries = {
            tuned_id(id_, modality): config.models[id_].model_copy(
                update={
                    "label": f"{config.models[id_].label} ({modality})",
                    "path": f"results/{settings.name}/fine_tuning/{tuned_id(id_, modality)}",
                    "repo": None,
                    "revision": None,
                    "train": None,
                }
            )
            for id_ in fine_tuning.models
            for modality in fine_tuning.modality
        }
        self.config = replace(config, models=entries)

    @property
    def predictions(self) -> list[str]:
        """The predictions of the tuned models on the test half, as `original` has those of the models."""
        return [predicted(id_, modality) for modality, ids in self.ids.items() for id_ in ids]

    def original(self, clean_parts: Iterable[str]) -> list[str]:
        """Return the predictions of the models as they are; ``clean_parts``: those with clean images."""
        found = []
        for id_ in self.settings.models:
            if "images" in self.ids:
                found += [f"<results>/predictions/groups/{id_}/{part}.parquet" for part in clean_parts]
            if "text" in self.ids:
                found.append(f"<results>/predictions/questions/{id_}/no_image.parquet")
        return found


def predicted(tuned: str, modality: Modality) -> str:
    """Return the file of a tuned model's predictions on the test half; ``tuned`` may be a wildcard."""
    subset, part = ("test_half", "clean") if modality == "images" else ("test_questions", "no_image")
    return f"<results>/predictions/{subset}/{tuned}/{part}.parquet"
