"""List the models of catalogues."""

from pathlib import Path

from benchc.checking.model_facts import loaded_by, revision_of, whereabouts
from benchc.checking.verification import verifications
from benchc.config.catalogue import Model
from benchc.config.model_catalogue import CATALOGUES, listed_models
from benchc.models.hub.offline import work_offline
from benchc.planning.amounts import disk_text
from benchc.rendering.markdown import markdown

# Of the catalogue's keys that are true or false, each is a column.
FLAGS = [name for name, field in Model.model_fields.items() if field.annotation is bool]


def list_models(*, catalogue: tuple[Path, ...] = CATALOGUES) -> None:
    """List all models: how each is loaded, at which revision, and whether it is on this machine.

    A model on the Hub is here if its cache has all files that are read. The Hub is not asked. Where a server
    is recommended, it runs the model better than a job does, or it alone can (benchc models show ID).
    A model is verified if its accuracy was measured here and agrees with a published one (benchc models
    verify).

    Args:
        catalogue: model catalogues; of several entries with one id, the first is taken
    """
    models = listed_models(catalogue)
    work_offline()
    rows = [row(id_, listed.model) for id_, listed in models.items()]
    header = ["id", "label", "loaded by", "recommended", "revision", *FLAGS, "verified", "here", "weights"]
    print(markdown(header, rows, text_columns=len(header) - 1), end="")


def row(id_: str, model: Model) -> list[str]:
    """Return the cells of a model."""
    where = whereabouts(model)
    return [
        id_,
        model.label,
        loaded_by(model),
        "server" if model.recommended == "server" else "",
        revision_of(model),
        *("yes" if getattr(model, flag) else "no" for flag in FLAGS),
        "; ".join(each.text for each in verifications(id_, model)),
        where.text,
        disk_text(where.size) if where.size else "",
    ]
