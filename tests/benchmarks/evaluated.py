"""What Snakemake would do to evaluate another model on the benchmark of a finished run of the demo."""

import re
from pathlib import Path

import yaml

from benchc.planning.dry_run import dry_run

MODELS = "config/demo-models.yaml"
OF_ALL_MODELS = re.compile(
    r"(tables|figures|pages?)/|index\.html$|models\.json$|config(-sources|-models)?\.yaml$"
)


def own_jobs(run: Path, model: str, scratch: Path) -> set[str]:
    """Return the rules that would make files of ``model`` alone.

    All other jobs only take files of the ``run``, or make what shows all models; else an AssertionError is
    raised. Nothing is run. ``scratch``: an empty folder.
    """
    config = scratch / "config.yaml"
    name = f"{run.name}-of-another-model"
    evaluate = {"benchmark": str(run), "models": [model]}
    content = {"name": name, "evaluate": evaluate, "catalogues": {"models": MODELS}}
    config.write_text(yaml.safe_dump(content))
    found: set[str] = set()
    for job in dry_run(config).jobs:
        files = [output.removeprefix(f"results/{name}/") for output in job.outputs]
        if all(model in re.split(r"[/.]", file) for file in files):
            found.add(job.rule)
        else:
            assert job.rule == "take" or all(OF_ALL_MODELS.match(file) for file in files), (job.rule, files)
    return found
