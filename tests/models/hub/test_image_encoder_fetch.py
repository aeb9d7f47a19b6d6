"""The weights of an open_clip tag are fetched at one commit, and loaded from the Hub's cache."""

import json
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from benchc.errors import InputError
from benchc.hugging_face import transformers  # noqa: F401, sets up the Hub's client

# isort: split
import open_clip
from open_clip.constants import HF_SAFE_WEIGHTS_NAME

from benchc.models.encoders.encoders import ImageEncoder, load_image_encoder, tagged_weights
from scripts.fetch_image_encoder import fetch_image_encoder
from tests.models.hub_server import FIRST, SECOND, Hub, Repository

REPO, NAME, TAG = "owner/tiny-clip", "tiny-for-tests", "drawings"
CONFIG = {
    "embed_dim": 8,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16},
    "text_cfg": {"context_length": 8, "vocab_size": 32, "width": 64, "heads": 1, "layers": 1},
}


@pytest.fixture
def hub(served: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub with two commits of the weights of a small encoder, which open_clip knows by a tag."""
    (tmp_path / "configs").mkdir()
    (tmp_path / f"configs/{NAME}.json").write_text(json.dumps(CONFIG))
    configs = dict(open_clip.factory._MODEL_CONFIGS)
    monkeypatch.setattr(open_clip.factory, "_MODEL_CONFIGS", configs)
    monkeypatch.setattr(open_clip.factory, "_MODEL_CONFIG_PATHS", [])
    configs[NAME] = CONFIG
    tag = {**open_clip.get_pretrained_cfg("ViT-B-32", "openai"), "hf_hub": f"{REPO}/", "quick_gelu": False}
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, NAME, {TAG: tag})
    served.repositories[REPO] = Repository()
    for seed, commit in enumerate((FIRST, SECOND)):
        torch.manual_seed(seed)
        folder = tmp_path / commit
        folder.mkdir()
        save_file(open_clip.create_model(NAME).state_dict(), folder / HF_SAFE_WEIGHTS_NAME)
        served.repositories[REPO].add(folder, commit, **{"pytorch_model.bin": b"of another library"})
    served.repositories[REPO].branches["main"] = FIRST
    return served


def fetched(tag: str = TAG, *, with_text: bool = False) -> dict[str, str]:
    output = Path("image_encoder.json")
    fetch_image_encoder(image_encoder=NAME, pretrained=tag, with_text=with_text, output=output)
    found: dict[str, str] = json.loads(output.read_text())
    return found


def test_the_tokenizer_of_the_text_tower_is_fetched_on_request(hub, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = {**CONFIG["text_cfg"], "hf_tokenizer_name": "owner/words"}  # type: ignore[dict-item]
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, NAME, {**CONFIG, "text_cfg": text})
    files = {"tokenizer.json": b"{}", "tokenizer_config.json": b"{ }", "model.safetensors": b"weights"}
    words = Repository({SECOND: files}, {"main": SECOND})
    hub.repositories["owner/words"] = words
    fetched()
    assert hub.downloaded() == [HF_SAFE_WEIGHTS_NAME]
    fetched(with_text=True)
    assert hub.downloaded()[1:] == ["tokenizer.json", "tokenizer_config.json"]
    # Libraries look the default branch up in the cache.
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    found = huggingface_hub.hf_hub_download("owner/words", "tokenizer.json")
    assert SECOND in found and Path(found).read_bytes() == b"{}"
    fetched(with_text=True)


def vectors(encoder: ImageEncoder) -> np.ndarray:
    image = np.random.default_rng(1).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    return next(encoder.encode([image]))


def test_a_commit_is_fetched_and_loaded_offline(hub, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert fetched() == {"repo": REPO, "revision": None, "commit": FIRST}
    assert hub.downloaded() == [HF_SAFE_WEIGHTS_NAME]
    # The branch moves, and another run fetches what it is at.
    hub.repositories[REPO].branches["main"] = SECOND
    assert fetched()["commit"] == FIRST
    Path("image_encoder.json").unlink()
    assert fetched()["commit"] == SECOND
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    hub.requests.clear()
    loaded = (load_image_encoder(NAME, TAG, commit) for commit in (FIRST, SECOND, FIRST))
    first, second, again = map(vectors, loaded)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - second).max() > 1e-3 and hub.requests == []


def test_an_unknown_tag_is_one_line(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"{NAME}: no weights 'photos'; open_clip knows {TAG}"):
        fetched("photos")
    assert not Path("image_encoder.json").exists()


def test_all_tags_of_open_clip_name_a_repository() -> None:
    published = open_clip.list_pretrained()
    for name, tag in published:
        other = f"{name}-quickgelu"
        if (other, tag) in published and open_clip.get_pretrained_cfg(name, tag).get("quick_gelu"):
            with pytest.raises(InputError, match=rf"^{name}: .* QuickGELU.*; name {other}$"):
                tagged_weights(name, tag)
            continue
        repo, files = tagged_weights(name, tag)
        assert repo.count("/") == 1 and files[-1].endswith((".bin", ".pt", ".pth", ".safetensors"))
