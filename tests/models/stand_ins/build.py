"""Save a stand-in of a family: a tiny random model in a folder, with code of the upstream signatures."""

import importlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import constants

from benchc.demo.tiny.tokenizer import train_tokenizer
from benchc.hugging_face import transformers
from benchc.models.question import letter_prompt, text_prompt
from tests.models.conftest import QUESTIONS

CODE = Path(__file__).parent / "code"
PACKAGES = Path(__file__).parent / "packages"

# By family: special tokens, the model's Auto class and entries of auto_map; of a package, its classes.
SPECIAL = {
    "molmo": ["<im_patch>"],
    "kimi_vl": ["<|media_pad|>", "<|im_middle|>", "<|im_end|>"],
    "sail_vl": ["<img>", "</img>", "<IMG_CONTEXT>", "<|im_start|>", "<|im_end|>"],
    "mplug_owl3": ["<|image|>", "<|im_start|>", "<|im_end|>"],
    "moondream": [],
    "monkey": [],
    "eagle": [],
    "deepseek_vl2": ["<image>", "<|User|>", "<|Assistant|>"],
}
CAUSAL = "AutoModelForCausalLM"
AUTO_MAP: dict[str, dict[str, Any]] = {
    "molmo": {
        "AutoConfig": "modeling_molmo.MolmoConfig",
        CAUSAL: "modeling_molmo.MolmoForCausalLM",
        "AutoProcessor": "preprocessing_molmo.MolmoProcessor",
    },
    "kimi_vl": {
        "AutoConfig": "modeling_kimi_vl.KimiVLConfig",
        CAUSAL: "modeling_kimi_vl.KimiVLForConditionalGeneration",
        "AutoProcessor": "processing_kimi_vl.KimiVLProcessor",
    },
    "sail_vl": {f"Auto{kind}": f"modeling_sailvl.SailVL{kind}" for kind in ("Config", "Model")},
    "mplug_owl3": {f"Auto{kind}": f"modeling_mplugowl3.mPLUGOwl3{kind}" for kind in ("Config", "Model")},
    "monkey": {
        "AutoConfig": "modeling_monkey.MonkeyConfig",
        CAUSAL: "modeling_monkey.MonkeyLMHeadModel",
        "AutoTokenizer": ["tokenization_qwen.QWenTokenizer", None],
    },
    "moondream": {"AutoConfig": "hf_moondream.HfConfig", CAUSAL: "hf_moondream.HfMoondream"},
}
IN_PACKAGES = {
    "eagle": ("eagle.model.builder", "EagleConfig", "EagleLlamaForCausalLM"),
    "deepseek_vl2": ("deepseek_vl2.models", "DeepseekVLV2Config", "DeepseekVLV2ForCausalLM"),
}
HIDDEN = 24
# Caches of the Hub with Eagle's vision encoders: their settings alone, as in a job, and their weights, too.
SETTINGS_CACHE, WHOLE_CACHE = "settings", "whole"


def build(family: str, folder: Path) -> Path:
    """Save a random model of the family with its code and a tokenizer trained on QUESTIONS."""
    folder.mkdir(exist_ok=True)
    sizes = {"vocab_size": _tokenizer(family, folder), "hidden_size": HIDDEN}
    config: dict[str, Any] = sizes | {"tie_word_embeddings": False}
    torch.manual_seed(11)
    if family in IN_PACKAGES:
        module, config_class, model_class = IN_PACKAGES[family]
        found = importlib.import_module(module)
        whole = hub_cache(folder.parent / WHOLE_CACHE), without_timm()
        with whole[0], whole[1] if family == "eagle" else nullcontext():
            model = getattr(found, model_class)(getattr(found, config_class)(**config))
    else:
        for path in [*(CODE / family).glob("*.py"), CODE / "tiny_language.py"]:
            shutil.copy(path, folder)
        if family == "kimi_vl":
            config["media_placeholder_token_id"] = _token(folder, "<|media_pad|>")
        if family == "monkey":
            config["visual"] = {"image_start_id": 512}
            config["bf16"] = True
        if family == "sail_vl":
            config = {"llm_config": sizes, "tie_word_embeddings": False}
        if family == "moondream":
            config = {"config": _moondream(folder, config["vocab_size"]), "tie_word_embeddings": False}
        auto = AUTO_MAP[family]
        (folder / "config.json").write_text(json.dumps({"auto_map": auto, **config}))
        if "AutoProcessor" in auto:
            (folder / "processor_config.json").write_text(json.dumps({"auto_map": auto}))
        options = {"trust_remote_code": True}
        loaded = transformers.AutoConfig.from_pretrained(folder, **options)
        name = CAUSAL if CAUSAL in auto else "AutoModel"
        model = getattr(transformers, name).from_config(loaded, **options)
    # The initial weights give nearly uniform answers; larger ones, of images above all, show every mistake.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn_like(parameter) * (4 if "project" in name else 0.4))
    if family == "moondream":
        model.half()
    model.save_pretrained(folder)
    if family in AUTO_MAP:
        saved = json.loads((folder / "config.json").read_text())
        saved |= {"auto_map": AUTO_MAP[family]}
        if family == "sail_vl":
            saved["llm_config"] |= {"attn_implementation": "flash_attention_2"}
        (folder / "config.json").write_text(json.dumps(saved))
    return folder


