"""Monkey-Chat: remote code of its checkpoint.

The upstream call, of open-compass/VLMEvalKit at 21dd5efa3fd4931fd4ebed8c18cd31c030a24c42,
vlmeval/vlm/monkey.py::

    cur_prompt = f'<img>{image_path}</img> \\n {prompt} Answer: '
    input_ids = self.tokenizer(cur_prompt, return_tensors='pt', padding='longest')
    self.model.generate(input_ids=input_ids.input_ids, attention_mask=input_ids.attention_mask, ...)

The tokenizer writes the bytes of the path into the tokens between ``<img>`` and ``</img>``, and
``forward`` opens the file (monkey_model/tokenization_qwen.py and monkey_model/modeling_monkey.py in
Yuliang-Liu/Monkey at b63ace06fc278dd2710303f2fd9a123abd9d266b and
eea8616819f3610e62f42e3c066cb2d13f83f7dd). Images are therefore written as PNG files, without loss, to a
temporary folder. The space after "Answer:" is left out: a letter and the space before it are one token.
The code takes one image per prompt in VLMEvalKit; so do we.
"""

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from benchc.hugging_face import transformers
from benchc.models.protocol import CheckpointSource
from benchc.models.remote_code import Batch, RemoteCodeModel, remote_code, require_class, require_parameters

INPUTS = ("input_ids", "attention_mask")
# The configuration decides the precision, by one of three switches; transformers' own does not.
SWITCHES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


@dataclass
class Monkey(RemoteCodeModel):
    """A loaded Monkey."""

    words: Any = None
    folder: TemporaryDirectory[str] = field(default_factory=TemporaryDirectory)
    all_images = False
    marker = "<img>"

    @property
    def tokenizer(self) -> Any:
        return self.words

    def prompt(self, text: str, images: int) -> str:
        return f"{'<img></img>' * images} \n {text} Answer:"

    def encode(self, rendered: str, variants: Any) -> dict[str, Any]:
        for old in Path(self.folder.name).iterdir():
            old.unlink()
        return super().encode(rendered, variants)

    def row(self, text: str, rendered: str, images: list[Image.Image]) -> Batch:
        for image in images:
            path = next(
                path for number in count() if not (path := Path(self.folder.name, f"{number}.png")).exists()
            )
            image.save(path)
            rendered = rendered.replace("<img></img>", f"<img>{path}</img>", 1)
        # Upstream pads a single prompt to its own length.
        row = self.tokenizer(rendered, return_tensors="pt")
        return {name: row[name] for name in INPUTS}


def load(source: CheckpointSource) -> Monkey:
    """Load a checkpoint of the family."""
    with remote_code(source) as found:
        settings = found.settings()
        words = transformers.AutoTokenizer.from_pretrained(source.location, **found.options)
        # All three, since the checkpoint has set one, and the code refuses two.
        switches = {switch: dtype == source.dtype for dtype, switch in SWITCHES.items()}
        model = found.model("AutoModelForCausalLM", **switches)
        require_class(source.location, model, "MonkeyLMHeadModel")
        require_parameters(source.location, model.forward, *INPUTS, "use_cache", "return_dict")
        return Monkey.of(found, model, words, settings=settings, words=words)
