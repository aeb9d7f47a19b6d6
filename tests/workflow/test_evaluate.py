"""Models are evaluated on the benchmark of a finished run, as that run would have evaluated them."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import yaml

from benchc.config.load import load, read_config
from benchc.errors import InputError
from benchc.workflow.run import Run
from scripts.commands.evaluate import (
    refuse_mistyped,
    refuse_other_models,
    refuse_other_options,
    scoring_of,
)
from tests.workflow.checkout import Checkout

CONFIG = "config/new.yaml"
DEMOS = ("mllm-ic", "naturalbench", "r-bench", "vqa-robustness")
FINISHED = "results/small"
NEW = {"name": "new", "evaluate": {"benchmark": FINISHED, "models": ["more"]}}
CATALOGUE = {"catalogues": {"models": "config/small-models.yaml"}}


def evaluation(finished: Checkout, folder: Path, **changes: object) -> Checkout:
    """Return a copy in which the finished run cannot be made again, with a run that evaluates one more model.

    ``changes``: of the new run's configuration.
    """
    checkout = finished.copy(folder)
    checkout.config = CONFIG
    (checkout.folder / CONFIG).write_text(yaml.safe_dump({**NEW, **CATALOGUE, **changes}))
    return checkout


def times(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.lstat().st_size)
        for path in sorted(folder.rglob("*"))
    }


def results(checkout: Checkout, name: str) -> dict[str, str]:
    """Return hashes of a run's results by path, without its records and what only selectors are asked."""
    prefix = f"results/{name}/"
    found = {file.removeprefix(prefix): digest for file, digest in checkout.hashes(prefix).items()}
    return {file: digest for file, digest in found.items() if not file.startswith("config")}


def test_a_model_gets_the_results_that_it_has_as_a_target_of_the_finished_run(finished, tmp_path):
    checkout = evaluation(finished, tmp_path / "new")
    before = times(checkout.folder / FINISHED)
    # What the finished run is made from need not be here.
    for gone in ("data", "results/generated", "results/models", "checkpoints"):
        path = checkout.folder / gone
        path.unlink() if path.is_symlink() else shutil.rmtree(path)
    (checkout.folder / "checkpoints").mkdir()
    more = (finished.folder / "checkpoints/more").resolve()
    (checkout.folder / "checkpoints/more").symlink_to(more)
    jobs = checkout.plan()
    assert {name: jobs[name] for name in ("infer", "score", "score_unselected", "infer_orders")} == {
        "infer": 2,  # on the selected and unselected items
        "score": 1,
        "score_unselected": 1,
        "infer_orders": 1,
    }
    made_of_the_pool = {"read_source", "pool", "corrupt", "kappa", "embed", "select", "sample_unselected"}
    assert not made_of_the_pool & jobs.keys()
    # They show other models, or none.
    assert (
        not {"figure1a", "figure3", "figure4", "figure5", "contact_sheet", "selection_stability"}
        & jobs.keys()
    )
    checkout.make()
    assert times(checkout.folder / FINISHED) == before
    assert checkout.plan() == {}

    whole = finished.copy(tmp_path / "whole")
    whole.configure(targets=["other", "trained", "more"])
    whole.make()
    found, expected = results(checkout, "new"), results(whole, "small")
    assert {
        "tables/table1.csv",
        "tables/option_order.csv",
        "figures/figure6.png",
        "scores/more.parquet",
    } <= found.keys()
    assert found == {file: expected[file] for file in found}
    shown = ("tables/", "figures/", "models.json", "scores/")
    assert {file for file in expected if file.startswith(shown)} == {
        file for file in found if file.startswith(shown)
    }


def test_images_of_a_benchmark_that_jobs_corrupted_are_taken(finished, tmp_path):
    checkout = evaluation(
        finished, tmp_path / "new", evaluate={"benchmark": "results/fly", "models": ["more"]}
    )
    jobs = checkout.plan()
    assert jobs["infer"] == 2
    assert not {"corrupt", "select", "kappa"} & jobs.keys()


