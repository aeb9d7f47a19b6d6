"""A model on a server, which the job asks, or starts and stops itself. Imports no torch."""

import argparse
import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchc.endpoint.api_key import ApiKey, random_key, read_key
from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.endpoint.process import arguments_of, free_port, running
from benchc.models.folder import folder_digest
from benchc.models.hub_cache import require_cached
from benchc.models.loaded import LoadedModel
from benchc.models.protocol import Generative, OptionScores, Reply, Scorer, UnitInput
from benchc.models.question import Question
from benchc.models.registry import GENERATE
from benchc.models.server.identity import ENTRY, served_identity
from benchc.models.server.modules import GENERATOR
from benchc.models.server.served import OtherModelError, served_scorer
from scripts.inference_arguments import checkpoint_source, generation

REQUESTS_PER_UNIT = 5  # or more: one per severity; clean images have one
# vLLM then refuses requests without its key, so that two jobs cannot take each other's server for their own.
KEY_OF_VLLM = "VLLM_API_KEY"


@contextmanager
def opened(arguments: argparse.Namespace) -> Iterator[LoadedModel[Any, Any]]:
    """Connect to the server of the arguments of an inference job, or run one while the block runs."""
    source = checkpoint_source(arguments)
    folder = Path(source.location)
    is_folder = arguments.server_command is not None and folder.is_dir()
    facts = {
        "model": folder.resolve().name if is_folder else source.location,
        "revision": folder_digest(folder, on_server=True)
        if is_folder
        else source.revision or "that of the server",
        # The URL of a server and its address in the job change no prediction; its options may.
        "command": arguments.server_command or "",
        "device": "server",
    }
    names = {source.location, str(folder.resolve())} if is_folder else {source.location}
    if arguments.server_command is not None and not is_folder:
        require_cached(source.location, source.revision)
    with ExitStack() as stack:
        url, key = (
            (arguments.server_url, read_key(arguments.api_key_env))
            if arguments.server_command is None
            else stack.enter_context(_started(arguments, source.location, source.revision))
        )
        settings = EndpointSettings(url, arguments.concurrency, arguments.timeout)
        endpoint = stack.enter_context(Endpoint(settings, key))
        generates = arguments.scoring == GENERATE
        try:
            model = (
                # By name, so that an edit of its code changes no prediction.
                importlib.import_module(GENERATOR).served_generator(
                    endpoint, names, facts, generation(arguments)
                )
                if generates
                else served_scorer(endpoint, names, facts, arguments.scoring, arguments.top_logprobs)
            )
        except OtherModelError as error:
            if arguments.server_command is None:
                raise
            fix = "let `command` serve it as {model}"
            raise OtherModelError(error.name, error.served, fix) from error
        identity = served_identity(model, GENERATOR if generates else ENTRY)
        print(
            f"{arguments.label or source.location}: {identity['server']} {identity['version']}, "
            f"{identity['asked']}, {settings.concurrency} requests at once",
            file=sys.stderr,
        )
        at_once = 1 + settings.concurrency // REQUESTS_PER_UNIT
        yield LoadedModel(model, identity, _answer if generates else _predict, at_once, ahead=True)


@contextmanager
def _started(
    arguments: argparse.Namespace, location: str, revision: str | None
) -> Iterator[tuple[str, ApiKey]]:
    """Run the server of the arguments while the block runs; yield its address and its key."""
    port, key = free_port(), random_key()
    environment = {KEY_OF_VLLM: str(key.value)}
    values = {"model": location, "revision": revision or "main", "port": port}
    command = arguments_of(arguments.server_command, values)
    label = arguments.label or location
    with running(command, port, arguments.server_log, arguments.start_timeout, label, environment) as url:
        yield url, key


def _predict(
    scorer: Scorer, question: Question, units: Sequence[UnitInput]
) -> list[tuple[OptionScores, bool]]:
    return [(scorer.score(question, unit.variants), False) for unit in units]


def _answer(
    model: Generative, question: Question, units: Sequence[UnitInput]
) -> list[tuple[list[Reply], bool]]:
    return [(model.replies(question, unit.variants), False) for unit in units]
