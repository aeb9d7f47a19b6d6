"""The families whose class is Python code outside transformers, by name: rules import none of it."""

from typing import Any

from benchc.models.protocol import ModelError

# Code of the checkpoint runs only where the catalogue trusts it, at a commit.
OF_CHECKPOINT = ("kimi_vl", "molmo", "monkey", "moondream", "mplug_owl3", "sail_vl")
OF_PACKAGE = ("deepseek_vl2", "eagle")


# Files that a family's code reads from other revisions of its repository, as revision and name.
ALSO_READ = {"moondream": (("2024-08-26", "tokenizer.json"),)}
# Repositories of which a family's code reads the settings, at their default branch.
SETTINGS_OF = {
    "eagle": ("openai/clip-vit-large-patch14-336", "facebook/sam-vit-large", "google/pix2struct-large")
}


def lacks_trust(entry: Any) -> bool:
    """Return whether a catalogue entry is loaded by code of its checkpoint that it does not trust.

    A model that a server answers for runs no code of its checkpoint here.
    """
    return entry.family in OF_CHECKPOINT and not entry.trust_remote_code and entry.server is None


def untrusted(where: str, id_: str = "ID") -> ModelError:
    """Return the error of a model that is loaded by code of its checkpoint, which is not trusted.

    ``id_`` is that of its entry in the catalogue, where it is known.
    """
    return ModelError(
        f"{where}: is loaded by Python code of its checkpoint, which is not trusted; if it is on the Hub, "
        f"run `benchc models pin {id_}`, which writes its commit into the catalogue and prints where the "
        "code is; read the code, and set `trust_remote_code: true` in the model catalogue"
    )
