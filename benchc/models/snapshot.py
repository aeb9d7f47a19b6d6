"""Where the files of a checkpoint are: in its folder, or in the Hugging Face Hub's cache on disk.

Models that need an old transformers import this, with its old huggingface_hub.
"""

from pathlib import Path

import huggingface_hub.constants
from huggingface_hub.file_download import repo_folder_name


def snapshot_folder(repo: str, commit: str) -> Path:
    """Return the folder of a commit in the Hub's cache, whether or not it exists."""
    name = repo_folder_name(repo_id=repo, repo_type="model")
    return Path(huggingface_hub.constants.HF_HUB_CACHE) / name / "snapshots" / commit


def checkpoint_folder(location: str, commit: str | None) -> Path:
    """Return the folder of a checkpoint: ``location`` itself, or that of its commit in the Hub's cache."""
    return Path(location) if commit is None else snapshot_folder(location, commit)
