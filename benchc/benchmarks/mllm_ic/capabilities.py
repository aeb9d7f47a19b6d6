"""The paper's hierarchy of capabilities: 2 high-level, 5 mid-level and 34 low-level ones (Figure 1)."""

from functools import cache
from typing import NamedTuple

PUBLISHED_CAPABILITIES = 34
# Names in tables and figures that are not the id with spaces.
LABELS = {
    "instance_part_recognition": "Instance & part recognition",
    "structured_image_text_understanding": "Structured image-text understanding",
    "ocr": "OCR",
}
# In the paper's order. Here, and not in a file of data, so that an edit reruns what it decides.
_HIERARCHY = {
    ("perception", "global_context_sensing"): (
        "image_topic",
        "image_quality",
        "image_emotion",
        "image_scene",
        "image_style",
        "scene_understanding",
    ),
    ("perception", "instance_part_recognition"): (
        "instance_identity",
        "attribute_recognition",
        "instance_interaction",
        "instance_attribute",
        "emotion_recognition",
        "action_recognition",
        "celebrity_recognition",
        "landmark_recognition",
    ),
    ("perception", "spatial_perception"): (
        "physical_relation",
        "instance_location",
        "instance_counting",
        "spatial_relation",
        "object_localization",
    ),
    ("reasoning", "knowledge_reasoning"): (
        "chart_understanding",
        "science_knowledge",
        "nature_relation",
        "structured_image_text_understanding",
        "visual_mathematics",
        "function_reasoning",
        "physical_property_reasoning",
    ),
    ("reasoning", "logic_reasoning"): (
        "visual_reasoning",
        "visual_referring_expression",
        "social_relation",
        "identity_reasoning",
        "future_prediction",
        "attribute_comparison",
        "text_recognition",
        "ocr",
    ),
}


class Capability(NamedTuple):
    """A low-level capability, with its mid-level and high-level one."""

    name: str
    mid: str
    high: str


@cache
def capabilities() -> tuple[Capability, ...]:
    """Return the paper's 34 capabilities in its order: those of a mid-level one stand together."""
    return tuple(Capability(name, mid, high) for (high, mid), names in _HIERARCHY.items() for name in names)


def label_of(name: str) -> str:
    """Return the name of a capability, of any level, in tables and figures."""
    return LABELS.get(name, name.replace("_", " ").capitalize())
