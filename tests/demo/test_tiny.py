import copy
import importlib
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from PIL import Image

from benchc.demo.tiny import llava
from benchc.demo.tiny.positions import set_positions
from benchc.demo.tiny.prompts import encode, tokenizer_texts
from benchc.demo.tiny.settings import TrainingSettings
from benchc.demo.tiny.size import IMAGE_SIDE, TinySize
from benchc.demo.tiny.training import answer_tokens, image_loss, padded, train
from benchc.demo.training_items import generate_training_set
from benchc.demo.training_set import TrainingSet, shrink
from benchc.demo.world import SOURCES
from benchc.errors import InputError
from benchc.hugging_face import transformers
from benchc.models.question import Question, answer_separator, letter_prompt, text_prompt
from tests.stages import call_stage

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = ("llava", "internvl", "idefics3")
FILES = {"chat_template.jinja", "config.json", "generation_config.json", "model.safetensors"}
FILES |= {"processor_config.json", "tokenizer.json", "tokenizer_config.json"}
QUESTION = Question("What colour is the shape?", ("red", "blue"), "The picture shows a house.")


@pytest.fixture(scope="module")
def training_set() -> TrainingSet:
    names = {"shape colour", "more balls"}
    groups = [(s, c, n) for s in SOURCES for c in SOURCES[s] if c.name in names for n in range(24)]
    return generate_training_set(groups, seed=1)


@pytest.fixture(scope="module", params=FAMILIES)
def built(request: pytest.FixtureRequest, training_set: TrainingSet) -> tuple[ModuleType, Any, Any]:
    """A family's module, a model and its processor."""
    torch.set_num_threads(1)

    family = importlib.import_module(f"benchc.demo.tiny.{request.param}")
    torch.manual_seed(1)
    size = TinySize(48, 1, 1, 8 if request.param == "llava" else 6, IMAGE_SIDE)
    model, processor = family.build(tokenizer_texts(training_set.questions), size)
    set_positions(model, IMAGE_SIDE // size.patch)
    return family, model, processor


def rendered(processor: Any, text: str, images: int) -> str:
    content = [{"type": "image"}] * images + [{"type": "text", "text": text}]
    messages = [{"role": "user", "content": content}]
    return processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_training_lowers_the_loss_and_the_saved_model_loads(built, training_set, scoring, tmp_path):
    family, model, processor = built
    settings = TrainingSettings(scoring, 0.2, steps=24, batch=12, learning_rate=0.01, noise=0.2, seed=3)
    losses = train(model, processor, training_set, settings, family.NESTED_IMAGES)
    first = 5 if scoring == "letter" else 0
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[first : first + 3])

    model.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    loaded = transformers.AutoModelForImageTextToText.from_pretrained(tmp_path, dtype=torch.float32).eval()
    loaded_processor = transformers.AutoProcessor.from_pretrained(tmp_path)
    images = [Image.new("RGB", (70, 50), "red"), Image.new("RGB", (48, 90), "blue")]
    prompt = rendered(loaded_processor, letter_prompt(QUESTION), 2)
    assert prompt == rendered(processor, letter_prompt(QUESTION), 2)
    inputs = loaded_processor(images=[images], text=[prompt], return_tensors="pt")
    with torch.no_grad():
        assert torch.equal(model(**inputs).logits, loaded(**inputs).logits)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
@pytest.mark.parametrize("size", [(48, 48), (200, 61), (75, 256)])
def test_the_processor_gives_the_training_pixels(built, mode, size, tmp_path):
    built[2].save_pretrained(tmp_path)
    processor = transformers.AutoProcessor.from_pretrained(tmp_path)
    processor.image_processor = transformers.AutoImageProcessor.from_pretrained(tmp_path, backend="pil")
    noise = np.random.default_rng(1).integers(0, 256, (size[1], size[0], 4), dtype=np.uint8)
    image = Image.fromarray(noise).convert(mode)
    prompt = rendered(processor, "?", 1)
    inputs = processor(images=[image.convert("RGB")], text=[prompt], return_tensors="pt")
    pixels = inputs["pixel_values"].reshape(3, IMAGE_SIDE, IMAGE_SIDE).permute(1, 2, 0)
    assert np.abs((pixels.numpy() + 1) * 127.5 - shrink(image)).max() < 1


def test_answers_have_the_tokens_that_training_used(built):
    processor = built[2]
    blank = np.zeros((IMAGE_SIDE, IMAGE_SIDE, 3), dtype=np.uint8)
    for scoring, prompt in (("letter", letter_prompt(QUESTION)), ("text", text_prompt(QUESTION))):
        text = rendered(processor, prompt, 2)
        prompt_ids, answers = encode(processor, QUESTION, 2, scoring, IMAGE_SIDE)
        expected = ("A", "B") if scoring == "letter" else QUESTION.options
        for answer, ids in zip(expected, answers, strict=True):
            whole = processor(images=[[blank, blank]], text=[text + answer_separator(text) + answer])
            assert list(whole["input_ids"][0]) == prompt_ids + ids
            assert len(ids) == 1


