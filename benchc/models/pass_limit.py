"""How many tokens pass through a model together: on a CPU as many as are fastest, on GPUs as many as fit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch

# A larger pass is not faster on one core (docs/benchmarks.md).
TOKENS_ON_CPU = 1024
# Of the free memory. The rest is for images of other sizes, and for gaps between blocks of the allocator.
SHARE = 0.5
# In the first pass, libraries reserve memory that they keep.
MEASURED_PASS = 2


class PassLimit:
    """The rows of a pass times the tokens of a row.

    On a CPU, it is ``TOKENS_ON_CPU``. On GPUs, units pass alone until one pass was measured; the limit is
    then the tokens for which ``SHARE`` of the free memory suffices, by the bytes that the pass took for each
    of its tokens. It is rounded down to a power of two, so that about equal memory gives the same passes.

    Attributes:
        gpus: numbers of the GPUs of the model; none for a CPU.
        most: the limit; 0 until it is measured.
        lowered: how often it was halved because a pass did not fit.
    """

    def __init__(self, gpus: Sequence[int] = (), say: Callable[[str], None] = print) -> None:
        self.gpus = gpus
        self.most = 0 if gpus else TOKENS_ON_CPU
        self.lowered = 0
        self._say = say
        self._passes = 0
        self._chosen = not gpus

    @contextmanager
    def measured(self, tokens: int) -> Iterator[None]:
        """Set the limit, unless it is set, by the pass of ``tokens`` in the block."""
        self._passes += 1
        if self._chosen or not tokens or self._passes < MEASURED_PASS:
            yield
            return
        before = {gpu: torch.cuda.memory_allocated(gpu) for gpu in self.gpus}
        for gpu in self.gpus:
            torch.cuda.reset_peak_memory_stats(gpu)
        yield
        fitting = []
        for gpu, held in before.items():
            taken = max(1, torch.cuda.max_memory_allocated(gpu) - held)
            # What the allocator keeps, it uses again.
            kept = torch.cuda.memory_reserved(gpu) - torch.cuda.memory_allocated(gpu)
            free = torch.cuda.mem_get_info(gpu)[0] + kept
            fitting.append((int(SHARE * free * tokens / taken), free, taken))
        most, free, taken = min(fitting)
        self.most = 1 << (most.bit_length() - 1) if most else 0
        self._chosen = True
        self._say(
            f"units pass together up to {self.most:,} tokens, by {taken / tokens / 1e6:.3g} MB a token in a "
            f"pass and {free / 1e9:.3g} GB of free GPU memory"
        )

    def lower(self) -> None:
        """Halve the limit, since a pass within it did not fit."""
        self.most //= 2
        self.lowered += 1
