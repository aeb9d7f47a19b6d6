"""The 27 skills by which the paper tags its questions, in four classes (section 4, Figure 6, Table 8)."""

# By class, the label of each skill by its name, which is that of the published Tables 9 and 10.
SKILLS: dict[str, dict[str, str]] = {
    "object": {
        "animal": "animal",
        "human": "human",
        "food": "food",
        "building": "building",
        "nature": "nature",
        "vehicle": "vehicle",
        "items": "items",
        "others": "others",
    },
    "attribute": {
        "emotion": "emotion",
        "shape": "shape",
        "size": "size",
        "color": "color",
        "state": "state",
        "abstract": "abstract",
        "activity": "activity",
        "gender": "gender",
    },
    "relation": {
        "action": "action",
        "part": "part",
        "proximity": "proximity",
        "topological": "topological",
        "projective": "projective",
        "orientation": "orientation",
    },
    "reasoning": {
        "count": "counting",
        "logic": "logic",
        "differ": "differentiation",
        "compar": "comparison",
        "world": "world knowledge",
    },
}
# Four of the relations are spatial.
SPATIAL = ("proximity", "topological", "projective", "orientation")

# The rows of Table 8: label, skills, and a definition in our own words.
DEFINITIONS: list[tuple[str, tuple[str, ...], str]] = [
    (
        "Object",
        tuple(SKILLS["object"]),
        "Which things are in the image: animals, people, food, buildings, nature, vehicles, other items.",
    ),
    (
        "Attribute",
        tuple(SKILLS["attribute"]),
        "What a thing is like: its emotion, shape, size, color, state, activity or gender, or an abstract "
        "property such as lucky.",
    ),
    (
        "Spatial relation",
        SPATIAL,
        "Where things are to each other: how near (proximity), in, on or around (topological), left of or "
        "below (projective), facing or moving towards (orientation).",
    ),
    ("Action relation", ("action",), "What one thing does to another, such as pushing or hugging it."),
    (
        "Part relation",
        ("part",),
        "One thing is part of another, or worn by it: body parts, clothing, accessories.",
    ),
    ("Counting", ("count",), "How many things there are, or how much of a thing."),
    ("Differentiation", ("differ",), "Things of one category are told apart by attributes or relations."),
    ("Comparison", ("compar",), "Things are compared by number, attribute, area or volume."),
    (
        "Logic",
        ("logic",),
        "Negation (no, not, without) and universality (all, every, both); conjunction and disjunction are "
        "left out.",
    ),
    ("World knowledge", ("world",), "Knowledge of the world that the image does not show."),
]

OWN = "own"  # class of the skills that the paper does not have

CLASSES = {skill: name for name, skills in SKILLS.items() for skill in skills}
LABELS = {skill: label for skills in SKILLS.values() for skill, label in skills.items()}

# Other names of the same skills: those of Figures 6 and 8.
_OTHER_NAMES = {
    **{label: skill for skill, label in LABELS.items()},
    **{f"spatial ({skill})": skill for skill in SPATIAL},
    "item": "items",
    "other": "others",
    "colour": "color",
    "direction": "orientation",
}
NAMES = {**_OTHER_NAMES, **{skill: skill for skill in CLASSES}}


def skill_of(text: str) -> str:
    """Return the name of a skill: that of the paper's, whatever its case, or an own one in small letters."""
    plain = " ".join(text.lower().replace("_", " ").split())
    return NAMES.get(plain, plain)


def class_of(skill: str) -> str:
    """Return the class of a skill: object, attribute, relation, reasoning, or own."""
    return CLASSES.get(skill, OWN)


def label_of(skill: str) -> str:
    """Return the name of a skill in figures."""
    return LABELS.get(skill, skill)
