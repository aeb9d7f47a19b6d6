"""User-fixable errors."""


class InputError(ValueError):
    """An input cannot be used. The message is one line: what is wrong, where, and how to fix it."""
