"""A family whose number of image tokens depends on the image's size, on a small random checkpoint."""

import numpy as np
import pytest
import torch

from benchc.demo.tiny.processor import chat_template
from benchc.demo.tiny.tokenizer import train_tokenizer
from benchc.hugging_face import transformers
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from tests.models.conftest import QUESTIONS

SPECIAL = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qwen")
    texts = [f" {text}" for question in QUESTIONS[:2] for text in (*question.options, *"ABCD")] * 20
    names = ("image_token", "video_token", "vision_bos_token", "vision_eos_token")
    tokenizer = train_tokenizer(texts, dict(zip(names, SPECIAL, strict=True)))
    image, video, start, end = tokenizer.convert_tokens_to_ids(list(SPECIAL))
    ends = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 1024,
            "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
            **ends,
        },
        vision_config={
            "depth": 2,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 4,
            "out_hidden_size": 64,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "fullatt_block_indexes": [1],
            "window_size": 56,
        },
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
    )
    torch.manual_seed(5)
    transformers.Qwen2_5_VLForConditionalGeneration(config).save_pretrained(folder)
    transformers.Qwen2_5_VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessorPil(
            min_pixels=56 * 56, max_pixels=112 * 112, patch_size=14, merge_size=2, temporal_patch_size=2
        ),
        tokenizer=tokenizer,
        video_processor=transformers.Qwen2VLVideoProcessor(),
        chat_template=chat_template("<|vision_start|><|image_pad|><|vision_end|>"),
    ).save_pretrained(folder)
    return str(folder)


def sample_image(height, width):
    return np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)


def image_tokens(scorer):
    inputs = scorer.chat.encode(scorer.prompt(QUESTIONS[1], 1), [[sample_image(140, 140)]])
    return (inputs["input_ids"] == scorer.chat.model.config.image_token_id).sum().item()


def test_pixel_bounds_reach_the_processor(folder):
    small = load_scorer("qwen2_5_vl", "letter", CheckpointSource(folder))
    bounds = {"min_pixels": 140 * 140, "max_pixels": 280 * 280}
    large = load_scorer("qwen2_5_vl", "letter", CheckpointSource(folder, processor=bounds))
    assert image_tokens(small) == 4 * 4
    assert image_tokens(large) == 5 * 5
    assert small.identity()["processor"] != large.identity()["processor"]
    with pytest.raises(ModelError, match="no setting 'min_pixel'"):
        load_scorer("qwen2_5_vl", "letter", CheckpointSource(folder, processor={"min_pixel": 1}))


@pytest.mark.parametrize("question", QUESTIONS, ids=["unweighted", "hint", "chinese"])
def test_options_that_share_a_prompts_keys_score_as_whole_sequences(folder, question):
    scorer = load_scorer("qwen2_5_vl", "text", CheckpointSource(folder))
    variants = [[sample_image(90, 60)], [255 - sample_image(90, 60)]]
    scores = scorer.score(question, variants)
    for k, option in enumerate(question.options):
        rendered = scorer.prompt(question, 1)
        answer = scorer.chat.tokens_after(rendered, f" {option}")
        inputs = scorer.chat.encode(f"{rendered} {option}", variants)
        with torch.no_grad():
            logs = scorer.chat.model(**inputs).logits.log_softmax(-1)
        before = logs[:, -len(answer) - 1 : -1]
        expected = before.gather(-1, torch.tensor(answer).expand(2, -1)[..., None]).sum((1, 2))
        np.testing.assert_allclose(scores.logits[:, k], expected.numpy(), atol=1e-4)