@contextmanager
def hub_cache(cache: Path) -> Iterator[None]:
    """Let transformers look for models in a cache of the Hub alone while the block runs."""
    before = constants.HF_HUB_CACHE, constants.HF_HUB_OFFLINE
    constants.HF_HUB_CACHE, constants.HF_HUB_OFFLINE = str(cache), True
    try:
        yield
    finally:
        constants.HF_HUB_CACHE, constants.HF_HUB_OFFLINE = before


@contextmanager
def without_timm() -> Iterator[None]:
    """Build Eagle's ConvNeXt without weights, which timm downloads and the checkpoint replaces."""
    module = importlib.import_module("eagle.model.multimodal_encoder.convnext_encoder")
    before = module.convnext_xxlarge
    module.convnext_xxlarge = lambda _: before()
    try:
        yield
    finally:
        module.convnext_xxlarge = before


def build_encoders(cache: Path) -> None:
    """Save Eagle's vision encoders, of a cached ``main``: in the two caches below ``cache``."""
    small = {"hidden_size": HIDDEN, "num_hidden_layers": 1, "num_attention_heads": 2}
    clip = transformers.CLIPVisionConfig(image_size=16, patch_size=8, intermediate_size=HIDDEN, **small)
    sam = transformers.SamConfig(
        vision_config={"image_size": 16, "patch_size": 8, "mlp_dim": HIDDEN, "output_channels": 8, **small}
    )
    layers = {"num_layers": 1, "num_heads": 2}
    struct = transformers.Pix2StructConfig(
        vision_config={"patch_embed_hidden_size": 12, "d_ff": HIDDEN, "d_kv": 12, **small},
        text_config={**{"hidden_size": HIDDEN, "d_kv": 12, "d_ff": HIDDEN}, **layers, "vocab_size": 8},
    )
    clip_processor = transformers.CLIPImageProcessor()
    sam_processor = transformers.SamProcessor(transformers.SamImageProcessor())
    torch.manual_seed(12)
    for repo, parts in {
        "openai/clip-vit-large-patch14-336": [transformers.CLIPVisionModel(clip), clip_processor],
        "facebook/sam-vit-large": [transformers.SamModel(sam), sam_processor],
        "google/pix2struct-large": [transformers.Pix2StructForConditionalGeneration(struct)],
    }.items():
        for name in (SETTINGS_CACHE, WHOLE_CACHE):
            folder = cache / name / f"models--{repo.replace('/', '--')}"
            snapshot = folder / "snapshots" / ("a" * 40)
            (folder / "refs").mkdir(parents=True)
            (folder / "refs/main").write_text("a" * 40)
            for part in parts:
                part.save_pretrained(snapshot)
            if name == SETTINGS_CACHE:
                (snapshot / "model.safetensors").unlink()


def _tokenizer(family: str, folder: Path) -> int:
    """Save the family's tokenizer, and return the size of its vocabulary."""
    if family == "monkey":
        auto = {"AutoTokenizer": AUTO_MAP[family]["AutoTokenizer"]}
        settings = {"tokenizer_class": "QWenTokenizer", "auto_map": auto}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        return 516
    texts = []
    for question in QUESTIONS[:2]:
        texts += [f": {prompt(question)} Answer:" for prompt in (letter_prompt, text_prompt)]
        texts += [f" {answer}" for answer in (*question.options, *"ABCD")]
    special = {f"token_{number}": token for number, token in enumerate(SPECIAL[family])}
    tokenizer = train_tokenizer(texts * 20, special)
    tokenizer.save_pretrained(folder)
    return len(tokenizer)


def _token(folder: Path, token: str) -> int:
    number: int = transformers.AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids(token)
    return number


def _moondream(folder: Path, vocabulary: int) -> dict[str, Any]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    texts = {"prefix": "\n\nQuestion:", "suffix": "\n\nAnswer:"}
    template = {part: tokenizer.encode(text) for part, text in texts.items()}
    words = {"bos_id": tokenizer.bos_token_id, "templates": {"query": template}}
    return {"tokenizer": words, "vocab_size": vocabulary, "dim": HIDDEN}
