"""Generated answers against a plain greedy loop of full forward passes."""

import copy
from types import SimpleNamespace

import pytest
import torch
from PIL import Image as PILImage

from benchc.hugging_face import transformers
from benchc.models.checkpoint import load
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.protocol import CheckpointSource, ModelError, Reply
from benchc.models.question import Question, letter_prompt, text_prompt
from tests.models.conftest import FAMILIES, QUESTIONS

OPEN = Question("Which colour is the square?", (), "Count the black ones only.")
STEPS = 6


@pytest.fixture(scope="module")
def chats(checkpoints):
    torch.set_num_threads(1)
    return {family: load(CheckpointSource(str(folder))) for family, folder in checkpoints.items()}


@pytest.fixture
def settings(chats, monkeypatch):
    """A copy of LLaVA's generation_config.json, which it has while a test runs."""
    copied = copy.deepcopy(chats["llava"].model.generation_config)
    monkeypatch.setattr(chats["llava"].model, "generation_config", copied)
    return copied


def greedy(chat, text, images, ends):
    """Return the tokens of a greedy answer, by one full pass per token."""
    pictures = [PILImage.fromarray(image) for image in images]
    inputs = chat.processor(text=[text], images=[pictures], return_tensors="pt")
    inputs.pop("attention_mask")
    found = []
    while len(found) < STEPS and (not found or found[-1] not in ends):
        with torch.no_grad():
            logits = chat.model(**inputs, use_cache=False).logits[0, -1]
        found.append(int(logits.argmax()))
        inputs["input_ids"] = torch.cat([inputs["input_ids"], torch.tensor([found[-1:]])], dim=1)
    return found


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("question", [QUESTIONS[0], OPEN], ids=["options", "open"])
def test_replies_are_greedy_under_every_variant(chats, variants, family, question):
    chat = chats[family]
    generator = Generator(chat, Generation(STEPS, "Answer with one word."))
    replies = generator.replies(question, variants)
    asked = letter_prompt(question) if question.options else f"{text_prompt(question)}\nAnswer with one word."
    assert generator.prompt(question, 1) == chat.render(asked, 1)
    for reply, images in zip(replies, variants, strict=True):
        tokens = greedy(chat, chat.render(asked, 1), images, {chat.tokenizer.eos_token_id})
        ended = tokens[-1] == chat.tokenizer.eos_token_id
        text = chat.tokenizer.decode(tokens, skip_special_tokens=True).strip()
        assert reply == Reply(text, "stop" if ended else "length", len(tokens))


def test_an_answer_ends_at_any_end_token_and_others_of_the_batch_go_on(chats, variants, settings):
    chat = chats["llava"]
    whole = Generator(chat, Generation(STEPS)).replies(OPEN, variants)
    asked = chat.render(text_prompt(OPEN), 1)
    first = greedy(chat, asked, variants[0], set())
    # The second token of the first answer ends it, and only those that have it.
    settings.eos_token_id = [chat.tokenizer.eos_token_id, first[1]]
    replies = Generator(chat, Generation(STEPS)).replies(OPEN, variants)
    for reply, before, images in zip(replies, whole, variants, strict=True):
        tokens = greedy(chat, asked, images, set(settings.eos_token_id))
        assert (reply.finish == "stop") == (tokens[-1] in settings.eos_token_id)
        assert reply.tokens == len(tokens)
        assert before.tokens >= reply.tokens
    assert replies[0].finish == "stop" and replies[0].tokens <= 2


def test_sampling_settings_of_the_checkpoint_change_nothing_and_others_do(chats, variants, settings):
    chat = chats["llava"]
    plain = Generator(chat, Generation(STEPS)).replies(OPEN, variants)
    settings.do_sample, settings.temperature, settings.top_k = True, 5.0, 3
    assert Generator(chat, Generation(STEPS)).replies(OPEN, variants) == plain
    before = Generator(chat, Generation(STEPS)).identity()
    settings.repetition_penalty = 1.3
    after = Generator(chat, Generation(STEPS)).identity()
    assert {name for name in before if before[name] != after[name]} == {"generation_config"}
    assert Generator(chat, Generation(STEPS + 1)).identity() != after
    # Where the settings come from is none of them.
    settings._commit_hash, settings._from_model_config = "c1", not settings._from_model_config
    assert Generator(chat, Generation(STEPS)).identity() == after
    # Its own limits and forms of output change nothing.
    unlimited = Generator(chat, Generation(STEPS)).replies(OPEN, variants)
    settings.max_time, settings.stop_strings, settings.return_dict_in_generate = 1e-9, ["e"], True
    settings.num_beams, settings.num_return_sequences = 3, 2
    assert Generator(chat, Generation(STEPS)).replies(OPEN, variants) == unlimited


