"""What a user can mend."""


class InputError(ValueError):
    """Something given cannot be used; the message says what, where, and how to mend it."""
