"""`benchc cache`: list, prune and adopt the predictions that infer has cached."""

import os
import re
import shutil
import time
from pathlib import Path

import polars as pl
import pytest
import torch

from benchc.corruptions.recipe import Recipe, clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.errors import InputError
from benchc.hugging_face import transformers
from benchc.models import checkpoint, prediction_code
from benchc.models.attention import require_attention
from benchc.models.checkpoint import load
from benchc.models.letter import LetterScorer
from benchc.models.protocol import CheckpointSource, ModelError, OptionScores
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.parquet import read_footer, write_table
from benchc.workflow.stage import as_json
from scripts.benchc import main
from scripts.commands.cache import settings_of
from tests.models import test_units
from tests.models.classes.builders import save
from tests.models.conftest import FAMILIES
from tests.models.stand_ins.device import StandInDevice
from tests.models.test_units import SHOWN
from tests.stages import call_stage

ROOT = Path(__file__).resolve().parents[2]
ITEMS, PREDICTIONS = len(SHOWN), 5 * len(SHOWN)
# All items have one question, and p/0 and p/1 have one image.
UNITS = ITEMS - 1
COMPUTED = (5, PREDICTIONS - 5)  # of a first job: from the cache, computed

Arguments = dict[str, str]

folder = test_units.folder


@pytest.fixture
def job(folder: Path, checkpoints, monkeypatch: pytest.MonkeyPatch, torch_settings: None) -> Arguments:
    """The options of an infer job in the present folder, which has 41 items under one corruption."""
    monkeypatch.chdir(folder)
    return {
        **{"model.label": "llava", "model.location": str(checkpoints["llava"]), "model.family": "llava"},
        **{"scoring": "letter", "pool": "pool.parquet", "corrupted": '["gaussian_noise.parquet"]'},
        **{"job.cache": "cache", "job.shard": "w", "output": "out.parquet"},
    }


@pytest.fixture
def edited(tmp_path_factory, monkeypatch):
    """Return a function that edits code between prompt and logits without changing a number."""
    root = tmp_path_factory.mktemp("edited")
    shutil.copytree(ROOT / "benchc", root / "benchc", ignore=shutil.ignore_patterns("__pycache__"))
    path = root / "benchc/models/predict.py"
    original = path.read_text()

    def edit(number: int) -> None:
        path.write_text(original + (f"\nEDIT = {number}\n" if number else ""))
        monkeypatch.setattr(prediction_code, "ROOT", root)

    return edit


def words(arguments: Arguments) -> list[str]:
    return [f"--{name}={value}" for name, value in arguments.items()]


def on_the_fly(job: Arguments, recipes: dict[str, Recipe]) -> Arguments:
    made = {"images.seed": "5", "images.recipes": as_json(recipes)}
    return {name: value for name, value in job.items() if name != "corrupted"} | made


def predicted(job: Arguments, capsys, **more: str) -> tuple[int, int]:
    """Run infer; return the number of its predictions from the cache and of those that it computed."""
    capsys.readouterr()
    call_stage("infer", *words(job | more))
    counts = re.search(r"([\d,]+) from the cache, ([\d,]+) computed", capsys.readouterr().err)
    assert counts is not None
    return int(counts[1]), int(counts[2])


def cache(capsys, *arguments: str) -> str:
    capsys.readouterr()
    main(["cache", *arguments])
    return capsys.readouterr().out


def rows(capsys) -> list[list[str]]:
    """Return the table of `benchc cache` without its header."""
    lines = cache(capsys, "--cache", "cache").splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_adopted_predictions_are_used_and_counted_in_footers(job, edited, capsys):
    assert predicted(job, capsys) == COMPUTED
    before, computed = read_footer("out.parquet"), Path("out.parquet").read_bytes()
    assert "adopted" not in before
    edited(1)
    assert [row[6:8] for row in rows(capsys)] == [["no", str(UNITS)]]
    [[_, _, name, *_]] = rows(capsys)
    text = cache(capsys, "adopt", *words(job), "--sample", "7")
    assert text.endswith(f"{UNITS} units of {name}; 7 units computed again, every bit agrees\n")
    assert sorted(row[6:8] for row in rows(capsys)) == [["no", str(UNITS)], ["yes", str(UNITS)]]

    assert predicted(job, capsys) == (PREDICTIONS, 0)
    after = read_footer("out.parquet")
    assert after["adopted"] == {before["code"]: PREDICTIONS}
    assert after["code"] != before["code"]
    assert {**after, "adopted": None, "code": None} == {**before, "adopted": None, "code": None}

    (index,) = Path("cache").glob("*/*/adopted/*/*.index")
    assert index.read_bytes() in [path.read_bytes() for path in Path("cache").glob("*/*/w-*.index")]

    # They survive the deletion of the identity that they are from, and a second adoption names their code.
    assert "deleted 1 folder" in cache(capsys, "prune", "--cache", "cache", "--outdated")
    edited(2)
    cache(capsys, "adopt", *words(job), "--sample", "7")
    assert predicted(job, capsys) == (PREDICTIONS, 0)
    assert read_footer("out.parquet")["adopted"] == {before["code"]: PREDICTIONS}
    # An edit that is undone leaves the predictions of the original code, which are its own.
    edited(0)
    cache(capsys, "adopt", *words(job), "--sample", "7")
    assert predicted(job, capsys) == (PREDICTIONS, 0)
    assert Path("out.parquet").read_bytes() == computed


