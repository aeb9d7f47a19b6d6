"""The families with code of their own, on stand-ins with the upstream signatures (tests/models/stand_ins).

A stand-in refuses an argument that upstream does not have, and one that is missing.
"""

import ast
import dataclasses
import json
import re
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers.utils.chat_template_utils import render_jinja_template

from benchc.closure import module_file, source_closure
from benchc.hugging_face import transformers
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.load import load_scorer
from benchc.models.predict import Passes, load_generative, predict, predict_units
from benchc.models.prediction_code import ENTRY, ROOT
from benchc.models.predictor import Predictor
from benchc.models.protocol import CheckpointSource, ModelError, OptionScores
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.models.registry import SCORINGS, family_module
from benchc.models.remote_code_families import OF_CHECKPOINT, OF_PACKAGE, SETTINGS_OF
from benchc.models.text import TextScorer
from benchc.models.units import Unit
from tests.models.conftest import QUESTIONS
from tests.models.stand_ins.build import (
    PACKAGES,
    SETTINGS_CACHE,
    SPECIAL,
    build,
    build_encoders,
    hub_cache,
)
from tests.models.stand_ins.device import StandInDevice
from tests.models.stand_ins.upstream import call_of

FAMILIES = sorted([*OF_CHECKPOINT, *OF_PACKAGE])
ONE_IMAGE = ("molmo", "monkey", "moondream")
# Moondream computes in half precision, of which the head's output is rounded.
TOLERANCE = {"moondream": 5e-3}
SETTINGS = {"sail_vl": {"max_num": 1, "use_msac": False}}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for so little work, more are slower
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PACKAGES))
        parent = tmp_path_factory.mktemp("stand_ins")
        build_encoders(parent)
        built = {family: build(family, parent / family) for family in FAMILIES}
        with hub_cache(parent / SETTINGS_CACHE):
            yield built
    torch.set_num_threads(threads)
    for name in [name for name in sys.modules if name.split(".")[0] in OF_PACKAGE]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def scorers(folders: dict[str, Path]) -> dict[tuple[str, str], object]:
    found = {}
    for family, folder in folders.items():
        scorer = load_scorer(family, "letter", source_of(family, folder))
        found[family, "letter"] = scorer
        found[family, "text"] = TextScorer(scorer.chat)
        found[family, "text_mean"] = TextScorer(scorer.chat, length_normalised=True)
    return found


def source_of(family: str, folder: Path, **changes: object) -> CheckpointSource:
    options = {
        "dtype": "float16" if family == "moondream" else "float32",
        "trust_remote_code": family in OF_CHECKPOINT,
        "processor": SETTINGS.get(family, {}),
    }
    return CheckpointSource(str(folder), family=family, **options | changes)


@pytest.fixture
def variants() -> list[list[np.ndarray]]:
    """Five variants of one image, of four colours each."""
    colours = np.random.default_rng(3).integers(0, 256, (5, 2, 2, 3), dtype=np.uint8)
    return [[image.repeat(20, axis=0).repeat(28, axis=1)] for image in colours]


def images_of(variant: list[np.ndarray]) -> list[Image.Image]:
    return [Image.fromarray(pixels) for pixels in variant]


