"""Where the Hugging Face Hub's cache on disk keeps a commit of a model.

Models that need an old transformers import this, with its old huggingface_hub.
"""

from pathlib import Path

import huggingface_hub.constants
from huggingface_hub.file_download import repo_folder_name


def snapshot_folder(repo: str, commit: str) -> Path:
    """Return the folder of a commit in the Hub's cache, whether or not it exists."""
    name = repo_folder_name(repo_id=repo, repo_type="model")
    return Path(huggingface_hub.constants.HF_HUB_CACHE) / name / "snapshots" / commit