def test_edits_of_what_made_the_benchmark_rerun_nothing(finished, tmp_path):
    checkout = evaluation(finished, tmp_path / "new")
    unedited = checkout.plan()
    checkout.edit(
        "benchc/benchmarks/bench_c/selection/greedy.py",
        "import numpy as np\n",
        "import numpy as np\n\nX = 1\n",
    )
    checkout.configure()
    path = checkout.folder / "config/small.yaml"
    path.write_text(path.read_text().replace("per_task: 3", "per_task: 2"))
    assert checkout.plan() == unedited


def remove(*files: str) -> Callable[[Checkout], object]:
    return lambda checkout: [(checkout.folder / FINISHED / file).unlink() for file in files]


def as_target_before(checkout: Checkout) -> None:
    """Leave the scores of the model from when it was a target, under other settings."""
    scores = checkout.folder / FINISHED / "scores"
    shutil.copy(scores / "other.parquet", scores / "more.parquet")


def test_old_results_of_the_model_in_the_finished_run_are_not_taken(finished, tmp_path):
    checkout = evaluation(finished, tmp_path / "new")
    as_target_before(checkout)
    assert checkout.plan()["score"] == 1


INVALID: dict[str, tuple[dict[str, object], Callable[[Checkout], object], str]] = {
    "no run": (
        {"evaluate": {"benchmark": "results/absent", "models": ["more"]}},
        lambda checkout: None,
        'config/new.yaml: evaluate.benchmark is "results/absent", but its config.yaml cannot be read (No '
        "such file or directory); give the folder of a finished run, such as results/demo.",
    ),
    "not finished": (
        {},
        remove("figures/figure6.png"),
        "results/small is not finished: figures/figure6.png is missing; finish that run first: benchc run "
        "results/small/config.yaml --cores all",
    ),
    "its own name": (
        {"name": "small"},
        lambda checkout: None,
        'config/new.yaml: name is "small", which is that of results/small; choose another one, since nothing '
        "there is changed.",
    ),
    "a key that the run decides": (
        {"seed": 1},
        lambda checkout: None,
        "config/new.yaml: seed is given, but results/small decides it; remove it, since models are evaluated "
        "on that run's benchmark as it is.",
    ),
    "evaluated before": (
        {"evaluate": {"benchmark": FINISHED, "models": ["other"]}},
        lambda checkout: None,
        'config/new.yaml: evaluate.models[0] is "other", but results/small has evaluated this model already; '
        "see its tables, or give the new model another id.",
    ),
    "a selector with another entry": (
        {"evaluate": {"benchmark": FINISHED, "models": ["letters"]}},
        lambda checkout: checkout.edit(
            "config/small-models.yaml",
            "  scoring: letter\n  path: checkpoints/letters",
            "  scoring: text\n  path: checkpoints/letters",
        ),
        'config/new.yaml: evaluate.models[0] is "letters", but in results/small this id has another scoring '
        "than in config/small-models.yaml; give the new model another id.",
    ),
    "unknown": (
        {"evaluate": {"benchmark": FINISHED, "models": ["mor"]}},
        lambda checkout: None,
        'config/new.yaml: targets[2] is "mor", but there is no such id in config/small-models.yaml',
    ),
    "the name of a part of the benchmark": (
        {"evaluate": {"benchmark": FINISHED, "models": ["selected"]}},
        lambda checkout: checkout.edit("config/small-models.yaml", "\nmore:", "\nselected:"),
        "evaluate.models has selected, which is the name of a file or folder of results/small; give the "
        "model another id",
    ),
    "how inference is divided": (
        {"inference": {"corruptions_per_job": "one"}},
        lambda checkout: None,
        "config/new.yaml: inference is given, but results/small decides it; remove it",
    ),
    "a key of the block": (
        {"evaluate": {"benchmark": FINISHED, "model": "more"}},
        lambda checkout: None,
        "config/new.yaml: evaluate.models is missing; docs/configuration.md describes it.",
    ),
}


