"""Register a corruption of your own: the decorator of a kernel in one of ``corruptions.own_files``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


@dataclass(frozen=True)
class Registration:
    """A kernel as its file registers it, not yet checked."""

    kernel: Callable[..., Any]
    parameters: Mapping[str, Any]
    noise: Callable[..., Any] | None
    group: str
    resizes: bool


# By module, in order.
REGISTERED: dict[str, list[Registration]] = {}


def corruption(
    parameters: Mapping[str, Any],
    *,
    noise: Callable[..., Any] | None = None,
    group: str = "own",
    resizes: bool = False,
) -> Callable[[Kernel], Kernel]:
    """Return a decorator that registers a kernel as the corruption of the same name.

    The kernel is a function ``(image, **parameters)`` from uint8[H, W, 3], which is read-only, to
    a new array of that shape; with ``noise`` it is ``(image, noise, **parameters)``.

    Args:
        parameters: the kernel's keyword arguments. A list has one value for every severity of the run's
            suite, mildest first; a single number, text or truth value applies to all severities.
        noise: the function ``(generator, height, width, **parameters)`` that samples the random numbers;
            ``generator`` is a ``numpy.random.Generator``.
        group: the corruption's group in figures, also one of the suite's.
        resizes: whether the result may have another size.
    """
    if not isinstance(parameters, Mapping):
        raise TypeError("@corruption needs the kernel's parameters, such as @corruption({'strength': [...]})")

    def register(kernel: Kernel) -> Kernel:
        registration = Registration(kernel, parameters, noise, group, resizes)
        REGISTERED.setdefault(kernel.__module__, []).append(registration)
        return kernel

    return register
