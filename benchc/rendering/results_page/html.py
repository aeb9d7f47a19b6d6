"""The results page as HTML, from its template."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from benchc.rendering.data_page import SHARED_SCRIPT, SHARED_STYLE
from benchc.rendering.results_page.script import as_json

TEMPLATE, SCRIPTS, STYLE = "page.html.j2", ("viewer.js", "page.js"), "page.css"
SECTIONS = (
    ("overview", "Overview"),
    ("samples", "Samples"),
    ("claims", "Claims"),
    ("figures", "Figures"),
    ("tables", "Tables"),
    ("pages", "More views"),
    ("made", "How it was made"),
)


def page_html(
    name: str, title: str, runs: Sequence[Mapping[str, str]], content: Mapping[str, Any] | None
) -> str:
    """Return the page.

    Args:
        name: of the run.
        title: the heading.
        runs: those whose samples are shown, as ``base``, the path to their folders of results, which is
            empty or ends in a slash, and ``name``.
        content: of :func:`page_content`; None for a page of samples alone.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False)
    script = "\n".join([SHARED_SCRIPT, *map(_resource, SCRIPTS)])
    start = f"startViewer({as_json([*runs])});" if runs else ""
    shown = [
        (id_, label)
        for id_, label in SECTIONS
        if (id_ == "samples" and runs)
        or (content is not None and (id_ in ("overview", "made") or content.get(id_)))
    ]
    return environment.from_string(_resource(TEMPLATE)).render(
        name=name,
        title=title,
        sections=shown,
        page=content,
        has_samples=bool(runs),
        style=Markup(f"{SHARED_STYLE}\n{_resource(STYLE)}"),
        script=Markup(script),
        start=Markup(start),
        # No other script runs, whatever the texts of a data set contain.
        script_hashes=Markup(" ".join(f"'sha256-{_sha256(text)}'" for text in (script, start))),
    )


def _resource(file: str) -> str:
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
