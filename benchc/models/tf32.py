"""Computing in float32 as it is named: without TF32, which rounds the inputs of products to 10 bits."""

import torch


def forbid_tf32() -> None:
    """Switch off TF32 in this process, for products of matrices and for convolutions.

    Torch allows it in convolutions by default. Models' code may switch it on, by either of torch's
    interfaces, so this is for after a model is loaded.
    """
    # The newer interface first: while a general setting says "tf32", the older one does not change it. The
    # older one last: torch raises where it is read and the two disagree.
    torch.backends.fp32_precision = "ieee"  # type: ignore[attr-defined]
    torch.backends.cudnn.fp32_precision = "ieee"
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
