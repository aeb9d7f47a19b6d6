"""Checks across the keys that Bench-C alone has; like the shared ones, they read raw values."""

from collections.abc import Iterator

from benchc.config.faults import shown, unknown
from benchc.config.raw import block, texts
from benchc.config.settings import Raw


def figure_faults(raw: Raw, file: str) -> Iterator[str]:
    """Yield one sentence for each choice of a figure that the run does not have."""
    figures, corruptions = block(raw, "figures"), block(raw, "corruptions")
    targets = (raw.get("targets"), "one of targets")
    types = (corruptions.get("types"), "one of corruptions.types")
    severities = (corruptions.get("severities"), "one of corruptions.severities")
    for figure, key, (known, kind) in (
        ("figure3", "target", targets),
        ("figure4", "target", targets),
        ("figure4", "corruption", types),
        ("figure4", "severity", severities),
        ("figure5", "target", targets),
    ):
        chosen = block(figures, figure)
        if key in chosen and isinstance(known, list) and chosen[key] not in known:
            names = ", ".join(map(str, known))
            yield f"{file}: figures.{figure}.{key} is {shown(chosen[key])}, but must be {kind}: {names}."
    if isinstance(types[0], list) and isinstance(severities[0], list):
        known = [f"{type_}:{severity}" for type_ in types[0] for severity in severities[0]]
        for position, name in texts(block(figures, "figure5").get("corruptions")):
            if name not in known:
                yield unknown(
                    file, f"figures.figure5.corruptions[{position}]", name, known, "corruption of this run"
                )


def encoder_faults(raw: Raw, file: str) -> Iterator[str]:
    """Yield the sentence for weights that do not go with the image encoder."""
    encoder = block(block(raw, "selection"), "image_encoder")
    name, pretrained = encoder.get("name"), encoder.get("pretrained")
    if name == "trained" and pretrained is not None:
        yield (
            f"{file}: selection.image_encoder.pretrained is {shown(pretrained)}, but must be null where the "
            "encoder is trained by the run."
        )
    if isinstance(name, str) and name != "trained" and pretrained is None:
        yield (
            f"{file}: selection.image_encoder.pretrained is null, but must name the weights of {name}, such "
            "as openai."
        )
