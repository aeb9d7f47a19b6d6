"""Labels that two models share."""

import pytest

from benchc.errors import InputError
from benchc.labels import check_labels, shared_labels


def test_each_label_that_is_shared_is_found_with_its_ids():
    labels = {"a": "A", "b": "B", "c": "A", "d": "A", "e": "b"}
    assert list(shared_labels(labels)) == [("a", "c"), ("a", "d")]
    with pytest.raises(
        InputError, match=r"^models.json: a and c have one label, 'A'; give each model its own$"
    ):
        check_labels(labels, "models.json")
    check_labels({"a": "A", "b": "B"}, "models.json")
