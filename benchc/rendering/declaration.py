"""Declarations of tables and figures in a rule file: plain data, fast to import."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

ENDINGS = {
    "csv": ".csv",
    "md": ".md",
    "tex": ".tex",
    "published": "_published.csv",
    "png": ".png",
    "pdf": ".pdf",
}
TABLE_FORMS = ("csv", "md", "tex", "published")
FIGURE_FORMS = ("png", "pdf")


@dataclass(frozen=True, kw_only=True)
class Output:
    """A table or a figure: the function ``name`` of the module ``name`` in the benchmark's tables or figures.

    ``inputs``: the function's input files by name, one path or a list; ``settings``: its other arguments,
    JSON values; ``caption``: reStructuredText for the report; ``data``: data files next to the code that the
    module reads. An output that is not ``wanted`` is created only if requested by name, and is
    not in the report.
    """

    kind: Literal["table", "figure"]
    name: str  # of the module, of the rule and of the files
    title: str
    inputs: Mapping[str, str | Sequence[str]]
    caption: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    forms: Sequence[str]
    subcategory: str | None = None
    data: Sequence[str] = ()
    wanted: bool = True

    def __post_init__(self) -> None:
        known = TABLE_FORMS if self.kind == "table" else FIGURE_FORMS
        wrong = [form for form in self.forms if form not in known]
        if wrong or not self.forms:
            raise ValueError(
                f"{self.kind} {self.name}: its forms are {list(self.forms)}; choose from {', '.join(known)}"
            )
        taken = [name for name in self.inputs if name in ("code", "data") or hasattr(list, name)]
        if taken:
            raise ValueError(
                f"{self.kind} {self.name}: an input cannot be called {taken[0]}; rename the parameter"
            )

    def module(self, package: str) -> str:
        """Return the module of the output in the package of its benchmark."""
        return f"benchc.benchmarks.{package}.{self.kind}s.{self.name}"

    @property
    def files(self) -> dict[str, str]:
        """Return the path of each form relative to the run's folder; the report shows the first."""
        return {form: f"{self.kind}s/{self.name}{ENDINGS[form]}" for form in self.forms}

    @property
    def given(self) -> list[str]:
        """Return each input as one string, NAME: FILES."""
        return [f"{name}: {files}" for name, files in self.inputs.items()]

    @property
    def arguments(self) -> list[str]:
        """Return the settings as arguments of the command, NAME=JSON each."""
        return [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.settings.items()]


def table(name: str, title: str, *, forms: Sequence[str] = TABLE_FORMS[:3], **options: Any) -> Output:
    """Return the declaration of a table in the given forms: of csv, md, tex and published."""
    return Output(kind="table", name=name, title=title, forms=forms, **options)


def figure(name: str, title: str, **options: Any) -> Output:
    """Return the declaration of a figure."""
    return Output(kind="figure", name=name, title=title, forms=FIGURE_FORMS, **options)
