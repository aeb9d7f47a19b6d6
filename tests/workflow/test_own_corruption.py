"""The corruptions of docs/corruptions.md's example file, through the corrupt stage, and what edits rerun."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from benchc.errors import InputError
from benchc.image_keys import image_seed
from benchc.images import decode
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.workflow.run_image import run_image
from scripts.commands.image import image
from tests.workflow.checkout import ROOT, Checkout

FILE = "mine/my_corruptions.py"
IMAGES = [f"results/own/corrupted/{name}.parquet" for name in ("clean", "darken", "flicker", "fog")]
SHEET = "results/own/figures/contact_sheet_1.png"
# The params of jobs that generate their images, which have no file of their own.
PRINT = """
import json
digests, recipes = images.generating_code.values, images.recipes
code = {
    part: [digests[part], [recipes[name].to_json() for name in names]]
    for part, names in images.batches.items()
}
print("CODE", json.dumps(code))
print("GROUPS", json.dumps([images.groups, images.sheets]))
"""


def example() -> str:
    page = (ROOT / "docs/corruptions.md").read_text()
    (code,) = (
        block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def flicker" in block
    )
    return code


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, python) -> Checkout:
    from benchc.demo.source import generate_source

    checkout = Checkout(tmp_path_factory.mktemp("own") / "benchc", "config/own.yaml")
    checkout.python = python
    (checkout.folder / "mine").mkdir()
    (checkout.folder / FILE).write_text(example())
    tsv = checkout.folder / "mine/shapes.tsv"
    generate_source("drawn-shapes", seed=5, groups=2).write_csv(tsv, separator="\t", quote_style="always")
    sources = {"shapes": {"label": "Shapes", "path": "mine/shapes.tsv", "task_column": "category"}}
    (checkout.folder / "config/own-sources.yaml").write_text(yaml.safe_dump(sources))
    config = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    config |= {"name": "own", "sources": ["shapes"], "pool": {"per_task": 2, "total": None}}
    config["catalogues"]["sources"] = "config/own-sources.yaml"
    config["corruptions"] |= {"own_files": [FILE], "types": ["fog", "darken", "flicker"]}
    config["inference"] = {"corruptions_per_job": "group"}
    config["figures"]["figure4"]["corruption"] = "darken"
    (checkout.folder / checkout.config).write_text(yaml.safe_dump(config, sort_keys=False))
    checkout.make(*IMAGES, SHEET, "results/own/config.yaml", cores=1)
    return checkout


@pytest.fixture
def unedited(checkout):
    """The checkout; the user's file and the configuration are as before afterwards."""
    texts = {file: (checkout.folder / file).read_text() for file in (FILE, checkout.config)}
    yield checkout
    for file, text in texts.items():
        (checkout.folder / file).write_text(text)


def images(checkout: Checkout, name: str) -> pl.DataFrame:
    return read_table(checkout.folder / f"results/own/corrupted/{name}.parquet", CORRUPTED)


def test_pixels_are_those_of_the_example(checkout):
    clean = {row["image_key"]: decode(row["image"]["bytes"]) for row in images(checkout, "clean").to_dicts()}
    seed = yaml.safe_load((checkout.folder / checkout.config).read_text())["seed"]
    assert clean
    for row in images(checkout, "darken").to_dicts():
        expected = np.rint(clean[row["image_key"]] * (1 - row["severity"] / 10))
        assert (decode(row["image"]["bytes"]) == expected).all()
    spreads = dict(enumerate((0.1, 0.2, 0.3, 0.4, 0.6), start=1))
    for row in images(checkout, "flicker").to_dicts():
        key, severity = row["image_key"], row["severity"]
        generator = np.random.Generator(np.random.SFC64(image_seed(seed, key, "flicker", severity)))
        gains = generator.uniform(1 - spreads[severity], 1 + spreads[severity], (len(clean[key]), 1, 1))
        expected = np.clip(clean[key] * gains, 0, 255).astype(np.uint8)
        assert (decode(row["image"]["bytes"]) == expected).all()
    recipe = read_footer(checkout.folder / IMAGES[2])["recipe"]
    assert recipe["kernel"] == f"{FILE}:flicker" and recipe["code"]


