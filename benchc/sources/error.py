"""Errors of sources and of their rows."""

from benchc.errors import InputError


class SourceError(InputError):
    """A source cannot be downloaded or read. The message names the file and how to fix it."""


class InvalidRowError(ValueError):
    """A row of a source cannot become an item; the message is the reason in the report."""


class NoLetterError(InvalidRowError):
    """The answer is no letter. ``form``: what it may be instead, as ``answer_form`` says it, or None."""

    def __init__(self, reason: str, form: str | None) -> None:
        super().__init__(reason)
        self.form = form


class PastLastOptionError(InvalidRowError):
    """The answer is the number of options, as it may be where the first is number 1."""
