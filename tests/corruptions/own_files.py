"""Write a user's files of corruptions."""

from pathlib import Path

DARKEN = """
@corruption({"strength": [0.1, 0.2, 0.3, 0.4, 0.5]})
def darken(image, *, strength):
    return np.rint(image * (1 - strength)).astype(np.uint8)
"""
HEADER = "import numpy as np\nfrom benchc.corruptions.own import corruption\n"


def written(folder: Path, code: str, name: str = "mine.py") -> str:
    """Return the path of a new file that imports numpy and the decorator, and then contains ``code``."""
    path = folder / name
    path.write_text(HEADER + code)
    return str(path)
