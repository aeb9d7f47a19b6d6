"""Letter and text scores against plain forward passes of the same models."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image as PILImage
from safetensors.torch import load_file, save_file

from benchc.models import families
from benchc.models.letter import LetterScorer
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.models.registry import scorer_modules
from benchc.models.supported import UnsupportedFamilyError, check_family
from benchc.models.text import TextScorer
from tests.models.conftest import FAMILIES, QUESTIONS


def next_token_log_probabilities(chat, text, images):
    """Return log-probabilities [positions, vocabulary] of one prompt, by one unbatched forward pass."""
    inputs = chat.processor(
        text=[text], images=[[PILImage.fromarray(image) for image in images]], return_tensors="pt"
    )
    with torch.no_grad():
        return chat.model(**inputs).logits[0].log_softmax(-1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("question", QUESTIONS, ids=["unweighted", "hint", "chinese"])
def test_letter_scores_are_the_logits_of_the_letters(scorers, variants, family, question):
    scorer = scorers[family, "letter"]
    scores = scorer.score(question, variants)
    rendered = scorer.chat.render(letter_prompt(question), 1)
    letters = [
        scorer.chat.tokenizer(f" {letter}", add_special_tokens=False)["input_ids"][0]
        for letter in "ABCD"[: len(question.options)]
    ]
    assert scores.logits.dtype == np.float32
    assert scores.logits.shape == (5, len(question.options))
    for row, images in enumerate(variants):
        expected = next_token_log_probabilities(scorer.chat, rendered, images)[-1, letters]
        found = torch.from_numpy(scores.logits[row])
        torch.testing.assert_close(found.log_softmax(-1), expected.log_softmax(-1), atol=2e-5, rtol=0)
        assert scores.label_mass[row] == pytest.approx(expected.exp().sum().item(), abs=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("question", QUESTIONS, ids=["unweighted", "hint", "chinese"])
def test_text_scores_are_log_likelihoods_of_whole_sequences(scorers, variants, family, question):
    scorer = scorers[family, "text"]
    scores = scorer.score(question, variants)
    means = scorers[family, "text_mean"].score(question, variants)
    rendered = scorer.chat.render(text_prompt(question), 1)
    for row, images in enumerate(variants[:2]):
        for k, option in enumerate(question.options):
            tokens = scorer.chat.tokenizer(f" {option}", add_special_tokens=False)["input_ids"]
            whole = next_token_log_probabilities(scorer.chat, f"{rendered} {option}", images)
            positions = range(len(whole) - len(tokens) - 1, len(whole) - 1)
            expected = sum(whole[p, t].item() for p, t in zip(positions, tokens, strict=True))
            assert scores.logits[row, k] == pytest.approx(expected, abs=1e-4)
            assert means.logits[row, k] == pytest.approx(expected / len(tokens), abs=1e-4)
    mass = np.exp(scores.logits.astype(np.float64)).sum(axis=1)
    np.testing.assert_allclose(scores.label_mass, np.minimum(mass, 1), atol=1e-5)


def test_vqascore_is_the_mean_over_answer_and_end_token(checkpoints, variants):
    # linzhiqiu/t2v_metrics, models/vqascore_models/llava_model.py: the labels are the answer and </s>.
    scorer = load_scorer(None, "text_vqascore", CheckpointSource(str(checkpoints["llava"])))
    assert scorer.identity()["scoring"] == "text_vqascore"
    question = QUESTIONS[1]
    logits = scorer.score(question, variants[:2]).logits
    rendered = scorer.chat.render(text_prompt(question), 1)
    for row, images in enumerate(variants[:2]):
        for k, option in enumerate(question.options):
            tokens = scorer.chat.tokenizer(f" {option}</s>", add_special_tokens=False)["input_ids"]
            whole = next_token_log_probabilities(scorer.chat, f"{rendered} {option}</s>", images)
            labels = torch.tensor(tokens)
            loss = torch.nn.functional.nll_loss(whole[-len(tokens) - 1 : -1], labels)
            assert logits[row, k] == pytest.approx(-loss.item(), abs=1e-4)


@pytest.mark.parametrize(
    ("written", "end"), [("<|im_end|>\n<|end|>", 3), ("<|end|>", 5), ("</s>", None), ("", None)]
)
def test_of_several_end_tokens_the_template_says_which_ends_an_answer(scorers, monkeypatch, written, end):
    chat = scorers["llava", "text"].chat
    names = {5: "<|end|>", 3: "<|im_end|>"}
    monkeypatch.setattr(chat.model.generation_config, "eos_token_id", [*names])
    monkeypatch.setattr(chat.tokenizer, "convert_ids_to_tokens", names.get)
    template = f"{{% for m in messages %}}{{{{ m.content[0].text }}}}{written}{{% endfor %}}"
    monkeypatch.setattr(chat.processor, "chat_template", template)
    scorer = TextScorer(chat, length_normalised=True, ended=True)
    if end is not None:
        assert scorer._end_token == end
    else:
        with pytest.raises(ModelError, match="the token that ends an answer is not known, which `scoring: t"):
            _ = scorer._end_token


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_variant_scores_the_same_alone_and_among_others(scorers, variants, family, scoring):
    scorer = scorers[family, scoring]
    together = scorer.score(QUESTIONS[1], variants)
    for row, images in enumerate(variants):
        alone = scorer.score(QUESTIONS[1], [images])
        np.testing.assert_allclose(alone.logits[0], together.logits[row], atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_both_of_two_images_count(scorers, variants, family):
    scorer = scorers[family, "letter"]
    first, second, other = (images[0] for images in variants[:3])
    scores = scorer.score(QUESTIONS[0], [[first, second], [first, other], [other, second]])
    assert np.abs(scores.logits[0] - scores.logits[1]).max() > 1e-4
    assert np.abs(scores.logits[0] - scores.logits[2]).max() > 1e-4


def test_bfloat16_models_give_options_without_ties(checkpoints, variants):
    scorer = load_scorer("llava", "letter", CheckpointSource(str(checkpoints["llava"]), dtype="bfloat16"))
    logits = scorer.score(QUESTIONS[1], variants).logits
    quantised = torch.from_numpy(logits).bfloat16().float().numpy()
    assert (logits != quantised).mean() > 0.9
    assert all(len(set(row)) == len(row) for row in logits.tolist())


def test_letters_must_be_one_distinct_token_each(scorers, monkeypatch):
    scorer = LetterScorer(scorers["llava", "letter"].chat)
    rendered = scorer.prompt(QUESTIONS[0], 1)
    assert len(scorer.letter_tokens(rendered, tuple("ABC"))) == 3
    monkeypatch.setattr(scorer.chat, "tokens_after", lambda prompt, answer: [5], raising=False)
    with pytest.raises(ModelError, match="one distinct token"):
        scorer.letter_tokens(rendered, tuple("ABCD"))
    monkeypatch.setattr(
        scorer.chat, "tokens_after", lambda prompt, answer: [ord(answer[-1]), 6], raising=False
    )
    with pytest.raises(ModelError, match="scoring: text"):
        scorer.letter_tokens(rendered, tuple("ABCDE"))


def test_different_chinese_options_get_different_scores(scorers, variants):
    logits = scorers["internvl", "text"].score(QUESTIONS[2], variants).logits
    assert all(len(set(row)) == 4 for row in logits.tolist())


def test_an_unknown_family_or_scoring_is_refused():
    with pytest.raises(UnsupportedFamilyError, match=r"no model type.*did you mean 'internvl'"):
        check_family("internvl3")
    with pytest.raises(ModelError, match="unknown scoring 'letters'"):
        scorer_modules("llava", "letters")


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_scorer("llava", "letter", CheckpointSource(str(tmp_path)))


def test_a_checkpoint_with_missing_weights_is_refused(checkpoints, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(checkpoints["llava"], folder)
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if "q_proj" in name)
    save_file({key: value for key, value in weights.items() if key != name}, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"1 of the model's weights are missing, for example .*q_proj"):
        load_scorer("llava", "letter", CheckpointSource(str(folder)))
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-50])
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_scorer("llava", "letter", CheckpointSource(str(folder)))


def test_processor_settings_are_checked_and_part_of_the_identity(checkpoints):
    folder = str(checkpoints["internvl"])
    plain = load_scorer("internvl", "letter", CheckpointSource(folder))
    tiles = load_scorer("internvl", "letter", CheckpointSource(folder, processor={"max_patches": 3}))
    assert plain.identity()["processor"] != tiles.identity()["processor"]
    assert plain.identity()["revision"] == tiles.identity()["revision"]
    with pytest.raises(ModelError, match="no setting 'max_tiles'"):
        load_scorer("internvl", "letter", CheckpointSource(folder, processor={"max_tiles": 3}))


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_an_open_question_is_refused(scorers, variants, scoring):
    scorer = scorers["llava", scoring]
    for call in (lambda open_: scorer.prompt(open_, 1), lambda open_: scorer.score(open_, variants)):
        with pytest.raises(ModelError, match="an open-ended question has no options to score: 'How many"):
            call(Question("How many dots are there?", ()))


def test_families_are_the_model_types_of_transformers_and_those_with_a_file():
    from transformers.models.auto.modeling_auto import MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES

    files = {path.stem for path in Path(families.__path__[0]).glob("*.py")} - {"__init__"}
    for family in (None, *MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES, *files):
        check_family(family)
