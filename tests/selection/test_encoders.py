from pathlib import Path

import numpy as np
import pytest
import torch

from benchc.selection.encoders import TextEncoder, load_image_encoder, load_text_encoder


@pytest.fixture(scope="module")
def sbert() -> TextEncoder:
    torch.set_num_threads(1)
    return load_text_encoder("all-MiniLM-L6-v2")


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_sentence_bert_loads_without_a_network_and_puts_like_beside_like(sbert: TextEncoder) -> None:
    vectors = sbert.encode(
        ["How many cats are there?", "Count the cats.", "Which month had the lowest sales?"]
    )
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert cosine(vectors[0], vectors[1]) > 0.6 > 0.3 > cosine(vectors[0], vectors[2])


def test_a_texts_vector_does_not_depend_on_its_neighbours(sbert: TextEncoder) -> None:
    texts = [f"Is the number {number} on the sign?" + " please" * number for number in range(40)]
    together, reversed_ = sbert.encode(texts), sbert.encode(texts[::-1])[::-1]
    np.testing.assert_allclose(together, reversed_, atol=1e-6)
    np.testing.assert_array_equal(together, sbert.encode(texts))


def test_truncation_begins_after_the_last_token_that_is_read(sbert: TextEncoder) -> None:
    # 256 tokens are read, two of which open and close the text.
    assert not sbert.is_truncated("cat " * 254)
    assert sbert.is_truncated("cat " * 255)
    long, longer = sbert.encode(["cat " * 254 + "dog", "cat " * 254 + "tax law"])
    np.testing.assert_allclose(long, longer, atol=1e-6)


def test_an_image_encoder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'ViT-B-999' is neither a folder nor a model"):
        load_image_encoder("ViT-B-999", "openai")
    with pytest.raises(ValueError, match=r"no weights None; open_clip knows openai"):
        load_image_encoder("ViT-B-32-quickgelu")
    with pytest.raises(ValueError, match=r"no weights 'opnai'"):
        load_image_encoder("ViT-B-32-quickgelu", "opnai")
    with pytest.raises(ValueError, match=r"holds no open_clip_model\.safetensors"):
        load_image_encoder(str(tmp_path))
