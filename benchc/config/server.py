"""The server of a model in the catalogue: where it runs, or how a job starts it."""

import re
import shlex
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from benchc.config.strict import ApiPath, Strict
from benchc.models.asking import Job

# The messages about these show no value, which may be a secret.
ADDRESS = re.compile(r"https?://[^/@?#\s]+(/[^@?#\s]*)?")
VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
# Of vLLM and SGLang. Command lines are shown, recorded and listed by ps.
SECRET_OPTIONS = ("--api-key", "--admin-api-key", "--hf-token")
# For editors; the message about a WebAddress shows it.
AS_WEB_ADDRESS = Field(
    json_schema_extra={"pattern": "^https?://", "patternErrorMessage": "a web address (http or https)"}
)
# What the server decides that loads the model.
DECIDED_BY_SERVER = (
    "family",
    "auto_class",
    "dtype",
    "processor",
    "chat_template",
    "trust_remote_code",
    "train",
    "units_together",
    "image_backend",
    "compile",
    "attention",
)


class Server(Strict):
    """A vLLM or SGLang server, or one with the same interface, from exactly one of url and command."""

    url: Annotated[str, AS_WEB_ADDRESS] | None = Field(
        default=None, description="Address of a running server, without /v1, such as http://node7:8000."
    )
    command: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Command with which a job starts a server on its own machine, and stops it at its end, "
        "such as `vllm serve {model} --revision {revision} --port {port}`. {model} is repo or path, "
        "{revision} the commit, which a repo needs, {port} a free port. Its program may be in another "
        "environment.",
    )
    api_path: ApiPath = Field(
        default="/v1",
        description="What stands between url and /chat/completions, where it is not /v1, such as "
        "`/v1beta/openai`; empty for nothing.",
    )
    model: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Name that the server at url gives the model, such as `gpt-4o`; null if it is repo.",
    )
    api_key_env: str | None = Field(
        default=None, description="Environment variable with the key of the server at url; null for none."
    )
    concurrency: int = Field(default=16, ge=1, le=1024, description="Requests at once.")
    timeout_s: float = Field(
        default=300.0, gt=0, le=86_400, description="Seconds to wait for an answer, until its end."
    )
    start_s: float = Field(
        default=1800.0,
        gt=0,
        le=86_400,
        description="Seconds until a server that a job starts must answer /health.",
    )
    top_logprobs: int = Field(
        default=20,
        ge=1,
        le=1000,
        description="Most probable tokens to ask for, where the server refuses logprob_token_ids; at most "
        "its --max-logprobs.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.url is None) == (self.command is None):
            found = "none of them" if self.url is None else "url and command"
            raise ValueError(f"needs exactly one of url, command, but has {found}")
        check_access(self.url, self.api_key_env)
        if self.command is not None and self.model is not None:
            raise ValueError("has command and model, but a server that a job starts is asked by repo or path")
        if self.command is not None:
            missing = [name for name in ("{model}", "{port}") if name not in self.command]
            if missing:
                raise ValueError(f"has a command without {' and '.join(missing)}, which a job replaces")
            if self.api_key_env is not None:
                raise ValueError("has an api_key_env, but a server that a job starts needs no key")
            _check_arguments(self.command)
        return self

    def job(self, log: Path, gpus: int, shard: str = Job.shard) -> Job:
        """Return how a job reaches the server.

        ``log`` and ``gpus``: of a server that it starts, which gets one GPU even of an entry without;
        ``shard``: as of Job.
        """
        return Job(
            shard=shard,
            gpus=max(1, gpus),
            server_url=self.url,
            server_api_path=self.api_path,
            api_key_env=self.api_key_env,
            concurrency=self.concurrency,
            timeout_s=self.timeout_s,
            start_timeout_s=self.start_s,
            server_log=log,
            top_logprobs=self.top_logprobs,
        )


def check_access(url: str | None, api_key_env: str | None) -> None:
    """Raise ValueError, without both, where the address is none, or either may be or contain a key."""
    if url is not None:
        _check_address(url)
    if api_key_env is not None and not VARIABLE.fullmatch(api_key_env):
        raise ValueError(
            "has an api_key_env that is not the name of an environment variable (capitals, digits and "
            "_); set one to the key, and give its name"
        )


def _check_address(url: str) -> None:
    """Raise ValueError, without the address, where it is none, or may contain a key."""
    if not url.startswith(("http://", "https://")):
        raise ValueError("has a url that is no web address (http or https); write http://host:port")
    if not ADDRESS.fullmatch(url):
        raise ValueError(
            "has a url with more than host, port and path; give a key by `api_key_env`, and nothing else"
        )
    try:
        _ = urlsplit(url).port
    except ValueError as error:
        raise ValueError(
            "has a url whose port is no number from 0 to 65535; write http://host:port"
        ) from error


def _check_arguments(command: str) -> None:
    """Raise ValueError, without the command, where it cannot be split, or has an option with a secret."""
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise ValueError(
            f"has a command that cannot be split into arguments ({error}); correct its quotes"
        ) from error
    for part in parts:
        option = part.partition("=")[0].replace("_", "-")
        if option in SECRET_OPTIONS:
            raise ValueError(
                f"has a command with {option}, which everybody can read; remove it, and set an environment "
                "variable that the server reads, such as HF_TOKEN"
            )


def check_entry(entry: Any) -> None:
    """Raise ValueError for an entry of the model catalogue whose server makes another key meaningless."""
    server: Server | None = entry.server
    if server is None:
        return
    if entry.adapter is not None:
        raise ValueError(
            "has server and adapter, but the server loads the model; start it with the adapter (`vllm serve "
            "BASE --enable-lora --lora-modules NAME=FOLDER`), and give NAME as server.model"
        )
    # By value: the record of a run names every key.
    fields = type(entry).model_fields
    decided = [
        name
        for name in DECIDED_BY_SERVER
        if getattr(entry, name) != fields[name].get_default(call_default_factory=True)
    ]
    if decided:
        raise ValueError(
            f"has server and {' and '.join(decided)}, but the server loads the model; remove it here, and "
            "give it to the server"
        )
    if server.url is not None and entry.gpus:
        raise ValueError(
            "has server.url and gpus, but a job that only asks a server needs no GPU; remove gpus"
        )
    if server.url is not None and entry.path is not None:
        raise ValueError(
            "has server.url and path, but only a server that a job starts loads a folder of this machine; "
            "give server.model or repo, the name that the server gives the model"
        )
    if server.command is not None and entry.repo is not None and "{revision}" not in server.command:
        raise ValueError(
            "has repo and a server.command without {revision}, whose server may load another commit than is "
            "recorded; add it, such as `--revision {revision}`"
        )
    if server.model is not None and entry.repo is not None:
        raise ValueError("has server.model and repo, but one of them is the name on the server; remove one")