def test_neither_workers_nor_joined_units_change_a_byte(job, capsys):
    assert predicted(job, capsys) == COMPUTED
    alone = Path("out.parquet").read_bytes()
    assert predicted(job, capsys, **{"job.cache": "other", "job.workers": "2"}) == COMPUTED
    assert Path("out.parquet").read_bytes() == alone
    # Other modes have predictions of their own, since not every pass is checked.
    for mode in ("if_equal", "always"):
        assert predicted(job, capsys, **{"model.units-together": mode}) == COMPUTED
        assert read_footer("out.parquet")["units_together"] == mode
    assert sorted(row[5] for row in rows(capsys)) == ["together always", "together if_equal", "–"]


def test_a_job_says_whether_units_passed_together(job, capsys):
    # Units of an item pass together, and each item has one.
    call_stage("infer", *words(job | {"model.units-together": "if_equal"}))
    assert "llava: no units passed together (`units_together`)" in capsys.readouterr().err
    two = {name: recipe_of(name) for name in ("shot_noise", "brightness")}
    call_stage("infer", *words(on_the_fly(job, two) | {"model.units-together": "if_equal"}))
    assert re.search(r"llava: units passed .* pass", capsys.readouterr().err)


def test_one_other_bit_is_refused_and_named(job, edited, monkeypatch, capsys):
    predicted(job, capsys)
    edited(1)
    ask = LetterScorer.ask
    asked: list[str] = []

    def other(self, question, encoded):
        scores = ask(self, question, encoded)
        asked.append("")
        if len(asked) == 5:
            scores.logits.view("int32")[3, 1] ^= 1
        return OptionScores(*scores)

    monkeypatch.setattr(LetterScorer, "ask", other)
    bits = r"has the logits \[.*\], cached are \[.*\]; nothing was adopted"
    sentence = rf"does not give the same predictions: item p/\d+ under gaussian_noise at severity 4 {bits}"
    with pytest.raises(SystemExit, match=sentence):
        cache(capsys, "adopt", *words(job), "--sample", "7")
    monkeypatch.setattr(LetterScorer, "ask", ask)
    assert predicted(job, capsys) == COMPUTED


def test_adoption_needs_predictions_that_differ_in_their_code_alone(job, edited, capsys):
    predicted(job, capsys)
    with pytest.raises(SystemExit, match=r"no cached predictions differ from those of .* in their code alo"):
        cache(capsys, "adopt", *words(job))
    edited(1)
    others = {"model.threads": "2", "scoring": "text", "model.dtype": "bfloat16", "identity": "other"}
    for name, value in others.items():
        with pytest.raises(SystemExit, match="no cached predictions differ"):
            cache(capsys, "adopt", *words(job | {name: value}))
    with pytest.raises(SystemExit, match=rf"{UNITS} units cached, but --sample is 50; give .* a smaller"):
        cache(capsys, "adopt", *words(job))


def test_a_sample_is_found_among_units_that_are_not_cached(job, edited, capsys):
    noise = {"gaussian_noise": test_units.RECIPE}
    predicted(on_the_fly(job, noise), capsys)
    edited(1)
    both = on_the_fly(job, {"clean": clean_recipe(), **noise})
    assert "10 units computed again" in cache(capsys, "adopt", *words(both), "--sample", "10")
    # The clean images were not cached, of which some are equal.
    new = len({tuple(map(test_units.png, keys)) for keys in SHOWN.values()})
    assert predicted(both, capsys) == (PREDICTIONS + ITEMS - new, new)


