"""Write models.json, the facts about a run's models that tables and figures show."""

import argparse
import json
from pathlib import Path

from benchc.atomic import write_text
from benchc.schemas.models import Model, Models, models_text
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--benchmark", required=True, help="the run's benchmark")
    add(
        "--models",
        type=_model,
        nargs="*",
        required=True,
        metavar="JSON",
        help='id, label, year and parameters_b of each model, such as {"id": "a", "label": "A"}',
    )
    add("--output", type=Path, required=True, help="models.json to write")
    arguments = parser.parse_args()
    models = {model.id: model for model in arguments.models}
    write_text(arguments.output, models_text(Models(arguments.benchmark, models)))


def _model(text: str) -> Model:
    try:
        return Model(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{text} is not a model ({error})") from error


if __name__ == "__main__":
    run(main)
