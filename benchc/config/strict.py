"""What all configuration models share: blocks that refuse unknown keys, and types of values."""

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
)

# Folders in results/ that runs share.
SHARED_FOLDERS = ("models", "generated", "downloads")

# What a pattern allows, in words: for messages, editors and the reference page.
PATTERNS: dict[str, str] = {}


class Strict(BaseModel):
    """A block of configuration: immutable, without type conversion, unknown keys, infinity or NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _matching(pattern: str, words: str) -> Any:
    PATTERNS[pattern] = words
    return Field(pattern=pattern, json_schema_extra={"patternErrorMessage": words})


def is_address(text: str) -> bool:
    """Return whether a FileOrAddress is a web address."""
    return text.startswith(("http://", "https://"))


def _not_shared(name: str) -> str:
    if name in SHARED_FOLDERS:
        raise ValueError(f"is {name}, which is a folder that runs share; choose another name")
    return name


def unique(names: list[str]) -> list[str]:
    """Return ``names``. Raises ValueError where one occurs more than once."""
    repeated = dict.fromkeys(name for name in names if names.count(name) > 1)
    if repeated:
        raise ValueError(f"has {', '.join(repeated)} more than once; name each once")
    return names


def _ascending(numbers: list[int]) -> list[int]:
    if numbers != sorted(set(numbers)):
        raise ValueError(f"is {numbers}, but should be ascending without repetition: {sorted(set(numbers))}")
    return numbers


Scalar = StrictBool | StrictInt | StrictFloat | StrictStr

# Ids become file names and wildcards.
Id = Annotated[str, _matching(r"^[a-z0-9][a-z0-9.-]*$", "lower-case letters, digits, dots and dashes")]
Ids = Annotated[list[Id], Field(min_length=1), AfterValidator(unique)]
AnyIds = Annotated[list[Id], AfterValidator(unique)]  # or none
Names = Annotated[list[str], Field(min_length=1), AfterValidator(unique)]
RunName = Annotated[
    str,
    _matching(r"^[a-z0-9][a-z0-9-]*$", "lower-case letters, digits and dashes"),
    AfterValidator(_not_shared),
]
WebAddress = Annotated[str, _matching(r"^https?://", "a web address (http or https)")]
NotBlank = Annotated[str, _matching(r"\S", "a text that is not blank")]
Mirrors = Annotated[list[WebAddress], AfterValidator(unique)]
FileOrAddress = Annotated[str, Field(min_length=1)]  # a local path, or a WebAddress
# Of an HTTP service, between its address and the paths of OpenAI's interface.
ApiPath = Annotated[
    str, _matching(r"^(/[^/@?#\s]+)*$", "a path that begins with a slash and ends in none, or empty")
]
Md5 = Annotated[str, _matching(r"^[0-9a-f]{32}$", "32 hexadecimal digits in lower case")]
# The Hub's rules: letters, digits, _, and single dots and dashes between them. It becomes a folder's name.
HUB_ID = r"^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*/[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$"
HubId = Annotated[str, _matching(HUB_ID, "a Hub id (owner/name)")]
# Git's rules, in short: no two dots in a row. It becomes a file's name in the Hub's cache.
Revision = Annotated[
    str,
    _matching(r"^[A-Za-z0-9_][A-Za-z0-9_+/-]*(\.[A-Za-z0-9_+/-]+)*$", "a commit, tag or branch of the Hub"),
]
Family = Annotated[str, _matching(r"^[a-z][a-z0-9_]*$", "the name of a family of models (docs/models.md)")]
# As sinfo names it, such as 1g.10gb+me.
GpuType = Annotated[str, _matching(r"^[A-Za-z0-9_.+-]+$", "the name of a type of GPU (sinfo --format %G)")]
Variable = Annotated[str, _matching(r"^[A-Za-z_][A-Za-z0-9_]*$", "the name of a variable")]
Environment = Annotated[str, _matching(r"^[a-z0-9][a-z0-9_-]*$", "the name of a file in envs, without .yaml")]
Label = Annotated[
    str,
    _matching(
        r"^[^\s\x00-\x1f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f])?$", "one line of text without spaces around it"
    ),
]
# Snakemake finds its placeholders by braces and angle brackets.
UserPath = Annotated[
    str,
    _matching(r"^[^{}<>\x00-\x1f]+$", "a path without braces, angle brackets and control characters"),
]
Severity = Annotated[int, Field(ge=1, le=5)]
Severities = Annotated[list[Severity], AfterValidator(_ascending)]
