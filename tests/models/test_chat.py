"""What a loaded model refuses before a forward pass, and the chat template that it takes."""

import copy
import dataclasses
import re
import shutil
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from benchc.hugging_face import transformers
from benchc.models.chat import ChatModel, Head
from benchc.models.chat_template import chat_template
from benchc.models.fast_images import accelerated
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.load import load_generator, load_scorer
from benchc.models.protocol import CheckpointSource, ModelError, NoTextOnlyError
from benchc.models.question import Question, letter_prompt
from benchc.models.text import TextScorer
from benchc.models.whole_prompt import WholePromptModel
from benchc.pixels import Pixels
from tests.models.classes import templateless
from tests.models.classes.builders import load, save
from tests.models.classes.checks import variants
from tests.models.classes.common import PATCH
from tests.models.classes.common import QUESTIONS as SMALL
from tests.models.classes.templateless import TEMPLATES
from tests.models.conftest import QUESTIONS
from tests.models.vqa_heads import save_blip

Scorers = Mapping[tuple[str, str], Any]
Variants = list[list[Pixels]]

TEXT_ALONE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
NO_LIST = "{% for message in messages %}{{ message['content'] + '.' }}{% endfor %}"


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_a_prompt_beyond_the_context_is_refused(scorers, variants, scoring, monkeypatch):
    scorer: LetterScorer | TextScorer = scorers["internvl", scoring]
    question = QUESTIONS[2]
    rendered = scorer.prompt(question, 1)
    needed = scorer.chat.encode(rendered, variants)["input_ids"].shape[1]
    if scoring == "text":
        needed += max(len(scorer.chat.tokens_after(rendered, f" {text}")) for text in question.options) - 1
    config = scorer.chat.model.config.get_text_config()
    monkeypatch.setattr(config, "max_position_embeddings", needed)
    scorer.score(question, variants)
    monkeypatch.setattr(config, "max_position_embeddings", needed - 1)
    sentence = f"takes {needed - 1} (max_position_embeddings in config.json); lower max_patches in `proc"
    with pytest.raises(ModelError, match=re.escape(f"have {needed} tokens, but the model {sentence}")):
        scorer.score(question, variants)
    # YaRN and the like stretch the context of the original model.
    stretched = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": needed // 2 + 1}
    monkeypatch.setattr(config, "rope_parameters", stretched)
    scorer.chat.require_context(needed)
    monkeypatch.delitem(stretched, "factor")
    with pytest.raises(ModelError, match=f"have {needed} tokens, but the model takes {needed - 1} "):
        scorer.chat.require_context(needed)
    monkeypatch.setitem(stretched, "original_max_position_embeddings", needed)
    scorer.chat.require_context(needed)
    # Some configurations give the stretched context already.
    monkeypatch.setattr(config, "max_position_embeddings", 10 * needed)
    scorer.chat.require_context(9 * needed)


def test_an_option_beyond_the_context_or_that_merges_with_the_prompt_is_refused(scorers):
    chat = scorers["llava", "letter"].chat
    whole = WholePromptModel(chat.model, chat.processor, chat.identity)
    limit = whole.context()
    assert limit is not None
    inputs = {"input_ids": torch.zeros(1, limit - 1, dtype=torch.long)}
    assert whole.extended(inputs, [5])["input_ids"].shape == (1, limit)
    with pytest.raises(ModelError, match=f"have {limit + 1} tokens, but the model takes {limit}"):
        whole.extended(inputs, [5, 5])
    sentence = "the answer 'd' changes the tokens of the prompt that ends in ' re'"
    with pytest.raises(ModelError, match=sentence):
        scorers["llava", "letter"].chat.tokens_after(" re", "d")
    # Nor are more tokens than the prompt has those of an answer, nor is none.
    for answer in ("d dark green", ""):
        with pytest.raises(ModelError, match=f"the answer '{answer}' changes the tokens of the prompt"):
            scorers["llava", "letter"].chat.tokens_after(" re", answer)


