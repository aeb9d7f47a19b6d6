import builtins
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from benchc.errors import InputError
from benchc.models.encoders.encoders import (
    TextEncoder,
    load_image_encoder,
    load_text_encoder,
    tagged_weights,
)


@pytest.fixture(scope="module")
def sbert() -> TextEncoder:
    torch.set_num_threads(1)
    return load_text_encoder("all-MiniLM-L6-v2")


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_sentence_bert_loads_offline_and_similar_texts_are_close(sbert: TextEncoder) -> None:
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


def test_texts_are_truncated_after_the_last_accepted_token(sbert: TextEncoder) -> None:
    # 256 tokens are accepted, including one special token at each end.
    assert not sbert.is_truncated("cat " * 254)
    assert sbert.is_truncated("cat " * 255)
    long, longer = sbert.encode(["cat " * 254 + "dog", "cat " * 254 + "tax law"])
    np.testing.assert_allclose(long, longer, atol=1e-6)


def test_an_image_encoder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'ViT-B-999' is neither a folder nor a model"):
        load_image_encoder("ViT-B-999", "openai")
    with pytest.raises(InputError, match=r"no weights None; open_clip knows openai"):
        load_image_encoder("ViT-B-32-quickgelu")
    with pytest.raises(InputError, match=r"no weights 'opnai'"):
        load_image_encoder("ViT-B-32-quickgelu", "opnai")
    with pytest.raises(InputError, match=r"^ViT-B-32: the weights 'openai' .* QuickGELU.*; name ViT-B-32-q"):
        load_image_encoder("ViT-B-32", "openai")
    # Its model has QuickGELU, and open_clip does not say so of the weights.
    assert tagged_weights("roberta-ViT-B-32", "laion2b_s12b_b32k")[0].startswith("laion/")
    with pytest.raises(InputError, match=r"config file missing.*; give a folder"):
        load_image_encoder(str(tmp_path))
    vision, text = {"image_size": 24, "patch_size": 4, "width": 64, "layers": 1}, {"width": 64, "layers": 1}
    configuration = {"model_cfg": {"embed_dim": 8, "vision_cfg": vision, "text_cfg": text}}
    (tmp_path / "open_clip_config.json").write_text(json.dumps(configuration))
    with pytest.raises(InputError, match=r"Required pretrained weights .*; give a folder"):
        load_image_encoder(str(tmp_path))


def test_an_error_of_the_hub_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import open_clip
    import sentence_transformers

    def refused(*arguments: object, **options: object) -> None:
        raise OSError("We couldn't connect to the Hub.\nCheck your connection.")

    monkeypatch.setattr(open_clip, "create_model_from_pretrained", refused)
    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", refused)
    with pytest.raises(InputError) as caught:
        load_image_encoder("ViT-B-32-quickgelu", "openai")
    assert str(caught.value) == (
        "image encoder 'ViT-B-32-quickgelu' with the weights 'openai' cannot be loaded (We couldn't connect "
        "to the Hub.); check the network, or give a folder with a complete open_clip_config.json and "
        "open_clip_model.safetensors"
    )
    with pytest.raises(InputError) as caught:
        load_text_encoder("owner/encoder")
    assert str(caught.value) == (
        "text encoder 'owner/encoder' cannot be loaded (We couldn't connect to the Hub.); check the name and "
        "the network, or use all-MiniLM-L6-v2, which is installed with the project"
    )


def test_a_damaged_weights_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "open_clip_model.safetensors").write_bytes(b"x")
    (tmp_path / "open_clip_config.json").write_text("{}")
    with pytest.raises(
        InputError, match=r"cannot be loaded \(.*\); give a folder with a complete open_clip_config"
    ):
        load_image_encoder(str(tmp_path))


def test_own_code_of_an_encoder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A yes to every question.
    monkeypatch.setattr(builtins, "input", lambda prompt: "y")
    marker, texts = tmp_path / "code-has-run", tmp_path / "texts"
    texts.mkdir()
    (texts / "own.py").write_text(f"import pathlib\npathlib.Path({str(marker)!r}).touch()\n")
    (texts / "config.json").write_text('{"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}')
    modules = [{"idx": 0, "name": "0", "path": "", "type": "own.Own"}]
    (texts / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match=r"text encoder .* cannot be loaded"):
        load_text_encoder(str(texts))
    vision, text = (
        {"image_size": 24, "patch_size": 4, "width": 64, "layers": 1},
        {"hf_model_name": str(texts)},
    )
    model = {"model_cfg": {"embed_dim": 8, "vision_cfg": vision, "text_cfg": text}}
    (tmp_path / "open_clip_config.json").write_text(json.dumps(model))
    save_file({"x": torch.zeros(1)}, tmp_path / "open_clip_model.safetensors")
    with pytest.raises(InputError, match=r"image encoder .* cannot be loaded .*custom code"):
        load_image_encoder(str(tmp_path))
    assert not marker.exists()


def test_an_encoder_has_the_name_that_messages_need(sbert: TextEncoder) -> None:
    assert sbert.name == "text encoder 'all-MiniLM-L6-v2'"
