import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

from benchc.benchmarks.bench_c.figures.figure1a import figure1a
from benchc.benchmarks.bench_c.figures.figure4 import figure4
from benchc.rendering.save import save
from benchc.rendering.style import COLUMN_WIDTH, styled
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, selection

ROOT = Path(__file__).parents[2]


def draw(folder: Path) -> tuple[bytes, bytes]:
    figure = figure4(drawn_scores(30, ["snow"], 1), label="Größe 7B", corruption="snow", severity=5)
    png, pdf = folder / "drawn.png", folder / "drawn.pdf"
    save(figure, png=png, pdf=pdf)
    return png.read_bytes(), pdf.read_bytes()


def plot(folder: Path, name: str) -> tuple[bytes, bytes]:
    png, pdf = folder / f"{name}.png", folder / f"{name}.pdf"
    save(figure1a(selection([0.0, 0.2, 0.4], [False, True, True])), png=png, pdf=pdf)
    return png.read_bytes(), pdf.read_bytes()


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path):
    assert plot(tmp_path, "first") == plot(tmp_path, "second")


def test_the_bytes_do_not_depend_on_the_process(tmp_path: Path):
    code = f"import pathlib; from {__name__} import draw; draw(pathlib.Path({str(tmp_path)!r}))"
    environment = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "1", "TZ": "X1"}
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **environment})
    there = [(tmp_path / f"drawn.{form}").read_bytes() for form in ("png", "pdf")]
    assert [*draw(tmp_path)] == there


def test_files_contain_no_date_or_software_and_embed_truetype(tmp_path: Path):
    png, pdf = plot(tmp_path, "figure")
    assert b"tEXt" not in png and b"Software" not in png
    assert not re.search(rb"CreationDate|ModDate|/Producer|/Creator", pdf)
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf


def test_a_png_has_300_pixels_per_inch(tmp_path: Path):
    png, _ = plot(tmp_path, "figure")
    assert int.from_bytes(png[16:20], "big") == round(300 * COLUMN_WIDTH)


def test_files_are_unchanged_when_rendering_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    before = plot(tmp_path, "figure")
    figure = figure1a(selection([0.5], [True]))
    plain = figure.savefig

    def fail_on_pdf(file: object, *, format: str, **options: object) -> None:
        plain(file, format=format, **options)
        if format == "pdf":
            raise OSError("disk full")

    monkeypatch.setattr(figure, "savefig", fail_on_pdf)
    with pytest.raises(OSError, match="disk full"):
        save(figure, png=tmp_path / "figure.png", pdf=tmp_path / "figure.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.pdf", "figure.png"]
    assert ((tmp_path / "figure.png").read_bytes(), (tmp_path / "figure.pdf").read_bytes()) == before


def test_a_users_matplotlib_settings_are_neither_used_nor_changed(tmp_path: Path):
    before = plot(tmp_path, "before")
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "pdf.fonttype": 3, "savefig.dpi": 50}):
        assert plot(tmp_path, "during") == before
        assert matplotlib.rcParams["font.size"] == 20
        with styled():
            assert matplotlib.rcParams["pdf.fonttype"] == 42
        assert matplotlib.rcParams["pdf.fonttype"] == 3
