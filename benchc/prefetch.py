"""Compute the next elements of an iterator in a thread while the current one is used."""

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

Element = TypeVar("Element")


def prefetch(iterator: Iterator[Element], ahead: int) -> Iterator[Element]:
    """Yield the elements of ``iterator`` in order, while a thread computes up to ``ahead`` more.

    An error of the iterator is raised after the elements before it. If the consumer stops early, the thread
    stops after its current element.
    """
    # An empty list without an error marks the end.
    ready: queue.Queue[tuple[list[Element], BaseException | None]] = queue.Queue(ahead)
    stopped = threading.Event()

    def put(elements: list[Element], error: BaseException | None) -> None:
        while not stopped.is_set():
            try:
                return ready.put((elements, error), timeout=0.1)
            except queue.Full:
                continue

    def produce() -> None:
        try:
            for element in iterator:
                put([element], None)
                if stopped.is_set():
                    return
        except BaseException as error:
            put([], error)
        else:
            put([], None)

    thread = threading.Thread(target=produce, daemon=True)
    thread.start()
    try:
        while True:
            elements, error = ready.get()
            if error is not None:
                raise error
            if not elements:
                return
            yield from elements
    finally:
        stopped.set()
        thread.join()