@pytest.mark.parametrize("merged", [3, 9])
def test_an_answer_that_merges_with_the_prompt_into_any_other_token_is_refused(merged: int) -> None:
    tokens = {"re": [5], "red": [merged, 1], "re!": [5, 1]}
    tokenizer = lambda text, add_special_tokens: {"input_ids": tokens[text]}  # noqa: E731
    chat = ChatModel(None, SimpleNamespace(tokenizer=tokenizer), {"model": "m"})
    assert chat.tokens_after("re", "!") == [1]
    with pytest.raises(ModelError, match=r"^m: the answer 'd' changes the tokens of the prompt that ends in"):
        chat.tokens_after("re", "d")


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("tokens", [[3, 1], [[3, 1], [2, 0], [5, 5]], [[4, 7, 9]]])
def test_the_head_computes_the_logits_of_its_tokens_in_float32_and_leaves_the_others(tokens, bias):
    module = torch.nn.Linear(8, 12, bias=bias).bfloat16()
    head, states = Head(module), torch.randn(3, 4, 8).bfloat16()
    head.tokens = torch.tensor(tokens)
    output = module(states)
    found = head.after_forward(states, output)
    assert head.states is states
    # Of one list, all are those of the last position; else each is that of one of the last.
    count = 1 if head.tokens.ndim == 1 else head.tokens.shape[1]
    places = torch.zeros(3, count, 12, dtype=torch.bool)
    places.scatter_(
        -1, head.tokens.expand(3, 1, -1) if count == 1 else head.tokens.expand(3, -1)[..., None], True
    )
    exact = states.float() @ module.weight.float().T + (module.bias.float() if bias else 0)
    expected = torch.where(places, exact[:, -count:], output[:, -count:].float())
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_only_the_logits_of_the_last_position_of_a_prompt_are_computed(scorers, variants):
    positions: list[int] = []
    head = scorers["llava", "letter"].chat.language_head()
    hook = head.register_forward_hook(lambda _, __, output: positions.append(output.shape[1]))
    try:
        scorers["llava", "letter"].score(QUESTIONS[0], variants)
    finally:
        hook.remove()
    assert positions == [1]


SHOWN = (
    "m: SimpleNamespace makes a prompt that ends in '{}' of one that ends in 'Hi', so that an answer would"
)
TWICE = (
    "m: its chat template and its tokenizer both write '1', which the model would read twice; set `bos_tok"
)


@pytest.mark.parametrize(
    ("added", "plain", "read", "bos", "sentence"),
    [
        # With the tokens of an image, and with or without what the tokenizer adds.
        ([1, 5, 6], [5, 6], [1, 5, 8, 8, 6], None, None),
        ([1, 5, 6, 2], [5, 6], [1, 5, 6, 2], None, None),
        ([1, 5, 6, 2], [5, 6], [5, 6], None, None),
        # Of another end, the last 20 tokens are shown, or their last 60 characters.
        ([5, 6], [5, 6], [4] * 30 + [7], None, SHOWN.format("4" * 19 + "7")),
        ([5, 6], [5, 6], [1234] * 30, None, SHOWN.format("…" + "1234" * 15)),
        ([1, 1, 5], [1, 5], [1, 5], None, None),
        ([1, 1, 5], [1, 5], [1, 1, 5], None, TWICE),
        ([1, 1, 5], [1, 5], [1, 1, 5], "H!", TWICE),
        # As transformers does where the prompt begins with the token.
        ([1, 1, 5], [1, 5], [1, 1, 5], "H", None),
    ],
)
def test_a_prompt_ends_as_it_was_written_and_begins_with_one_bos(added, plain, read, bos, sentence):
    class Tokenizer:
        bos_token = bos

        def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
            return {"input_ids": added if add_special_tokens else plain}

        def decode(self, tokens: list[int]) -> str:
            return "".join(map(str, tokens))

    chat = ChatModel(None, SimpleNamespace(tokenizer=Tokenizer()), {"model": "m"})
    if sentence is None:
        chat._require_ends("Hi", read)
        return
    with pytest.raises(ModelError, match=f"^{re.escape(sentence)}"):
        chat._require_ends("Hi", read)


@pytest.mark.parametrize("head", [None, torch.nn.Identity()])
def test_a_model_without_a_weight_for_each_token_is_refused(scorers, variants, monkeypatch, head):
    scorer = scorers["llava", "letter"]
    monkeypatch.setattr(scorer.chat.model, "get_output_embeddings", lambda: head)
    with pytest.raises(ModelError, match="the model has no language head with a weight; add a family"):
        scorer.score(QUESTIONS[0], variants)


