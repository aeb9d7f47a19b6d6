"""The prompts of the published runs' models are those of their authors' code, or docs/models.md says why not.

`python -m tests.config.test_published_prompts` writes the page's table. No checkpoint can be read here:
templates are written anew from the places that ``Prompt.source`` names, as far as these messages need them.
"""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from transformers.utils.chat_template_utils import render_jinja_template

from benchc.benchmarks.vqa_robustness.settings import Answers
from benchc.config.catalogue import Model, ModelCatalogue
from benchc.models.chat import ChatModel
from benchc.models.families.llava_next import FALCON_TEMPLATE
from benchc.models.families.molmo import Molmo
from benchc.models.families.monkey import Monkey
from benchc.models.generation import Generation
from benchc.models.protocol import ModelError
from benchc.models.question import Question, letter_prompt

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/models.md"
BEGIN, END = "<!-- the published runs' prompts -->\n", "<!-- end of the published runs' prompts -->\n"

TEXT = letter_prompt(Question("Is it red?", ("Yes", "No")))
VQA_ROBUSTNESS = yaml.safe_load((ROOT / "config/vqa-robustness.yaml").read_text())
# Its models answer in their own words.
OPEN_TEXT = Generation(**Answers.model_validate(VQA_ROBUSTNESS["answers"]).generation()).prompt(
    Question("Is it red?", ())
)
CHINESE = (
    "你是书生·万象，英文名是InternVL，"
    "是由上海人工智能实验室、清华大学及多家合作单位联合开发的多模态大语言模型。"
)
HELPFUL = "You are a helpful assistant."
CURIOUS = (
    "A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, "
    "detailed, and polite answers to the user's questions."
)
CURIOUS_HUMAN = CURIOUS.replace("user", "human")

PARTS = (
    "{% for part in message['content'] %}{{ IMAGE if part['type'] == 'image' else part['text'] }}{% endfor %}"
)
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    + PARTS
    + "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# A plain text in place of parts is left out.
VICUNA = (
    "{% for message in messages %}"
    "{% if message['role'] != 'system' %}{{ message['role'].upper() }}: {% endif %}"
    "{% for part in message['content'] if part['type'] == 'image' %}{{ IMAGE }}{% endfor %}"
    "{% for part in message['content'] if part['type'] == 'text' %}{{ part['text'] + ' ' }}{% endfor %}"
    "{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
# Of checkpoints without a template; the processor writes the image before the prompt.
BARE = (
    "{% for message in messages %}{% for part in message['content'] if part['type'] == 'text' %}"
    "{{ part['text'] }}{% endfor %}{% endfor %}"
)
MISTRAL = "{% for message in messages %}[INST] " + PARTS + " [/INST]{% endfor %}"
IDEFICS = (
    "{% for message in messages %}{{ message['role'] | capitalize }}:"
    + PARTS
    + "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)
ONEVISION = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }} "
    "{% for part in message['content'] if part['type'] == 'image' %}<image>{% endfor %}"
    "{% for part in message['content'] if part['type'] == 'text' %}{{ '\n' + part['text'] }}{% endfor %}"
    "<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
OVIS = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n" + CHATML
QWEN = (
    "{% if messages[0]['role'] != 'system' %}"
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}" + CHATML
)


@dataclass(frozen=True)
class Prompt:
    """How models of the published runs are asked.

    ``template``: that of the checkpoint, or a prompt that the family writes; ``authors``: the prompt of the
    authors' code; ``difference``: between the two; empty: none. ``text``: what the published run asks.
    """

    entries: tuple[str, ...]
    template: str | type
    authors: str
    source: str
    difference: str = ""
    text: str = TEXT


def of_image(template: str, image: str) -> str:
    return template.replace("IMAGE", repr(image))


