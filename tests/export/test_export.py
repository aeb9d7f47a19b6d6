import base64
import csv
import hashlib
import shutil
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import datasets
import mlcroissant
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml

from benchc.errors import InputError
from benchc.export import shards, write
from benchc.export.finished import POOL_FILE, Finished, read_finished
from benchc.export.manifest import read_manifest
from benchc.export.run_files import refuse_content
from benchc.export.tsv import TsvFiles
from benchc.export.write import write_export
from benchc.images import decode, encode, pixel_hash
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.corrupted_images import images_of_items
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.sources.vlmevalkit import read_vlmevalkit
from scripts.commands.export import export
from tests.export.conftest import REPO, finished_run


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


def pixels(small: Finished, corruption: str, severity: int) -> dict[str, np.ndarray]:
    """Return the first image of each selected item, as models are shown it."""
    keys = {id_: small.keys[id_] for id_ in small.ids}
    path = small.folder / "corrupted" / f"{corruption}.parquet"
    return {id_: images[severity][0] for id_, images in images_of_items(path, keys, [severity])}


@pytest.mark.parametrize(("split", "cell"), [("clean", ("clean", 0)), ("shot_noise_5", ("shot_noise", 5))])
def test_datasets_decodes_the_images_that_models_are_shown(small, exported, split, cell):
    found = datasets.load_dataset(str(exported), split=split)
    assert found["id"][:] == small.ids
    expected = pixels(small, *cell)
    pool = {row["id"]: row for row in read_table(small.pool, POOL).iter_rows(named=True)}
    kappa = dict(pl.read_parquet(small.folder / "selection/selected.parquet", columns=["id", "kappa"]).rows())
    column = "image" if "image" in found.features else "images"
    for row in found:
        image = row[column] if column == "image" else row[column][0]
        assert np.array_equal(np.array(image), expected[row["id"]])
        item = pool[row["id"]]
        assert (row["question"], row["choices"]) == (item["question"], item["options"])
        assert row["choices"]["ABCDEFGH".index(row["answer"])] == item["options"][item["answer"]]
        assert (row["corruption"], row["severity"], row["kappa"]) == (*cell, kappa[row["id"]])
        assert row["id"] == f"{row['source']}/{row['source_row']}"
        original = item["images"][0]["bytes"]
        assert row["source_sha256"][0] == hashlib.sha256(original).hexdigest()
    corrupted = datasets.load_dataset(str(exported), "corrupted", split="test")
    assert len(corrupted) == 15 * len(small.ids)


def test_the_card_counts_what_is_there_and_croissant_reads_it(small, exported):
    card = yaml.safe_load((exported / "README.md").read_text().split("---\n")[1])
    builder = datasets.load_dataset_builder(str(exported), "default")
    info = card["dataset_info"]
    counts = {split["name"]: split["num_examples"] for split in info["splits"]}
    assert counts == dict.fromkeys(builder.config.data_files, len(small.ids))
    assert datasets.Features._from_yaml_list(info["features"]) == builder.info.features
    assert info["download_size"] == sum(path.stat().st_size for path in exported.glob("data/*"))
    assert card["license"] == "unknown"
    found = mlcroissant.Dataset(str(exported / "croissant.json"))
    assert not found.metadata.issues.errors
    assert {record["default/id"].decode() for record in found.records("default")} == set(small.ids)


def test_croissant_reads_the_images_of_items_with_several(small, tmp_path):
    run = shutil.copytree(small.folder, tmp_path / "run")
    pool = read_table(run / POOL_FILE, POOL)
    one, other = small.ids[:2]
    second = pool.row(by_predicate=pl.col("id") == other, named=True)
    rows = pool.to_dicts()
    for row in rows:
        if row["id"] == one:
            row |= {name: row[name] + second[name] for name in ("image_keys", "images")}
    write_table(pl.DataFrame(rows, pool.schema), run / POOL_FILE, POOL)
    write_export(read_finished(run), tmp_path / "e", repo=REPO, redistribute=["shapes"], tsv=False)
    found = mlcroissant.Dataset(str(tmp_path / "e/croissant.json"))
    assert not found.metadata.issues.errors
    records = {
        record["default/id"].decode(): [pixel_hash([np.array(image)]) for image in record["default/images"]]
        for record in found.records("default")
        if (record["default/corruption"], record["default/severity"]) == (b"shot_noise", 5)
    }
    expected = {id_: [pixel_hash([image])] for id_, image in pixels(small, "shot_noise", 5).items()}
    expected[one] += expected[other]
    assert records == expected and len(set(expected[one])) == 2


