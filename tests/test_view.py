"""`benchc view`: where the page is, whether it is older than what it shows, copies, and two runs."""

import os
import socket
from pathlib import Path

import pytest

from benchc.errors import InputError
from benchc.rendering.results_page.script import as_script
from benchc.schemas.models import Model, Models, models_text
from benchc.workflow import owners, run_record
from benchc.workflow.owners import own
from benchc.workflow.run_record import begin
from scripts.commands.view import view

WITHHELD = (
    'benchcData("images", {"corruptions":[],"strips":{},"withheld":["closed"],"shown":"redistributable"});\n'
)


@pytest.fixture(autouse=True)
def no_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def run(folder: str, benchmark: str = "bench", text: str = "Is it red?") -> Path:
    """Write the files of a finished run with one sample, the page last."""
    root = Path(folder)
    for name in ("tables", "figures", "page/images", "scores"):
        (root / name).mkdir(parents=True)
    for name in ("config.yaml", "config-sources.yaml", "config-models.yaml"):
        (root / name).write_text("{}\n")
    (root / "models.json").write_text(models_text(Models(benchmark, {"m": Model("m", "M")})))
    (root / "tables/table1.csv").write_text("a\n")
    (root / "figures/contact_sheet_1.png").write_bytes(b"")
    (root / "page/samples.js").write_text(as_script("samples", {"ids": ["s/0"], "texts": [text]}))
    (root / "page/images/images.js").write_text(WITHHELD)
    (root / "index.html").write_text("<p>\n")
    for path in root.rglob("*.csv"):
        os.utime(path, (1, 1))
    os.utime(root / "figures/contact_sheet_1.png", (1, 1))
    return root


def test_the_page_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    page = run("results/a b") / "index.html"
    for given in (page.parent, page):
        view(given)
        out, err = capsys.readouterr()
        assert out == f"{page}\n"
        assert err == "No browser was opened; open this file in one, or copy it by --copy\n"


@pytest.mark.parametrize("file", ["tables/table1.csv", "scores/m.parquet", "grades/pool/m.parquet"])
def test_what_is_older_than_a_table_or_scores_is_said(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    root = run("results/a b")
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).touch()
    (root / "report.html").write_text("")
    os.utime(root / "report.html", (3, 3))
    os.utime(root / "index.html", (2, 2))
    os.utime(root / file, (4, 4))
    (root / "tables/.~lock.table1.csv#").write_text("")
    view(root, no_open=True)
    config = "'results/a b/config.yaml'"
    of_page, of_report = capsys.readouterr().err.splitlines()
    newer = f"is older than {root}/{file}"
    again = "run the whole configuration that made it (benchc run <configuration> --cores all)"
    assert of_page == f"{root}/index.html {newer}; {again} to make the page again"
    command = f"benchc run {config} --report 'results/a b/report.html'"
    assert of_report == f"{root}/report.html {newer}; {command} makes it again"


@pytest.mark.parametrize("is_live", [True, False])
def test_a_run_that_goes_on_is_not_to_be_started_again(
    is_live: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_record, "_call", {})
    begin("small", ["snakemake"], "local")
    own([], [], "snakemake --unlock")
    if not is_live:
        monkeypatch.setattr(owners, "_runs", lambda process, start: False)
    text = f"process {os.getpid()} on {socket.gethostname()} is still making it"
    message = f"yet: {text}; wait until it ends" if is_live else "run benchc run results/small/config.yaml"
    Path("results/small/config.yaml").touch()
    with pytest.raises(InputError, match=f"there is no results page.*{message}$"):
        view(Path("results/small"), no_open=True)
    root = run("results/small")
    os.utime(root / "index.html", (2, 2))
    os.utime(root / "tables/table1.csv", (4, 4))
    view(root, no_open=True)
    assert (capsys.readouterr().err == f"{root}/index.html: {text}\n") == is_live


def test_a_copy_has_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    root = run("results/a")
    view(root, copy=Path("copied"), no_open=True)
    names = {str(path.relative_to("copied")) for path in Path("copied").rglob("*") if path.is_file()}
    assert {"index.html", "page/samples.js", "tables/table1.csv", "models.json", "config.yaml"} <= names
    assert not {"figures/contact_sheet_1.png"} & names
    assert capsys.readouterr().err == (
        "figures, pages and texts of closed are in copied; read the licence before you pass them on\n"
    )
    with pytest.raises(InputError, match="copied: is there already; give a new folder"):
        view(root, copy=Path("copied"))


def test_two_runs_have_a_page_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = run("results/a"), run("elsewhere/results/a")
    Path("linked").symlink_to(Path("elsewhere").resolve())
    before = {path: path.stat().st_mtime_ns for path in first.rglob("*")}
    view(first, Path("linked/results/a"))
    assert capsys.readouterr().err == "No browser was opened; open this file in one\n"
    (page,) = Path("results/.view").rglob("index.html")
    text = page.read_text()
    assert {path: path.stat().st_mtime_ns for path in first.rglob("*")} == before
    bases = [part.partition('"')[0] for part in text.split('"base":"')[1:]]
    assert [(page.parent / base).resolve() for base in bases] == [first.resolve(), second.resolve()]
    names = [part.partition('"')[0] for part in text.split('"name":"')[1:]]
    assert len({*names}) == 2 and all(name.endswith("results-a") for name in names)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("absent",), r"^absent/index.html: there is no results page; give results/<name>"),
        (("results/a", "results/a"), "^results/a: is the first run; give another one"),
        (("results/a", "results/other"), "is of bench and results/other of other; give two runs of one"),
        (("results/a", "results/empty"), "^results/empty: its page has no samples"),
        (
            ("results/a", "results/data"),
            "^results/a and results/data: no sample that both show has the same id, ",
        ),
    ],
)
def test_what_cannot_be_shown_is_one_line(given: tuple[str, ...], message: str) -> None:
    run("results/a")
    run("results/other", "other")
    run("results/data", text="Is it {green}?")
    (run("results/empty") / "page/samples.js").unlink()
    with pytest.raises(InputError, match=message):
        view(*map(Path, given))
    with pytest.raises(InputError, match="--copy: copies the page of one run"):
        view(Path("results/a"), Path("results/other"), copy=Path("new"))
