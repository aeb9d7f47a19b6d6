"""The rule of the results page: what it records of declarations and of template files."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from benchc.closure import content_sample
from benchc.home import PACKAGE
from benchc.rendering.declaration import Output
from benchc.rendering.results_page.declaration import ResultsPage

FILES = PACKAGE / "rendering/results_page"


def page_contents() -> list[str]:
    """Return the contents of the template, scripts and style, which no digest of code has."""
    files = sorted(path for path in FILES.iterdir() if path.suffix in (".j2", ".js", ".css"))
    # By their names, since another checkout has them in another folder.
    return [f"{path.name} {content_sample(path)}" for path in files]


def recorded_page(page: ResultsPage) -> dict[str, Any]:
    """Return a declaration as a setting; that of the samples is recorded by their own rule."""
    samples = page.samples and _described(page.samples)
    return {
        name: value for name, value in asdict(replace(page, samples=samples)).items() if value is not None
    }


def recorded_outputs(outputs: Iterable[Output]) -> list[dict[str, Any]]:
    """Return what the page shows of tables, figures and pages; their own rules record all else."""
    return [asdict(_described(output)) for output in outputs if output.wanted]


def _described(output: Output) -> Output:
    return replace(output, inputs={}, settings={}, data=(), code=(), caption=output.paragraphs)
