"""Falcon2-VLM, whose checkpoint lacks what its processor needs, and whose image token has no embedding.

The oracle embeds by hand, as transformers did before (huggingface/transformers#34728).
"""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from benchc.hugging_face import transformers
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.question import letter_prompt
from tests.models.classes.builders import load, save
from tests.models.classes.checks import variants
from tests.models.classes.common import PATCH, QUESTIONS

NAME = "llava_next (Falcon2-VLM)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("falcon")
    save(NAME, folder)
    return folder


def by_hand(folder: Path, images: list[np.ndarray]) -> torch.Tensor:
    """Return the logits [vocabulary] after the prompt of the first question."""
    processor = transformers.LlavaNextProcessor(
        transformers.AutoImageProcessor.from_pretrained(folder, backend="pil"),
        transformers.AutoTokenizer.from_pretrained(folder),
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    model = transformers.LlavaNextForConditionalGeneration.from_pretrained(folder).eval()
    prompt = "User:" + "<image>\n" * len(images) + letter_prompt(QUESTIONS[0]) + " Falcon:"
    inputs = processor(text=prompt, images=[Image.fromarray(each) for each in images], return_tensors="pt")
    ids = inputs["input_ids"]
    places = ids == processor.tokenizer.convert_tokens_to_ids("<image>")
    with torch.inference_mode():
        embedded = model.get_input_embeddings()(ids.masked_fill(places, 0))
        features = model.model.get_image_features(inputs["pixel_values"], inputs["image_sizes"]).pooler_output
        embedded[places] = torch.cat(list(features))
        return model.lm_head(model.model.language_model(inputs_embeds=embedded).last_hidden_state)[0, -1]


@pytest.mark.parametrize("count", [1, 2])
def test_its_logits_are_those_of_images_embedded_by_hand(folder: Path, count: int) -> None:
    tested = load(NAME, folder)
    tokens = tested.letter.letter_tokens(tested.letter.prompt(QUESTIONS[0], count), ("A", "B", "C"))
    scores = tested.letter.score(QUESTIONS[0], variants(count)).logits
    for row, images in enumerate(variants(count)):
        np.testing.assert_allclose(scores[row], by_hand(folder, images)[tokens], atol=1e-5)


def test_its_image_token_is_beyond_its_embedding_and_its_processor_has_no_settings(folder: Path) -> None:
    config = transformers.AutoConfig.from_pretrained(folder)
    assert config.image_token_index == config.text_config.vocab_size
    assert transformers.AutoProcessor.from_pretrained(folder).patch_size is None
    assert not (folder / "processor_config.json").exists()


def test_a_system_prompt_is_refused(folder: Path) -> None:
    from benchc.models.load import load_scorer

    source = CheckpointSource(str(folder), family="llava_next", system_prompt="Be brief.")
    scorer = load_scorer("llava_next", "letter", source)
    with pytest.raises(ModelError, match=re.escape("no place for a system prompt")):
        scorer.prompt(QUESTIONS[0], 1)
