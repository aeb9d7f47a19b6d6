"""Settings of models whose answers another program made."""

from pydantic import Field

from benchc.config.strict import Label, Strict, UserPath


class Imported(Strict):
    """A model whose answers were made by another program."""

    label: Label = Field(description="Name in tables and figures.")
    file: UserPath = Field(
        description="CSV file with the columns id, corruption (`clean` at severity 0), severity and answer, "
        "one row for each item, corruption and severity; relative to the repository's root."
    )
