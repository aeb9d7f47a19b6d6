import lzma

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.judges.option_reply import OptionReply, option_of
from benchc.letters import LETTERS
from tests.shared_data import SHARED, needs_shared

COLOURS = ("red", "dark red", "blue", "Sea green")


OTHERS = ("red", "green", "blue", "a dog")
UNSURE, NONE = (None, "ambiguous"), (None, "unparsable")
# Option and status, and replies to a question with COLOURS.
REPLIES = [
    ((0, "letter"), "A: red", "A", "The answer is A"),
    ((1, "letter"), "B. dark red", "Answer: $\\boxed{B}$", "Option B", "Sorry, but the answer is B."),
    ((2, "letter"), "C", "(C)", "**C**", "\\boxed{\\text{C}}"),
    ((3, "letter"), "The correct answer is **D**.", "I would choose D"),
    # Reasoning considers other options first.
    ((2, "letter"), "The answer is A at first sight. On reflection, the answer is C."),
    (
        (1, "letter"),
        "<think>Is it A? The answer is A.</think>\nB",
        "Is it A?\nThe answer is A.</think>B",
        "The answer is A.</Thinking>B",
    ),
    ((None, "unfinished"), "<think>The answer is A, because"),
    # By its text: the longer of two that overlap, in any case and spacing.
    ((1, "text"), "It is dark  red."),
    ((2, "text"), "The answer is a blue one", "Blue!"),
    ((3, "text"), "sea green"),
    (UNSURE, "red or blue", "B or C"),
    # An article and a pronoun are no options, and some letters have none.
    (
        NONE,
        "It is redder",
        "A dog on a lawn",
        "A man with a hat sees it",
        "A iPhone",
        "E",
        "The answer is Z.",
        "",
    ),
    ((None, "refused"), "I'm sorry, I can't help with images of people.", "Cannot determine the answer"),
    # A letter in the middle of a long text is none.
    (NONE, "Plan B is what people in the picture seem to follow"),
]
# With other letters in them, to one with OTHERS.
SEVERAL = [
    ((0, "letter"), "The answer is A and A alone", "The answer is A, because B is wrong"),
    ((0, "letter"), "The answer is A dogma", "A is right"),
    ((1, "letter"), "B. green\nThe others are wrong.", "Option B: green"),
    ((2, "letter"), "The answer is C. Option A would be wrong.", "It is C, not B", "one two C four five six"),
    ((2, "letter"), "Not B; C"),
    ((1, "text"), "green, not option A."),
    ((3, "text"), "The answer is A dog", "A dog"),
    (UNSURE, "Option A is incorrect; the correct one is B.", "A, B and C are wrong, so it must be D."),
    (
        UNSURE,
        "The answer is A or B",
        "The answer is B or A",
        "Answer: A/B",
        "Answer: **A**, **C**",
        "It is either A or B. A",
    ),
    (UNSURE, "A. red\nB. green\nC. blue", "A. red\nB. green"),
    # VLMEvalKit: a letter is among the last four words.
    (NONE, "one C three four five six"),
]


@pytest.mark.parametrize(
    ("reply", "options", "found"),
    [
        (reply, options, found)
        for options, rows in ((COLOURS, REPLIES), (OTHERS, SEVERAL))
        for found, *replies in rows
        for reply in replies
    ],
)
def test_a_reply_chooses(reply, options, found):
    assert option_of(reply, options) == OptionReply(*found)


def test_a_text_in_a_long_reply_is_no_choice_and_options_have_letters():
    # VLMEvalKit: at most twice as long as all options together.
    total = sum(map(len, COLOURS))
    assert option_of("blue".ljust(2 * total - 1, ".") + "x", COLOURS).option == 2
    assert option_of("blue".ljust(2 * total, ".") + "x", COLOURS) == OptionReply(*NONE)
    # Of two that begin at one place, the longer; and a text of one character is one.
    assert option_of("It is sea green", ("sea", "sea green")) == OptionReply(1, "text")
    assert option_of("2", ("1", "2")) == OptionReply(1, "text")
    with pytest.raises(ValueError, match="27 options have no letters: there are 26"):
        option_of("A", [str(number) for number in range(27)])


def test_a_reply_without_text_at_its_limit_is_unfinished():
    for reply, found in (("", (None, "unfinished")), ("B", (1, "letter")), ("no", NONE)):
        assert option_of(reply, COLOURS, "length") == OptionReply(*found)
    # One that a server withheld has not reached it.
    assert option_of("", COLOURS, "content_filter") == OptionReply(*NONE)


@given(st.integers(2, 26), st.data())
def test_every_letter_of_an_option_is_found(count, data):
    options = [f"thing {number}" for number in range(count)]
    option = data.draw(st.integers(0, count - 1))
    for reply in ("{0}", "{0}.", "({0})", "The answer is {0}.", "{0}. {1}"):
        found = option_of(reply.format(LETTERS[option], options[option]), options)
        assert found == OptionReply(option, "letter")
    assert option_of(options[option], options) == OptionReply(option, "text")


@given(st.text(max_size=60), st.lists(st.text(max_size=12), min_size=2, max_size=6))
def test_any_reply_has_a_status_and_an_option_that_exists(reply, options):
    found = option_of(reply, options)
    assert (found.option is not None) == (found.status in ("letter", "text"))
    assert found.option is None or 0 <= found.option < len(options)


@needs_shared
def test_it_agrees_with_the_published_verdicts():
    """VLMEvalKit's verdicts, with a judge model and at last a random option where no rule matches."""
    least = {"MMStar": {"vila_8b": 0.994, "vila_13b": 0.999}}
    least |= {"MMT-Bench_VAL": {"vila_8b": 0.996, "vila_13b": 0.999}}
    for name, model, smallest in ((name, *row) for name, models in least.items() for row in models.items()):
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
        assert share >= smallest, (name, model)
        assert unparsed <= 0.02 * len(agree), (name, model)
