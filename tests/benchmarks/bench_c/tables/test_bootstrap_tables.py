"""The bootstrap tables, the command that compares runs, and its console command."""

import tomllib
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
import yaml

from benchc.benchmarks.bench_c.metrics.aggregate import DELTA_ACCURACY, overall_means
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.errors import InputError
from benchc.schemas.models import Models, models_text
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from scripts.benchc import commands, main
from tests.benchmarks.bench_c.metrics.score_tables import kappas, scored
from tests.benchmarks.bench_c.outputs import flat, output, rows_of, write_filled, write_models, write_record
from tests.footers import footer_of
from tests.standings import standings_of

ROOT = Path(__file__).resolve().parents[4]
COUNT = 5


def make_run(folder: Path, *, seed: int = 0, revision: str = "r1") -> Path:
    ids = kappas(COUNT)["id"].to_list()
    pool = {"id": ids, "source": "s", "task": "map", "options": [["a", "b", "c"]] * COUNT, "answer": 0}
    write_filled(pool, folder / "pool/items.parquet", POOL, footer_of({"cap": COUNT}))
    selected = kappas(COUNT).with_columns(rank=pl.int_range(COUNT), score=pl.lit(1.0), selected=pl.lit(True))
    write_table(selected, folder / "selection/selected.parquet", SELECTED, footer_of({"alpha_kappa": 1.0}))
    (folder / "models.json").write_text(models_text(Models("bench-c", {})))
    write_record(folder)
    empty = pl.DataFrame(schema=dict(PREDICTIONS.columns))
    for number, model in enumerate(("one", "two")):
        write_table(scored(COUNT, seed + number), folder / f"scores/{model}.parquet", SCORES)
        path = folder / f"predictions/selected/{model}/all.parquet"
        write_table(empty, path, PREDICTIONS, footer_of({"model": model, "revision": revision}))
    return folder


def compared(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    main(["compare", *map(str, arguments), "--draws", "25"])
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["intervals", "rank_swaps"])
def test_a_table_has_three_forms_and_is_reproducible(name, tmp_path):
    folder = make_run(tmp_path / "run")
    write_models(folder / "models.json", {"one": "One", "two": "Two"})
    files = {
        "scores": [str(folder / f"scores/{model}.parquet") for model in ("one", "two")],
        "models": [str(folder / "models.json")],
        "selected": [str(folder / "selection/selected.parquet")],
        "chance": [str(folder / "chance.csv")],
    }
    standings_of(["One", "Two"]).frame.write_csv(folder / "chance.csv")
    first, again, other = (output(name, files, draws=25, seed=seed) for seed in (3, 3, 4))
    texts = (first.frame.write_csv(), first.markdown, first.latex)
    assert all(texts) and texts == (again.frame.write_csv(), again.markdown, again.latex)
    assert other.frame.write_csv() != texts[0]
    assert name == "rank_swaps" or "| One " in first.markdown
    assert "25 resamples" in flat(first.markdown)
    path = folder / "selection/selected.parquet"
    fewer = read_table(path, SELECTED).with_columns(selected=pl.col("id") != "s/0")
    write_table(fewer, path, SELECTED)
    with pytest.raises(InputError, match="s/0"):
        output(name, files, draws=25, seed=3)


def test_compare_names_the_inputs_that_differ_and_prints_differences(tmp_path, capsys):
    a, b = make_run(tmp_path / "a"), make_run(tmp_path / "b", revision="r2")
    write_table(scored(COUNT, 9), b / "scores/two.parquet", SCORES)
    text = compared(capsys, a, b, "--output", tmp_path / "d.csv")
    assert ["target: one, two", "revision", "r1", "r2"] in rows_of(text)
    table = pl.read_csv(tmp_path / "d.csv")
    differing = table.filter(pl.col("difference") != 0)["model"].unique().to_list()
    assert differing == ["two"]
    shown = [line for line in text.splitlines() if line.startswith("| two") and " fog " in line]
    row = table.filter(model="two", corruption="fog", metric="ras").row(0, named=True)
    assert len(shown) == 1 and f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]" in shown[0]


