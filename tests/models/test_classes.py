"""Every class of transformers that docs/models.md lists passes what its table says.

After a change of what passes: ``python -m tests.models.classes.table``.
"""

import re

import pytest
import torch

from tests.models.classes.builders import BUILDERS, Loaded, load, save
from tests.models.classes.checks import CHECKS, outcome, variants
from tests.models.classes.common import QUESTIONS
from tests.models.classes.table import committed

# Classes whose forward pass computes features by other methods.
RECOMPUTE = ("InstructBlip", "Kosmos2", "Mllama", "Phi4Multimodal")
# Classes without an image processor for Pillow, or with one that their processor does not take.
TORCHVISION_ALONE = ("Cohere2Vision", "Fuyu", "Lfm2Vl", "Llama4", "Molmo2", "PerceptionLM", "Phi4Multimodal")


@pytest.fixture(scope="module", params=BUILDERS)
def model_type(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def tested(model_type: str, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp(model_type)
    save(model_type, folder)
    return load(model_type, folder)


def name_of(tested: Loaded) -> str:
    return re.split("For(?:ConditionalGeneration|CausalLM)$", tested.class_name)[0]


@pytest.mark.parametrize("check", CHECKS)
def test_a_class_passes_what_the_table_says(model_type: str, tested: Loaded, check: str) -> None:
    reason, cells = outcome(tested, check), committed()[model_type]
    assert cells[check] == ("yes" if reason is None else "no"), reason
    assert reason is None or reason in cells["why not"]
    assert cells["class"] == f"`{tested.class_name}`"


def test_the_table_has_these_classes() -> None:
    assert list(committed()) == list(BUILDERS)


def test_the_identity_names_the_library_that_resizes(tested: Loaded) -> None:
    kind = type(tested.plain.processor.image_processor)
    bases = {base.__name__ for base in kind.__mro__}
    expected = "torchvision" if "TorchvisionBackend" in bases else "pil"
    assert tested.letter.identity()["image_backend"] == expected
    assert (expected == "torchvision") == (name_of(tested) in TORCHVISION_ALONE)


def test_one_class_alone_depends_on_the_batch(tested: Loaded) -> None:
    assert tested.letter.one_by_one == (name_of(tested) == "HunYuanVL")


def test_features_of_images_are_kept_for_the_next_question_without_a_bits_difference(tested: Loaded) -> None:
    model = tested.letter.chat.model
    kept = [module.get_image_features for module in model.modules() if "get_image_features" in vars(module)]
    calls: list[str] = []
    for module in _vision(model):
        module.register_forward_hook(lambda *_: calls.append(""))
    for scorer in (tested.letter, tested.text):
        scorer.score(QUESTIONS[0], variants())
        calls.clear()
        again = scorer.score(QUESTIONS[1], variants())
        assert bool(calls) == (name_of(tested) in RECOMPUTE)
        for each in kept:
            each._last = None
        assert again.logits.tobytes() == scorer.score(QUESTIONS[1], variants()).logits.tobytes()


def _vision(model: torch.nn.Module) -> list[torch.nn.Module]:
    """Return the modules that read pixels: those with a convolution or a projection of patches."""
    return [module for module in model.modules() if isinstance(module, torch.nn.Conv2d | torch.nn.Conv3d)]
