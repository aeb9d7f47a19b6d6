"""Try a model on a server as an inference job asks it: one that runs, or one that is started and stopped."""

import time
from pathlib import Path

from benchc.checking.finding import Findings
from benchc.checking.measure import measure_answers, measure_predictions
from benchc.checking.models import answers_finding, judged
from benchc.checking.trial import Trial
from benchc.config.catalogue import Model
from benchc.config.server import Server
from benchc.models.asking import AskedModel
from benchc.models.generation import Generation
from benchc.models.items import read_items, refuse_open_questions
from benchc.models.job import checkpoint_source
from benchc.models.over_http import opened
from benchc.models.registry import GENERATE
from benchc.models.units import Recipes

LOGS = Path("logs/models_check")


def try_server(
    id_: str, entry: Model, pool: Path, images: Recipes, commit: str | None
) -> Findings[Trial | None]:
    """Yield what is wrong with a model on a server, and return what was measured; None if it only generates.

    ``pool`` and ``images`` are those of :func:`benchc.checking.models.try_local`; ``commit`` is that of the
    model on the Hub with which the server is started, if any. Raises InputError where a job would.
    """
    server = entry.server
    assert server is not None
    items = read_items(pool)
    if entry.scoring != GENERATE:
        refuse_open_questions(items)
    start = time.monotonic()
    asked, job = _asked(id_, entry, server, commit), server.job(LOGS / f"{id_}.log", entry.gpus)
    generation = Generation(entry.max_new_tokens) if entry.scoring == GENERATE else None
    source = checkpoint_source(asked, job, None)
    with opened(asked, source, entry.scoring, generation, job) as model:
        # A server at an address had loaded the model before.
        loading = time.monotonic() - start if server.command is not None else None
        if entry.scoring == GENERATE:
            answers = measure_answers(model, items, pool, images, device="server", loading=loading)
            yield answers_finding(id_, entry, answers)
            return None
        trial = measure_predictions(model, items, pool, images, device="server", loading=loading)
    yield from judged(id_, entry, trial)
    return trial


def _asked(id_: str, entry: Model, server: Server, commit: str | None) -> AskedModel:
    location = entry.name_on_server or entry.repo or entry.path
    assert location is not None  # which the catalogue's checks ensure
    return AskedModel(
        label=id_,
        location=location,
        revision=commit or entry.revision,
        server_command=server.command,
        system_prompt=entry.system_prompt,
        device="cuda" if entry.gpus else "cpu",
    )
