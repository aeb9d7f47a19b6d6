"""A model on a server, which the job asks, or starts and stops itself. Imports no torch."""

import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from benchc.endpoint.api_key import ApiKey, random_key, read_key
from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.endpoint.process import arguments_of, free_port, running
from benchc.models.asking import Answering, AskedModel, Job, Scoring
from benchc.models.folder import folder_digest
from benchc.models.generation import Generation
from benchc.models.gpus import HeldGpus, held_gpus, visible_gpus
from benchc.models.hub.cached import require_cached
from benchc.models.loaded import LoadedModel
from benchc.models.protocol import (
    CheckpointSource,
    Generative,
    ModelError,
    OptionScores,
    Reply,
    Scorer,
    UnitInput,
)
from benchc.models.question import Question
from benchc.models.server.identity import ENTRY, served_identity
from benchc.models.server.modules import GENERATOR
from benchc.models.server.served import UNKNOWN, OtherModelError, served_scorer

REQUESTS_PER_UNIT = 5  # or more: one per severity; clean images have one
# vLLM then refuses requests without its key, so that two jobs cannot take each other's server for their own.
KEY_OF_VLLM = "VLLM_API_KEY"
# An earlier vLLM warns, and computes the logits of a model that generates in its own dtype.
HEAD_DTYPE, VLLM_WITH_HEAD_DTYPE = "head_dtype", (0, 26)


@contextmanager
def opened(
    asked: AskedModel,
    source: CheckpointSource,
    scoring: Scoring | Answering,
    generation: Generation | None,
    job: Job,
) -> Iterator[LoadedModel[Any, Any]]:
    """Connect to the server of an inference job, or run one while the block runs."""
    folder, command = Path(source.location), asked.server_command
    is_folder = command is not None and folder.is_dir()
    facts = {
        "model": folder.resolve().name if is_folder else source.location,
        "revision": folder_digest(folder, on_server=True)
        if is_folder
        else source.revision or "that of the server",
        # The URL of a server and its address in the job change no prediction; its options may.
        "command": command or "",
        "system_prompt": source.system_prompt or "",
        "device": "server",
    }
    names = {source.location, str(folder.resolve())} if is_folder else {source.location}
    if command is not None and not is_folder:
        require_cached(source.location, source.revision)
    with ExitStack() as stack:
        if command is None:
            url, key = str(job.server_url), read_key(job.api_key_env)
        else:
            url, key = stack.enter_context(_started(command, source, asked.label, job))
        settings = EndpointSettings(url, job.concurrency, job.timeout_s, api_path=job.server_api_path)
        endpoint = stack.enter_context(Endpoint(settings, key))
        try:
            model = (
                # By name, so that an edit of its code changes no prediction.
                importlib.import_module(GENERATOR).served_generator(endpoint, names, facts, generation)
                if generation is not None
                else served_scorer(endpoint, names, facts, scoring, job.top_logprobs)
            )
        except OtherModelError as error:
            if command is None:
                raise
            fix = "let `command` serve it as {model}"
            raise OtherModelError(error.name, error.served, fix) from error
        identity = served_identity(model, ENTRY if generation is None else GENERATOR)
        if command is not None:
            _require_head_dtype(asked.label, command, identity)
        print(
            f"{asked.label}: {identity['server']} {identity['version']}, {identity['asked']}, "
            f"{settings.concurrency} requests at once",
            file=sys.stderr,
        )
        unseen = unseen_system_prompt(identity)
        if unseen is not None:
            print(f"warning: {asked.label}: {unseen}", file=sys.stderr)
        at_once = 1 + settings.concurrency // REQUESTS_PER_UNIT
        compute = _predict if generation is None else _answer
        yield LoadedModel(model, identity, compute, at_once, prefetches=True)


def unseen_system_prompt(identity: Mapping[str, str]) -> str | None:
    """Return a warning where a server does not show whether the system prompt reaches the model."""
    if not identity["system_prompt"] or identity["chat_template"] != UNKNOWN:
        return None
    return (
        "the server does not show its prompts by /tokenize, so it is not known whether the model reads the "
        "`system_prompt`; look at the server's chat template"
    )


def _require_head_dtype(label: str, command: str, identity: Mapping[str, str]) -> None:
    """Raise ModelError where a server ignores the dtype that its command asks for."""
    release = re.match(r"(\d+)\.(\d+)", identity["version"])
    if identity["server"] != "vllm" or HEAD_DTYPE not in command or release is None:
        return
    if tuple(map(int, release.groups())) < VLLM_WITH_HEAD_DTYPE:
        raise ModelError(
            f"{label}: `command` asks for a {HEAD_DTYPE}, which vLLM {identity['version']} ignores; use vLLM "
            "0.26 or later, or remove it"
        )


@contextmanager
def _started(command: str, source: CheckpointSource, label: str, job: Job) -> Iterator[tuple[str, ApiKey]]:
    """Run the server of a command while the block runs; yield its address and its key."""
    # A server of an entry without `gpus` may use a GPU all the same.
    takes_gpus = source.device == "cuda" or visible_gpus()
    with held_gpus(job.gpus, label) if takes_gpus else nullcontext(HeldGpus()) as held:
        importlib.import_module("benchc.models.cards").check_cards(held.gpus, label)
        port, key = free_port(), random_key()
        environment = {KEY_OF_VLLM: str(key.value), **held.environment}
        values = {"model": source.location, "revision": source.revision or "main", "port": port}
        words = arguments_of(command, values)
        seconds = job.start_timeout_s
        with running(words, port, job.server_log, seconds, label, environment, held.locks) as url:
            yield url, key


def _predict(
    scorer: Scorer, question: Question, units: Sequence[UnitInput]
) -> list[tuple[OptionScores, bool]]:
    return [(scorer.score(question, unit.variants), False) for unit in units]


def _answer(
    model: Generative, question: Question, units: Sequence[UnitInput]
) -> list[tuple[list[Reply], bool]]:
    return [(model.replies(question, unit.variants), False) for unit in units]
