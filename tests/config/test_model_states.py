"""docs/models.md says how each of the paper's models is run.

`python -m tests.config.test_model_states` writes it.
"""

from pathlib import Path

import pytest
import yaml

from benchc.config.catalogue import Model, ModelCatalogue
from benchc.models.remote_code_families import OF_CHECKPOINT, OF_PACKAGE

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/models.md"
BEGIN, END = "<!-- the paper's models -->\n", "<!-- end of the paper's models -->\n"


def table(catalogue: dict[str, Model]) -> str:
    lines = ["| model | its class | asked in | state | note |", "|---|---|---|---|---|"]
    for id_, model in catalogue.items():
        name = f"{model.label} (`{id_}`)"
        lines.append(f"| {name} | {code(model)} | {way(model)} | {model.state} | {model.note or ''} |")
    return "\n".join(lines) + "\n"


def code(model: Model) -> str:
    if model.family in OF_CHECKPOINT:
        return f"code of its checkpoint, called by `{model.family}`"
    if model.family in OF_PACKAGE:
        return f"code of a package, called by `{model.family}`"
    return "in transformers"


def way(model: Model) -> str:
    if model.env is None:
        return "server only"
    return "server (recommended) or job" if model.recommended == "server" else "job"


def catalogue() -> dict[str, Model]:
    return ModelCatalogue.model_validate(yaml.safe_load((ROOT / "config/models.yaml").read_text())).root


def test_the_page_has_the_state_of_every_model() -> None:
    found = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    assert found == table(catalogue()), "run `python -m tests.config.test_model_states`"


def test_the_states_are_those_of_the_entries() -> None:
    entry = {"label": "A", "scoring": "letter", "repo": "a/b"}
    old = Model(**entry, family="monkey", env="monkey")
    assert (code(old), way(old)) == ("code of its checkpoint, called by `monkey`", "job")
    assert old.state == "read in code"
    done = Model(**entry, family="internvl", state="verified")
    assert (code(done), way(done)) == ("in transformers", "job")
    served = Model(**entry, family="deepseek_vl2", env=None, recommended="server")
    assert (code(served), way(served)) == ("code of a package, called by `deepseek_vl2`", "server only")
    assert way(Model(**entry, recommended="server")) == "server (recommended) or job"


@pytest.mark.parametrize("id_", catalogue())
def test_no_entry_claims_what_nobody_did(id_: str) -> None:
    """A model is loaded and verified with real weights at a commit, so that its entry has one."""
    model = catalogue()[id_]
    assert model.state == "read in code" or (model.revision and len(model.revision) == 40)
    # Code that nobody has read is not trusted.
    assert not model.trust_remote_code or len(model.revision or "") == 40
    # A model without an environment can only be served.
    assert model.env is not None or model.recommended == "server"


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + table(catalogue()) + END + rest.split(END)[1])
