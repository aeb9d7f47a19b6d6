"""Open the results page of a run, or show the samples of two runs beside each other."""

import json
import os
import shlex
import shutil
import sys
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchc.atomic import atomic_folder, write_text
from benchc.errors import InputError
from benchc.home import has_pipeline
from benchc.newer_files import newer_file
from benchc.schemas.models import read_models

PAGE = "index.html"
# What the page shows; everything else in the folder of a run is left where it is.
COPIED = ("page", "tables", "figures", "pages")
SIDE_BY_SIDE = Path("results/.view")
# As benchc.rendering.results_page.script.as_script writes it.
NO_RECORD = 'benchcData("run", null);\n'


def view(run: Path, other: Path | None = None, /, *, copy: Path | None = None, no_open: bool = False) -> None:
    """Open the results page of a run in the browser, or show two runs beside each other, sample by sample.

    The two runs are of one benchmark, and share samples of one id, question and options; those that differ
    most come first. Nothing in the folders of the runs is changed.

    Args:
        run: results/{name} of a finished run
        other: results/{name} of another one
        copy: a new folder to which the page of one run is copied with all that it shows, to pass it on
        no_open: only print where the page is
    """
    run, other = _folder(run), other and _folder(other)
    for folder in filter(None, (run, other)):
        _check(folder)
    if other is not None:
        if copy is not None:
            raise InputError("--copy: copies the page of one run; give one run")
        page = _side_by_side(run, other)
    elif copy is not None:
        page = _copied(run, copy)
    else:
        page = run / PAGE
    print(page)
    if not no_open:
        _open(page, "" if other else ", or copy it by --copy")


def _folder(run: Path) -> Path:
    """Return the folder of a run, which may be given by its page."""
    return run.parent if run.name == PAGE else run


def _check(folder: Path) -> None:
    page = folder / PAGE
    if maker := _maker(folder):
        if not page.is_file():
            raise InputError(f"{page}: there is no results page yet: {maker}; wait until it ends")
        print(f"{page}: {maker}", file=sys.stderr)
        return
    if not page.is_file():
        config = folder / "config.yaml"
        run = f", or run benchc run {quoted(config)}" if config.is_file() else ""
        raise InputError(f"{page}: there is no results page; give results/<name> of a finished run{run}")
    if newer := newer_file(page):
        # The run's own config.yaml may be older than the file, too.
        again = "run the whole configuration that made it (benchc run <configuration> --cores all)"
        print(f"{page} is older than {newer}; {again} to make the page again", file=sys.stderr)
    report = folder / "report.html"
    if report.is_file() and (newer := newer_file(report)):
        command = f"benchc run {quoted(folder / 'config.yaml')} --report {quoted(report)}"
        print(f"{report} is older than {newer}; {command} makes it again", file=sys.stderr)


def _maker(folder: Path) -> str:
    """Return which process makes a run at the moment; "" for none."""
    if not has_pipeline():
        return ""
    # Imported here because a light installation has not all that they need.
    from benchc.workflow.owners import works
    from benchc.workflow.run_record import read_record

    for call in read_record(folder).get("calls", [])[-1:]:
        process, host = call.get("process"), call.get("host")
        if call["result"] is None and works(process, host):
            return f"process {process} on {host} is still making it"
    return ""


def _side_by_side(run: Path, other: Path) -> Path:
    """Write a page with the samples of two runs, and return its path."""
    # Imported here because only this needs it.
    from benchc.rendering.results_page.html import page_html

    if run.resolve() == other.resolve():
        raise InputError(f"{other}: is the first run; give another one")
    benchmarks = [read_models(folder / "models.json").benchmark for folder in (run, other)]
    if benchmarks[0] != benchmarks[1]:
        raise InputError(
            f"{run} is of {benchmarks[0]} and {other} of {benchmarks[1]}; give two runs of one benchmark"
        )
    for folder in (run, other):
        if not (folder / "page/samples.js").is_file():
            raise InputError(f"{folder}: its page has no samples; give runs that evaluate models")
    # As viewer.js finds them.
    samples = [_data(folder / "page/samples.js") for folder in (run, other)]
    one, two = ({*zip(each["ids"], each["texts"], strict=True)} for each in samples)
    if one.isdisjoint(two):
        raise InputError(
            f"{run} and {other}: no sample that both show has the same id, question and options; give two "
            "runs of the same data that show it all (results_page.samples)"
        )
    names = [run.resolve().name, other.resolve().name]
    if names[0] == names[1]:
        names = [str(each).strip("/.").replace("/", "-") for each in (run.resolve(), other.resolve())]
    folder = SIDE_BY_SIDE / "--".join(names)
    runs = [
        {
            "name": name,
            "base": quote(f"{Path(os.path.relpath(each.resolve(), folder.resolve())).as_posix()}/"),
        }
        for name, each in zip(names, (run, other), strict=True)
    ]
    title = " and ".join(names)
    write_text(folder / PAGE, page_html(title, title, runs, None))
    return folder / PAGE


def _copied(run: Path, folder: Path) -> Path:
    if folder.exists():
        raise InputError(f"{folder}: is there already; give a new folder, or remove it")
    with atomic_folder(folder) as new:
        shutil.copy2(run / PAGE, new / PAGE)
        for name in COPIED:
            if (run / name).is_dir():
                # Contact sheets have an image of the pool, and are not on the page.
                # The record has hosts and command lines.
                ignore = shutil.ignore_patterns(".*", "contact_sheet_*", "run.js")
                shutil.copytree(run / name, new / name, ignore=ignore)
        if (new / "page").is_dir():
            write_text(new / "page/run.js", NO_RECORD)
        for name in ("config.yaml", "config-sources.yaml", "config-models.yaml", "models.json"):
            shutil.copy2(run / name, new / name)
    if withheld := _withheld(run):
        print(
            f"figures, pages and texts of {', '.join(withheld)} are in {folder}; read the licence before you "
            "pass them on",
            file=sys.stderr,
        )
    return folder / PAGE


def _withheld(run: Path) -> list[str]:
    """Return the sources whose images are not among those of the samples."""
    path = run / "page/images/images.js"
    if not path.is_file():
        return []
    found: list[str] = _data(path)["withheld"]
    return found


def _data(script: Path) -> dict[str, Any]:
    """Return the value that a script gives the page."""
    text = script.read_text(encoding="utf-8")
    try:
        found: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError as error:
        raise InputError(
            f"{script}: is not complete; make the page of its run again, or copy it again"
        ) from error
    return found


def quoted(path: Path) -> str:
    """Return a path as a shell takes it."""
    return shlex.quote(str(path))


def _open(page: Path, otherwise: str) -> None:
    # Without a screen, webbrowser would start a browser of the terminal.
    has_screen = sys.platform in ("darwin", "win32") or any(
        map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))
    )
    if not (has_screen and webbrowser.open(page.resolve().as_uri())):
        print(f"No browser was opened; open this file in one{otherwise}", file=sys.stderr)