def test_a_letter_follows_a_special_token_without_a_space(scorers: Scorers) -> None:
    chat = scorers["llava", "letter"].chat
    processor = copy.deepcopy(chat.processor)
    processor.tokenizer.add_tokens(list("ABC"))
    processor.chat_template = processor.chat_template.replace("ASSISTANT:", "<|assistant|>")
    other = dataclasses.replace(chat, processor=processor, _rendered={})
    rendered = other.render("Which?", 1)
    assert rendered.endswith("<|assistant|>") and other.separator(rendered) == " "
    processor.tokenizer.add_tokens(["<|assistant|>"], special_tokens=True)
    assert other.separator(rendered) == ""
    expected = processor.tokenizer.convert_tokens_to_ids(list("ABC"))
    scorer = LetterScorer(other)
    assert scorer.letter_tokens(rendered, tuple("ABC")).tolist() == expected
    # After another prompt with the same last character, letters have other tokens.
    processor.tokenizer.add_tokens([" A", " B", " C"])
    spaced = processor.tokenizer.convert_tokens_to_ids([" A", " B", " C"])
    assert scorer.letter_tokens(f"{rendered} <b>", tuple("ABC")).tolist() == spaced


def sentencepiece_like() -> Any:
    """Return a tokenizer whose blanks are the beginnings of words, as SentencePiece's are."""
    words = [f" {word}" for word in ("USER:", "ASSISTANT:", "Which?", *"ABC", "red", "dark", "green")]
    found = Tokenizer(models.BPE(unk_token="<unk>"))
    found.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    found.decoder = decoders.Metaspace()
    found.train_from_iterator(words * 9, trainers.BpeTrainer(special_tokens=["<unk>", "<image>"]))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=found)


@pytest.mark.parametrize("sentencepiece", [True, False])
def test_an_answer_after_a_blank_has_the_tokens_of_a_conversation(scorers, sentencepiece):
    chat = scorers["llava", "letter"].chat
    processor = copy.deepcopy(chat.processor)
    if sentencepiece:
        processor.tokenizer = sentencepiece_like()
    processor.chat_template = processor.chat_template.replace("ASSISTANT:", "ASSISTANT: ")
    other = dataclasses.replace(chat, processor=processor, _rendered={})
    rendered = other.render("Which?", 1)
    assert rendered.endswith("ASSISTANT: ") and other.separator(rendered) == ""

    def spoken(answer: str) -> list[int]:
        """Return the tokens of a conversation that ends with an answer."""
        said = [
            {"role": role, "content": [{"type": "text", "text": text}]}
            for role, text in (("user", "Which?"), ("assistant", answer))
        ]
        whole = processor.apply_chat_template(said, tokenize=False).rstrip()
        return list(processor.tokenizer(whole, add_special_tokens=False)["input_ids"])

    tokens = LetterScorer(other).letter_tokens(rendered, tuple("ABC")).tolist()
    assert tokens == [spoken(letter)[-1] for letter in "ABC"]
    green = other.tokens_after(rendered, "dark green")
    assert green == spoken("dark green")[-len(green) :]
    assert processor.tokenizer.decode(green).strip() == "dark green"


def test_a_processor_that_does_not_fit_the_images_is_refused(scorers, variants, monkeypatch):
    chat = scorers["llava", "letter"].chat
    sentence = "LlavaProcessor does not take a prompt with 1 image (56 x 40 pixels)"
    with pytest.raises(ModelError, match=re.escape(sentence)):
        chat.encode(chat.render("Which?", 3), variants)
    # As ShieldGemma 2, which writes a prompt for each of its policies.
    encoded = chat._encoder.encode

    def twice(rendered: str, images: Variants) -> dict[str, torch.Tensor]:
        return {name: torch.cat([value, value]) for name, value in encoded(rendered, images).items()}

    monkeypatch.setattr(chat._encoder, "encode", twice)
    with pytest.raises(ModelError, match="LlavaProcessor makes 2 prompts of 1 variant of one question"):
        chat.encode(chat.render("Which?", len(variants[0])), variants[:1])
    with pytest.raises(ModelError, match=r"LlavaProcessor makes 4 prompts of 5 variants of one question"):
        monkeypatch.setattr(chat._encoder, "encode", lambda text, images: encoded(text, images[1:]))
        chat.encode(chat.render("Which?", len(variants[0])), (variants * 5)[:5])


@pytest.mark.parametrize("of_tokenizer", [None, TEXT_ALONE, NO_LIST])
def test_a_template_for_text_alone_is_not_used(scorers: Scorers, of_tokenizer: str | None) -> None:
    processor = copy.deepcopy(scorers["llava", "letter"].chat.processor)
    own = processor.chat_template
    processor.tokenizer.chat_template = of_tokenizer
    assert chat_template(processor, writes_images=True) == own
    processor.chat_template = None
    assert chat_template(processor, writes_images=True) is None
    processor.tokenizer.chat_template = own
    assert chat_template(processor, writes_images=True) == own