@pytest.fixture(scope="module")
def invalid(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return evaluation(finished, tmp_path_factory.mktemp("invalid") / "new")


@pytest.mark.parametrize("name", INVALID)
def test_mistakes_are_one_sentence(invalid, monkeypatch, name):
    changes, edit, sentence = INVALID[name]
    monkeypatch.chdir(invalid.folder)
    with invalid.restored("config/small-models.yaml"), invalid.restored(f"{FINISHED}/figures/figure6.png"):
        edit(invalid)
        with pytest.raises(InputError) as caught:
            Run(load({**NEW, **CATALOGUE, **changes}, invalid.folder, file=CONFIG))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("file", ["demo", *(f"demo-{name}" for name in DEMOS)])
def test_the_tables_that_are_printed_are_tables_of_the_run(file):
    run = Run(read_config(Path(f"config/{file}.yaml")))
    written = {path for output in run.outputs for path in output.files.values()}
    assert run.benchmark.main_tables
    assert {f"tables/{table}.md" for table in run.benchmark.main_tables} <= written


def test_workers_may_be_given(invalid, monkeypatch):
    monkeypatch.chdir(invalid.folder)
    config = load({**NEW, **CATALOGUE, "inference": {"workers": 3}}, invalid.folder, file=CONFIG)
    assert config.settings.inference.workers == 3


def test_gpus_of_the_finished_runs_encoders_are_not_asked_for(invalid, monkeypatch):
    monkeypatch.chdir(invalid.folder)
    record = invalid.folder / FINISHED / "config.yaml"
    with invalid.restored(f"{FINISHED}/config.yaml"):
        settings = yaml.safe_load(record.read_text())
        settings["selection"]["text_encoder"]["gpus"] = 1
        record.write_text(yaml.safe_dump(settings))
        assert load(settings, invalid.folder, file=CONFIG).most_gpus == 1
        assert load({**NEW, **CATALOGUE}, invalid.folder, file=CONFIG).most_gpus == 0


def test_a_run_that_lacks_a_part_of_its_benchmark_is_not_completed(finished, tmp_path):
    checkout = evaluation(finished, tmp_path / "new")
    remove("selection/selected.parquet")(checkout)
    output = checkout.snakemake("--cores", "1", check=False)
    assert output.returncode == 1
    assert (
        "error: results/small lacks selection/selected.parquet, which is needed to evaluate models on its "
        "benchmark; finish that run first: benchc run results/small/config.yaml --cores all\n"
    ) in output.stdout
    assert not (checkout.folder / "results/new/selection/selected.parquet").exists()


def evaluate(checkout: Checkout, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command, which only plans the run."""
    # The checkout has no logger of stages.
    options = ["--benchmark", FINISHED, *arguments, "--full", "-n"]
    return checkout.module("scripts.benchc", "evaluate", *options)


def test_the_command_writes_a_configuration_once_and_keeps_edits_of_its_catalogue(invalid):
    model = ["--model", "checkpoints/more"]
    unfit = evaluate(invalid, *model, "--scoring", "generate").stdout
    says = 'error: --model is "more", whose scoring is generate, but targets need models that score options; '
    assert unfit.startswith(f"{says}its scoring should be letter, ") and not [
        *(invalid.folder / "config").glob("small-more*")
    ], unfit
    first = evaluate(invalid, *model)
    assert first.returncode == 0, first.stdout
    file, catalogue = (invalid.folder / f"config/small-more{part}.yaml" for part in ("", "-models"))
    assert yaml.safe_load(file.read_text())["evaluate"] == {"benchmark": FINISHED, "models": ["more"]}
    # As both targets of the run are scored; their own options would be the letters.
    assert yaml.safe_load(catalogue.read_text())["more"]["scoring"] == "text"
    assert "| Model" not in first.stdout  # nothing was made
    catalogue.write_text(catalogue.read_text().replace("label: more", "label: Edited"))
    again = evaluate(invalid, *model)
    assert again.returncode == 0, again.stdout
    assert "config/small-more-models.yaml: is used as it is" in again.stdout
    assert "label: Edited" in catalogue.read_text()
    scored = evaluate(invalid, *model, "--scoring", "letter")
    assert scored.returncode == 1
    assert scored.stdout == (
        'error: config/small-more-models.yaml: more has scoring: "text", and --scoring is "letter"; edit the '
        "file, or choose another --name\n"
    )
    assert evaluate(invalid, *model, "--scoring", "text").returncode == 0
    catalogued = evaluate(invalid, "--model", "letters", "--scoring", "text")
    assert catalogued.returncode == 1
    assert "error: --scoring: is of models that are in no catalogue, unlike letters" in catalogued.stdout
    for option, value in (("--gpus", "0"), ("--family", "llava")):
        refused = evaluate(invalid, "--model", "letters", option, value).stdout
        assert f"error: {option}: is of models that are in no catalogue, unlike letters" in refused
    for option, value in (("--gpus", "1"), ("--family", "llava")):
        refused = evaluate(invalid, "--model", "http://127.0.0.1:9#m", option, value).stdout
        assert refused == f"error: {option}: is of folders and Hub ids; leave it out\n"
    keyed = evaluate(invalid, *model, "--api-key-env", "KEY").stdout
    assert keyed == "error: --api-key-env: is of servers, and no --model is one; leave it out\n"
    unknown = evaluate(invalid, *model, "--name", "other", "--scoring", "bogus").stdout
    assert unknown.startswith('error: --scoring is "bogus", but should be'), unknown
    known = evaluate(invalid, "--model", "trained", "--name", "other").stdout
    assert known.startswith('error: --model is "trained"'), known
    shared = evaluate(invalid, *model, "--name", "downloads").stdout
    assert 'error: Invalid value "downloads" for --name: it is a folder that runs share' in shared
    named = evaluate(invalid, *model, "--name", "../A b").stdout
    assert named.startswith('error: Invalid value "../A b" for --name: a name has lower-case letters'), named
    other = evaluate(invalid, "--model", "letters", "--name", "small-more")
    assert other.returncode == 1
    assert other.stdout == (
        "error: config/small-more.yaml: is of another run, and nothing is overwritten; choose another "
        "--name\n"
    )


def test_a_finished_run_that_lacks_a_figure_leaves_no_configuration(invalid):
    figure = invalid.folder / FINISHED / "figures/figure3.png"
    figure.rename(figure.with_suffix(".away"))
    refused = evaluate(invalid, "--model", "checkpoints/more", "--name", "early").stdout
    figure.with_suffix(".away").rename(figure)
    assert re.search(r"^error: .*is not finished: figures/figure3\.png is missing", refused), refused
    assert not [*(invalid.folder / "config").glob("early*")]


def test_a_command_that_makes_nothing_can_be_corrected(invalid):
    model = ["--model", "checkpoints/more", "--name", "mistyped"]
    for mistake in (["--trust", "yes"], ["--configfile", CONFIG]):
        refused = evaluate(invalid, *model, *mistake)
        assert refused.returncode == 1 and "error: " in refused.stdout, refused.stdout
        assert not [*(invalid.folder / "config").glob("mistyped*")], mistake
    # What another Snakemake locks is unlocked by the configuration.
    locks = invalid.folder / ".snakemake/locks"
    locks.mkdir(exist_ok=True)
    (locks / "0.output.lock").touch()
    assert evaluate(invalid, *model, "--cors", "2").returncode == 1
    files = [*(invalid.folder / "config").glob("mistyped*")]
    (locks / "0.output.lock").unlink()
    assert len(files) == 2
    # Those that were there stay.
    assert evaluate(invalid, *model, "--cors", "2").returncode == 1
    assert all(file.exists() for file in files)


def test_an_option_that_is_nearly_one_of_the_command_is_refused():
    meant = {"--scorring": "--scoring", "--modle=a": "--model", "--api-key": "--api-key-env"}
    for mistyped, option in meant.items():
        says = rf"^{mistyped.partition('=')[0]}: there is no such option \(did you mean {option}\?\); see "
        with pytest.raises(InputError, match=says):
            refuse_mistyped(["--cores", "2", mistyped])
    # Of Snakemake, those that are most like them.
    refuse_mistyped(["--jobname", "name", "--config", "model=1", "--groups", "a=b", "-n", "--trace"])


def test_a_run_whose_configuration_has_another_name_is_not_overwritten(invalid):
    taken = invalid.folder / "results/taken"
    taken.mkdir()
    record = taken / "config.yaml"
    record.write_text("name: taken\nevaluate: null\n")
    model = ["--model", "checkpoints/more", "--name", "taken"]
    other = evaluate(invalid, *model)
    assert other.returncode == 1
    assert other.stdout == (
        "error: results/taken: is of another run, and nothing is overwritten; choose another --name\n"
    )
    assert not (invalid.folder / "config/taken.yaml").exists()
    # Its own configuration may have been deleted.
    record.write_text(yaml.safe_dump({"evaluate": {"benchmark": FINISHED, "models": ["more"]}}))
    assert "is of another run" not in evaluate(invalid, *model).stdout
    shutil.rmtree(taken)


def test_new_models_are_scored_like_most_of_the_finished_run(capsys):
    known = {"a": {"scoring": "letter"}, "b": {"scoring": "text"}, "c": {"scoring": "text"}}
    settings = {"benchmark": "bench-c", "targets": [*known]}
    assert scoring_of(settings, known, Path()) == "text"
    assert "are scored by text (2) and letter (1): new ones of no catalogue are scored by text" in (
        capsys.readouterr().err
    )
    assert scoring_of({**settings, "targets": ["a", "b"]}, known, Path()) == "letter"
    assert "letter" in capsys.readouterr().err
    assert scoring_of({**settings, "targets": ["b", "c"]}, known, Path()) == "text"
    assert capsys.readouterr().err == ""
    with pytest.raises(InputError, match=r"^run/config\.yaml: targets has no models; finish the run again"):
        scoring_of({"benchmark": "bench-c"}, known, Path("run"))


def test_options_that_do_not_concern_a_model_are_not_compared(tmp_path):
    catalogue = tmp_path / "models.yaml"
    catalogue.write_text("m: {server: {url: 'http://a', api_key_env: KEY}, scoring: text}\n")
    served = {"m": {"server": {"url": "http://a"}, "scoring": "text"}}
    refuse_other_options(catalogue, served, ["scoring", "family", "gpus"])
    with pytest.raises(InputError, match=r"m has gpus: 0, and --gpus is 2; edit the file"):
        refuse_other_options(catalogue, {"m": {"gpus": 2}}, ["gpus"])
    # A model on the CPU has no such key.
    catalogue.write_text("m: {path: a, gpus: 1}\nn: {path: b}\n")
    refuse_other_options(catalogue, {"m": {"gpus": 1}, "n": {}}, ["gpus"])
    with pytest.raises(InputError, match=r"m has gpus: 1, and --gpus is 0; edit the file"):
        refuse_other_options(catalogue, {"m": {"path": "a"}}, ["gpus"])


def test_another_checkpoint_of_the_same_id_is_refused(tmp_path):
    catalogue = tmp_path / "models.yaml"
    kept = {"m": {"path": "a/m", "scoring": "text"}, "n": {"repo": "o/n"}}
    catalogue.write_text(yaml.safe_dump(kept))
    refuse_other_models(catalogue, {"m": {"path": "a/m", "scoring": "letter"}, "new": {"path": "b"}})
    for content in ({"path": "b/m"}, {"repo": "o/m"}, {"path": "a/m", "adapter": "lora"}):
        with pytest.raises(InputError, match="choose another --name"):
            refuse_other_models(catalogue, {"m": content})
    with pytest.raises(InputError, match='n has repo: "o/n", and the model given now has "p/n"'):
        refuse_other_models(catalogue, {"n": {"repo": "p/n"}})
    # As an edit may leave it.
    for text in ("", "m: {path", "- m"):
        catalogue.write_text(text)
        for refuse in (refuse_other_models, partial(refuse_other_options, given=["gpus"])):
            with pytest.raises(InputError, match=r"models\.yaml: .*; mend the file, or choose"):
                refuse(catalogue, {"m": {"path": "a/m"}})


def test_an_interrupt_is_left_to_snakemake(tmp_path):
    """It unlocks its folder; a parent that ends before it would kill it."""
    script = (
        "import signal, sys, time\nsignal.signal(signal.SIGINT, lambda *_: (time.sleep(1), sys.exit(7)))\n"
    )
    script += "print('ready', flush=True)\ntime.sleep(60)\n"
    call = "import sys\nfrom scripts.commands.evaluate import called\nsys.exit(called(sys.argv[1:]))\n"
    with subprocess.Popen(
        [sys.executable, "-c", call, sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 7
