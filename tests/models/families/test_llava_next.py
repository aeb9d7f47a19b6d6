"""Falcon2-VLM's gaps are filled, and no other model of its class is changed."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchc.models import checkpoint
from benchc.models.families import llava_next

ROWS = 6


def loaded(patch_size: int | None, image_token: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load a stand-in whose checkpoint has that patch size in its processor, and that image token."""
    embedding = torch.nn.Embedding(ROWS, 1, _weight=torch.arange(float(ROWS))[:, None])
    config = SimpleNamespace(
        image_token_id=image_token,
        vision_config=SimpleNamespace(patch_size=14),
        vision_feature_select_strategy="default",
    )
    model = SimpleNamespace(config=config, get_input_embeddings=lambda: embedding)
    processor = SimpleNamespace(
        patch_size=patch_size, vision_feature_select_strategy=None, num_additional_image_tokens=0
    )
    chat = SimpleNamespace(model=model, processor=processor)
    given = []
    monkeypatch.setattr(checkpoint, "load", lambda *source, **options: given.append(options) or chat)
    source: Any = SimpleNamespace()
    assert llava_next.load(source) is chat
    assert given == [{"chat_template": llava_next.FALCON_TEMPLATE}]
    return chat


@pytest.mark.parametrize(
    ("patch_size", "expected"), [(None, (14, "default", 1)), (7, (7, None, 0))], ids=["Falcon2-VLM", "others"]
)
def test_a_processor_without_settings_has_those_of_the_model(patch_size, expected, monkeypatch):
    processor = loaded(patch_size, 0, monkeypatch).processor
    names = ("patch_size", "vision_feature_select_strategy", "num_additional_image_tokens")
    assert tuple(getattr(processor, name) for name in names) == expected


@pytest.mark.parametrize("token", [ROWS - 1, ROWS, ROWS + 3])
def test_an_image_token_beyond_the_rows_is_embedded_and_all_others_as_before(token, monkeypatch):
    embedding = loaded(7, token, monkeypatch).model.get_input_embeddings()
    found = embedding(torch.tensor([[0, 3, ROWS - 1, token]]))[0, :, 0].tolist()
    assert found == [0, 3, ROWS - 1, ROWS - 1]
    # Only where it is needed.
    assert bool(embedding._forward_pre_hooks) == (token >= ROWS)
