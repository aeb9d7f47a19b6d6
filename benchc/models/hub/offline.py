"""No downloads in a process. Imports nothing: it is called before the Hub's client is imported."""

import os
import sys

OFFLINE = "HF_HUB_OFFLINE"


def work_offline() -> None:
    """Let the Hub's client, in this process and those that it starts, load from its cache on disk alone."""
    os.environ[OFFLINE] = "1"
    # The client reads the variable when it is imported.
    if (constants := sys.modules.get("huggingface_hub.constants")) is not None:
        vars(constants)[OFFLINE] = True