LLAVA_SOURCE = (
    "`conv_vicuna_v1` in `llava/conversation.py`, by which the authors trained and evaluated "
    "(`scripts/v1_5/eval/`, `--conv-mode vicuna_v1`)"
)
HUMAN = "none; VLMEvalKit writes `human` for both `user`s"
PROMPTS = (
    Prompt(
        ("internvl3-1b",),
        of_image(CHATML, "<image>\n"),
        f"<|im_start|>system\n{CHINESE}<|im_end|>\n<|im_start|>user\n<image>\n{TEXT}<|im_end|>\n"
        "<|im_start|>assistant\n",
        "`internvl2_5` in `internvl/conversation.py` of OpenGVLab/InternVL",
    ),
    Prompt(
        ("ovis2-1b",),
        of_image(OVIS, "<image>\n"),
        f"<|im_start|>system\n{HELPFUL}<|im_end|>\n<|im_start|>user\n<image>\n{TEXT}<|im_end|>\n"
        "<|im_start|>assistant\n",
        "`convert_ovis2_weights_to_hf.py` of transformers, whose template writes the system prompt",
    ),
    Prompt(
        ("emu3-chat",),
        of_image(VICUNA, "<image>"),
        f"{HELPFUL} USER: <image>{TEXT}. ASSISTANT:",
        "`chat_template` in `emu3/mllm/processing_emu3.py` of baaivision/Emu3",
        "the authors write a full stop after the text, the converted template none",
    ),
    Prompt(
        ("falcon2-vlm",),
        FALCON_TEMPLATE,
        f"User:<image>\n{TEXT} Falcon:",
        "`vlmeval/vlm/falcon_vlm.py` of VLMEvalKit, and the model card",
    ),
    Prompt(
        ("monkey-chat",),
        Monkey,
        f"<img></img> \n {TEXT} Answer: ",
        "`vlmeval/vlm/monkey.py` of VLMEvalKit, which has the path of the image between the tags",
        "no space at the end, since letter and space are one token",
    ),
    Prompt(
        ("molmo-7b-d", "molmo-7b-o"),
        Molmo,
        " User: a_okvqa_mc: Is it red?\nA: Yes\nB: No Assistant:",
        "`vlmeval/vlm/molmo.py` of VLMEvalKit, and `preprocessing_molmo.py` of the checkpoint",
        "the options are asked as of every other model ([decision](decisions.md#inference))",
    ),
    Prompt(
        ("qwen2.5-vl-7b", "qwen2-vl-2b", "qwen2-vl-7b", "qwen2-vl-72b"),
        of_image(QWEN, "<|vision_start|><|image_pad|><|vision_end|>"),
        f"<|im_start|>system\n{HELPFUL}<|im_end|>\n<|im_start|>user\n"
        f"<|vision_start|><|image_pad|><|vision_end|>{TEXT}<|im_end|>\n<|im_start|>assistant\n",
        "the checkpoint's template, which writes the system prompt",
    ),
    Prompt(
        ("llava-1.5-7b", "llava-1.5-13b"),
        of_image(VICUNA, "<image>\n"),
        f"{CURIOUS} USER: <image>\n{TEXT} ASSISTANT:",
        f"{LLAVA_SOURCE} of haotian-liu/LLaVA",
        HUMAN,
    ),
    Prompt(
        ("llava-1.5-7b-cropped", "llava-1.5-13b-cropped"),
        of_image(VICUNA, "<image>\n"),
        f"{CURIOUS_HUMAN}###Human: <image>\nAnswer the given question in a single word using the image as "
        "context: Is it red?###Assistant:",
        "`conv_llava_v0` in `llava/conversation.py`, which the code of VQA-robustness names; that code has "
        "the text",
        "the turns are those of the converted template ([decision](decisions.md#vqa-robustness))",
        OPEN_TEXT,
    ),
    Prompt(
        ("llava-next-vicuna-7b", "llava-next-vicuna-13b"),
        of_image(VICUNA, "<image>\n"),
        f"{CURIOUS} USER: <image>\n{TEXT} ASSISTANT:",
        "`conv_vicuna_v1` in `llava/conversation.py` of LLaVA-VL/LLaVA-NeXT",
        HUMAN,
    ),
    Prompt(
        ("llava-next-mistral-7b",),
        of_image(MISTRAL, "<image>\n"),
        f"[INST] <image>\n{TEXT} [/INST]",
        "`mistral_instruct` in `llava/conversation.py` of LLaVA-VL/LLaVA-NeXT, which has no system prompt",
    ),
    Prompt(
        ("instructblip-vicuna-7b", "instructblip-vicuna-13b"),
        BARE,
        TEXT,
        "the example of `InstructBlipForConditionalGeneration` in transformers",
    ),
    Prompt(
        ("idefics3-8b",),
        of_image(IDEFICS, "<image>"),
        f"User:<image>{TEXT.strip()}<end_of_utterance>\nAssistant:",
        "`vlmeval/vlm/idefics.py` of VLMEvalKit",
        "VLMEvalKit strips the text",
    ),
    Prompt(
        ("llava-onevision-0.5b", "llava-onevision-7b"),
        ONEVISION,
        f"<|im_start|>system\n{HELPFUL}<|im_end|>\n<|im_start|>user\n<image>\n{TEXT}<|im_end|>\n"
        "<|im_start|>assistant\n",
        "`qwen_1_5` in `llava/conversation.py` of LLaVA-VL/LLaVA-NeXT",
        "the converted template writes a space after each role, and no line break after `<|im_end|>`",
    ),
)
# Their family calls the code that writes the prompt; that code, and the prompt as it was read there.
WRITTEN = {
    "moondream2": (
        f"\n\nQuestion:{TEXT}\n\nAnswer:",
        "`config.py` and `moondream.py` in `clients/python/moondream/torch` of vikhyat/moondream; other "
        "versions write a space after `Question:`",
    ),
    "eagle-x5-7b": (
        f"{CURIOUS} USER: <image>\n{TEXT} ASSISTANT:",
        "`vicuna_v1` in `eagle/conversation.py` of NVlabs/EAGLE",
    ),
    "sail-vl-1.6-8b": (
        "<|im_start|>system\n你是由抖音内容理解组开发的多模态大模型，英文名叫UniVL, "
        f"是一个有用无害的人工智能助手。<|im_end|><|im_start|>user\n<image>\n{TEXT}<|im_end|>"
        "<|im_start|>assistant\n",
        "`sailvl-chat` in `conversation.py` of the checkpoint",
    ),
    "deepseek-vl2-small": (
        f"<|User|>: <image>\n{TEXT.strip()}\n\n<|Assistant|>:",
        "`format_messages_v2` in `processing_deepseek_vl_v2.py` of deepseek-ai/DeepSeek-VL2",
    ),
}
# Their prompts are not compared here, with the reason.
ELSEWHERE = {
    "written by the code of the checkpoint, which could not be read": ("mplug-owl3-7b", "kimi-vl-a3b"),
    "written by the authors' own chat template, which could not be read, without a system prompt of ours": (
        "gemma3-12b",
        "phi-4-multimodal",
        "llama-3.2-vision-11b",
        "llama-3.2-vision-90b",
    ),
    "written by the chat template of a converted checkpoint, which could not be read, without a system "
    "prompt of ours": ("llava-next-34b", "deepseek-vl-1.3b-chat", "deepseek-vl-7b-chat"),
    "written by a server by the checkpoint's template or by vLLM's own, which could not be read": (
        "phi-3-vision",
        "internvl2-8b",
        "internvl2-26b",
        "qwen-vl-chat",
        "molmo-72b",
    ),
    "written by a closed service": ("gpt-4o",),
    "the bare question": ("vilt-vqa", "blip-vqa"),
}


