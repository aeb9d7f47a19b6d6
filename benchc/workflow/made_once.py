"""Data and models that a run generates and trains, which all runs share.

A name contains a digest of the settings and code that decide the content. So runs with the same ones share a
file, and no run overwrites that of another.
"""

import json
from hashlib import blake2b

from benchc.config.settings import Demo
from benchc.workflow.code import code_of

# Folder of the trained models.
FOLDER = "results/models"


def named(name: str, *made_of: object) -> str:
    """Return a name with a digest of what decides the content: plain values, as JSON has them."""
    text = json.dumps(made_of, sort_keys=True)
    return f"{name}-{blake2b(text.encode(), digest_size=6).hexdigest()}"


def training_set(demo: Demo) -> str:
    """Return the file of the images and questions on which a run trains its models."""
    code = code_of("scripts/generate_training_set.py")
    return f"{FOLDER}/{named('training_set', demo.seed, demo.training_set.items_per_category, code)}.npz"


def captioned_training_set(demo: Demo) -> str:
    """Return the file of the same images and questions, and of captions."""
    code = code_of("scripts/add_captions.py")
    return f"{FOLDER}/{named('captioned_training_set', training_set(demo), code)}.npz"