def test_vlmevalkit_files_are_sources_with_the_same_items(small, exported):
    files = sorted((exported / "vlmevalkit").iterdir())
    assert len(files) == 16
    items, rejected = read_vlmevalkit(exported / "vlmevalkit/benchc_small_gaussian_noise_3.tsv", "s", None)
    assert rejected.is_empty()
    expected = pixels(small, "gaussian_noise", 3)
    pool = read_table(small.pool, POOL).filter(pl.col("id").is_in(small.ids))
    for name in ("question", "hint", "options", "answer", "category", "l2_category"):
        assert items[name].to_list() == pool[name].to_list()
    for images, id_ in zip(items["images"], small.ids, strict=True):
        assert np.array_equal(decode(images[0]["bytes"]), expected[id_])


ITEM = {"id": "a/1", "question": "Q\t?", "hint": None, "options": ["x", 'y"'], "answer": 1}
ITEM |= {"category": "c", "l2_category": None}


def test_tsv_files_end_before_they_are_too_large(tmp_path):
    files = TsvFiles(tmp_path, "t", options=3, most_bytes=400)
    shown = [bytes(range(60)), bytes(range(50))]
    for number, item in enumerate([ITEM, ITEM, ITEM, ITEM | {"options": []}, ITEM | {"answer": None}]):
        files.append(number, item, shown)
    files.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.tsv", "t_2.tsv"]
    with (tmp_path / "t_2.tsv").open(newline="") as file:
        (row,) = csv.DictReader(file, delimiter="\t")
    images = str([base64.b64encode(data).decode() for data in shown])
    assert row == {
        **{"index": "2", "image": images, "question": "Q\t?", "hint": "", "A": "x", "B": 'y"', "C": ""},
        **{"answer": "B", "category": "c", "l2-category": "", "id": "a/1"},
        "image_path": "['2.png', '2-1.png']",
    }


def test_what_vlmevalkit_would_misread_is_written_otherwise(tmp_path):
    item = ITEM | {"question": "one\rtwo", "hint": "", "options": ["x\ry", "z"]}
    files = TsvFiles(tmp_path, "t", options=2)
    grey = np.full((40, 50, 3), 200, np.uint8)
    for number in range(2):
        files.append(number, item, [encode(grey)])
    files.close()
    assert len(base64.b64encode(encode(grey))) <= 64  # which is an index of a row there
    table = pd.read_csv(tmp_path / "t.tsv", sep="\t")
    assert table["index"].to_list() == [0, 1] and table["A"].to_list() == ["x\ry", "x\ry"]
    assert (table["image"].str.len() > 64).all()
    assert np.array_equal(decode(base64.b64decode(table["image"][0])), grey)


def test_shards_and_row_groups_are_small(small, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 3000)
    monkeypatch.setattr(shards, "SHARD_BYTES", 9000)
    write_export(small, tmp_path / "e", repo=REPO, redistribute=["shapes"], tsv=False)
    paths = shards.shards_of(tmp_path / "e/data", "gaussian_noise_5")
    assert [path.name[-14:-8] for path in paths] == [f"-{len(paths):05}"] * len(paths)
    assert len(paths) > 1
    assert max(pq.ParquetFile(path).num_row_groups for path in paths) >= 1
    found = datasets.load_dataset(str(tmp_path / "e"), split="gaussian_noise_5")
    assert found["id"][:] == small.ids
    assert not (tmp_path / "e/vlmevalkit").exists()


