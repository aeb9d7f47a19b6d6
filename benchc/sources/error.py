"""Errors of sources and of their rows."""

from benchc.errors import InputError


class SourceError(InputError):
    """A source cannot be downloaded or read. The message names the file and how to fix it."""


class InvalidRowError(ValueError):
    """A row of a source cannot become an item; the message is the reason in the report."""


class PastLastOptionError(InvalidRowError):
    """The answer is the number of options, as it may be where the first is number 1."""
