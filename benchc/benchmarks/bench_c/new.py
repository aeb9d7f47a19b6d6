"""What `benchc new` writes for this benchmark: the models, and the keys of a trial."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchc.errors import InputError

SELECTORS = 3  # as in the paper

COMMENTS = {
    "selectors": "Their inconsistency under corruption decides which items are selected: the models of "
    f"--selector, or else the first {SELECTORS} targets.",
    "targets": "The models that the benchmark evaluates, in the order of figures. One that is also a "
    "selector has influenced the selection.",
    "pool": "Few items, for a trial; without this key, at most 200 per task type and 4,000 in all.",
    "corruptions": "One per group, for a trial; without this key, all 19 of ImageNet-C.",
    "inference": "One job per model, which is faster on few cores.",
    "selection": "A small encoder that the run trains, to download nothing; without this key, CLIP.",
}
# Keys of a run that trains its models: small, and without downloads.
TRIAL = {
    "pool": {"per_task": 16},
    "corruptions": {"types": ["contrast", "gaussian_blur", "gaussian_noise", "snow", "jpeg_compression"]},
    "inference": {"corruptions_per_job": "all"},
    "selection": {"image_encoder": {"name": "trained"}},
}
# A rule with a result that such a run makes first.
TRIAL_TARGET = "figure1a"


def roles(models: Sequence[str], selectors: Sequence[str], demo: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return models by the key that lists them: those that the user named, or else some of the demo's.

    ``models`` are the targets. Where no selectors are named, the first three targets are. ``demo`` is the
    content of config/demo.yaml. Raises InputError for selectors without targets.
    """
    if not models and not selectors:
        return {"selectors": demo["selectors"], "targets": demo["targets"][:2]}
    if not models:
        raise InputError("--selector: there is no model to evaluate; name at least one with --model")
    return {"selectors": list(selectors or models[:SELECTORS]), "targets": list(models)}