def catalogue() -> dict[str, Model]:
    return ModelCatalogue.model_validate(yaml.safe_load((ROOT / "config/models.yaml").read_text())).root


def chat_of(template: str, system_prompt: str | None) -> ChatModel:
    """Return a chat model that renders by transformers' own function, and does nothing else."""

    def apply(conversation: Any, *, add_generation_prompt: bool, tokenize: bool) -> str:
        assert not tokenize
        rendered, _ = render_jinja_template(
            [conversation], chat_template=template, add_generation_prompt=add_generation_prompt
        )
        return str(rendered[0])

    processor = SimpleNamespace(apply_chat_template=apply)
    return ChatModel(None, processor, {"model": "owner/name"}, system_prompt)


def sent(prompt: Prompt, system_prompt: str | None) -> str:
    if isinstance(prompt.template, str):
        return chat_of(prompt.template, system_prompt).render(prompt.text, 1)
    return str(prompt.template.prompt(None, prompt.text, 1))


def table() -> str:
    entries = catalogue()
    lines = [
        "| entry | prompt as sent | prompt of the authors' code | source | difference |",
        "|---|---|---|---|---|",
    ]
    for prompt in PROMPTS:
        names = ", ".join(f"`{id_}`" for id_ in prompt.entries)
        own = sent(prompt, entries[prompt.entries[0]].system_prompt)
        authors = "the same" if own == prompt.authors else _code(prompt.authors)
        lines.append(
            f"| {names} | {_code(own)} | {authors} | {_escaped(prompt.source)} | "
            f"{_escaped(prompt.difference or 'none')} |"
        )
    for id_, (written, source) in WRITTEN.items():
        lines.append(f"| `{id_}` | {_code(written)} | the same, by calling it | {_escaped(source)} | none |")
    lines += [
        f"| {', '.join(f'`{id_}`' for id_ in ids)} | {reason} | | | |" for reason, ids in ELSEWHERE.items()
    ]
    return "\n".join(lines) + "\n"


