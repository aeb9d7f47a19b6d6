"""What a loaded model refuses before a forward pass, and the chat template that it takes."""

import copy
import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from benchc.hugging_face import transformers
from benchc.models.chat_template import chat_template
from benchc.models.letter import LetterScorer
from benchc.models.protocol import ModelError
from benchc.models.text import TextScorer
from benchc.models.whole_prompt import WholePromptModel
from benchc.pixels import Pixels
from tests.models.conftest import QUESTIONS

Scorers = Mapping[tuple[str, str], Any]
Variants = list[list[Pixels]]

TEXT_ALONE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
NO_LIST = "{% for message in messages %}{{ message['content'] + '.' }}{% endfor %}"


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_a_prompt_beyond_the_context_is_refused(
    scorers: Scorers, variants: Variants, scoring: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    sentence = (
        f"have {needed} tokens, but the model takes {needed - 1} (max_position_embeddings in config.json)"
    )
    with pytest.raises(ModelError, match=re.escape(f"{sentence}; lower max_patches in `processor`")):
        scorer.score(question, variants)
    # YaRN and the like stretch the context of the original model.
    stretched = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": needed // 2 + 1}
    monkeypatch.setattr(config, "rope_parameters", stretched)
    scorer.chat.require_context(needed)
    # Some configurations give the stretched context already.
    monkeypatch.setattr(config, "max_position_embeddings", 10 * needed)
    scorer.chat.require_context(9 * needed)


def test_an_option_beyond_the_context_of_a_whole_prompt_is_refused(scorers: Scorers) -> None:
    chat = scorers["llava", "letter"].chat
    whole = WholePromptModel(chat.model, chat.processor, chat.identity)
    limit = whole.context()
    assert limit is not None
    inputs = {"input_ids": torch.zeros(1, limit - 1, dtype=torch.long)}
    assert whole.extended(inputs, [5])["input_ids"].shape == (1, limit)
    with pytest.raises(ModelError, match=f"have {limit + 1} tokens, but the model takes {limit}"):
        whole.extended(inputs, [5, 5])


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
def test_an_answer_after_a_blank_has_the_tokens_of_a_conversation(
    scorers: Scorers, sentencepiece: bool
) -> None:
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


def test_an_answer_that_merges_with_a_word_of_the_prompt_is_refused(scorers: Scorers) -> None:
    chat = scorers["llava", "letter"].chat
    with pytest.raises(
        ModelError, match="the answer 'd' changes the tokens of the prompt that ends in ' re'"
    ):
        chat.tokens_after(" re", "d")


def test_a_processor_with_more_prompts_than_variants_is_refused(
    scorers: Scorers, variants: Variants, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As ShieldGemma 2, which writes a prompt for each of its policies.
    chat = scorers["llava", "letter"].chat
    encoded = chat._encoder.encode

    def twice(rendered: str, images: Variants) -> dict[str, torch.Tensor]:
        return {name: torch.cat([value, value]) for name, value in encoded(rendered, images).items()}

    monkeypatch.setattr(chat._encoder, "encode", twice)
    with pytest.raises(ModelError, match="LlavaProcessor makes 2 prompts of 1 variant of one question"):
        chat.encode(chat.render("Which?", len(variants[0])), variants[:1])


def test_images_that_the_processor_does_not_take_are_refused(scorers: Scorers, variants: Variants) -> None:
    chat = scorers["llava", "letter"].chat
    rendered = chat.render("Which?", 3)
    sentence = "LlavaProcessor does not take a prompt with 1 image (56 x 40 pixels)"
    with pytest.raises(ModelError, match=re.escape(sentence)):
        chat.encode(rendered, variants)


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
    for template, message in (
        ("{{ raise_exception('Only text') }}", "its chat template fails (TemplateError: Only text)"),
        ("{% for %}", "its chat template fails (TemplateSyntaxError: "),
        ("{{ messages[0]['role'] }}", "its chat template leaves out the question 'Which?'"),
    ):
        processor = copy.copy(chat.processor)
        processor.chat_template = template
        other = dataclasses.replace(chat, processor=processor, _rendered={})
        with pytest.raises(ModelError, match=rf"{re.escape(message)}.*, or `chat_template` if its entry"):
            other.render("Which?", 1)
