"""The size of a file that the run will download."""

from collections.abc import Sequence

from benchc.sources.download import unreached
from benchc.sources.error import SourceError
from benchc.sources.transfer import Limits, UnavailableError, check_size, content_length, explained, opened

# Shorter than those of the download itself: a check of several sources must not wait minutes.
LIMITS = Limits(connect_s=5.0, read_s=5.0, slow_s=10.0)


def first_reached(addresses: Sequence[str], expected: int | None) -> tuple[str, int | None, Sequence[str]]:
    """Return the first address that has a file of the expected size; downloads nothing.

    Also return the bytes that its server states, None where it does not, and what is wrong with each address
    before it. Raises SourceError where no server has the file or can be reached.
    """
    problems: list[str] = []
    for url in addresses:
        try:
            return url, _size(url, expected), problems
        except UnavailableError as problem:
            problems.append(f"{url}: {problem}")
    raise SourceError("; ".join([*problems, unreached(addresses[0])]))


def _size(url: str, expected: int | None) -> int | None:
    # Not HEAD, which some servers of files refuse.
    with explained(url), opened(url, LIMITS) as response:
        response.raise_for_status()
        check_size(response, expected)
        return content_length(response)
