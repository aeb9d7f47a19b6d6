"""Vectors at length 1, and those of a broken encoder."""

import numpy as np
import polars as pl
import pytest

from benchc.errors import InputError
from benchc.models.encoders.unit_vectors import same_vectors, unit


# Squares of the second and third are no float32.
@pytest.mark.parametrize("length", [1.0, 1e30, 1e-30])
def test_a_unit_vector_has_length_1_and_the_same_direction(length: float) -> None:
    found = unit(np.array([3 * length, -4 * length], np.float32), "E gives a")
    np.testing.assert_allclose(found, [0.6, -0.8], rtol=1e-6)
    assert found.dtype == np.float32


@pytest.mark.parametrize(("value", "length"), [(0.0, "0.0"), (np.nan, "nan"), (np.inf, "inf")])
def test_a_vector_without_a_direction_is_refused(value: float, length: str) -> None:
    with pytest.raises(InputError, match=f"^E gives a an embedding of length {length}, which has no direct"):
        unit(np.array([0.0, value], np.float32), "E gives a")


@pytest.mark.parametrize(
    ("images", "texts", "kinds"),
    [
        ([1] * 20, [2] * 20, ["image", "text"]),
        ([1] * 1020, [*range(1019), 1], ["image"]),
        ([*[1] * 19, 2], [2] * 20, ["text"]),
        # So few are seldom the same, but may be.
        ([1] * 19, [2] * 19, []),
    ],
)
def test_an_encoder_that_embeds_all_alike_is_warned_of(images, texts, kinds) -> None:
    warnings = list(same_vectors(pl.DataFrame({"image": images, "text": texts})))
    beginnings = [
        f"the vectors of all {len(images):,} {kind}s are the same; check the encoder's weights"
        for kind in kinds
    ]
    assert [each[: len(begins)] for each, begins in zip(warnings, beginnings, strict=True)] == beginnings