def test_one_image_of_the_run_has_the_pixels_that_its_jobs_show(checkout, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(checkout.folder)
    run = Path("results/own")
    pool = read_table(run / "pool/items.parquet", POOL, ["id", "image_keys"])
    items = {keys[0]: id_ for id_, keys in pool.iter_rows()}
    for name in ("clean", "darken", "flicker", "fog"):
        for row in images(checkout, name).to_dicts():
            shown = run_image(run, items[row["image_key"]], name, row["severity"])
            assert (shown == decode(row["image"]["bytes"])).all()
    item = pool["id"][-1]
    image(run, item, "fog", 5, output=tmp_path / "fog.png")
    assert capsys.readouterr().out.startswith(f"{tmp_path}/fog.png: ")
    assert (decode((tmp_path / "fog.png").read_bytes()) == run_image(run, item, "fog", 5)).all()
    assert (run_image(run, item, "fog") == run_image(run, item)).all()
    for arguments, message in {
        ("none", "fog", 1): "there is no item 'none'",
        (item, "fogg", 1): "no corruption 'fogg'; did you mean 'fog'",
        (item, "flicker", 6): "flicker has no severity 6; give one of 1, 2, 3, 4, 5",
        (item, "clean", 3): "clean has no severity 3; give 0, or a corruption",
        (item, "fog", 1, 1): "1 image, counted from 0; none is 1",
    }.items():
        with pytest.raises(InputError, match=re.escape(message)):
            run_image(run, *arguments)
    with pytest.raises(
        InputError, match="give results/<name> of a run; `benchc run FILE configuration` writes it"
    ):
        run_image(tmp_path, item)
    with pytest.raises(InputError, match=re.escape("ends in .png")):
        image(run, item, output=tmp_path / "fog.jpg")
    with pytest.raises(InputError, match=r"^fog needs a severity of 1 or more"):
        image(run, item, "fog", output=tmp_path / "clean.png")


EDITS = {
    "a comment": ("import numpy as np\n", "import numpy as np  # A comment\n", 0),
    "the formula of one": ("1 - strength)", "1 - strength / 2)", 2),
    "the random numbers of one": ("(height, 1, 1)", "(height, width, 1)", 2),
    "a strength": ("[0.1, 0.2, 0.3, 0.4, 0.5]", "[0.1, 0.2, 0.3, 0.4, 0.7]", 1),
    "a constant": ("import numpy as np\n", "import numpy as np\n\nX = 1\n", 2),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns_the_corruptions_that_it_changes(unedited, name):
    old, new, jobs = EDITS[name]
    unedited.edit(FILE, old, new)
    assert unedited.plan(*IMAGES, SHEET) == ({"corrupt": jobs, "contact_sheet": 1} if jobs else {})
    if name == "the formula of one":
        assert f"'{FILE} " in unedited.snakemake("-n", *IMAGES).stdout


def test_groups_contact_sheets_and_images_on_the_fly(unedited):
    unedited.configure(corruptions={"corrupted": "on_the_fly"})
    snakefile = unedited.folder / "Snakefile"
    text = snakefile.read_text()

    def printed(what: str):
        output = unedited.snakemake("-n", "pool").stdout
        return json.loads(next(line for line in output.splitlines() if line.startswith(what))[len(what) :])

    snakefile.write_text(text + PRINT)
    try:
        groups, sheets = printed("GROUPS")
        assert groups == {"fog": "weather", "darken": "own", "flicker": "own"}
        assert sheets == {"1": ["fog", "darken", "flicker"]}
        before = printed("CODE")
        assert before.keys() == {"own", "weather"}
        unedited.edit(FILE, "1 - strength)", "1 - strength / 2)")
        after = printed("CODE")
    finally:
        snakefile.write_text(text)
    assert after["weather"] == before["weather"]
    (line,) = set(after["own"][0]) - set(before["own"][0])
    assert line.startswith(f"{FILE} ")
    assert [new == old for new, old in zip(after["own"][1], before["own"][1], strict=True)].count(False) == 2


def test_an_error_in_the_file_stops_a_run_with_one_line(unedited):
    unedited.edit(FILE, "1 - strength)", "1 - strngth)")
    result = unedited.snakemake("-n", check=False)
    assert result.returncode == 1
    (line,) = (line for line in result.stdout.splitlines() if "strngth" in line)
    reason = "NameError: name 'strngth' is not defined; correct the kernel."
    assert line.endswith(f"corruptions.own_files: {FILE}, line 8: {reason}")
    assert "Traceback" not in result.stdout