def _code(prompt: str) -> str:
    return f"`{_escaped(prompt)}`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "↵")


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.entries[0])
def test_the_prompt_as_sent_is_that_of_the_authors_or_the_difference_is_said(prompt: Prompt) -> None:
    for id_ in prompt.entries:
        own = sent(prompt, catalogue()[id_].system_prompt)
        assert (own == prompt.authors) == (not prompt.difference or prompt.difference.startswith("none"))


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.entries[0])
def test_the_authors_system_prompt_is_sent_once(prompt: Prompt) -> None:
    system = catalogue()[prompt.entries[0]].system_prompt
    for text in (CHINESE, HELPFUL, CURIOUS, CURIOUS_HUMAN):
        assert sent(prompt, system).count(text) == prompt.authors.count(text)


def test_the_models_of_vqa_robustness_have_its_text() -> None:
    asked = {id_ for prompt in PROMPTS if prompt.text == OPEN_TEXT for id_ in prompt.entries}
    assert asked == set(VQA_ROBUSTNESS["models"]) - set(ELSEWHERE["the bare question"])


def test_every_model_of_the_published_runs_is_in_the_table() -> None:
    found = [id_ for prompt in PROMPTS for id_ in prompt.entries]
    found += [*WRITTEN, *(id_ for ids in ELSEWHERE.values() for id_ in ids)]
    assert sorted(found) == sorted(catalogue())
    without = [*WRITTEN, *(id_ for ids in ELSEWHERE.values() for id_ in ids)]
    assert not [id_ for id_ in without if catalogue()[id_].system_prompt]


def test_the_page_has_the_table() -> None:
    found = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    assert found == table(), "run `python -m tests.config.test_published_prompts`"


def test_a_template_of_an_entry_is_the_one_that_is_compared() -> None:
    given = {id_: model.chat_template for id_, model in catalogue().items() if model.chat_template}
    compared = {id_: prompt.template for prompt in PROMPTS for id_ in prompt.entries}
    assert given and given == {id_: compared[id_] for id_ in given}


def test_falcon_has_no_place_for_a_system_prompt() -> None:
    with pytest.raises(ModelError, match="no place for a system prompt; remove `system_prompt`"):
        chat_of(FALCON_TEMPLATE, HELPFUL).render(TEXT, 1)


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.split(END)[1])
