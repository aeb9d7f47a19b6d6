"""Sphinx: README, docs/ and the pages that they link to, as they are on GitHub.

The source folder is the repository's root, so that relative links between pages hold on both.
"""

import re
import sys
from pathlib import Path
from posixpath import join, normpath

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = "benchc"
author = "The benchc authors"
root_doc = "README"
include_patterns = [
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"),
    *("config/README.md", "results/README.md", "docs/*.md"),
]
exclude_patterns = [".*", "*.egg-info", "benchc", "build", "logs", "results/[!R]*", "tests", "docs/_build"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_heading_anchors = 3
myst_enable_extensions = ["html_image"]
copybutton_exclude = ".linenos, .gp, .go"

autodoc_member_order = "bysource"
# Docstrings state shapes and ranges; numpy's types would fill half a page.
autodoc_typehints = "none"

html_theme = "furo"
html_title = "benchc"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_additional_pages = {"index": "to_readme.html"}
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["tables.css"]

linkcheck_timeout = 20

# A heading of docs/index.md, and its links.
PART = re.compile(r"^## (.+)\n\n((?:- \[.+\n)+)", re.MULTILINE)
LINK = re.compile(r"^- \[(.+?)\]\((.+?)\.md\)", re.MULTILINE)


def add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Make the contents at the side from the lists of docs/index.md, which a reader on GitHub sees."""
    if name != root_doc:
        return
    source[0] += toctree("", "Contents <docs/index>")
    for caption, links in PART.findall((ROOT / "docs/index.md").read_text(encoding="utf-8")):
        pages = {title: normpath(join("docs", target)) for title, target in LINK.findall(links)}
        named = (f"{title} <{'self' if page == root_doc else page}>" for title, page in pages.items())
        source[0] += toctree(f":caption: {caption}", "", *named)


def toctree(*lines: str) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", *lines, "```", ""])


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_contents)
