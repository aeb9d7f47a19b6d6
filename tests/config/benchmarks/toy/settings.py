"""The settings of a made-up benchmark, so that tests of shared code need no real one."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from benchc.config.raw import block, texts
from benchc.config.settings import Raw, RunSettings
from benchc.config.strict import AnyIds, Id, Strict


class More(Strict):
    """A block that lists models, too."""

    speakers: AnyIds = Field(default=[])


class Settings(RunSettings):
    """A run of a made-up benchmark."""

    MODEL_KEYS = ("selectors", "targets", "more.speakers")
    SCORING_KEYS = ("selectors", "targets")
    MEASURED_KEY = "targets"

    benchmark: Literal["toy"]
    selectors: list[Id] = Field(min_length=1)
    targets: list[Id] = Field(min_length=1)
    weight: float = Field(ge=0)
    more: More = Field(default_factory=More)

    @classmethod
    def benchmark_errors(cls, raw: Raw, file: str) -> Iterator[str]:
        if raw.get("weight") == 13:
            yield f"{file}: weight is 13, which brings bad luck; take another number."

    @classmethod
    def model_errors(cls, raw: Raw, models: Raw, file: str, catalogue: str) -> Iterator[str]:
        for _, id_ in texts(raw.get("targets")):
            if block(models, id_).get("label") == "Thirteen":
                yield f"{file}: targets has {id_}, whose label in {catalogue} brings bad luck."

    @classmethod
    def trained_encoders(cls, raw: Raw) -> list[str]:
        return ["a weight"] if raw.get("weight") == 7 else []
