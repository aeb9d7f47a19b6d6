"""Grade a short free answer against reference answers, by the rules of the VQA evaluator.

The rules are those of GT-Vision-Lab/VQA, PythonEvaluationTools/vqaEvaluation/vqaEval.py, with its lists of
punctuation, number words and contractions. The evaluator leaves the references of some questions as they are;
here, an answer and its references are normalised in the same way.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

ARTICLES = frozenset(("a", "an", "the"))
NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
} | {"none": "0"}
PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_THOUSANDS = re.compile(r"\d,\d")
# The evaluator also means to keep a period after a digit, but its pattern does not say so: "3." becomes "3".
_PERIOD = re.compile(r"\.(?!\d)")

_CONTRACTIONS = """
    ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't haven't
    he'd he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am might've mightn't mightn't've
    must've mustn't needn't not've o'clock oughtn't 'ow's'at shan't she'd've should've shouldn't
    shouldn't've somebody'd've somebody'll somebody's someone'd someone'd've someone'll someone's
    something'd something'd've something'll that's there'd there'd've there're there's they'd they'd've
    they'll they're they've 'twas wasn't we'd've we've weren't what'll what're what's what've when's
    where'd where's where've who'd who'd've who'll who's who've why'll why're why's won't would've
    wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll you're you've
"""


def _without_one_apostrophe(word: str) -> list[str]:
    return [word[:place] + word[place + 1 :] for place, letter in enumerate(word) if letter == "'"]


# A word that lacks one of its apostrophes gets it. The evaluator takes one from somebody'd.
CONTRACTIONS = {
    written: word for word in _CONTRACTIONS.split() for written in _without_one_apostrophe(word)
} | {"somebody'd": "somebodyd"}


@dataclass(frozen=True)
class Rules:
    """Which rules apply, besides lower case and single spaces, which always do."""

    punctuation: bool = True
    numbers: bool = True
    articles: bool = True
    contractions: bool = True


ALL = Rules()


def normalised(answer: str, rules: Rules = ALL) -> str:
    """Return an answer in lower case, without punctuation and articles, with number words as digits.

    A character of punctuation becomes a space, or nothing where it stands beside a space, or where the answer
    has a comma between digits. Contractions get the apostrophe that they lack.
    """
    text = " ".join(answer.split())
    if rules.punctuation:
        joins = _THOUSANDS.search(text) is not None
        found = text
        for mark in PUNCTUATION:
            beside_space = f"{mark} " in found or f" {mark}" in found
            text = text.replace(mark, "" if joins or beside_space else " ")
        text = _PERIOD.sub("", text)
    words = text.lower().split()
    if rules.numbers:
        words = [NUMBERS.get(word, word) for word in words]
    if rules.articles:
        words = [word for word in words if word not in ARTICLES]
    if rules.contractions:
        words = [CONTRACTIONS.get(word, word) for word in words]
    return " ".join(words)


def agrees(answer: str, reference: str, rules: Rules = ALL) -> bool:
    """Return whether an answer is the reference, both normalised. An empty answer agrees with none.

    Where the rules leave nothing of an answer, such as "A" or "+", it is compared in lower case.
    """
    found, wanted = normalised(answer, rules), normalised(reference, rules)
    if found:
        return found == wanted
    return bool(answer.strip()) and answer.strip().lower() == reference.strip().lower()


def soft_accuracy(answer: str, references: Sequence[str], rules: Rules = ALL) -> float:
    """Return the accuracy of an answer by several annotators' answers, in [0, 1].

    It is the mean, over the annotators, of min(matches / 3, 1) where the matches are those of the others.
    Raises ValueError for fewer than two references.
    """
    if len(references) < 2:
        raise ValueError(f"{len(references)} reference answers: the matches of the others need two")
    matches = [agrees(answer, reference, rules) for reference in references]
    total = sum(matches)
    return sum(min((total - own) / 3, 1.0) for own in matches) / len(matches)
