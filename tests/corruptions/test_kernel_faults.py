"""What a kernel that is being written may get wrong."""

import numpy as np
import pytest

from benchc.corruptions import photometric
from benchc.corruptions.corrupt import corrupt
from benchc.errors import InputError

IMAGE = np.zeros((40, 40, 3), dtype=np.uint8)


def test_a_kernel_that_is_not_there_is_named(monkeypatch):
    monkeypatch.delattr(photometric, "contrast")
    with pytest.raises(InputError, match=r"benchc\.corruptions\.photometric has no function contrast"):
        corrupt(IMAGE, "contrast", 1, seed=0)


@pytest.mark.parametrize("wrong", [IMAGE.astype(float), IMAGE[:-1]])
def test_a_kernel_must_return_what_it_was_given(monkeypatch, wrong):
    monkeypatch.setattr(photometric, "contrast", lambda image, severity, seed: wrong)
    with pytest.raises(InputError, match=r"the kernel contrast .* must return uint8\[40, 40, 3\]"):
        corrupt(IMAGE, "contrast", 1, seed=0)
