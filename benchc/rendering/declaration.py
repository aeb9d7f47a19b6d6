"""Declarations of tables, figures and pages in a benchmark's outputs.py: plain data, fast to import."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

ENDINGS = {
    "csv": ".csv",
    "md": ".md",
    "tex": ".tex",
    "published": "_published.csv",
    "png": ".png",
    "pdf": ".pdf",
    "html": ".html",
    "js": ".js",
    "folder": "",
}
TABLE_FORMATS = ("csv", "md", "tex", "published")
FIGURE_FORMATS = ("png", "pdf")
PAGE_FORMATS = ("html",)
SAMPLE_FORMATS = ("js", "folder")
FORMATS = {
    "table": TABLE_FORMATS,
    "figure": FIGURE_FORMATS,
    "page": PAGE_FORMATS,
    "samples": SAMPLE_FORMATS,
}


@dataclass(frozen=True, kw_only=True)
class Output:
    """A table, a figure, a page or its samples: the function ``name`` of the module ``name``.

    ``inputs``: the function's input files by name, one path or a list; ``settings``: its other arguments,
    JSON values; ``caption``: reStructuredText for the report; ``data``: data files next to the code that the
    module reads; ``code``: digests of code that it imports by name. An output that is not ``wanted`` is
    created only if requested by name, and is not in the report.
    """

    kind: Literal["table", "figure", "page", "samples"]
    name: str  # of the module, of the rule and of the files
    title: str
    inputs: Mapping[str, str | Sequence[str]]
    caption: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    formats: Sequence[str]
    subcategory: str | None = None
    data: Sequence[str] = ()
    code: Sequence[str] = ()
    wanted: bool = True

    def __post_init__(self) -> None:
        known = FORMATS[self.kind]
        wrong = [format for format in self.formats if format not in known]
        if wrong or not self.formats:
            raise ValueError(
                f"{self.kind} {self.name}: its formats are {list(self.formats)}; choose from "
                f"{', '.join(known)}"
            )
        taken = [name for name in self.inputs if name == "waited_for" or hasattr(list, name)]
        if taken:
            raise ValueError(
                f"{self.kind} {self.name}: an input cannot be called {taken[0]}; rename the parameter"
            )

    def module(self, package: str) -> str:
        """Return the module of the output in the package of its benchmark."""
        folder = "" if self.kind == "samples" else f"{self.kind}s."
        return f"benchc.benchmarks.{package}.{folder}{self.name}"

    @property
    def paragraphs(self) -> str:
        """Return the caption without indentation, of which text from several places has more than one."""
        return "\n".join(line.strip() for line in self.caption.strip().splitlines())

    @property
    def files(self) -> dict[str, str]:
        """Return the path of each format relative to the run's folder; the report shows the first."""
        if self.kind == "samples":
            return {"js": "page/samples.js", "folder": "page/items"}
        return {format: f"{self.kind}s/{self.name}{ENDINGS[format]}" for format in self.formats}

    @property
    def files_of_user(self) -> list[str]:
        """Return the input files and data that are not the run's own."""
        inputs = [[files] if isinstance(files, str) else files for files in self.inputs.values()]
        return [*self.data, *(file for files in inputs for file in files if not file.startswith("<results>"))]


def table(name: str, title: str, *, formats: Sequence[str] = TABLE_FORMATS[:3], **options: Any) -> Output:
    """Return the declaration of a table in the given formats: of csv, md, tex and published."""
    return Output(kind="table", name=name, title=title, formats=formats, **options)


def figure(name: str, title: str, **options: Any) -> Output:
    """Return the declaration of a figure."""
    return Output(kind="figure", name=name, title=title, formats=FIGURE_FORMATS, **options)


def page(name: str, title: str, **options: Any) -> Output:
    """Return the declaration of an HTML page."""
    return Output(kind="page", name=name, title=title, formats=PAGE_FORMATS, **options)


def in_order_of(key: str, outputs: Iterable[Output], names: Collection[str]) -> list[Output]:
    """Return declarations, of which those called ``names`` say that models are in the order of a setting."""
    return [
        replace(output, caption=f"{output.caption.rstrip()}\nModels are in the order of `{key}`.\n")
        if output.name in names
        else output
        for output in outputs
    ]
