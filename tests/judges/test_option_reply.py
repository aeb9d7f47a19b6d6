import lzma

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.judges.option_reply import OptionReply, option_of
from benchc.letters import LETTERS
from tests.shared_data import SHARED, needs_shared

COLOURS = ("red", "dark red", "blue", "Sea green")


@pytest.mark.parametrize(
    ("reply", "option", "status"),
    [
        ("C", 2, "letter"),
        ("(C)", 2, "letter"),
        ("**C**", 2, "letter"),
        ("B. dark red", 1, "letter"),
        ("A: red", 0, "letter"),
        ("A", 0, "letter"),
        ("The answer is A", 0, "letter"),
        ("The answer is a blue one", 2, "text"),
        ("The correct answer is **D**.", 3, "letter"),
        ("Answer: $\\boxed{B}$", 1, "letter"),
        ("\\boxed{\\text{C}}", 2, "letter"),
        ("I would choose D", 3, "letter"),
        ("Option B", 1, "letter"),
        # Reasoning considers other options first.
        ("The answer is A at first sight. On reflection, the answer is C.", 2, "letter"),
        ("<think>Is it A? The answer is A.</think>\nB", 1, "letter"),
        ("Is it A? The answer is A.</think>B", 1, "letter"),
        ("<think>The answer is A, because", None, "unfinished"),
        # By its text: the longer of two that overlap, in any case and spacing.
        ("It is dark  red.", 1, "text"),
        ("sea green", 3, "text"),
        ("Blue!", 2, "text"),
        ("It is redder", None, "unparsable"),
        ("red or blue", None, "ambiguous"),
        ("B or C", None, "ambiguous"),
        # An article and a pronoun are no options.
        ("A dog on a lawn", None, "unparsable"),
        ("A man with a hat sees it", None, "unparsable"),
        ("I'm sorry, I can't help with images of people.", None, "refused"),
        ("Sorry, but the answer is B.", 1, "letter"),
        ("Cannot determine the answer", None, "refused"),
        # A letter without an option.
        ("E", None, "unparsable"),
        ("The answer is Z.", None, "unparsable"),
        ("", None, "unparsable"),
        # A letter in the middle of a long text is none.
        ("Plan B is what people in the picture seem to follow", None, "unparsable"),
    ],
)
def test_a_reply_chooses(reply: str, option: int | None, status: str) -> None:
    assert option_of(reply, COLOURS) == OptionReply(option, status)


@pytest.mark.parametrize(
    ("reply", "option", "status"),
    [
        ("The answer is C. Option A would be wrong.", 2, "letter"),
        ("Option A is incorrect; the correct one is B.", None, "ambiguous"),
        ("green, not option A.", 1, "text"),
        ("It is C, not B", 2, "letter"),
        ("A, B and C are wrong, so it must be D.", None, "ambiguous"),
        ("The answer is A or B", None, "ambiguous"),
        ("Answer: A/B", None, "ambiguous"),
        ("Answer: **A**, **C**", None, "ambiguous"),
        ("The answer is A, and A alone", 0, "letter"),
        ("The answer is A, because B is wrong", 0, "letter"),
        ("A. red\nB. green\nC. blue", None, "ambiguous"),
        ("B. green\nThe others are wrong.", 1, "letter"),
        ("It is either A or B. A", None, "ambiguous"),
        ("The answer is A dog", 3, "text"),
        ("The answer is A dogma", 0, "letter"),
        ("A dog", 3, "text"),
        ("A is right", 0, "letter"),
        ("Option B: green", 1, "letter"),
        ("one two C four five six", 2, "letter"),
        ("one C three four five six seven", None, "unparsable"),
    ],
)
def test_other_letters_in_a_reply(reply: str, option: int | None, status: str) -> None:
    assert option_of(reply, ("red", "green", "blue", "a dog")) == OptionReply(option, status)


def test_a_text_in_a_long_reply_is_no_choice() -> None:
    # VLMEvalKit: at most twice as long as all options together.
    total = sum(map(len, COLOURS))
    assert option_of("blue".ljust(2 * total - 1, ".") + "x", COLOURS).option == 2
    assert option_of("blue".ljust(2 * total, ".") + "x", COLOURS).option is None


def test_more_options_than_letters_are_refused() -> None:
    with pytest.raises(ValueError, match="27 options have no letters: there are 26"):
        option_of("A", [str(number) for number in range(27)])


@given(st.integers(2, 26), st.data())
def test_every_letter_of_an_option_is_found(count: int, data: st.DataObject) -> None:
    options = [f"thing {number}" for number in range(count)]
    option = data.draw(st.integers(0, count - 1))
    letter = LETTERS[option]
    for reply in (
        letter,
        f"{letter}.",
        f"({letter})",
        f"The answer is {letter}.",
        f"{letter}. {options[option]}",
    ):
        assert option_of(reply, options) == OptionReply(option, "letter")
    assert option_of(options[option], options) == OptionReply(option, "text")


@given(st.text(max_size=60), st.lists(st.text(max_size=12), min_size=2, max_size=6))
def test_any_reply_has_a_status_and_an_option_that_exists(reply: str, options: list[str]) -> None:
    found = option_of(reply, options)
    assert (found.option is not None) == (found.status in ("letter", "text"))
    assert found.option is None or 0 <= found.option < len(options)


@needs_shared
def test_it_agrees_with_the_published_verdicts() -> None:
    """VLMEvalKit's verdicts, with a judge model and at last a random option where no rule matches."""
    least = {
        ("MMStar", "vila_8b"): 0.994,
        ("MMStar", "vila_13b"): 0.999,
        ("MMT-Bench_VAL", "vila_8b"): 0.996,
        ("MMT-Bench_VAL", "vila_13b"): 0.999,
    }
    for name, model in least:
        packed = (SHARED / f"data/real/rows/{name}.noimage.tsv.xz").read_bytes()
        rows = pl.read_csv(lzma.decompress(packed), separator="\t", infer_schema=False)
        agree, unparsed = [], 0
        for row in rows.filter(pl.col(f"hit_{model}").is_not_null()).iter_rows(named=True):
            letters = [letter for letter in LETTERS if row.get(letter) is not None]
            found = option_of(row[f"pred_{model}"], [row[letter] for letter in letters])
            unparsed += found.option is None
            right = found.option is not None and letters[found.option] == row["answer"]
            agree.append(right == (row[f"hit_{model}"] == "1"))
        share = sum(agree) / len(agree)
        print(f"{name} {model}: {len(agree)} replies, agreement {share:.4f}, {unparsed} unparsed")
        assert share >= least[name, model], (name, model)
        assert unparsed <= 0.02 * len(agree), (name, model)
