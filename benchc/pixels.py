"""The type of decoded images; apart from decoding, so that an edit of it keeps cached predictions."""

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]  # [H, W, 3], RGB
