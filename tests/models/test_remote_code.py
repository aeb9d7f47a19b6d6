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
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers.utils.chat_template_utils import render_jinja_template

from benchc.closure import module_file, source_closure
from benchc.hugging_face import transformers
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.load import load_scorer
from benchc.models.predict import load_generative, predict
from benchc.models.prediction_code import ENTRY, ROOT
from benchc.models.protocol import CheckpointSource, ModelError, OptionScores
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.models.registry import SCORINGS, family_module
from benchc.models.remote_code_families import OF_CHECKPOINT, OF_PACKAGE, SETTINGS_OF
from benchc.models.text import TextScorer
from tests.models.conftest import QUESTIONS
from tests.models.stand_ins.build import PACKAGES, SETTINGS_CACHE, SPECIAL, build, build_encoders, hub_cache
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


def refused(match: str, family: str, folder: Path, **changes: object) -> None:
    with pytest.raises(ModelError, match=match) as caught:
        load_scorer(family, "letter", source_of(family, folder, **changes))
    assert "\n" not in str(caught.value)


@pytest.fixture
def several(variants: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
    first, second, third = (images[0] for images in variants[:3])
    return [[first, second], [first, third], [third, second]]


def letters(scorer, question: Question, images: int) -> list[int]:
    rendered = scorer.prompt(question, images)
    return scorer.letter_tokens(rendered, question.letters).tolist()


def check_letters(scorer, family, folder, question, variants, scores: OptionScores) -> None:
    tokens = letters(scorer, question, len(variants[0]))
    tolerance = TOLERANCE.get(family, 1e-4)
    for row, variant in enumerate(variants):
        expected = call_of(family)(folder, letter_prompt(question), images_of(variant), "").detach().float()
        np.testing.assert_allclose(scores.logits[row], expected[tokens].numpy(), atol=tolerance)
        mass = expected.softmax(-1)[tokens].sum().item()
        assert scores.label_mass[row] == pytest.approx(mass, abs=tolerance)


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
    tokens, rendered = letters(scorer, QUESTIONS[1], 1), scorer.prompt(QUESTIONS[1], 1)
    assert len(set(tokens)) == 4
    assert scorer.chat.tokens_after(rendered, f"{scorer.chat.separator(rendered)}A") == tokens[:1]
    question = Question(f"What is {scorer.chat.marker}?", ("red", "blue"))
    with pytest.raises(ModelError, match=r"which the model does not read as text: .*remove the item"):
        scorer.prompt(question, 1)


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
    small = [variants[0][0][:20, :30].copy()]
    for group in (variants[:3], [variants[0], small, variants[1]]):
        scores, split = predict(scorer, QUESTIONS[0], group)
        assert not split
        for row, images in enumerate(group):
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


@pytest.mark.parametrize("family", OF_CHECKPOINT)
def test_code_that_is_not_trusted_is_refused_with_what_to_do(folders, family):
    sentence = "run `benchc models pin ID`, which writes its commit.*`trust_remote_code: true`"
    refused(sentence, family, folders[family], trust_remote_code=False)


@pytest.mark.parametrize("family", OF_PACKAGE)
def test_a_package_that_is_not_installed_is_refused(folders, family, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == family]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(PACKAGES)])
    refused(rf"needs the package {family} \(No module named .*; (set|serve) ", family, folders[family])


WRITES = "its own code writes the prompt; remove `{}` of the model"


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("processor", {"max_tiles": 3}, "has no setting 'max_tiles'"),
        ("system_prompt", "Be brief.", WRITES.format("system_prompt")),
        ("chat_template", "Be brief.", WRITES.format("chat_template")),
        ("attention", "eager", "its own code chooses the attention; remove `attention` of the model"),
    ],
)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_key_of_the_entry_that_its_code_decides_is_refused(folders, family, key, value, sentence):
    refused(sentence, family, folders[family], **{key: value})


def test_a_setting_reaches_the_upstream_processor(folders, scorers, variants):
    source = source_of("molmo", folders["molmo"], processor={"max_crops": 3})
    scorer = load_scorer("molmo", "letter", source)
    rendered = scorer.prompt(QUESTIONS[0], 1)
    both = (scorer, scorers["molmo", "letter"])
    for crops, each in zip((3, 1), both, strict=True):
        batch = each.chat.encode(rendered, variants)["batches"][0]
        assert batch["images"].shape[1] == crops and len({len(tensor) for tensor in batch.values()}) == 1
    assert both[0].identity()["processor"] != both[1].identity()["processor"]


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
    refused(f"defines the model Another{name}, not {name}", family, folder)


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
    del weights[absent := next(name for name in weights if "vision_towers.1" in name)]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    refused(f"1 of the model's weights are missing, for example {absent}", "eagle", folder)


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
    parts = ([question], [image, question], [image, image, question])
    for content, images in ((text, 0), *zip(parts, range(3), strict=True)):
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
    return [*{*re.findall(r"^\s*(?:import|from)\s+([^.\s][^\s.]*)", Path(path).read_text(), re.MULTILINE)}]


def test_code_is_loaded_without_flash_attention(folders, monkeypatch, scorers):
    module = transformers.dynamic_module_utils
    monkeypatch.setattr(module, "get_imports", imports_before_4_48)
    load_scorer("mplug_owl3", "letter", source_of("mplug_owl3", folders["mplug_owl3"]))
    assert module.get_imports is imports_before_4_48
    file = folders["mplug_owl3"] / "modeling_mplugowl3.py"
    assert "flash_attn" in imports_before_4_48(file)
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


def test_a_precision_or_code_with_other_arguments_is_refused(folders, tmp_path):
    refused("set `dtype: float16` in the model cat", "moondream", folders["moondream"], dtype="bfloat16")
    # Later revisions of Moondream2 changed the method that the family calls.
    folder = tmp_path / "model"
    shutil.copytree(folders["moondream"], folder)
    path, arguments = folder / "hf_moondream.py", "(self, kv_cache, prompt_tokens, pos)"
    path.write_text(path.read_text().replace(arguments, "(self, prompt_tokens, pos)"))
    refused(r"_prefill_prompt of its code has no argument 'kv_cache'", "moondream", folder)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_identity_has_the_code_that_ran(folders, scorers, tmp_path, family):
    folder = tmp_path / family
    shutil.copytree(folders[family], folder)
    same = load_scorer(family, "letter", source_of(family, folder)).identity()
    assert same == scorers[family, "letter"].identity()
    assert {"torch", "transformers", "tokenizers", "dtype", "device", "revision"} <= same.keys()
    if family in OF_CHECKPOINT:
        (folder / "more.py").write_text("")
        other = load_scorer(family, "letter", source_of(family, folder)).identity()
        assert other["revision"] != same["revision"]
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


def test_the_lists_of_families_are_those_of_their_files():
    found: dict[str, set[str]] = {"remote_code": set(), "package_code": set()}
    for path in (ROOT / "benchc/models/families").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "benchc.models.remote_code":
                for alias in node.names:
                    found.get(alias.name, set()).add(path.stem)
    assert found == {"remote_code": set(OF_CHECKPOINT), "package_code": set(OF_PACKAGE)}
    assert set(SPECIAL) == set(FAMILIES)
    for family in FAMILIES:  # quotes the call that it follows
        text = ast.get_docstring(ast.parse((ROOT / f"benchc/models/families/{family}.py").read_text()))
        assert "open-compass/VLMEvalKit at " in text and "vlmeval/vlm/" in text
