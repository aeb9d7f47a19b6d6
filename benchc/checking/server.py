"""Check the server of a model: whether it answers, serves the model, and returns what the scoring needs."""

from benchc.checking.finding import Finding, reason
from benchc.checking.locate import STAGE
from benchc.config.catalogue import Model
from benchc.config.server import Server
from benchc.endpoint.api_key import read_key
from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.errors import InputError
from benchc.models.generation import Generation
from benchc.models.protocol import Asked
from benchc.models.registry import GENERATE
from benchc.models.server.generate import served_generator
from benchc.models.server.served import served_scorer

TIMEOUT = 30.0  # seconds


def check_server(id_: str, model: Model, server: Server) -> Finding:
    """Return what is wrong with a running server; one that the jobs start is not tried."""
    name = server.model or model.repo
    if server.url is None or name is None:
        return Finding(STAGE, "skipped", id_, "its jobs start its server, which was not tried")
    settings = EndpointSettings(server.url, 1, TIMEOUT, attempts=1)
    try:
        with Endpoint(settings, read_key(server.api_key_env)) as endpoint:
            asked: Asked = (
                served_generator(endpoint, {name}, {}, Generation(model.max_new_tokens))
                if model.scoring == GENERATE
                else served_scorer(endpoint, {name}, {}, model.scoring, server.top_logprobs)
            )
    except InputError as error:
        return Finding(STAGE, "error", id_, reason(error))
    facts = asked.identity()
    text = f"{facts['server']} {facts['version']} answers at {server.url}, with {facts['asked']}"
    return Finding(STAGE, "ok", id_, text)