def test_a_chat_template_that_fails_or_leaves_out_the_question_is_refused(scorers: Scorers) -> None:
    chat = scorers["llava", "letter"].chat
    asked = "Which of these squares has the colour of the sky?"
    for template, message in (
        ("{{ raise_exception('Only text') }}", "its chat template fails (TemplateError: Only text)"),
        ("{% for %}", "its chat template fails (TemplateSyntaxError: "),
        ("{{ messages[0]['role'] }}", f"its chat template leaves out the question {asked[:40]!r};"),
    ):
        processor = copy.copy(chat.processor)
        processor.chat_template = template
        other = dataclasses.replace(chat, processor=processor, _rendered={})
        sentence = rf"{re.escape(message)}.*, or `chat_template` if its entry in the catalogue has one$"
        with pytest.raises(ModelError, match=sentence):
            other.render(asked, 1)
        # Some templates fail at a system prompt alone.
        other.system_prompt = "Be brief."
        with pytest.raises(ModelError) as caught:
            other.render(asked, 1)
        is_said = str(caught.value).endswith(", or remove `system_prompt` in the model catalogue")
        assert is_said == ("fails" in message)


ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


def test_a_chat_template_that_does_not_end_is_refused(
    scorers: Scorers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchc.models.chat_template.SECONDS", 1.5)
    scorer = scorers["llava", "text"]
    processor = copy.copy(scorer.chat.processor)
    scorer = dataclasses.replace(
        scorer, chat=dataclasses.replace(scorer.chat, processor=processor, _rendered={})
    )
    question = Question("Which?", ["a", "b"])
    # One that ends is interrupted neither then nor later.
    assert "Which?" in scorer.prompt(question, 1)
    time.sleep(1.6)
    processor.chat_template = ENDLESS
    with ThreadPoolExecutor(1) as other:
        for call in (scorer.prompt, lambda *args: other.submit(scorer.prompt, *args).result()):
            with pytest.raises(
                ModelError,
                match=r"its chat template fails \(TimeoutError: it did not end in 1\.5 s\); correct",
            ):
                call(Question("Other?", ["a", "b"]), 1)


def test_a_chat_template_that_fails_after_an_answer_is_refused(
    scorers: Scorers, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = scorers["llava", "text"]
    processor = copy.copy(scorer.chat.processor)
    processor.chat_template = "{% if messages|length > 1 %}{{ raise_exception('One turn') }}{% endif %}"
    chat = dataclasses.replace(scorer.chat, processor=processor)
    with pytest.raises(ModelError, match=r"its chat template fails \(TemplateError: One turn\); correct"):
        dataclasses.replace(scorer, chat=chat)._after_an_answer()


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
    assert other.prompt(SMALL[0], 1) == f"Look: <image>{letter_prompt(SMALL[0])} Answer:"
    # Predictions of one are not those of the other.
    assert other.identity()["chat_template"] != plain.identity()["chat_template"]
    assert plain.prompt(SMALL[0], 1).endswith("ASSISTANT:")


def test_a_checkpoint_without_a_template_or_a_chat_prompt_is_refused(blip_2, tmp_path):
    with pytest.raises(ModelError, match="blip-2: has no chat template for images; give it one by `c"):
        load_scorer(None, "letter", CheckpointSource(str(blip_2)))
    folder = save_blip(tmp_path / "blip")
    source = CheckpointSource(str(folder), chat_template=TEMPLATE)
    with pytest.raises(ModelError, match=r"has no chat template.*; remove `chat_template` of the model"):
        load_generator(None, source, Generation(4))


def test_a_template_that_the_processor_does_not_take_is_used(blip_2: Path, tmp_path: Path) -> None:
    folder = tmp_path / "blip-2"
    shutil.copytree(blip_2, folder)
    (folder / "chat_template.jinja").write_text(TEMPLATES["blip-2"])
    assert transformers.AutoProcessor.from_pretrained(folder).chat_template is None
    found = load_scorer(None, "letter", CheckpointSource(str(folder)))
    given = load_scorer(None, "letter", CheckpointSource(str(blip_2), chat_template=TEMPLATES["blip-2"]))
    assert found.prompt(SMALL[0], 1) == given.prompt(SMALL[0], 1)
    assert (found.score(SMALL[0], variants()).logits == given.score(SMALL[0], variants()).logits).all()


def test_a_class_that_reads_one_image_refuses_two_and_none(blip_2: Path) -> None:
    scorer = load_scorer(None, "letter", CheckpointSource(str(blip_2), chat_template=TEMPLATES["blip-2"]))
    with pytest.raises(ModelError, match="reads one image, but the item has 2; remove such items"):
        scorer.score(SMALL[0], variants(2))
    with pytest.raises(NoTextOnlyError, match="takes no prompt without an image"):
        scorer.score(SMALL[0], [[]])


def test_images_after_the_prompt_are_refused(idefics: Path) -> None:
    """The processor of IDEFICS writes an image after the text, where the answer would have to begin."""
    source = CheckpointSource(str(idefics), chat_template=TEMPLATE.replace("<image>", ""))
    message = (
        "idefics: IdeficsProcessor makes a prompt that ends in '.*<fake_token_around_image>' of one that "
        "ends in '.* Answer:', so that an answer would not follow the chat template; choose another model"
    )
    for scoring in ("letter", "text"):
        with pytest.raises(ModelError, match=message):
            load_scorer(None, scoring, source).score(SMALL[0], variants())
    with pytest.raises(ModelError, match=message):
        load_generator(None, source, Generation(4)).replies(SMALL[0], variants())


def test_a_processor_that_returns_no_mapping_is_left_as_it_is() -> None:
    plain = transformers.IdeficsImageProcessorPil(image_size=32)
    assert isinstance(plain(variants()[0], return_tensors="pt"), torch.Tensor)
    assert accelerated(plain) is plain


def test_fuyu_names_the_backend_that_it_takes(tmp_path: Path) -> None:
    save("fuyu", tmp_path / "fuyu")
    source = CheckpointSource(str(tmp_path / "fuyu"), chat_template=TEMPLATES["fuyu"])
    with pytest.raises(ModelError, match=r"fuyu: FuyuProcessor takes .* alone; set `image_backend: torchvi"):
        load_scorer(None, "letter", source)


# Its image token has no embedding: the oracle embeds by hand, as transformers did before
# (huggingface/transformers#34728).
FALCON = "llava_next (Falcon2-VLM)"


@pytest.fixture(scope="module")
def falcon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("falcon")
    save(FALCON, folder)
    return folder


def by_hand(folder: Path, images: list[np.ndarray]) -> torch.Tensor:
    """Return the logits [vocabulary] after the prompt of the first question."""
    processor = transformers.LlavaNextProcessor(
        transformers.AutoImageProcessor.from_pretrained(folder, backend="pil"),
        transformers.AutoTokenizer.from_pretrained(folder),
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    model = transformers.LlavaNextForConditionalGeneration.from_pretrained(folder).eval()
    prompt = "User:" + "<image>\n" * len(images) + letter_prompt(SMALL[0]) + " Falcon:"
    inputs = processor(text=prompt, images=[Image.fromarray(each) for each in images], return_tensors="pt")
    ids = inputs["input_ids"]
    places = ids == processor.tokenizer.convert_tokens_to_ids("<image>")
    with torch.inference_mode():
        embedded = model.get_input_embeddings()(ids.masked_fill(places, 0))
        features = model.model.get_image_features(inputs["pixel_values"], inputs["image_sizes"]).pooler_output
        embedded[places] = torch.cat(list(features))
        return model.lm_head(model.model.language_model(inputs_embeds=embedded).last_hidden_state)[0, -1]


@pytest.mark.parametrize("count", [1, 2])
def test_its_logits_are_those_of_images_embedded_by_hand(falcon: Path, count: int) -> None:
    tested = load(FALCON, falcon)
    tokens = tested.letter.letter_tokens(tested.letter.prompt(SMALL[0], count), ("A", "B", "C"))
    scores = tested.letter.score(SMALL[0], variants(count)).logits
    for row, images in enumerate(variants(count)):
        np.testing.assert_allclose(scores[row], by_hand(falcon, images)[tokens], atol=1e-5)


def test_its_image_token_is_beyond_its_embedding_and_its_processor_has_no_settings(falcon):
    config = transformers.AutoConfig.from_pretrained(falcon)
    assert config.image_token_index == config.text_config.vocab_size
    assert transformers.AutoProcessor.from_pretrained(falcon).patch_size is None
    assert not (falcon / "processor_config.json").exists()
    source = CheckpointSource(str(falcon), family="llava_next", system_prompt="Be brief.")
    scorer = load_scorer("llava_next", "letter", source)
    with pytest.raises(ModelError, match=re.escape("no place for a system prompt")):
        scorer.prompt(SMALL[0], 1)
