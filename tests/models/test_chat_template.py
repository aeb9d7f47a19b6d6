"""A chat template of the catalogue's entry, for checkpoints without one; what cannot be asked with one."""

import shutil
from pathlib import Path

import pytest
import torch

from benchc.hugging_face import transformers
from benchc.models.fast_images import accelerated
from benchc.models.generation import Generation
from benchc.models.load import load_generator, load_scorer
from benchc.models.protocol import CheckpointSource, ModelError, NoTextOnlyError
from benchc.models.question import letter_prompt
from tests.models.classes import templateless
from tests.models.classes.builders import save
from tests.models.classes.checks import variants
from tests.models.classes.common import QUESTIONS
from tests.models.classes.templateless import TEMPLATES
from tests.models.vqa_heads import save_blip

TEMPLATE = (
    "Look: {% for message in messages %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endfor %} Answer:"
)


@pytest.fixture(scope="module")
def blip_2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("templates") / "blip-2"
    save("blip-2", folder)
    return folder


@pytest.fixture(scope="module")
def idefics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("templates") / "idefics"
    model, processor = templateless.idefics()
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def test_the_template_of_the_entry_comes_before_the_checkpoints(checkpoints: dict[str, Path]) -> None:
    plain, other = (
        load_scorer(None, "letter", CheckpointSource(str(checkpoints["llava"]), chat_template=template))
        for template in (None, TEMPLATE)
    )
    assert other.prompt(QUESTIONS[0], 1) == f"Look: <image>{letter_prompt(QUESTIONS[0])} Answer:"
    # Predictions of one are not those of the other.
    assert other.identity()["chat_template"] != plain.identity()["chat_template"]
    assert plain.prompt(QUESTIONS[0], 1).endswith("ASSISTANT:")


def test_a_checkpoint_without_a_template_names_the_key(blip_2: Path) -> None:
    with pytest.raises(ModelError, match="blip-2: has no chat template for images; give it one by `c"):
        load_scorer(None, "letter", CheckpointSource(str(blip_2)))


def test_a_template_that_the_processor_does_not_take_is_used(blip_2: Path, tmp_path: Path) -> None:
    folder = tmp_path / "blip-2"
    shutil.copytree(blip_2, folder)
    (folder / "chat_template.jinja").write_text(TEMPLATES["blip-2"])
    assert transformers.AutoProcessor.from_pretrained(folder).chat_template is None
    found = load_scorer(None, "letter", CheckpointSource(str(folder)))
    given = load_scorer(None, "letter", CheckpointSource(str(blip_2), chat_template=TEMPLATES["blip-2"]))
    assert found.prompt(QUESTIONS[0], 1) == given.prompt(QUESTIONS[0], 1)
    assert (
        found.score(QUESTIONS[0], variants()).logits == given.score(QUESTIONS[0], variants()).logits
    ).all()


def test_a_class_that_reads_one_image_refuses_two_and_none(blip_2: Path) -> None:
    scorer = load_scorer(None, "letter", CheckpointSource(str(blip_2), chat_template=TEMPLATES["blip-2"]))
    with pytest.raises(ModelError, match="reads one image, but the item has 2; remove such items"):
        scorer.score(QUESTIONS[0], variants(2))
    with pytest.raises(NoTextOnlyError, match="takes no prompt without an image"):
        scorer.score(QUESTIONS[0], [[]])


def test_images_after_the_prompt_are_refused(idefics: Path) -> None:
    """The processor of IDEFICS writes an image after the text, where the answer would have to begin."""
    source = CheckpointSource(str(idefics), chat_template=TEMPLATE.replace("<image>", ""))
    message = (
        "idefics: IdeficsProcessor makes a prompt that ends in '.*<fake_token_around_image>' of one that "
        "ends in '.* Answer:', so that an answer would not follow the chat template; choose another model"
    )
    for scoring in ("letter", "text"):
        with pytest.raises(ModelError, match=message):
            load_scorer(None, scoring, source).score(QUESTIONS[0], variants())
    with pytest.raises(ModelError, match=message):
        load_generator(None, source, Generation(4)).replies(QUESTIONS[0], variants())


def test_a_processor_that_returns_no_mapping_is_left_as_it_is() -> None:
    plain = transformers.IdeficsImageProcessorPil(image_size=32)
    assert isinstance(plain(variants()[0], return_tensors="pt"), torch.Tensor)
    assert accelerated(plain) is plain


def test_fuyu_names_the_backend_that_it_takes(tmp_path: Path) -> None:
    save("fuyu", tmp_path / "fuyu")
    source = CheckpointSource(str(tmp_path / "fuyu"), chat_template=TEMPLATES["fuyu"])
    with pytest.raises(
        ModelError, match=r"fuyu: FuyuProcessor takes .* alone; set `image_backend: torchvision"
    ):
        load_scorer(None, "letter", source)


def test_a_model_without_a_chat_prompt_takes_no_template(tmp_path: Path) -> None:
    folder = save_blip(tmp_path / "blip")
    source = CheckpointSource(str(folder), chat_template=TEMPLATE)
    with pytest.raises(ModelError, match=r"has no chat template.*; remove `chat_template` of the model"):
        load_generator(None, source, Generation(4))
