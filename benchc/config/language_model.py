"""Settings of a language model that a run asks."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from benchc.config.server import check_access
from benchc.config.strict import Strict, UserPath
from benchc.endpoint.service import ReplyMode, Service


class LanguageModel(Strict):
    """A language model behind an OpenAI-compatible endpoint, and how it is asked."""

    mode: ReplyMode = Field(
        default="record",
        description="live asks the server, record also keeps its replies, and replay takes kept ones alone.",
    )
    url: str = Field(default="https://api.openai.com/v1", description="Address of the endpoint.")
    model: str = Field(description="Name of the model at the endpoint.", min_length=1)
    api_key_env: str | None = Field(
        default="OPENAI_API_KEY", description="Environment variable with the key; null where none is needed."
    )
    recordings: UserPath | None = Field(
        default=None,
        description="Folder of kept replies, relative to the working directory; null for the run's own.",
    )
    temperature: float = Field(default=1.0, ge=0, le=2, description="Temperature of the replies.")
    concurrency: int = Field(default=8, ge=1, le=1024, description="Requests at once.")
    timeout_s: float = Field(
        default=120.0, gt=0, le=86_400, description="Seconds to wait for a reply, until its end."
    )

    @model_validator(mode="after")
    def _no_key(self) -> Self:
        check_access(self.url, self.api_key_env)
        return self

    def service(self, recordings: str | Path) -> Service:
        """Return how a job reaches it; ``recordings``: folder of its kept replies."""
        return Service(
            mode=self.mode,
            url=self.url,
            api_key_env=self.api_key_env,
            recordings=None if self.mode == "live" else Path(recordings),
            concurrency=self.concurrency,
            timeout_s=self.timeout_s,
        )
