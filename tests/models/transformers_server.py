"""transformers' own server (``transformers serve``), as a program: ``python transformers_server.py PORT``.

It serves the models of the Hub's cache. Its answers are those of a server that nobody here has written.
"""

import io
import sys

import torch
from PIL import Image

LIBRARY = torch.library.Library("torchvision", "FRAGMENT")


def declare_operators() -> None:
    """Let torchvision be imported beside a torch without its compiled operators."""
    for operator in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, operator):
            LIBRARY.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def decode_image(data: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
    """Decode a PNG, in place of torchvision's compiled decoder."""
    from torchvision.transforms.functional import pil_to_tensor

    pixels: torch.Tensor = pil_to_tensor(Image.open(io.BytesIO(bytes(data.tolist()))).convert("RGB"))
    return pixels


def main() -> None:
    torch.set_num_threads(1)
    declare_operators()
    import torchvision.io

    torchvision.io.decode_image = decode_image
    from transformers.cli.serve import Serve

    Serve(host="127.0.0.1", port=int(sys.argv[1]), device="cpu", dtype="float32")


if __name__ == "__main__":
    main()
