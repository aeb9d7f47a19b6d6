"""What can be wrong with a source."""

from benchc.errors import InputError


class SourceError(InputError):
    """A source as a whole cannot be had or read. The message names the file and how to mend it."""


class RowRefused(ValueError):  # noqa: N818 - the name says what happens to the row
    """One row of a source cannot become an item; the message is the reason that the report gives."""
