"""Which special tokens a tokenizer adds to a chat prompt, and whether transformers lets it."""

import pytest

from benchc.models.special_tokens import SpecialTokens, times_at_end, times_at_start

BOS, EOS = 1, 2


@pytest.mark.parametrize(
    ("added", "plain", "before", "after", "are_added"),
    [
        # Added at the start, at both ends, at the end alone, nowhere.
        ([BOS, 7, 8], [7, 8], [BOS], [], True),
        ([BOS, 7, 8, EOS], [7, 8], [BOS], [EOS], True),
        ([7, 8, EOS], [7, 8], [], [EOS], True),
        ([7, 8], [7, 8], [], [], False),
        # The template writes BOS itself: it must not be there twice.
        ([BOS, BOS, 7], [BOS, 7], [BOS], [], False),
        ([BOS, BOS, 7, EOS], [BOS, 7], [BOS], [EOS], False),
        # A tokenizer that changes the prompt's own tokens.
        ([BOS, 9, 8], [7, 8], [], [], True),
        ([BOS, 3, 7, 8, EOS, EOS], [7, 8], [BOS, 3], [EOS, EOS], True),
        ([BOS, 3, 7, 8, 9, 6], [7, 8, 9, 6], [BOS, 3], [], True),
    ],
)
def test_what_is_added_before_and_after_a_prompt(added, plain, before, after, are_added):
    found = SpecialTokens.of(added, plain)
    assert (found.before, found.after, found.are_added) == (before, after, are_added)
    assert found.prompt == (added if are_added else plain)
    assert found.before_answer == (after if are_added else [])


@pytest.mark.parametrize(
    ("tokens", "special", "at_start", "at_end"),
    [
        ([1, 1, 7, 1], [1], 2, 1),
        ([1, 2, 1, 2, 1], [1, 2], 2, 0),
        ([2, 1, 2, 1, 2], [1, 2], 0, 2),
        ([7], [1], 0, 0),
        ([], [1], 0, 0),
        ([1, 1], [1], 2, 2),
    ],
)
def test_how_many_times_in_a_row(tokens, special, at_start, at_end):
    assert times_at_start(tokens, special) == at_start
    assert times_at_end(tokens, special) == at_end
