"""Write the results page of a run."""

from pathlib import Path
from typing import Annotated

from benchc.atomic import write_text
from benchc.command_line import Json
from benchc.rendering.declaration import Output
from benchc.rendering.results_page.content import page_content
from benchc.rendering.results_page.declaration import ResultsPage
from benchc.rendering.results_page.html import page_html


def results_page(
    *,
    name: str,
    declared: Annotated[ResultsPage, Json],
    outputs: Annotated[list[Output], Json],
    output: Path,
) -> None:
    """Write the results page of a run, which shows what is in the folder of its results.

    Args:
        name: of the run
        declared: what its benchmark declares about the page
        outputs: the declarations of the tables, figures and pages
        output: index.html to write, in the folder of the run's results
    """
    content = page_content(output.parent, declared, outputs)
    runs = [{"base": "", "name": name}] if declared.samples else []
    write_text(output, page_html(name, name, runs, content))
    print(f"{output}: {len(outputs)} tables, figures and pages")
