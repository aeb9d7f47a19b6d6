from benchc.pluralize import pluralize


def test_one_is_singular_and_thousands_have_a_comma():
    assert [pluralize(number, "item") for number in (0, 1, 2, 1_000)] == [
        "0 items",
        "1 item",
        "2 items",
        "1,000 items",
    ]
