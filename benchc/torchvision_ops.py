"""Let torchvision import beside a CPU-only torch.

The CPU wheel of torch and the CUDA wheel of torchvision that matches it do not know each other's
operators, and ``import torchvision`` then fails with ``operator torchvision::nms does not exist``;
transformers, open_clip and timm import torchvision and fail with it. Declaring the two operators first
lets the import pass. Transforms work; ``torchvision.ops.nms`` and ``torchvision.io`` do not, and nothing
here uses them.
"""

import torch

# The declaration lives as long as this object.
_library: torch.library.Library | None = None


def declare_missing_operators() -> None:
    """Declare ``torchvision::nms`` and ``torchvision::qnms`` where torchvision's own fail to load.

    Call before the first import of transformers, open_clip or sentence_transformers. A second call, and a
    call where torchvision imports by itself, does nothing.
    """
    global _library
    if _library is not None:
        return
    try:
        import torchvision  # noqa: F401
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
    else:
        return
    _library = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
    for name in ("nms", "qnms"):
        schema = f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        _library.define(schema)  # type: ignore[no-untyped-call]