def test_results_of_models_and_selected_items_are_those_of_the_tables(small, exported):
    tasks = yaml.safe_load((exported / "eval.yaml").read_text())["tasks"]
    names = datasets.get_dataset_config_names(str(exported))
    assert {task["config"] for task in tasks} <= set(names)
    table = pl.read_csv(small.folder / "tables/table1.csv")
    files = sorted((exported / ".eval_results").iterdir())
    assert [path.stem for path in files] == sorted(["other", "trained"])
    for path in files:
        results = {one["dataset"]["task_id"]: one for one in yaml.safe_load(path.read_text())}
        assert results["ras"]["value"] == table.filter(model=path.stem)["ras"][0]
        assert results["ras"]["dataset"]["id"] == REPO
        assert results.keys() == {task["id"] for task in tasks}
    selected = pl.read_parquet(small.folder / "selection/selected.parquet").filter(pl.col("selected"))
    found = pl.read_csv(exported / "selected.csv")
    assert found.sort("id").equals(selected.select("id", "kappa").sort("id"))


def test_nothing_of_a_withheld_source_is_passed_on(small, withheld):
    items = read_table(small.pool, POOL)
    hidden, shown = (items.filter((pl.col("source") == "shapes") == own) for own in (True, False))
    selected = set(small.ids)
    assert selected & set(hidden["id"])
    everything = {path: path.read_bytes() for path in withheld.rglob("*") if path.is_file()}
    pool = read_table(withheld / "run/pool/items.parquet", POOL)
    assert pool["id"].equals(items["id"])
    of_hidden = pool.filter(pl.col("source") == "shapes")
    nothing = of_hidden.select(pl.exclude("id", "source", "image_keys")).null_count()
    assert nothing.sum_horizontal()[0] == of_hidden.height * 8
    for path, data in everything.items():
        assert not any(image[0]["bytes"] in data for image in hidden["images"]), path
        if path.suffix == ".parquet" and "source" in pq.read_schema(path).names and "data" in path.parts:
            assert "shapes" not in pl.read_parquet(path, columns=["source"])["source"]
    texts = b"\n".join(data for path, data in everything.items() if path.suffix in (".tsv", ".csv", ".md"))
    own = set(hidden["question"]) - set(shown["question"])
    assert own
    assert not any(question.encode() in texts for question in own)
    assert not list(withheld.glob("run/figures/figure5*"))
    # Tables of corrupted images are encoded anew: their keys tell whose they are.
    keys = set(hidden["image_keys"].explode()) - set(shown["image_keys"].explode())
    assert keys & {key for id_ in small.other_ids for key in small.keys[id_]}
    tables = [*withheld.glob("run/corrupted/*.parquet")]
    assert tables
    assert not any(keys & set(read_table(path, CORRUPTED)["image_key"]) for path in tables)
    rows = pl.read_parquet(sorted(withheld.glob("withheld/*")))
    assert rows.height == 16 * len(selected & set(hidden["id"]))
    row = rows.filter(corruption="gaussian_blur", severity=2).row(0, named=True)
    assert row["pixel_hash"] == pixel_hash([pixels(small, "gaussian_blur", 2)[row["id"]]])
    assert "shapes" in (withheld / "README.md").read_text()
    assert read_manifest(withheld).recipes["gaussian_blur"]["parameters"].keys() == set("12345")


def test_tables_with_images_or_texts_are_refused_beside_a_withheld_source(tmp_path):
    path = tmp_path / "own.parquet"
    pl.DataFrame({"id": ["a"], "value": [1.0]}).write_parquet(path)
    refuse_content(path, ["shapes"])
    for column in ({"picture": [b"1"]}, {"pictures": [[{"bytes": b"1"}]]}, {"question": ["Which?"]}):
        pl.DataFrame({"id": ["a"], **column}).write_parquet(path)
        with pytest.raises(InputError, match="may have questions or images of shapes"):
            refuse_content(path, ["shapes"])


def test_images_that_jobs_generated_are_exported_and_the_report_is_not(finished, small, exported, tmp_path):
    fly = finished_run(finished, "fly")
    write_export(fly, tmp_path / "e", repo=REPO, redistribute=["shapes"])
    assert fly.ids == small.ids
    name = "data/shot_noise_3-00000-of-00001.parquet"
    assert pq.read_table(tmp_path / "e" / name).equals(pq.read_table(exported / name))
    report = small.folder / "report.html"
    assert not report.exists()
    report.touch()
    try:
        assert "report.html" not in small.files()
    finally:
        report.unlink()