def test_a_nan_is_refused(chats, variants):
    chat = copy.copy(chats["llava"])
    chat.model = copy.deepcopy(chat.model)
    with torch.no_grad():
        chat.model.lm_head.weight[5] = float("nan")
    with pytest.raises(ModelError, match="a logit of an answer is NaN; set `dtype: float32`"):
        Generator(chat, Generation(STEPS)).replies(OPEN, variants)


def test_an_answer_ends_at_the_context(chats, variants, monkeypatch):
    chat = chats["internvl"]
    generator = Generator(chat, Generation(STEPS))
    whole = generator.replies(OPEN, variants)
    prompt = chat.encode(generator.prompt(OPEN, 1), variants)["input_ids"].shape[1]
    config = chat.model.config.get_text_config()
    for room in (2, 1):
        monkeypatch.setattr(config, "max_position_embeddings", prompt + room)
        tokens = [reply.tokens for reply in generator.replies(OPEN, variants)]
        assert tokens == [min(room, reply.tokens) for reply in whole]
    monkeypatch.setattr(config, "max_position_embeddings", prompt)
    with pytest.raises(ModelError, match=rf"have {prompt + 1} tokens, but the model takes {prompt}"):
        generator.replies(OPEN, variants)


@pytest.mark.parametrize("setting", [{"prefill_chunk_size": 16}, {"guidance_scale": 2.0}])
def test_settings_that_call_the_head_more_than_once_a_token(chats, variants, settings, setting):
    chat = chats["llava"]
    settings.update(**setting)
    generator = Generator(chat, Generation(STEPS))
    encoded = generator.encode(OPEN, variants[:1])
    whole = chat.model.generate(**encoded.inputs, max_new_tokens=STEPS, do_sample=False)
    answer = whole[0, encoded.tokens :].tolist()
    (reply,) = generator.ask(OPEN, encoded)
    ends = (place + 1 for place, token in enumerate(answer) if token in chat.end_tokens)
    assert reply.tokens == next(ends, STEPS)
    assert reply.text == chat.tokenizer.decode(answer[: reply.tokens], skip_special_tokens=True).strip()


def test_a_step_that_generate_makes_and_undoes_adds_no_token(chats, variants, settings, monkeypatch):
    """As on a device where transformers reads one step late that all answers have ended."""
    chat = chats["llava"]
    first = greedy(chat, chat.render(text_prompt(OPEN), 1), variants[0], set())
    settings.eos_token_id = [chat.tokenizer.eos_token_id, first[2]]
    generator = Generator(chat, Generation(STEPS))
    expected = generator.replies(OPEN, variants[:1])
    passes: list[int] = []
    monkeypatch.setattr(generator, "_refuse_nan", lambda *_: passes.append(1))
    check = transformers.generation.utils.DeferredStopCheck
    monkeypatch.setattr(check, "is_supported", lambda *_, **__: True)
    monkeypatch.setattr(torch, "Event", lambda **_: SimpleNamespace(record=bool, synchronize=bool))
    assert generator.replies(OPEN, variants[:1]) == expected
    # One more than tokens, fewer than the most: such a step was made.
    assert expected[0].finish == "stop" and len(passes) == expected[0].tokens + 1 <= STEPS


def test_a_generate_that_exceeds_its_limit_is_refused(chats, variants, monkeypatch):
    generator = Generator(chats["llava"], Generation(2))
    monkeypatch.setattr(generator.chat, "search", lambda most: {"min_new_tokens": 5, "max_new_tokens": 5})
    with pytest.raises(ModelError, match="`generate` of LlavaForConditionalGeneration returns 5 tokens"):
        generator.replies(OPEN, variants)