@pytest.fixture
def several(variants: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
    """Return three variants of two images."""
    first, second, third = (images[0] for images in variants[:3])
    return [[first, second], [first, third], [third, second]]


def letters(scorer, question: Question, images: int) -> list[int]:
    rendered = scorer.prompt(question, images)
    return scorer.letter_tokens(rendered, question.letters).tolist()


def check_letters(
    scorer, family: str, folder: Path, question: Question, variants, scores: OptionScores
) -> None:
    tokens = letters(scorer, question, len(variants[0]))
    for row, variant in enumerate(variants):
        expected = call_of(family)(folder, letter_prompt(question), images_of(variant), "").detach().float()
        np.testing.assert_allclose(
            scores.logits[row], expected[tokens].numpy(), atol=TOLERANCE.get(family, 1e-4)
        )
        mass = expected.softmax(-1)[tokens].sum().item()
        assert scores.label_mass[row] == pytest.approx(mass, abs=TOLERANCE.get(family, 1e-4))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_card_that_fills_while_a_model_is_loaded_is_one_sentence(folders, family):
    source = source_of(family, folders[family], device="cuda")
    device = StandInDevice(24 * 10**9, others=24 * 10**9 - 1000)
    with device, pytest.raises(ModelError) as caught:
        load_scorer(family, "letter", source)
    advice = "" if family == "moondream" else "set `dtype: bfloat16`, or "
    assert str(caught.value) == (
        f"{folders[family]}: does not fit into the GPU memory of its job with `gpus: 1` and `dtype: "
        f"{source.dtype}` in the model catalogue (stand-in: 0.0 of 24.0 GB free); {advice}use a larger GPU"
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("question", QUESTIONS[:2], ids=["plain", "hint"])
def test_the_logits_of_letters_are_those_of_the_upstream_call(folders, scorers, variants, family, question):
    scorer = scorers[family, "letter"]
    scores = scorer.score(question, variants)
    assert scores.logits.dtype == np.float32 and scores.logits.shape == (5, len(question.options))
    assert np.abs(scores.logits[0] - scores.logits[1]).max() > 1e-3
    check_letters(scorer, family, folders[family], question, variants, scores)


@pytest.mark.parametrize("family", FAMILIES)
def test_letters_are_distinct_tokens_of_the_answer(scorers, family):
    scorer = scorers[family, "letter"]
    tokens = letters(scorer, QUESTIONS[1], 1)
    assert len(set(tokens)) == 4
    rendered = scorer.prompt(QUESTIONS[1], 1)
    assert scorer.chat.tokens_after(rendered, f"{scorer.chat.separator(rendered)}A") == tokens[:1]


@pytest.mark.parametrize("family", FAMILIES)
def test_several_images(folders, scorers, several, capsys, family):
    scorer = scorers[family, "letter"]
    scorer.chat._warned = False
    scores = scorer.score(QUESTIONS[0], several)
    check_letters(scorer, family, folders[family], QUESTIONS[0], several, scores)
    told = capsys.readouterr().err
    second = np.abs(scores.logits[0] - scores.logits[1]).max()
    if family in ONE_IMAGE:
        assert told == f"{family}: reads one image, so the first of each item with several\n"
        assert second == 0 and scorer.identity()["images"] == "the first"
    else:
        assert told == "" and second > 1e-4 and scorer.identity()["images"] == "all"
    assert np.abs(scores.logits[0] - scores.logits[2]).max() > 1e-4


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_variant_scores_the_same_alone_and_among_others(scorers, variants, family, scoring):
    scorer = scorers[family, scoring]
    together = scorer.score(QUESTIONS[0], variants[:3])
    for row, images in enumerate(variants[:3]):
        alone = scorer.score(QUESTIONS[0], [images])
        np.testing.assert_allclose(alone.logits[0], together.logits[row], atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_images_of_other_sizes_are_batches_of_their_own(scorers, variants, family):
    scorer = scorers[family, "letter"]
    small = [variants[0][0][:20, :30].copy()]
    scores, split = predict(scorer, QUESTIONS[0], [variants[0], small, variants[1]])
    assert not split
    for row, images in enumerate([variants[0], small, variants[1]]):
        alone = scorer.score(QUESTIONS[0], [images])
        np.testing.assert_allclose(scores.logits[row], alone.logits[0], atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_likelihood_of_a_text_is_that_of_its_tokens_in_turn(folders, scorers, variants, family):
    question = Question("Which colour is it?", ("red", "green and blue"))
    scorer = scorers[family, "text"]
    scores = scorer.score(question, variants[:2])
    means = scorers[family, "text_mean"].score(question, variants[:2])
    rendered = scorer.prompt(question, 1)
    for k, option in enumerate(question.options):
        answer = scorer.chat.separator(rendered) + option
        tokens = scorer.chat.tokens_after(rendered, answer)
        expected, before = 0.0, ""
        for number, token in enumerate(tokens):
            logits = call_of(family)(folders[family], text_prompt(question), images_of(variants[1]), before)
            expected += logits.detach().float().log_softmax(-1)[token].item()
            before = next(
                answer[:end]
                for end in range(len(answer) + 1)
                if scorer.chat.tokens_after(rendered, answer[:end] or "?") == tokens[: number + 1]
                or end == len(answer)
            )
        tolerance = 20 * TOLERANCE.get(family, 1e-4)
        assert scores.logits[1, k] == pytest.approx(expected, abs=tolerance)
        assert means.logits[1, k] == pytest.approx(expected / len(tokens), abs=tolerance)


def test_answers_in_its_own_words_need_a_server(folders):
    source = source_of("molmo", folders["molmo"])
    with pytest.raises(ModelError, match="answers in its own words only on a server"):
        load_generative(source, "molmo", Generation(8))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_nan_is_refused(folders, tmp_path, variants, family):
    folder = tmp_path / "model"
    shutil.copytree(folders[family], folder)
    weights = load_file(folder / "model.safetensors")
    head = next(name for name in weights if "ff_out" in name or "lm_head" in name)
    save_file(
        weights | {head: weights[head] * float("nan")},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    scorer = load_scorer(family, "letter", source_of(family, folder))
    unit = Unit("s/1", "fog", [1, 2], variants[:2], 1)
    with (
        PredictionCache(tmp_path / "cache", {"model": "m", "scoring": "letter"}, "shard") as cache,
        pytest.raises(ModelError, match="item s/1 under fog at severity 1 has the logits"),
    ):
        compute = partial(predict_units, passes=Passes())
        Predictor(scorer, cache, compute).ask(QUESTIONS[0], [unit])


@pytest.mark.parametrize("family", OF_CHECKPOINT)
def test_code_that_is_not_trusted_is_refused_with_what_to_do(folders, family):
    with pytest.raises(ModelError) as caught:
        load_scorer(family, "letter", source_of(family, folders[family], trust_remote_code=False))
    assert "run `benchc models pin ID`, which writes its commit" in str(caught.value)
    assert "`trust_remote_code: true`" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("family", OF_PACKAGE)
def test_a_package_that_is_not_installed_is_refused(folders, family, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == family]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(PACKAGES)])
    with pytest.raises(ModelError, match=rf"needs the package {family} \(No module named .*; (set|serve) "):
        load_scorer(family, "letter", source_of(family, folders[family]))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_setting_that_the_family_does_not_have_is_refused(folders, family):
    with pytest.raises(ModelError, match="has no setting 'max_tiles'"):
        load_scorer(family, "letter", source_of(family, folders[family], processor={"max_tiles": 3}))


@pytest.mark.parametrize("key", ["system_prompt", "chat_template"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_prompt_of_the_entry_is_refused_since_its_code_writes_it(folders, family, key):
    with pytest.raises(ModelError, match=f"its own code writes the prompt; remove `{key}` of the model"):
        load_scorer(family, "letter", source_of(family, folders[family], **{key: "Be brief."}))


@pytest.mark.parametrize("family", FAMILIES)
def test_an_attention_of_the_entry_is_refused_since_its_code_chooses_it(folders, family):
    with pytest.raises(
        ModelError, match="its own code chooses the attention; remove `attention` of the model"
    ):
        load_scorer(family, "letter", source_of(family, folders[family], attention="eager"))


def test_a_setting_reaches_the_upstream_processor(folders, scorers, variants):
    source = source_of("molmo", folders["molmo"], processor={"max_crops": 3})
    scorer = load_scorer("molmo", "letter", source)
    rendered = scorer.prompt(QUESTIONS[0], 1)
    ids = [
        each.chat.encode(rendered, variants)["batches"][0] for each in (scorer, scorers["molmo", "letter"])
    ]
    assert [batch["images"].shape[1] for batch in ids if each_row(batch)] == [3, 1]
    assert scorer.identity()["processor"] != scorers["molmo", "letter"].identity()["processor"]


def each_row(batch: dict[str, torch.Tensor]) -> bool:
    return len({len(tensor) for tensor in batch.values()}) == 1


# The class of SAIL-VL has other names in copies of its code; its methods are what counts.
@pytest.mark.parametrize("family", [family for family in OF_CHECKPOINT if family != "sail_vl"])
def test_code_of_another_class_is_refused(folders, tmp_path, family):
    folder = tmp_path / "model"
    shutil.copytree(folders[family], folder)
    config = json.loads((folder / "config.json").read_text())
    key = next(key for key in config["auto_map"] if key.startswith("AutoModel"))
    module, name = config["auto_map"][key].split(".")
    with (folder / f"{module}.py").open("a") as file:
        file.write(f"\n\nclass Another{name}({name}):\n    pass\n")
    config["auto_map"][key] = f"{module}.Another{name}"
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=f"defines the model Another{name}, not {name}"):
        load_scorer(family, "letter", source_of(family, folder))


def test_eagle_loads_no_weights_but_those_of_its_checkpoint(folders, scorers, tmp_path):
    """A job has the settings of the vision encoders alone; weights that its checkpoint lacks are refused."""
    cache = folders["eagle"].parent / SETTINGS_CACHE
    assert not list(cache.rglob("*.safetensors"))
    commit = "a" * 40
    identity = scorers["eagle", "letter"].identity()
    assert identity["encoders"].split(", ") == [f"{repo}@{commit}" for repo in SETTINGS_OF["eagle"]]
    folder = tmp_path / "model"
    shutil.copytree(folders["eagle"], folder)
    weights = load_file(folder / "model.safetensors")
    absent = next(name for name in weights if "vision_towers.1" in name)
    kept = {name: value for name, value in weights.items() if name != absent}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=f"1 of the model's weights are missing, for example {absent}"):
        load_scorer("eagle", "letter", source_of("eagle", folder))


def test_the_encoders_of_the_package_are_as_before_after_loading(scorers):
    """Other code in the process may use the package, too."""
    from eagle.model import builder
    from eagle.model.multimodal_encoder import convnext_encoder, hr_clip_encoder
    from eagle.model.multimodal_encoder.vision_models.convnext import convnext_xxlarge

    assert hr_clip_encoder.CLIPVisionModel is transformers.CLIPVisionModel
    assert convnext_encoder.convnext_xxlarge is convnext_xxlarge
    assert isinstance(builder.EagleLlamaForCausalLM, type)


def test_the_letters_of_deepseek_vl2_are_those_of_its_training(scorers, variants):
    """Its processor encodes an answer apart from the prompt, so that "B" is no " B"."""
    scorer = scorers["deepseek_vl2", "letter"]
    tokens = letters(scorer, QUESTIONS[1], 1)
    images = images_of(variants[0])
    for letter, token in zip("ABCD", tokens, strict=True):
        conversation = [
            {"role": "<|User|>", "content": f"<image>\n{letter_prompt(QUESTIONS[1])}"},
            {"role": "<|Assistant|>", "content": letter},
        ]
        example = scorer.chat.processor(conversations=conversation, images=images, inference_mode=False)
        ids = example.input_ids[0].tolist()
        assert ids[-2:] == [token, scorer.chat.tokenizer.eos_token_id]
        asked = scorer.chat.encode(scorer.prompt(QUESTIONS[1], 1), variants[:1])["batches"][0]["input_ids"]
        assert ids[:-2] == asked[0].tolist()


def test_the_chat_template_of_deepseek_vl2_for_a_server_writes_the_prompt_of_its_code(scorers):
    """vLLM's own template writes a blank before the answer, and leaves the end of the question as it is."""
    chat = scorers["deepseek_vl2", "letter"].chat
    template = (ROOT / "config/prompts/deepseek_vl2.jinja").read_text()
    text = letter_prompt(QUESTIONS[0])
    image, question = {"type": "image"}, {"type": "text", "text": text}
    answer = {"role": "assistant", "content": "B"}
    for content, images in (
        (text, 0),
        ([question], 0),
        ([image, question], 1),
        ([image, image, question], 2),
    ):
        asked = [{"role": "user", "content": content}]
        words = {"bos_token": "<BOS>", "eos_token": "<EOS>", "chat_template": template}
        (prompt,), _ = render_jinja_template([asked], add_generation_prompt=True, **words)
        assert prompt == "<BOS>" + chat.prompt(text, images)
        (begun,), _ = render_jinja_template([[*asked, answer]], continue_final_message=True, **words)
        assert begun == f"{prompt}B"
        (whole,), _ = render_jinja_template([[*asked, answer]], **words)
        assert whole == f"{prompt}B<EOS>"


def imports_before_4_48(path: str) -> list[str]:
    """Return the packages that a file imports, as transformers 4.37 does: those after an `if`, too."""
    found = re.findall(r"^\s*(?:import|from)\s+([^.\s][^\s.]*)", Path(path).read_text(), flags=re.MULTILINE)
    return list(set(found))


def test_code_that_imports_flash_attention_where_it_is_there_is_loaded_without(folders, monkeypatch):
    module = transformers.dynamic_module_utils
    monkeypatch.setattr(module, "get_imports", imports_before_4_48)
    load_scorer("mplug_owl3", "letter", source_of("mplug_owl3", folders["mplug_owl3"]))
    assert module.get_imports is imports_before_4_48
    file = folders["mplug_owl3"] / "modeling_mplugowl3.py"
    assert "flash_attn" in imports_before_4_48(file)


def test_sail_vl_is_not_loaded_with_the_flash_attention_that_it_asks_for(folders, scorers):
    asked = json.loads((folders["sail_vl"] / "config.json").read_text())["llm_config"]
    assert asked["attn_implementation"] == "flash_attention_2"
    assert scorers["sail_vl", "letter"].identity()["attention"] == "sdpa"


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_monkey_computes_in_the_precision_of_the_catalogue(folders, dtype):
    """Its configuration asks for bfloat16, and its code refuses two precisions."""
    scorer = load_scorer("monkey", "letter", source_of("monkey", folders["monkey"], dtype=dtype))
    config = scorer.chat.model.config
    found = {"bfloat16": config.bf16, "float16": config.fp16, "float32": config.fp32}
    assert [name for name, is_set in found.items() if is_set] == [dtype]
    assert scorer.chat.model.dtype == getattr(torch, dtype)


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_exceeds_the_context_is_refused(folders, several, monkeypatch, family, scoring):
    """Eagle's code cuts such a prompt at its end, so that its last position is inside an image."""
    scorer = load_scorer(family, scoring, source_of(family, folders[family]))
    question = Question("Which colour is it?", ("red", "green and blue and 12"))

    def limit(positions: int) -> None:
        model = scorer.chat.model
        if family == "moondream":
            config = model.model.config
            text = dataclasses.replace(config.text, max_context=positions)
            monkeypatch.setattr(model.model, "config", dataclasses.replace(config, text=text))
        else:
            name = "tokenizer_model_max_length" if family == "eagle" else "max_position_embeddings"
            monkeypatch.setattr(model.config, name, positions, raising=False)

    needed = positions_of(scorer, family, question, several[0], folders[family])
    limit(needed)
    scorer.score(question, several[:1])
    limit(needed - 1)
    sentence = f"{family}: prompt, images and answer have {needed} tokens, but the model takes {needed - 1}; "
    with pytest.raises(ModelError, match=re.escape(sentence)) as caught:
        scorer.score(question, several[:1])
    assert ("lower max_num in `processor`" in str(caught.value)) == (family == "sail_vl")


def positions_of(scorer, family: str, question: Question, images: list[np.ndarray], folder: Path) -> int:
    """Return the positions at which the upstream call computes states, for prompt and longest option."""
    heard = []
    text = scorer.prompt(question, len(images))
    ends = [""]
    if isinstance(scorer, TextScorer):
        space = scorer.chat.separator(text)
        ends = [space + option for option in question.options]
    prompt = (letter_prompt if isinstance(scorer, LetterScorer) else text_prompt)(question)
    if family == "moondream":  # its code keeps the keys and values of all positions
        model = scorer.chat.model.model
        template = model.config.tokenizer.templates["query"]
        lengths = [len(model.tokenizer.encode(each).ids) for each in (prompt, *ends)]
        before = model.encode_image(images_of(images)[0]).pos + len(template["prefix"] + template["suffix"])
        return before + lengths[0] + max(lengths[1:]) - (ends != [""])
    original = torch.nn.LayerNorm.forward
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            torch.nn.LayerNorm,
            "forward",
            lambda self, states: heard.append(states.shape[-2]) or original(self, states),
        )
        for end in ends:
            call_of(family)(folder, prompt, images_of(images), end)
    return max(heard) - (ends != [""])


def test_a_precision_that_the_code_does_not_have_is_refused(folders):
    with pytest.raises(ModelError, match="set `dtype: float16` in the model catalogue"):
        load_scorer("moondream", "letter", source_of("moondream", folders["moondream"], dtype="bfloat16"))


def test_code_with_other_arguments_is_refused(folders, tmp_path):
    """Later revisions of Moondream2 changed the method that the family calls."""
    folder = tmp_path / "model"
    shutil.copytree(folders["moondream"], folder)
    path = folder / "hf_moondream.py"
    path.write_text(
        path.read_text().replace("(self, kv_cache, prompt_tokens, pos)", "(self, prompt_tokens, pos)")
    )
    with pytest.raises(ModelError, match=r"_prefill_prompt of its code has no argument 'kv_cache'"):
        load_scorer("moondream", "letter", source_of("moondream", folder))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_marker_of_an_image_in_a_question_is_refused(scorers, family):
    scorer = scorers[family, "letter"]
    question = Question(f"What is {scorer.chat.marker}?", ("red", "blue"))
    with pytest.raises(ModelError, match=r"which the model does not read as text: .*remove the item"):
        scorer.prompt(question, 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_identity_has_the_code_that_ran(folders, scorers, tmp_path, family):
    folder = tmp_path / family
    shutil.copytree(folders[family], folder)
    same = load_scorer(family, "letter", source_of(family, folder)).identity()
    assert same == scorers[family, "letter"].identity()
    assert {"torch", "transformers", "tokenizers", "dtype", "device", "revision"} <= same.keys()
    if family in OF_CHECKPOINT:
        (folder / "more.py").write_text("")
        assert (
            load_scorer(family, "letter", source_of(family, folder)).identity()["revision"]
            != same["revision"]
        )
    else:
        assert len(same["package"]) == 32


@pytest.mark.parametrize("family", FAMILIES)
def test_its_code_uses_nothing_that_old_libraries_lack(family):
    """In their environments (envs/), huggingface_hub is 0.36 and transformers as old as 4.33."""
    entries = [module_file(module) for module in (ENTRY, family_module(family), *SCORINGS.values())]
    files = source_closure(entries, ROOT)
    assert "benchc/models/remote_code.py" in files
    # It names tables of transformers 5 when it is imported.
    assert not {"benchc/models/auto_class.py", "benchc/models/checkpoint.py"} & set(files)
    for file in files:
        for node in ast.parse((ROOT / file).read_text()).body:
            assert not (isinstance(node, ast.ImportFrom) and node.module == "huggingface_hub"), file


def test_the_lists_of_families_are_those_of_their_files() -> None:
    folder = ROOT / "benchc/models/families"
    found: dict[str, set[str]] = {"remote_code": set(), "package_code": set()}
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "benchc.models.remote_code":
                for alias in node.names:
                    found.get(alias.name, set()).add(path.stem)
    assert found == {"remote_code": set(OF_CHECKPOINT), "package_code": set(OF_PACKAGE)}
    assert set(SPECIAL) == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_quotes_the_call_that_it_follows(family):
    text = ast.get_docstring(ast.parse((ROOT / f"benchc/models/families/{family}.py").read_text()))
    assert "open-compass/VLMEvalKit at " in text and "vlmeval/vlm/" in text
