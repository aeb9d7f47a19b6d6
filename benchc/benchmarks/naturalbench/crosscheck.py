"""Checks across the keys that only NaturalBench has. Like the shared ones, they use raw values."""

from collections.abc import Iterator

from benchc.config.errors import shown, unknown
from benchc.config.raw import at, block, texts
from benchc.config.settings import Raw
from benchc.models.tuning.settings import ENVIRONMENT, obstacle


def curation_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each encoder that is not described, and where a run would do nothing."""
    known = [str(name) for name in block(raw, "encoders")]
    for key in ("curate.mine.encoders", "retrieval.encoders"):
        for position, name in texts(at(raw, key)):
            if name not in known:
                yield unknown(file, f"{key}[{position}]", name, known, "id in encoders")
    yield from _encoder_errors(raw, file)
    sets = block(block(raw, "curate"), "captions")
    drawn = [id_ for id_ in sets if block(sets, id_).get("form") == "generated"]
    if drawn and not block(raw, "demo"):
        yield f"{file}: demo is missing, but its seed is needed to draw curate.captions.{drawn[0]}."
    if drawn and block(raw, "curate").get("shorten") is not None:
        yield (
            f"{file}: curate.shorten is given, but curate.captions.{drawn[0]} is drawn, whose captions are "
            "short; remove curate.shorten."
        )
    if texts(raw.get("models")) and not texts(raw.get("sources")):
        yield f"{file}: models are given without sources, whose groups they answer; add a source."
    if block(raw, "retrieval") and not block(raw, "curate") and at(raw, "retrieval.pairs") is None:
        yield f"{file}: retrieval.pairs is missing, since the run curates no pairs; give a file of pairs."
    if not texts(raw.get("models")) and not block(raw, "curate") and not block(raw, "retrieval"):
        yield f"{file}: the run has no models, no curate and no retrieval, so that it does nothing; add one."


def tuning_errors(raw: Raw, models: Raw, file: str, catalogue: str) -> Iterator[str]:
    """Yield one line for each model of fine_tuning that the run has not, or that cannot be tuned."""
    known = [name for _, name in texts(raw.get("models"))]
    for position, name in texts(at(raw, "fine_tuning.models")):
        key = f"fine_tuning.models[{position}]"
        if name not in known:
            yield unknown(file, key, name, known, "id in models")
            continue
        entry = block(models, name)
        reason = obstacle(
            scoring=entry.get("scoring"),
            family=entry.get("family"),
            server=entry.get("server"),
            trust_remote_code=entry.get("trust_remote_code"),
            env=entry.get("env", ENVIRONMENT),
        )
        if entry and reason is not None:
            yield (
                f"{file}: {key} is {shown(name)}, which cannot be tuned: in {catalogue}, {reason}; remove it "
                "from fine_tuning.models."
            )


def blind_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each model of blind that the run does not score."""
    known = [name for _, name in texts(raw.get("models"))]
    for position, name in texts(at(raw, "blind.models")):
        if name not in known:
            yield unknown(file, f"blind.models[{position}]", name, known, "id in models")


def translation_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line where nobody would answer translated questions, or no table would read the answers."""
    if not block(raw, "translate"):
        return
    if not texts(raw.get("models")):
        yield f"{file}: translate is given without models, which answer what is translated; add a model."


def reading_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line where no reading is of single answers, whose chance tables and figures show."""
    readings = [name for _, name in texts(raw.get("readings"))]
    if texts(raw.get("models")) and readings and not {"decoding", "deterministic"} & set(readings):
        yield (
            f"{file}: readings has neither decoding nor deterministic, one of which Tables 1 and 5 and the "
            "figures need; add one."
        )


def _encoder_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield a line for each encoder whose weights do not fit its name or library."""
    encoders = block(raw, "encoders")
    for id_ in encoders:
        encoder = block(encoders, id_)
        name, pretrained = encoder.get("name"), encoder.get("pretrained")
        library = encoder.get("library", "open_clip")
        where = f"{file}: encoders.{id_}"
        if name == "trained" and library != "open_clip":
            yield f"{where}.library is {shown(library)}, but the encoder that the run trains is of open_clip."
        elif pretrained is not None and (name == "trained" or library != "open_clip"):
            yield f"{where}.pretrained is {shown(pretrained)}, but names weights of open_clip; remove it."
        # A folder, which has a slash in its path, contains its weights.
        elif library == "open_clip" and pretrained is None and name != "trained" and "/" not in str(name):
            yield f"{where}.pretrained is missing; name the weights of {name}, such as openai."
        if name == "trained" and block(raw, "demo") and not at(raw, "demo.image_encoder"):
            yield f"{file}: demo.image_encoder is missing, but needed for encoders.{id_}; give its steps."
