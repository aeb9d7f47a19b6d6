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


def test_a_label_is_no_other_models_id():
    check_labels({"a": "a", "b": "B"}, "models.json")
    with pytest.raises(
        InputError, match=r"^models.json: the label of b is 'a', the id of another model; give it another"
    ):
        check_labels({"a": "A", "b": "a"}, "models.json")
