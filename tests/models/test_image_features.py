"""The features of images are computed once for all options, and never kept for other images."""

from copy import deepcopy

import pytest
import torch

from benchc.models.image_features import keep_image_features

PIXELS = torch.arange(6.0).reshape(1, 2, 3)


class Tower(torch.nn.Module):
    """Counts the images that it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def get_image_features(self, pixel_values: torch.Tensor, **options: object) -> torch.Tensor:
        self.calls += 1
        return pixel_values.sum() + self.calls


@pytest.fixture
def tower() -> Tower:
    model = Tower()
    keep_image_features(model)
    return model


@pytest.mark.parametrize(
    ("options", "others"),
    [
        ({"sizes": [[2, 3]]}, {"sizes": [[3, 2]]}),
        ({"sizes": torch.tensor([2, 3])}, {"sizes": torch.tensor([2, 4])}),
        ({"layer": -1}, {"layer": -2}),
        ({"layer": -1}, {}),
        ({"more": {"a": 1}}, {"more": {"a": 2}}),
        ({"sizes": [2]}, {"sizes": [2, 3]}),
        ({"kinds": {"a"}}, {"kinds": {"b"}}),
        *(({"sizes": given}, {"sizes": None}) for given in ([2], {"a": 2}, torch.tensor([2, 3]))),
    ],
)
def test_equal_arguments_have_the_features_that_were_computed(tower, options, others):
    first = tower.get_image_features(PIXELS, **options)
    assert tower.get_image_features(PIXELS.clone(), **deepcopy(options)) is first and tower.calls == 1
    second = tower.get_image_features(PIXELS, **others)
    assert tower.calls == 2 and second is not first
    # Only the last are kept.
    assert tower.get_image_features(PIXELS, **options) is not first and tower.calls == 3


@pytest.mark.parametrize("other", [PIXELS + 1, PIXELS.double(), PIXELS.bfloat16(), PIXELS[:, :1]])
def test_other_pixels_have_features_of_their_own(tower, other):
    tower.get_image_features(PIXELS)
    tower.get_image_features(other)
    assert tower.calls == 2


def test_nothing_is_kept_of_a_call_that_failed(tower):
    tower.get_image_features(PIXELS)
    with pytest.raises(AttributeError):
        tower.get_image_features(None)
    tower.get_image_features(PIXELS)
    assert tower.calls == 3

    # Pixels of another device have features of their own.
    class Anywhere(Tower):
        def get_image_features(self, pixel_values: torch.Tensor) -> str:
            return str(pixel_values.device)

    model = Anywhere()
    keep_image_features(model)
    assert [model.get_image_features(PIXELS.to(device)) for device in ("cpu", "meta")] == ["cpu", "meta"]


def test_of_a_model_within_a_model_the_inner_one_keeps_them():
    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tower = Tower()

        def get_image_features(self, pixel_values: torch.Tensor) -> object:
            return [self.tower.get_image_features(pixel_values)]

    model = Whole()
    keep_image_features(model)
    (first,), (second,) = (model.get_image_features(PIXELS) for _ in range(2))
    # Both ways lead to what was kept, as `generate` of transformers calls the inner one.
    assert first is second is model.tower.get_image_features(PIXELS) and model.tower.calls == 1
    assert "get_image_features" not in vars(model)