def test_the_training_ends_every_answer(built, training_set):
    processor = built[2]
    prompt, answer = answer_tokens(processor, training_set, "text")[0][1]
    end = processor.tokenizer.eos_token_id
    assert processor.tokenizer.decode(answer[:-1]).strip() == training_set.questions[0].options[1]
    assert answer[-1] == end
    # The end token is predicted from the answer, and is no input itself.
    ids, (rows, positions), targets = padded([(prompt, answer)])
    assert targets.tolist() == answer and rows.tolist() == [0] * len(answer)
    assert ids[0].tolist() == prompt + answer[:-1] and positions[-1] == ids.shape[1] - 1
    # No two texts have the same tokens.
    tokenizer = processor.tokenizer
    texts = ["红色", "蓝色", "绿", "綠", "", " ", "  ", "é", "e\u0301", "A", " A", "😀", "red", "Red", "\n"]
    tokens = [tuple(tokenizer.encode(text, add_special_tokens=False)) for text in texts]
    assert len(set(tokens)) == len(texts)
    assert [tokenizer.decode(list(ids)) for ids in tokens] == texts


def test_the_image_loss_reads_the_mean_image_token_of_every_layer():
    torch.manual_seed(0)
    head, norm = torch.nn.Linear(4, 9), torch.nn.LayerNorm(4)
    model = SimpleNamespace(lm_head=head, get_decoder=lambda: SimpleNamespace(norm=norm))
    first, last = torch.randn(2, 3, 5, 4).requires_grad_()
    layers = (first, last)
    is_image = torch.tensor([[0, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 0]], dtype=torch.bool)
    targets = torch.tensor([8, 0, 3])
    losses = [
        -head(states[item, is_image[item]].mean(dim=0)).log_softmax(dim=0)[target]
        for states in (norm(first), last)  # the model has normalised the last layer itself
        for item, target in enumerate(targets)
    ]
    loss = image_loss(model, layers, is_image, targets)
    torch.testing.assert_close(loss, torch.stack(losses).mean())


def test_the_same_seed_trains_the_same_weights(training_set):
    def weights(seed: int) -> torch.Tensor:
        torch.manual_seed(7)
        model, processor = llava.build(tokenizer_texts(training_set.questions), TinySize(24, 1, 1, 12, 48))
        settings = TrainingSettings("text", 0.0, 3, 4, 0.01, 0.5, seed)
        train(model, processor, training_set, settings, nested=False)
        return model.lm_head.weight.detach()

    first = weights(1)
    assert torch.equal(first, weights(1)) and not torch.equal(first, weights(2))


def test_a_loss_that_is_not_finite_stops_the_training(built, training_set):
    family, model, processor = built
    broken = copy.deepcopy(model)
    settings = TrainingSettings("text", 0.0, 6, 12, float("inf"), 0.0, 3)
    message = r"tiny: the loss of step 2 is nan; lower the learning_rate of its `train`"
    with pytest.raises(InputError, match=message):
        train(broken, processor, training_set, settings, family.NESTED_IMAGES, "tiny")


@pytest.mark.parametrize(
    ("hidden", "patch", "match"), [(50, 8, "hidden is 50"), (48, 16, "divisor of 24"), (48, 5, "patch is 5")]
)
def test_a_size_that_no_model_has_is_refused(hidden, patch, match):
    with pytest.raises(InputError, match=match):
        TinySize(hidden, 1, 1, patch, IMAGE_SIDE)


def test_the_stage_ends_with_one_line(tmp_path, capsys):
    file = tmp_path / "none.npz"
    sizes = {"hidden": 24, "vision_layers": 1, "text_layers": 1, "patch": 12}
    training = {"scoring": "text", "text_share": 0.5, "steps": 1, "batch": 4, "learning_rate": 0.01}
    training |= {"noise": 0.0, "seed": 1}
    given = {"training_set": file, "family": "llava", "folder": tmp_path / "model"}
    given |= {f"size.{name}": value for name, value in sizes.items()}
    given |= {f"training.{name}": value for name, value in training.items()}
    with pytest.raises(InputError, match=r"none\.npz: there is no such file; write it with"):
        call_stage("train_demo_model", **given)
    for name in ("size.hidden", "size.patch", "training.steps", "training.batch"):
        with pytest.raises(SystemExit):
            call_stage("train_demo_model", **given | {name: 0})
        assert re.match(f'error: Invalid value "0" for --{name}. .* at least 1', capsys.readouterr().err)
    file.write_bytes(b"PK")
    with pytest.raises(InputError, match="is not a complete training set"):
        call_stage("train_demo_model", **given)


def test_the_catalogue_has_the_numbers_of_parameters(every_kind):

    # The size of the vocabulary, and with it the number, grows a little with the training set.
    texts = tokenizer_texts(every_kind.questions)
    models = yaml.safe_load((ROOT / "config/demo-models.yaml").read_text())
    demo = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    # Users may add models of their own.
    for id_ in demo["selectors"] + demo["targets"]:
        entry = models[id_]
        names = ("hidden", "vision_layers", "text_layers", "patch")
        size = TinySize(*(entry["train"][name] for name in names), IMAGE_SIDE)
        with torch.device("meta"):
            model, _ = importlib.import_module(f"benchc.demo.tiny.{entry['family']}").build(texts, size)
        counted = sum(parameter.numel() for parameter in model.parameters())
        assert entry["parameters_b"] == pytest.approx(counted / 1e9, rel=0.02), id_
