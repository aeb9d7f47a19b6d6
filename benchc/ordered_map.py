"""Apply a function to elements in an executor's threads or processes, in order, with few in memory."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

Element = TypeVar("Element")
Result = TypeVar("Result")


def ordered_map(
    function: Callable[[Element], Result], elements: Iterable[Element], executor: Executor, waiting: int
) -> Iterator[Result]:
    """Yield ``function`` of each element in order, while it runs for up to ``waiting`` of them.

    Elements are taken as needed. An error is raised in the place of its element, after the calls that are
    running have ended.
    """
    calls: deque[Future[Result]] = deque()
    try:
        for element in elements:
            calls.append(executor.submit(function, element))
            if len(calls) >= waiting:
                yield calls.popleft().result()
        while calls:
            yield calls.popleft().result()
    finally:
        for call in calls:
            call.cancel()
        executor.shutdown()
