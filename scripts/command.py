"""How every script ends: an error that its user can mend is one sentence, any other a traceback."""

from collections.abc import Callable

from benchc.errors import InputError


def run(main: Callable[[], None]) -> None:
    """Run a script's ``main``; an InputError ends the process with its message and status 1."""
    try:
        main()
    except InputError as error:
        raise SystemExit(f"error: {error}") from error