def test_pruning_deletes_what_meets_all_conditions(job, edited, capsys):
    predicted(job, capsys)
    [old] = Path("cache").glob("*/*/identity.json")
    os.utime(old, (time.time() - 3 * 86_400,) * 2)
    edited(1)
    predicted(job, capsys)
    predicted(job, capsys, scoring="text")
    present = {(row[1], row[2], row[6]) for row in rows(capsys)}
    assert {row[::2] for row in present} == {("letter", "no"), ("letter", "yes"), ("text", "yes")}

    def prune(*arguments: str) -> list[str]:
        lines = cache(capsys, "prune", "--cache", "cache", *arguments).splitlines()
        return [line.split(", ")[2].partition(":")[0] for line in lines[:-1]]

    model = old.parent.parent.name
    assert prune("--dry-run", "--outdated") == [old.parent.name]
    assert prune("--dry-run", "--unused-for", "2", "--model", model) == [old.parent.name]
    assert len(prune("--dry-run", "--model", model)) == 3
    assert prune("--unused-for", "4") == []
    with pytest.raises(SystemExit, match="no model 'other'; choose from"):
        prune("--model", "other")
    assert {(row[1], row[2], row[6]) for row in rows(capsys)} == present
    assert prune("--unused-for", "2", "--outdated") == [old.parent.name]
    assert not old.parent.exists()
    assert [row[6] for row in rows(capsys)] == ["yes", "yes"]
    # A use is a use, also of a job that computes nothing.
    for path in Path("cache").glob("*/*/identity.json"):
        os.utime(path, (time.time() - 3 * 86_400,) * 2)
    assert predicted(job, capsys) == (PREDICTIONS, 0)
    assert len(prune("--dry-run", "--unused-for", "2")) == 1
    with pytest.raises(SystemExit):
        prune("--dry-run")


def test_an_empty_cache_and_a_damaged_one(tmp_path, capsys):
    assert cache(capsys, "--cache", str(tmp_path)) == f"{tmp_path} has no cached predictions\n"
    (tmp_path / "m/0").mkdir(parents=True)
    (tmp_path / "m/0/identity.json").write_text('{"model": "m"}')  # of an older format
    assert cache(capsys, "--cache", str(tmp_path)) == f"{tmp_path} has no cached predictions\n"
    (tmp_path / "m/0/identity.json").write_text("{")
    with pytest.raises(SystemExit, match=rf"identity\.json: not an identity .*; delete {tmp_path}/m/0"):
        cache(capsys, "--cache", str(tmp_path))
    with pytest.raises(SystemExit, match=rf"{tmp_path}/n: there is no such folder"):
        cache(capsys, "--cache", str(tmp_path / "n"))


def test_code_that_is_edited_while_the_model_loads_is_refused(job, edited, monkeypatch, capsys):
    """The cache would keep the old code's predictions as those of the new one."""
    load = checkpoint.load

    def slow(source):
        edited(1)
        return load(source)

    monkeypatch.setattr(checkpoint, "load", slow)
    with pytest.raises(InputError, match="the code was edited while the model was loaded"):
        predicted(job, capsys)
    assert not list(Path("cache").rglob("*.units"))


def test_only_assigned_units_are_computed_again(job, edited, capsys):
    cells = [("p/0", "gaussian_noise", 1), ("p/0", "gaussian_noise", 3), ("p/5", "gaussian_noise", 2)]
    table = pl.DataFrame(cells, schema=pl.Schema(ASSIGNMENT.columns), orient="row")
    write_table(table, "assignment.parquet", ASSIGNMENT)
    recipes = as_json({"gaussian_noise": test_units.RECIPE})
    job |= {"assignment": "assignment.parquet", "images.recipes": recipes, "images.seed": "5"}
    assert predicted(job, capsys) == (0, 3)
    edited(1)
    assert "2 units computed again" in cache(capsys, "adopt", *words(job), "--sample", "2")
    assert predicted(job, capsys) == (3, 0)
    # Units with all severities are others.
    edited(2)
    whole = {name: value for name, value in job.items() if name != "assignment"}
    with pytest.raises(SystemExit, match="of these items and images, 0 units cached"):
        cache(capsys, "adopt", *words(whole), "--sample", "2")


