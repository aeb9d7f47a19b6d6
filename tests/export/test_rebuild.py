import json
import shutil
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchc.errors import InputError
from benchc.export.manifest import FILE, Manifest, read_manifest, write_manifest
from benchc.export.rebuild import rebuild
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import read_footer, read_table


@pytest.fixture
def moved(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "moved"))


def same_files(folder: Path, run: Path) -> set[str]:
    """Return the files of a folder, and check that they are those of the run."""
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {FILE}
    for name in names:
        if not name.startswith("corrupted/"):
            assert (folder / name).read_bytes() == (run / name).read_bytes(), name
    return names


def images(path: Path) -> pl.DataFrame:
    return read_table(path, CORRUPTED).sort("image_key", "severity")


def check_images(small, folder: Path) -> None:
    needed = {key for id_ in (*small.ids, *small.other_ids) for key in small.keys[id_]}
    for path in sorted((small.folder / "corrupted").iterdir()):
        found, expected = images(folder / "corrupted" / path.name), images(path)
        assert found.equals(expected.filter(pl.col("image_key").is_in(needed)))
        assert read_footer(folder / "corrupted" / path.name) == read_footer(path)


def test_a_moved_export_gives_the_run_once(small, moved, tmp_path):
    folder = tmp_path / rebuild(moved, root=tmp_path)
    names = same_files(folder, small.folder)
    assert {"tables/table1.csv", "figures/figure5.png", "pool/items.parquet", "scores/other.parquet"} <= names
    check_images(small, folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    (moved / "README.md").write_text("A card that was edited on the Hub.")
    assert tmp_path / rebuild(moved, root=tmp_path) == folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_killed_call_leaves_nothing_that_counts(moved, tmp_path, monkeypatch):
    copyfile = shutil.copyfile

    def killed(source: Path, target: Path) -> None:
        if Path(source).name == FILE:
            raise KeyboardInterrupt
        copyfile(source, target)

    monkeypatch.setattr(shutil, "copyfile", killed)
    with pytest.raises(KeyboardInterrupt):
        rebuild(moved, root=tmp_path)
    assert [path.name[0] for path in (tmp_path / "results/exported").iterdir()] == ["."]
    monkeypatch.undo()
    folder = tmp_path / rebuild(moved, root=tmp_path)
    assert (folder / "tables/table1.csv").is_file()
    assert [path.name for path in (tmp_path / "results/exported").iterdir()] == [folder.name]


def test_a_run_that_is_never_passed_on_whole_is_made_again_from_its_sources(small, withheld, tmp_path):
    copy_sources(small, tmp_path)
    folder = tmp_path / rebuild(withheld, root=tmp_path)
    names = same_files(folder, small.folder)
    assert "pool/items.parquet" in names
    assert "figures/figure5.png" not in names
    check_images(small, folder)


def copy_sources(small, folder: Path) -> Path:
    """Copy the file of the source that is not passed on; return its path."""
    (folder / "data").mkdir()
    return Path(shutil.copy(small.folder.parents[1] / "data/shapes.tsv", folder / "data/shapes.tsv"))


def sentence(export: Path, root: Path) -> str:
    with pytest.raises(InputError) as caught:
        rebuild(export, root=root)
    (line,) = caught.value.args
    assert "\n" not in line
    assert not list((root / "results/exported").glob("[!.]*"))
    return str(line)


def test_other_files_of_a_source_are_noticed(small, withheld, tmp_path):
    assert "there is no data/shapes.tsv" in sentence(withheld, tmp_path)
    path = copy_sources(small, tmp_path)
    text = path.read_text()
    path.write_text(text.replace("?", "!"))
    assert f"{path}: has other questions, options or images" in sentence(withheld, tmp_path)
    path.write_text("\n".join(text.splitlines()[:2]))
    assert f"{path} has no such item" in sentence(withheld, tmp_path)


def test_other_pixels_are_noticed(small, withheld, tmp_path):
    export = Path(shutil.copytree(withheld, tmp_path / "export"))
    (path,) = (export / "withheld").iterdir()
    rows = pq.read_table(path)
    hashes = rows["pixel_hash"].to_pylist()
    hashes[-1] = "0" * 32
    place = rows.schema.get_field_index("pixel_hash")
    pq.write_table(rows.set_column(place, "pixel_hash", pa.array(hashes)), path)
    manifest = read_manifest(export)
    (export / FILE).unlink()
    write_manifest(export, manifest)
    copy_sources(small, tmp_path)
    last = rows.slice(rows.num_rows - 1).to_pylist()[0]
    assert sentence(export, tmp_path).startswith(
        f"item {last['id']} under {last['corruption']} at severity {last['severity']}: has other pixels than "
        "in the run small; install benchc "
    )


def test_an_altered_export_is_refused(moved, tmp_path):
    scores = moved / "run/scores/other.parquet"
    data = scores.read_bytes()
    scores.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    assert sentence(moved, tmp_path).startswith(f"{scores}: was changed after the export")
    scores.unlink()
    assert sentence(moved, tmp_path) == f"{scores}: is missing; copy the whole export again"
    manifest = moved / FILE
    text = manifest.read_text()
    incomplete = f"{manifest}: was changed or is incomplete; copy the whole export again"
    manifest.write_text(text.replace('"seed": ', '"seed": 1'))
    assert sentence(moved, tmp_path) == incomplete
    manifest.write_text(text[:-20])
    assert sentence(moved, tmp_path) == incomplete
    files = json.loads(text)["files"]
    others = {name: facts for name, facts in files.items() if name != "run/config.yaml"}
    for change in (
        *({"run": value} for value in ("../../run", "", 5)),
        *({"format": 0}, {"seed": "x"}, {"images_folder": "../images"}, {"footers": {}}),
        *({"inputs": {"a": value}} for value in ("../../b", "run/config.yaml")),
        *({"recipes": value} for value in ({"../fog": {}}, ["fog"])),
        *({"withheld": value} for value in ("abc", {"../shapes": {"items": 1}})),
        {"files": files | {"/etc/passwd": {"bytes": 1, "sha256": ""}}},
        {"files": files | {"x": {"sha256": ""}}},
        {"files": others},
    ):
        edited = {key: value for key, value in json.loads(text).items() if key != "~digest"} | change
        manifest.write_text(Manifest(**edited).to_json())
        assert sentence(moved, tmp_path) == incomplete, change
    manifest.write_text("[" * 100_000)
    assert sentence(moved, tmp_path) == incomplete
    edited["files"] = files
    edited["recipes"] = edited["recipes"] | {"gaussian_noise": {"parameters": {"x": {}}}}
    manifest.write_text(Manifest(**edited).to_json())
    scores.write_bytes(data)
    assert sentence(moved, tmp_path).startswith(f"{manifest}: its recipes are not those of a corruption")
    manifest.write_text(text)
    other = moved / "data/gaussian_noise_3-00000-of-00000.parquet"
    shutil.copyfile(moved / "data/gaussian_noise_3-00000-of-00001.parquet", other)
    unknown = f"{other}: is no file of the export ({FILE} does not have it); delete it"
    assert sentence(moved, tmp_path) == unknown
    other.unlink()
    newer = json.loads(text) | {"format": 2, "benchc": "9.0", "new": 1}
    manifest.write_text(json.dumps(newer))
    message = f"{manifest}: was written by a newer version of benchc (9.0); update benchc"
    assert sentence(moved, tmp_path) == message
    manifest.unlink()
    assert "is no export, since its manifest.json cannot be read" in sentence(moved, tmp_path)
