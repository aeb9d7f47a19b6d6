"""Show all that the catalogue and this machine know about a model."""

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchc.checking.model_facts import loaded_by, server_address, whereabouts
from benchc.checking.verification import verifications
from benchc.config.catalogue import Model
from benchc.config.model_catalogue import CATALOGUES, Listed, listed_model, listed_models
from benchc.models.hub.cached import fetch_command
from benchc.models.hub.errors import HUB
from benchc.models.hub.offline import work_offline
from benchc.planning.amounts import disk_text
from benchc.printable import printable

# Of a value, in a narrow terminal.
LEAST_COLUMNS = 20


def show(id: str, /, *, catalogue: tuple[Path, ...] = CATALOGUES) -> None:
    """Show all that the catalogue and this machine know about a model. The Hub is not asked.

    Args:
        id: id of the model in the catalogue
        catalogue: model catalogues; of several entries with one id, the first is taken
    """
    found = listed_model(id, listed_models(catalogue))
    work_offline()
    entry = found.model.model_dump(mode="json")
    facts = facts_of(id, found) | {key: json.dumps(value, ensure_ascii=False) for key, value in entry.items()}
    for line in lines(facts, shutil.get_terminal_size().columns):
        print(line)


def lines(facts: Mapping[str, str], columns: int) -> Iterator[str]:
    """Yield names and values in lines of ``columns`` letters, but for a longer word, which is not broken."""
    indent = max(map(len, facts)) + 2
    for name, text in facts.items():
        # A word of a command or an address can be copied.
        yield from textwrap.wrap(
            printable(text),
            max(columns, indent + LEAST_COLUMNS),
            initial_indent=f"{name:{indent}}",
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


def facts_of(id_: str, found: Listed) -> dict[str, str]:
    """Return what the catalogue's keys do not say."""
    model: Model = found.model
    where = whereabouts(model)
    facts = {"catalogue": str(found.file), "loaded by": loaded_by(model), "here": where.text}
    if where.folder is not None:
        facts["folder"] = str(where.folder)
    if verified := "; ".join(each.text for each in verifications(id_, model)):
        facts["verified"] = verified
    if where.size:
        facts["weights"] = disk_text(where.size)
    if model.repo is not None and server_address(model) is None:
        facts["page"] = f"{HUB}/{model.repo}"
        facts["commit here"] = where.commit or "unknown"
        if where.folder is None:
            facts["to fetch it"] = fetch_command(model.repo, model.revision)
    if model.adapter_repo is not None and where.text != "yes":
        command = fetch_command(model.adapter_repo, model.adapter_revision)
        facts["to fetch its adapter"] = f"{command} --adapter"
    return facts
