"""What all configuration models share: unknown keys are refused, and YAML's own types are required."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr


class Strict(BaseModel):
    """A block of configuration. It is immutable, and allows no other keys than its own and no infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


Scalar = StrictBool | StrictInt | StrictFloat | StrictStr

# Ids become file names and wildcards.
ID_PATTERN = r"^[a-z0-9][a-z0-9.-]*$"
ID_ALLOWED = "lower-case letters, digits, dots and dashes"

Id = Annotated[str, Field(pattern=ID_PATTERN, json_schema_extra={"patternErrorMessage": ID_ALLOWED})]
RunName = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9-]*$",
        json_schema_extra={"patternErrorMessage": "lower-case letters, digits and dashes"},
    ),
]
WebAddress = Annotated[
    str,
    Field(
        pattern=r"^https?://",
        json_schema_extra={"patternErrorMessage": "a web address (http or https)"},
    ),
]
Md5 = Annotated[
    str,
    Field(
        pattern=r"^[0-9a-f]{32}$",
        json_schema_extra={"patternErrorMessage": "32 hexadecimal digits in lower case"},
    ),
]
HubId = Annotated[
    str,
    Field(
        pattern=r"^[^/\s]+/[^/\s]+$",
        json_schema_extra={"patternErrorMessage": "a Hub id, owner/name"},
    ),
]
Family = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9_]*$",
        json_schema_extra={"patternErrorMessage": "the name of a family of models (docs/models.md)"},
    ),
]
Environment = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9_-]*$",
        json_schema_extra={"patternErrorMessage": "the name of a file in envs, without .yaml"},
    ),
]
Label = Annotated[
    str,
    Field(
        pattern=r"^[^\s\x00-\x1f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f])?$",
        json_schema_extra={"patternErrorMessage": "text in one line, without spaces around it"},
    ),
]
Severity = Annotated[int, Field(ge=1, le=5)]