def refused(run: Path, folder: Path, *redistribute: str) -> str:
    with pytest.raises(InputError) as caught:
        write_export(read_finished(run), folder, repo=REPO, redistribute=redistribute)
    (line,) = caught.value.args
    assert "\n" not in line
    return str(line)


def test_mistakes_are_one_sentence(finished, small, tmp_path, monkeypatch):
    run = small.folder
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/file").touch()
    assert "exists already, and nothing is overwritten" in refused(run, tmp_path / "taken")
    assert "is in the folder of the run" in refused(run, run / "e")
    (tmp_path / "link").symlink_to(tmp_path / "none")
    assert refused(run, tmp_path / "link") == f"{tmp_path}/link: is a link; choose another FOLDER"
    assert refused(run, Path()) == ".: is the working directory; choose another FOLDER"
    message = "--redistribute: the run has no source shape; its sources are drawn-text, shapes"
    assert refused(run, tmp_path / "e", "shape") == message
    reason = "but its config.yaml cannot be read (No such file or directory)"
    message = f"{reason}; give the folder of a finished run, such as results/demo."
    assert refused(tmp_path, tmp_path / "e").endswith(message)
    unfinished = finished.copy(tmp_path / "copy").folder / "results/small"
    (unfinished / "tables/table1.csv").unlink()
    assert "is not finished: tables/table1.csv is missing" in refused(unfinished, tmp_path / "e")
    assert not (tmp_path / "e").exists()
    # A file that was put there meanwhile stays.
    described = write.write_descriptions

    def put(*arguments: object) -> None:
        described(*arguments)
        (tmp_path / "e").mkdir()
        (tmp_path / "e/notes.txt").write_text("mine")

    monkeypatch.setattr(write, "write_descriptions", put)
    assert "exists already, and nothing is overwritten" in refused(run, tmp_path / "e")
    assert (tmp_path / "e/notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("files", "them"),
    [
        (["a.py"], "put it at the same path, relative to the working directory, and give"),
        (["a.py", "b/c.py"], "put them at the same path, relative"),
        (["/a.py"], "put it at the same path and give"),
    ],
)
def test_files_of_own_corruptions_that_an_evaluation_needs_are_named(
    small, tmp_path, monkeypatch, capsys, files, them
):
    own = small.run.settings.corruptions.model_copy(update={"own_files": files})
    run = copy(small.run)
    run.settings = run.settings.model_copy(update={"corruptions": own})
    monkeypatch.setattr("scripts.commands.export.read_finished", lambda _: replace(small, run=run))
    export(small.folder, tmp_path / "made")
    note = f"Some corruptions are those of {', '.join(files)}, which this folder does not have: "
    for text in (capsys.readouterr().out, (tmp_path / "made/README.md").read_text()):
        assert note in text and them in text and "give --trust." in text


def test_a_long_prompt_is_no_file(small):
    settings = {"prompt": f"{'长' * 100} / {__file__}", "tags": __file__}
    run = SimpleNamespace(finished=SimpleNamespace(settings=settings))
    assert replace(small, run=run).inputs() == [__file__]


def test_absolute_paths_in_the_configuration_are_named(small, tmp_path, capsys):
    export(small.folder, tmp_path / "made")
    assert "absolute paths" not in capsys.readouterr().out
    moved = replace(small, folder=tmp_path / "the records")
    moved.folder.mkdir()
    record = {
        "b": ["serve --model=/scratch/jane/m 'file:///x/y'"],
        "a": {"path": "~/data/q.tsv", "instruction": "Answer /yes/ or /no/"},
        "c": [str(moved.folder), "/no_think", {"server": {"api_path": "/openai/v1"}}],
    }
    (moved.folder / "config.yaml").write_text(yaml.safe_dump(record))
    (moved.folder / "config-models.yaml").write_text(
        "m: {path: ~jane/m, system_prompt: /no/think, url: http://h/v1}"
    )
    (moved.folder / "config-sources.yaml").write_text("{}")
    (moved.folder / "config-old.yaml").write_text("a: /old/file\na: /old/file")
    paths = ["/scratch/jane/m", "/x/y", str(moved.folder), "~/data/q.tsv", "~jane/m"]
    assert moved.absolute_paths() == sorted(paths)
