"""Checks across the keys that only Bench-C has. Like the shared ones, they use raw values."""

from collections.abc import Iterator

from benchc.config.errors import shown, unknown
from benchc.config.raw import block, texts
from benchc.config.settings import Raw, default_severities, default_types


def figure_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each choice of a figure that the run does not have."""
    figures, corruptions = block(raw, "figures"), block(raw, "corruptions")
    targets = (raw.get("targets"), "targets")
    types = (corruptions.get("types", default_types(corruptions)), "corruptions.types")
    severities = (corruptions.get("severities", default_severities(corruptions)), "corruptions.severities")
    for figure, key, (known, origin) in (
        ("figure3", "target", targets),
        ("figure4", "target", targets),
        ("figure4", "corruption", types),
        ("figure4", "severity", severities),
        ("figure5", "target", targets),
    ):
        chosen = block(figures, figure).get(key)
        if chosen is not None and isinstance(known, list) and known and chosen not in known:
            names = ", ".join(map(str, known))
            value = shown(chosen)
            yield f"{file}: figures.{figure}.{key} is {value}, but should be one of {origin}: {names}."
    if isinstance(types[0], list) and isinstance(severities[0], list):
        known = [f"{type_}:{severity}" for type_ in types[0] for severity in severities[0]]
        for position, name in texts(block(figures, "figure5").get("corruptions")):
            if known and name not in known:
                key = f"figures.figure5.corruptions[{position}]"
                yield unknown(file, key, name, known, "corruption in this run")


def encoder_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield the line for weights that do not fit the image encoder."""
    encoder = block(block(raw, "selection"), "image_encoder")
    name, pretrained = encoder.get("name"), encoder.get("pretrained")
    where = f"{file}: selection.image_encoder.pretrained is {shown(pretrained)}, but should"
    if name == "trained" and pretrained is not None:
        yield f"{where} be null where the run trains the encoder."
    if isinstance(name, str) and name != "trained" and pretrained is None:
        yield f"{where} name the weights of {name}, such as openai."
