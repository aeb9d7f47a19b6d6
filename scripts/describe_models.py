"""Write models.json, the facts about a run's models that tables and figures show."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from benchc.atomic import write_text
from benchc.command_line import Json
from benchc.schemas.models import Model, Models, models_text


def describe_models(*, benchmark: str, models: Annotated[Sequence[Model], Json], output: Path) -> None:
    """Write models.json, the facts about a run's models that tables and figures show.

    Args:
        benchmark: the run's benchmark
        models: id, label, year and parameters_b of each model, such as [{"id": "a", "label": "A"}]
        output: models.json to write
    """
    write_text(output, models_text(Models(benchmark, {model.id: model for model in models})))
