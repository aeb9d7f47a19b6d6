"""Check the server of a model: whether it answers, serves the model, and returns what the scoring needs."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchc.checking.finding import Finding, reason
from benchc.checking.locate import STAGE, locate
from benchc.config.catalogue import Model
from benchc.config.server import Server
from benchc.endpoint.api_key import read_key
from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.endpoint.process import arguments_of
from benchc.errors import InputError
from benchc.models.generation import Generation
from benchc.models.hub.cached import fetch_command
from benchc.models.over_http import unseen_system_prompt
from benchc.models.protocol import ModelInterface
from benchc.models.registry import GENERATE
from benchc.models.server.generate import served_generator
from benchc.models.server.served import served_scorer

TIMEOUT = 30.0  # seconds; an answer may take longer, as the first has as many tokens as all others


def check_server(id_: str, model: Model, server: Server, results: Path | None) -> Iterator[Finding]:
    """Yield what is wrong with a model's server: one that runs is asked; one that jobs start is not tried.

    ``results`` is the folder of a run, as for :func:`benchc.checking.locate.locate`.
    """
    try:
        if server.url is not None:
            yield from ask_server(id_, model, server, server.url)
        elif server.command is not None:
            yield from _check_command(id_, model, server.command, results)
    except InputError as error:
        yield Finding(STAGE, "error", id_, reason(error))


def ask_server(id_: str, model: Model, server: Server, url: str) -> Iterator[Finding]:
    """Yield what the running server at ``url`` is and is asked for; raises InputError where it fails."""
    name = server.model or model.repo
    assert name is not None  # which the catalogue's checks ensure
    timeout = server.timeout_s if model.scoring == GENERATE else TIMEOUT
    settings = EndpointSettings(url, 1, timeout, attempts=1, api_path=server.api_path)
    given = {"system_prompt": model.system_prompt or ""}
    with Endpoint(settings, read_key(server.api_key_env)) as endpoint:
        asked: ModelInterface = (
            served_generator(endpoint, {name}, given, Generation(model.max_new_tokens))
            if model.scoring == GENERATE
            else served_scorer(endpoint, {name}, given, model.scoring, server.top_logprobs)
        )
    facts = asked.identity()
    text = f"{facts['server']} {facts['version']} answers at {url}, with {facts['asked']}"
    yield Finding(STAGE, "ok", id_, text)
    unseen = unseen_system_prompt(facts)
    if unseen is not None:
        yield Finding(STAGE, "warning", id_, unseen)


def _check_command(id_: str, model: Model, command: str, results: Path | None) -> Iterator[Finding]:
    """Yield whether the program of a command and the files of its model are here."""
    program = next(iter(arguments_of(command, {})), "")
    if shutil.which(program) is None:
        raise InputError(
            f"`command` starts the program {program!r}, which is not on this machine; install it, or begin "
            "`command` with its path"
        )
    found = locate(id_, model, results)
    if isinstance(found, Finding):
        command = fetch_command(str(model.repo), model.revision)
        yield replace(found, text=f"{found.text}; the run fetches it, or {command}")
        where = "its jobs"
    else:
        where = f"is here, {found.folder}; its jobs"
    text = f"{where} start its server, which was not tried; `benchc models check {id_}` tries it"
    yield Finding(STAGE, "skipped", id_, text)
