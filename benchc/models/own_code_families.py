"""The families whose class is Python code outside transformers, by name: rules import none of it."""

from typing import Any

from benchc.models.protocol import ModelError

# Code of the checkpoint runs only where the catalogue trusts it, at a commit.
OF_CHECKPOINT = ("kimi_vl", "molmo", "monkey", "moondream", "mplug_owl3", "sail_vl")
OF_PACKAGE = ("deepseek_vl2", "eagle")


# Files that a family's code reads from other revisions of its repository, as revision and name.
ALSO_READ = {"moondream": (("2024-08-26", "tokenizer.json"),)}


def lacks_trust(entry: Any) -> bool:
    """Return whether a catalogue entry is loaded by code of its checkpoint that it does not trust.

    A model that a server answers for runs no code of its checkpoint here.
    """
    return entry.family in OF_CHECKPOINT and not entry.trust_remote_code and entry.server is None


def untrusted(where: str) -> ModelError:
    """Return the error of a model that is loaded by code of its checkpoint, which is not trusted."""
    return ModelError(
        f"{where}: is loaded by Python code of its checkpoint; run `benchc models pin ID` with the id of its "
        "entry, read the code at that commit, and set `trust_remote_code: true` and the commit as "
        "`revision` in the model catalogue"
    )
