"""The rule judge: no language model, and no scores that compare with those of one."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from benchc.benchmarks.r_bench.judging.comparisons import Comparison
from benchc.benchmarks.r_bench.judging.judgement import Judgement, texts_of
from benchc.benchmarks.r_bench.judging.letter import named_option
from benchc.judges.short_answer import agrees, normalised
from benchc.letters import LETTERS
from benchc.models.encoders.unit_vectors import unit

PARTLY = 0.5  # F1 of the words from which an answer is partly right
SIMILAR, PARTLY_SIMILAR = 0.75, 0.5  # cosines of captions for the scores 2 and 1

# Returns one vector a text, float32[N, d].
Encode = Callable[[list[str]], npt.NDArray[np.float32]]


def rule_judge(comparisons: Sequence[Comparison], encode: Encode) -> Iterator[list[Judgement]]:
    """Yield one judgement of each comparison.

    A reply to options is right if it agrees with the text of the right one, or with the reply to the
    reference image, of which a letter stands for its option; an open answer has 2 if it agrees by the rules
    of the VQA evaluator, and 1 if the F1 of their words is 0.5 or more; a caption has 2 or 1 for a cosine of
    0.75 or 0.5 or more. An empty reply has 0.
    """
    captions = [each for each in comparisons if each.item.task == "cap" and not _is_empty(each)]
    texts = texts_of(captions)
    found = {
        text: unit(vector, f"the encoder of the judge gives {text[:40]!r}")
        for text, vector in zip(texts, encode(texts) if texts else (), strict=True)
    }
    for comparison in comparisons:
        yield [Judgement(_score(comparison, found))]


def token_f1(answer: str, reference: str) -> float:
    """Return the F1 of the words of two texts, normalised as the VQA evaluator does, in [0, 1]."""
    found, wanted = Counter(normalised(answer).split()), Counter(normalised(reference).split())
    total = found.total() + wanted.total()
    return 2 * (found & wanted).total() / total if total else 0.0


def _score(comparison: Comparison, vectors: dict[str, npt.NDArray[np.float32]]) -> float:
    item, _, _, kind, _, reply, against = comparison
    if item.task == "mcq":
        right = item.options[LETTERS.index(against)] if kind != "com" else _spelled(against, item.options)
        return float(agrees(_spelled(reply, item.options), right))
    if item.task == "vqa":
        return 2.0 if agrees(reply, against) else float(token_f1(reply, against) >= PARTLY)
    if _is_empty(comparison):
        return 0.0
    cosine = float(vectors[reply] @ vectors[against])
    return float(cosine >= PARTLY_SIMILAR) + float(cosine >= SIMILAR)


def _is_empty(comparison: Comparison) -> bool:
    return not (comparison.reply.strip() and comparison.against.strip())


def _spelled(reply: str, options: Sequence[str]) -> str:
    letter = named_option(reply, options)
    return reply if letter is None else options[LETTERS.index(letter)]
