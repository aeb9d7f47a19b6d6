"""The files of `benchc new` have comments, and a schema for editors."""

from pathlib import Path

from benchc.config.new_files import catalogue_text, config_text
from benchc.home import HOME

IMAGE_COLUMN = "  # reader: {image_column: NAME}  # if that column names an image that several rows share\n"


def checkout(folder: Path) -> Path:
    (folder / "config/schema").mkdir(parents=True)
    for name in ("toy", "sources", "models"):
        (folder / f"config/schema/{name}.json").touch()
    return folder


def test_a_configuration_has_comments_on_its_keys_and_the_path_of_its_schema(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    settings = {"benchmark": "toy", "name": "mine", "seed": 1, "weight": 2}
    text = config_text(root / "config/own/mine.yaml", settings, {"weight": "Heavy."}, root)
    head, *blocks = text.split("\n\n")
    assert head.startswith(
        "# yaml-language-server: $schema=../schema/toy.json\n#\n# Written by `benchc new`."
    )
    assert " ".join(head.replace("\n# ", " ").split()).endswith(
        "results/mine/config.yaml records. Paths are relative to the working directory."
    )
    assert max(map(len, text.splitlines())) <= 110
    assert blocks == [
        "# It determines the other keys.\nbenchmark: toy",
        "# Outputs are written to results/<name>.\nname: mine",
        "seed: 1",
        "# Heavy.\nweight: 2\n",
    ]
    # A line has at most 110 characters, and a word is not parted at its hyphen.
    long = "a" * 100
    for word, between in (("bbbbbbb", " "), ("bbbbbbbb", "\n# "), ("bb-bbbbb", "\n# ")):
        text = config_text(root / "a.yaml", settings, {"weight": f"{long} {word}"}, root)
        assert text.endswith(f"\n\n# {long}{between}{word}\nweight: 2\n")
    # Of a file elsewhere, the schema has a whole path.
    first, *_ = config_text(root.parent / "mine.yaml", settings, {}, root).splitlines()
    assert first == f"# yaml-language-server: $schema={root}/config/schema/toy.json"


def test_an_entry_of_a_file_says_how_rows_share_images(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    entries = {
        "a": {"path": "a.tsv", "label": "é"},
        "b": {"url": "u"},
        "c": {"path": "c", "reader": {"x": 1}},
    }
    text = catalogue_text(root / "config/s.yaml", "sources", entries, root)
    head, *blocks = text.split("\n\n")
    assert head.startswith("# yaml-language-server: $schema=schema/sources.json\n#\n# Where the files are")
    assert head.endswith("docs/configuration.md.")
    assert "\n\n".join(blocks) == (
        f"a:\n  path: a.tsv\n  label: é\n{IMAGE_COLUMN}\nb:\n  url: u\n\nc:\n  path: c\n  reader:\n    x: 1\n"
    )
    models = catalogue_text(root / "config/m.yaml", "models", {"a": {"path": "m"}}, root)
    assert models.endswith("\n\na:\n  path: m\n") and "`gpus: 0`" in models


def test_the_schema_is_that_of_the_package_where_the_folder_has_none(tmp_path: Path) -> None:
    first, *_ = catalogue_text(tmp_path / "m.yaml", "models", {}, tmp_path).splitlines()
    assert first == f"# yaml-language-server: $schema={HOME}/config/schema/models.json"
