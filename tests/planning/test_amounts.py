"""Sums of counts, and how sure they are."""

from benchc.planning.amounts import UNKNOWN, Amount, joined, summed, total


def test_a_sum_is_as_sure_as_its_parts() -> None:
    assert joined(["exact", "exact"]) == "exact" and joined([]) == "exact"
    assert joined(["exact", "at most"]) == "at most"
    assert joined(["exact", "assumed"]) == "assumed"
    assert joined(["at most", "assumed"]) == joined(["assumed bound", "exact"]) == "assumed bound"
    assert joined(["assumed bound", "unknown"]) == "unknown"


def test_an_unknown_part_makes_the_sum_unknown() -> None:
    assert total([Amount(3, "exact"), Amount(4, "at most")]) == Amount(7, "at most")
    assert total([Amount(3, "exact"), UNKNOWN]) == UNKNOWN
    assert summed([1, 2]) == 3 and summed([1, None]) is None
