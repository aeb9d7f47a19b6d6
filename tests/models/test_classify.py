"""VQA heads against plain calls of transformers, one image at a time."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from benchc.errors import InputError
from benchc.hugging_face import transformers
from benchc.models.asking import AskedModel
from benchc.models.auto_class import auto_class
from benchc.models.classify import Classifier
from benchc.models.generation import Generation
from benchc.models.identity import prediction_identity
from benchc.models.load import load_classifier, load_generator, load_scorer
from benchc.models.predict import Passes, answer_units, load_classifying, load_generative
from benchc.models.protocol import CheckpointSource, ModelError, Reply, UnitInput
from benchc.models.question import Question
from tests.models.classes.common import PATCH, SIDE
from tests.models.vqa_heads import BLIP_WORDS, LABELS, MOST_TOKENS, save_blip, save_vilt
from tests.stages import call_stage

QUESTION = Question("How many dots are there?", ("1", "2", "12"), "Black ones.")
PROMPT = "Black ones. How many dots are there?"
STEPS = 5
BLIP_SIDE = 40  # pixels of an image; the checkpoint has position embeddings for SIDE
Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("heads")
    return {"vilt": save_vilt(root / "vilt"), "blip": save_blip(root / "blip")}


def blip_source(folder: Path) -> CheckpointSource:
    return CheckpointSource(str(folder), processor={"size": BLIP_SIDE})


@pytest.fixture(scope="module")
def vilt(folders) -> Classifier:
    model = load_classifying(CheckpointSource(str(folders["vilt"])), None)
    assert isinstance(model, Classifier)
    return model


@pytest.fixture(scope="module")
def blip(folders) -> Any:
    return load_generative(blip_source(folders["blip"]), None, Generation(32, "One word."))


@pytest.fixture(scope="module")
def variants() -> list[list[Pixels]]:
    """Variants of one image whose answers differ."""
    rng = np.random.default_rng(5)
    colours = 215 * rng.integers(0, 2, (12, 1, 1, 3))
    return [[(colour + rng.integers(0, 40, (40, 57, 3))).astype(np.uint8)] for colour in colours]


def plain(folder: Path, model_class: Any, image: Pixels) -> tuple[Any, Any, Any]:
    processor = transformers.AutoProcessor.from_pretrained(folder)
    processor.image_processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    inputs = processor(images=Image.fromarray(image), text=PROMPT, return_tensors="pt")
    return processor, model_class.from_pretrained(folder, dtype=torch.float32).eval(), inputs


def recorded(model: Classifier, call: Callable[[], object]) -> torch.Tensor:
    """Return the logits of the forward passes of a call."""
    found: list[torch.Tensor] = []
    hook = model.chat.model.classifier.register_forward_hook(lambda *values: found.append(values[2]))
    try:
        call()
    finally:
        hook.remove()
    return torch.cat(found)


def test_a_label_is_that_of_a_plain_call_for_each_variant(folders, vilt, variants):
    assert vilt.prompt(QUESTION, 1) == PROMPT
    replies = vilt.replies(QUESTION, variants)
    logits = recorded(vilt, lambda: vilt.replies(QUESTION, variants))
    for reply, row, (image,) in zip(replies, logits, variants, strict=True):
        _, model, inputs = plain(folders["vilt"], transformers.ViltForQuestionAnswering, image)
        with torch.no_grad():
            expected = model(**inputs).logits[0]
        assert torch.allclose(row, expected, atol=1e-4)
        assert reply == Reply(model.config.id2label[int(expected.argmax())], "stop", 1)
    assert len({reply.text for reply in replies}) > 1


def test_no_answer_depends_on_the_batch_or_on_random_numbers(vilt, variants):
    torch.manual_seed(1)
    whole = recorded(vilt, lambda: vilt.replies(QUESTION, variants))
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    assert torch.equal(whole, recorded(vilt, lambda: vilt.replies(QUESTION, variants)))
    assert torch.equal(before, torch.random.get_rng_state())
    alone = recorded(vilt, lambda: [vilt.replies(QUESTION, [variant]) for variant in variants])
    assert torch.allclose(whole, alone, atol=1e-4)
    units = [UnitInput(variants[:5]), UnitInput(variants[5:])]
    (first, _), (second, _) = answer_units(vilt, QUESTION, units, Passes("always"))
    assert first + second == vilt.replies(QUESTION, variants)


def test_an_image_of_another_size_is_not_padded(vilt, variants):
    (image,) = variants[0]
    other = np.ascontiguousarray(image[:, ::-1][:36])
    found = recorded(vilt, lambda: answer_units(vilt, QUESTION, [UnitInput([[image], [other]])], Passes()))
    alone = recorded(vilt, lambda: [vilt.replies(QUESTION, [[pixels]]) for pixels in (image, other)])
    assert torch.equal(found, alone)


def blips_answers(folder: Path, images: list[Pixels], start: int) -> list[Reply]:
    """Return the answers of the generation of salesforce/BLIP, models/blip_vqa.py, one image at a time.

    The parts of the network are those of transformers. ``start``: the token [ENC].
    """
    loaded = transformers.BlipForQuestionAnswering.from_pretrained(folder, dtype=torch.float32)
    # load_checkpoint and VisionTransformer: another image size interpolates the position embeddings.
    config, weights = loaded.config, loaded.state_dict()
    config.vision_config.update({"image_size": BLIP_SIDE, "layer_norm_eps": 1e-6})
    name = "vision_model.embeddings.position_embedding"
    first, grid = weights[name][:, :1], weights[name][:, 1:].unflatten(1, (SIDE // PATCH, SIDE // PATCH))
    resized = torch.nn.functional.interpolate(
        grid.permute(0, 3, 1, 2), size=[BLIP_SIDE // PATCH] * 2, mode="bicubic", align_corners=False
    )
    weights[name] = torch.cat([first, resized.permute(0, 2, 3, 1).flatten(1, 2)], dim=1)
    model = transformers.BlipForQuestionAnswering(config).eval()
    model.load_state_dict(weights)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    text = config.text_config
    question = torch.tensor([tokenizer(PROMPT, truncation=True, max_length=35)["input_ids"]])
    question[:, 0] = start
    found = []
    for image in images:
        picture = Image.fromarray(image).resize((BLIP_SIDE, BLIP_SIDE), Image.Resampling.BICUBIC)
        pixels = torch.from_numpy(np.array(picture)).permute(2, 0, 1)[None] / 255
        with torch.no_grad():
            seen = model.vision_model((pixels - 0.5) / 0.5).last_hidden_state
            states = model.text_encoder(question, encoder_hidden_states=seen).last_hidden_state
            mask = torch.ones(states.shape[:-1])
            seen_by = {"encoder_hidden_states": states, "encoder_attention_mask": mask}
            ends = {"eos_token_id": text.sep_token_id, "pad_token_id": text.pad_token_id}
            limits = {"max_length": 10, "min_length": 1, "num_beams": 3}
            begin = torch.tensor([[text.bos_token_id]])
            (row,) = model.text_decoder.generate(input_ids=begin, **seen_by, **limits, **ends).tolist()
        ended = text.sep_token_id in row
        count = row.index(text.sep_token_id) if ended else len(row) - 1
        answer = tokenizer.decode(row, skip_special_tokens=True).strip()
        found.append(Reply(answer, "stop" if ended else "length", count))
    return found


def test_a_generated_answer_is_that_of_blips_code(folders, blip, variants):
    # No instruction: the head was trained on questions alone.
    assert blip.prompt(QUESTION, 1) == PROMPT
    replies = blip.replies(QUESTION, variants)
    # Its tokenizer has neither [DEC] nor [ENC], the last two embeddings.
    start = blip.chat.model.config.text_config.vocab_size - 1
    assert replies == blips_answers(folders["blip"], [image for (image,) in variants], start)
    assert {reply.finish for reply in replies} == {"stop", "length"}
    assert replies == [reply for variant in variants for reply in blip.replies(QUESTION, [variant])]
    # A configured limit below that of BLIP cuts its answers off.
    short = load_generative(blip_source(folders["blip"]), None, Generation(STEPS))
    found = short.replies(QUESTION, variants)
    assert {reply.tokens for reply in found if reply.finish == "length"} == {STEPS}


def test_the_tokenizers_own_token_begins_a_question_of_blip(tmp_path, variants):
    folder = save_blip(tmp_path / "blip", words=[*BLIP_WORDS[:3], "[ENC]", *BLIP_WORDS[3:]])
    known = load_generative(blip_source(folder), None, Generation(32))
    start = 5 + 3
    assert known.chat.tokenizer.convert_ids_to_tokens(start) == "[ENC]"
    images = [image for (image,) in variants[:4]]
    assert known.replies(QUESTION, variants[:4]) == blips_answers(folder, images, start)
    # Without an embedding of the first token, it is refused.
    folder = save_blip(tmp_path / "other", vocab_size=5 + len(BLIP_WORDS) + 1)
    with pytest.raises(ModelError, match=r"has no embedding of \[ENC\], token 19, with which BLIP begins"):
        load_generative(CheckpointSource(str(folder)), None, Generation(32))


def test_blip_reads_35_tokens_of_a_question(blip, variants):
    (whole,) = blip.replies(Question("dots " * 33, ()), variants[:1])
    assert whole.tokens > 0
    with pytest.raises(ModelError, match=r"has 36 tokens, but the model reads 35 \(BLIP's code cuts it off"):
        blip.replies(Question("dots " * 34, ()), variants[:1])


@pytest.mark.parametrize("name", ["vilt", "blip"])
def test_an_item_that_does_not_fit_is_refused_in_one_line(name, request, variants):
    model = request.getfixturevalue(name)
    with pytest.raises(ModelError, match=r"QuestionAnswering reads one image, but the item has 2; remove"):
        model.replies(QUESTION, [[*variants[0], *variants[1]]])
    limit = {"vilt": rf"{MOST_TOKENS} \(max_position", "blip": r"35 \(BLIP's"}[name]
    with pytest.raises(ModelError, match=rf"the question has \d+ tokens, but the model reads {limit}"):
        model.replies(Question("dots " * MOST_TOKENS, ()), variants)


def test_nan_is_refused(vilt, variants) -> None:
    chat = copy.copy(vilt.chat)
    chat.model = copy.deepcopy(chat.model)
    with torch.no_grad():
        chat.model.classifier[-1].bias[3] = float("nan")
    with pytest.raises(ModelError, match="a logit of an answer is NaN; set `dtype: float32`"):
        Classifier(chat).replies(QUESTION, variants)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"id2label": None, "label2id": None}, r"does not name the answers of its classifier \(id2label"),
        ({"max_image_length": 7}, r"draws 7 patches of a larger image at random \(max_image_length"),
    ],
)
def test_a_checkpoint_without_labels_or_with_random_patches_is_refused(tmp_path, config, sentence):
    with pytest.raises(ModelError, match=sentence):
        load_classifier(None, CheckpointSource(str(save_vilt(tmp_path / "model", **config))))


def test_a_model_is_asked_only_as_it_answers(folders, checkpoints):
    sources = {name: CheckpointSource(str(path)) for name, path in {**folders, **checkpoints}.items()}
    for name, way in (("vilt", "classify"), ("blip", "generate")):
        for scoring in ("letter", "text"):
            sentence = f"{name.capitalize()}ForQuestionAnswering scores no options; set `scoring: {way}`"
            with pytest.raises(ModelError, match=sentence):
                load_scorer(None, scoring, sources[name])
    with pytest.raises(ModelError, match="answers from a closed list; set `scoring: classify`"):
        load_generator(None, sources["vilt"], Generation(3))
    for name in ("llava", "blip"):
        with pytest.raises(ModelError, match="has no closed list of answers; choose another `scoring`"):
            load_classifier(None, sources[name])


def test_config_json_decides_whether_a_checkpoint_is_a_vqa_head() -> None:
    def found(**config: object) -> Any:
        return auto_class(CheckpointSource("m"), config)

    head, chat = transformers.AutoModelForVisualQuestionAnswering, transformers.AutoModelForImageTextToText
    assert found(model_type="vilt", architectures=["ViltForQuestionAnswering"]) is head
    assert found(model_type="blip", architectures=["BlipForQuestionAnswering"]) is head
    assert found(model_type="blip", architectures=["BlipForConditionalGeneration"]) is chat
    assert found(model_type="blip") is chat
    # One class for all; it answers a prompt.
    assert found(model_type="blip-2", architectures=["Blip2ForConditionalGeneration"]) is chat
    with pytest.raises(ModelError, match="set `auto_class: AutoModelForVisualQuestionAnswering`"):
        found(model_type="vilt", architectures=["ViltForMaskedLM"])


def test_the_identity_has_the_labels(folders, tmp_path: Path) -> None:
    renamed = save_vilt(tmp_path / "vilt", id2label=dict(enumerate(reversed(LABELS))))

    def identity(folder: Path) -> dict[str, str]:
        return prediction_identity(load_classifying(CheckpointSource(str(folder)), None), None, "classify")

    one, other = identity(folders["vilt"]), identity(renamed)
    assert {name for name in one if one[name] != other[name]} == {"labels", "revision"}
    assert one["scoring"] == "classify" and "benchc.models.classify" in one["modules"]


GENERATES = "--generation.max-new-tokens is given with --answering=generate, and only then"
CLASSIFY = "--answering=classify"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], GENERATES),
        ([CLASSIFY, "--generation.max-new-tokens=3"], GENERATES),
        ([CLASSIFY, "--job.server-url=http://a"], f"{CLASSIFY} is of a model in the job"),
    ],
)
def test_arguments_of_a_job_that_do_not_fit(arguments: list[str], message: str) -> None:
    given = {"model": AskedModel(label="m", location="m"), "pool": "i", "corrupted": ["c"], "output": "o"}
    with pytest.raises(InputError, match=message):
        call_stage("answer", *arguments, **given)
