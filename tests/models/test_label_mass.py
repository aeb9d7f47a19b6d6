"""A low label mass is worth a warning where letters are scored."""

import pytest

from benchc.models.label_mass import LOW_LABEL_MASS, low_label_mass


@pytest.mark.parametrize(
    ("scoring", "masses", "warns"),
    [
        ("letter", [0.1, 0.2], True),
        ("letter", [0.0, 2 * LOW_LABEL_MASS], False),
        ("letter", [0.0, 1.9 * LOW_LABEL_MASS], True),
        ("letter", [], False),
        ("text", [0.01], False),
        ("generate", [], False),
    ],
)
def test_only_letters_of_less_than_half_of_the_probability_warn(scoring, masses, warns):
    assert (low_label_mass(scoring, masses) is not None) == warns


def test_the_warning_says_how_much_and_what_to_do():
    text = low_label_mass("letter", [0.25, 0.75 / 3])
    assert "have only 25 % of the probability" in text and "`scoring: text`" in text
