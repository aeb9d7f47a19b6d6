"""What the processor of DeepSeek-VL2 is given; a whole model is in test_remote_code.py."""

from types import SimpleNamespace
from typing import Any

import torch
from PIL import Image

from benchc.models.families.deepseek_vl2 import INPUTS, DeepSeekVL2


class Processor:
    """Notes what it is given, with a tokenizer that has letters of an answer alone."""

    sft_format = "deepseek"

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.tokenizer = SimpleNamespace(encode=self._encode)

    def _encode(self, text: str, *, add_special_tokens: bool) -> tuple[int, ...]:
        assert not add_special_tokens
        return tuple(map(ord, text))

    def format_messages(self, **given: Any) -> str:
        self.given = given
        return "prompt"

    def __call__(self, **given: Any) -> Any:
        self.given = given
        return SimpleNamespace(**{name: f"the {name}" for name in INPUTS}, labels="others")


def test_the_marks_of_all_images_come_before_the_text_and_the_answer_is_open():
    processor = Processor()
    model = DeepSeekVL2(SimpleNamespace(), processor, {"model": "m"})
    conversation = [
        {"role": "<|User|>", "content": "<image>\n<image>\nWhich?"},
        {"role": "<|Assistant|>", "content": ""},
    ]
    assert model.prompt("Which?", 2) == "prompt"
    assert processor.given == {
        "conversations": conversation,
        "sft_format": "deepseek",
        "system_prompt": "",
    }
    images = [Image.new("RGB", (2, 2))] * 2
    assert model.row("Which?", "prompt", images) == {name: f"the {name}" for name in INPUTS}
    # As in vlmeval/vlm/deepseek_vl2.py.
    given = {"conversations": conversation, "images": images, "force_batchify": True, "system_prompt": ""}
    assert processor.given == given


def test_an_answer_follows_without_a_blank_and_is_no_image():
    model = DeepSeekVL2(SimpleNamespace(), Processor(), {"model": "m"})
    assert model.separator("<|Assistant|>:") == ""
    assert model.tokens_after("<|Assistant|>:", " B ") == [ord("B")]
    mask = torch.tensor([[False, True, True], [True, False, False]])
    batch = {"input_ids": torch.ones(2, 3).long(), "images_seq_mask": mask}
    longer = model.continued(batch, [7, 8])
    assert longer["input_ids"].tolist() == [[1, 1, 1, 7, 8]] * 2
    assert longer["images_seq_mask"].tolist() == [
        [False, True, True, False, False],
        [True, False, False, False, False],
    ]
    assert longer["images_seq_mask"].dtype == torch.bool