def test_another_attention_has_its_own_predictions_and_the_default_those_of_sdpa(job, capsys, monkeypatch):
    calls = []
    sdpa = torch.nn.functional.scaled_dot_product_attention

    def counted(*values, **options):
        calls.append(values[0].shape)
        return sdpa(*values, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", counted)
    assert predicted(job, capsys) == COMPUTED
    plain, used = pl.read_parquet("out.parquet"), len(calls)
    assert predicted(job, capsys, **{"model.attention": "sdpa"}) == (PREDICTIONS, 0)
    # A job compares its first unit in any case.
    with_cache = len(calls)
    assert 0 < with_cache - used < used / 4
    assert predicted(job, capsys, **{"model.attention": "eager"}) == COMPUTED
    assert len(calls) == with_cache
    assert read_footer("out.parquet")["attention"] == "model eager, vision_config eager, text_config eager"
    eager = pl.read_parquet("out.parquet")
    columns = ["id", "corruption", "severity", "prompt_hash", "image_hash"]
    assert eager.select(columns).equals(plain.select(columns))
    differences = (eager["logits"].explode() - plain["logits"].explode()).abs()
    assert 0 < differences.max() < 1e-5


def test_flash_attention_is_named_in_the_list_of_the_cache():
    found = [list(settings_of({"attention": f"model {name}"})) for name in ("sdpa", "flash_attention_2")]
    assert found == [[], ["flash_attention_2"]]


@pytest.mark.parametrize("divided", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_vision_tower_and_language_model_have_the_attention(
    checkpoints, family, divided, monkeypatch, tmp_path
):
    if divided:  # the layer is read from disk in each pass, as that of another GPU gets its input
        names = load(CheckpointSource(str(checkpoints[family]))).model.state_dict()
        parts = {name: "disk" if ".layers.1." in name else "cpu" for name in names}
        given = {"device_map": parts, "offload_folder": str(tmp_path)}
        monkeypatch.setattr(checkpoint, "division", lambda _: given)
        monkeypatch.setattr(checkpoint, "place", lambda *_: None)
    model = load(CheckpointSource(str(checkpoints[family]), attention="eager")).model
    assert hasattr(model, "hf_device_map") == divided
    parts = [part for part in model.modules() if isinstance(part, transformers.PreTrainedModel)]
    assert len(parts) > 2 and {part.config._attn_implementation for part in parts} == {"eager"}
    source = CheckpointSource("m", attention="eager")
    require_attention(model, source)
    parts[-1].config._attn_implementation = "sdpa"
    with pytest.raises(ModelError, match=r"m: \w+ does not support `attention: eager`; choose another, or"):
        require_attention(model, source)


def test_eager_attention_is_refused_for_a_tower_of_timm_which_ignores_it(tmp_path):
    save("fast_vlm", tmp_path)
    with pytest.raises(ModelError, match=r": TimmWrapperModel does not support `attention: eager`; choose"):
        load(CheckpointSource(str(tmp_path), attention="eager"))
    load(CheckpointSource(str(tmp_path), attention="sdpa"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"device": "cpu"}, "has attention: flash_attention_2 without gpus, but it computes on a GPU alone"),
        ({"dtype": "float32"}, "has attention: flash_attention_2 and dtype: float32, in which it cannot"),
        ({}, "`attention: flash_attention_2` needs the package flash_attn, 2.3.3 or later, which is not"),
    ],
)
def test_what_flash_attention_lacks_is_one_line(checkpoints, options, sentence):
    given = {"device": "cuda", "dtype": "bfloat16", "attention": "flash_attention_2", **options}
    with pytest.raises(ModelError, match=sentence) as caught:
        load(CheckpointSource(str(checkpoints["llava"]), **given))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("attention", "flag"), [("flash_attention_2", "_supports_flash_attn"), ("sdpa", "_supports_sdpa")]
)
def test_a_part_that_does_not_support_the_attention_is_one_line(checkpoints, attention, flag, monkeypatch):
    monkeypatch.setattr(transformers.CLIPVisionModel, flag, False)
    monkeypatch.setattr(transformers.utils, "is_flash_attn_2_available", lambda: True)
    monkeypatch.setattr(transformers.PreTrainedModel, "_flash_attn_import_error", lambda *_, **__: None)
    monkeypatch.setattr("transformers.modeling_utils.lazy_import_flash_attention", lambda *_, **__: None)
    source = CheckpointSource(str(checkpoints["llava"]), device="cuda", dtype="bfloat16", attention=attention)
    sentence = rf"CLIPVision\w+ does not support `attention: {attention}`; choose an"
    with StandInDevice(), pytest.raises(ModelError, match=sentence):
        load(source)