def test_a_run_and_its_copy_differ_in_nothing_until_settings_do(tmp_path, capsys):
    a, b = (make_run(tmp_path / name) for name in "ab")
    assert compared(capsys, a, b) == (
        f"{a} and {b}: no setting and no input differs, and all scores of 2 models on {COUNT} items are "
        "identical.\n"
    )
    write_record(a, corruptions={"corrupted": "files", "types": ["fog", "snow"]})
    write_record(b, corruptions={"corrupted": "on_the_fly", "types": ["fog"]})
    (b / "config-models.yaml").write_text(yaml.safe_dump({"one": {"label": "Other"}, "two": {"gpus": 1}}))
    text = compared(capsys, a, b)
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        '- corruptions.corrupted: "files" -> "on_the_fly"',
        '- corruptions.types: - "snow"',
        '- models.one.label: "One" -> "Other"',
        '- models.two: none -> {"gpus": 1}',
    ]
    assert text.endswith(f"All scores that both runs have, of 2 models on {COUNT} items, are identical.\n")
    (b / "config.yaml").unlink()
    with pytest.raises(SystemExit, match=r"^error: .*/b/config.yaml: No such file .*; run snakemake again"):
        main(["compare", str(a), str(b)])


def test_the_row_of_all_corruptions_is_that_of_table_1(tmp_path, capsys):
    runs = [make_run(tmp_path / name, seed=seed) for seed, name in enumerate("ab")]
    shown = {tuple(row[:2]): row[2:] for row in rows_of(compared(capsys, *runs))}
    metrics = [DELTA_ACCURACY.alias("delta_acc"), pl.col("ras")]
    for number, model in enumerate(("one", "two")):
        for seed in (0, 1):
            means = overall_means(scored(COUNT, seed + number), metrics, kappas(COUNT))
            assert shown[model, "all"][seed] == f"{means['delta_acc']:+.3f}"
            assert shown[model, "all"][3 + seed] == f"{means['ras']:+.3f}"


def test_rounding_is_no_difference(tmp_path, capsys):
    a, b = (make_run(tmp_path / name) for name in "ab")
    scores = scored(COUNT, 0)
    for shift, equal, starred in ((1e-8, True, False), (1e-3, False, True)):
        write_table(scores.with_columns(ras=pl.col("ras") + shift), b / "scores/one.parquet", SCORES)
        text = compared(capsys, a, b)
        assert ("equal up to rounding: no two differ by more than 1.0e-08." in text) == equal
        assert "identical" not in text
        assert ("+0.001 [–]*" in text) == starred and ("]*" in text) == starred


@pytest.mark.parametrize(
    ("benchmarks", "sentence"),
    [
        (("bench-c", "bench-d"), "/a is a run of bench-c, and .*/b is one of bench-d; compare two runs of"),
        (("bench-d", "bench-d"), r'there is no benchmark "bench-d" \(did you mean bench-c\?\)'),
        (("bench-c", None), "/b/models.json: there is no such file; run snakemake again, which writes it"),
    ],
)
def test_runs_of_different_benchmarks_are_refused(tmp_path, benchmarks, sentence):
    for name, benchmark in zip("ab", benchmarks, strict=True):
        (tmp_path / name).mkdir()
        if benchmark:
            (tmp_path / name / "models.json").write_text(models_text(Models(benchmark, {})))
    with pytest.raises(SystemExit, match=f"^error: .*{sentence}") as stop:
        main(["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert "\n" not in str(stop.value.code)


def test_errors_are_one_line(tmp_path, capsys):
    (tmp_path / "models.json").write_text(models_text(Models("bench-c", {})))
    for folder, message in ((tmp_path, "has no scores"), (tmp_path / "nowhere", "there is no such folder")):
        with pytest.raises(SystemExit, match=f"error: {folder}.* {message}"):
            main(["compare", str(folder), str(tmp_path)])
    with pytest.raises(SystemExit) as stop:
        main(["no-such"])
    unknown = 'error: Unknown command "no-such"; see benchc --help'
    assert stop.value.code == 2 and unknown in capsys.readouterr().err
    main([])
    usage = capsys.readouterr().out
    assert all(name in usage for name in commands())


def test_the_console_command_is_declared(monkeypatch):
    called = []
    monkeypatch.setattr("scripts.benchc.main", lambda: called.append("main"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["benchc"].partition(":")
    getattr(import_module(module), function)()
    assert called == ["main"]
