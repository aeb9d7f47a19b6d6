"""transformers, set up for unattended jobs. First-party code imports it from here, and from nowhere else.

It can be imported with a CPU-only torch (``benchc.torchvision_ops``), shows no progress bars, and never asks
whether to run a checkpoint's own code: without ``trust_remote_code=True`` it refuses. open_clip and
sentence_transformers import transformers themselves, so import them after this module.
"""

from benchc.torchvision_ops import declare_missing_operators

declare_missing_operators()

import transformers  # noqa: E402
import transformers.dynamic_module_utils  # noqa: E402

# open_clip does not pass `trust_remote_code`. With a timeout of 0, transformers raises an error where it
# would otherwise wait for a "y" on standard input.
transformers.dynamic_module_utils.TIME_OUT_REMOTE_CODE = 0
transformers.utils.logging.disable_progress_bar()

__all__ = ["transformers"]
