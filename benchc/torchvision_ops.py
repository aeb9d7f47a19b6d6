"""Make torchvision importable with a CPU-only torch.

With the CPU wheel of torch and the CUDA wheel of torchvision, ``import torchvision``, and with it
transformers, open_clip and timm, fails with ``operator torchvision::nms does not exist``. Declaring the two
missing operators first makes the import work. Transforms then work; ``torchvision.ops.nms`` and
``torchvision.io``, which are not used here, do not.
"""

import torch

# The declaration lasts as long as this object.
_library: torch.library.Library | None = None


def declare_missing_operators() -> None:
    """Declare ``torchvision::nms`` and ``torchvision::qnms`` where torchvision's own fail to load.

    ``benchc.hugging_face`` calls it before the first import of transformers. Does nothing where torchvision
    can be imported, or on a second call.
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
