"""Try a model on a server as an inference job asks it: one that runs, or one that is started and stopped."""

import argparse
import time
from pathlib import Path

from benchc.checking.finding import Findings
from benchc.checking.measure import measure_answers, measure_predictions
from benchc.checking.models import answers_finding, judged
from benchc.checking.trial import Trial
from benchc.config.catalogue import Model
from benchc.config.server import Server
from benchc.models.items import read_items, refuse_open_questions
from benchc.models.registry import GENERATE
from benchc.models.units import Recipes
from scripts.inference_arguments import add_model
from scripts.served_model import opened

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
    with opened(_job_arguments(id_, entry, server, commit)) as model:
        # A server at an address had loaded the model before.
        loading = time.monotonic() - start if server.command is not None else None
        if entry.scoring == GENERATE:
            answers = measure_answers(model, items, pool, device="server", loading=loading)
            yield answers_finding(id_, answers)
            return None
        trial = measure_predictions(model, items, pool, images, device="server", loading=loading)
    yield from judged(id_, entry, trial)
    return trial


def _job_arguments(id_: str, entry: Model, server: Server, commit: str | None) -> argparse.Namespace:
    generates = entry.scoring == GENERATE
    given = {
        "location": entry.name_on_server or entry.repo or entry.path,
        "label": id_,
        "revision": commit or entry.revision,
        **({"max-new-tokens": entry.max_new_tokens} if generates else {"scoring": entry.scoring}),
        "server-url": server.url,
        "server-command": server.command,
        "api-key-env": server.api_key_env,
        "concurrency": server.concurrency,
        "timeout": server.timeout_s,
        "start-timeout": server.start_s,
        "top-logprobs": server.top_logprobs,
        "server-log": LOGS / f"{id_}.log",
    }
    parser = argparse.ArgumentParser()
    add_model(parser, scores_options=not generates)
    return parser.parse_args([f"--{name}={value}" for name, value in given.items() if value is not None])
