"""The first question to a server, by which it shows what it returns."""

import numpy as np

from benchc.models.question import Question

PROBE = Question("Which of the two is it?", ("this", "that"))
PROBE_IMAGE = np.full((224, 224, 3), 128, dtype=np.uint8)
