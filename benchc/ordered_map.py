"""Apply a function to elements in several threads, in order and with few of them in memory."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Element = TypeVar("Element")
Result = TypeVar("Result")


def ordered_map(
    function: Callable[[Element], Result], elements: Iterable[Element], at_once: int
) -> Iterator[Result]:
    """Yield ``function`` of each element in order, while it runs for up to ``at_once`` elements in threads.

    An error is raised in the place of its element, after those that are running have ended.
    """
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(at_once) as pool:
        try:
            for element in elements:
                waiting.append(pool.submit(function, element))
                if len(waiting) >= at_once:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
