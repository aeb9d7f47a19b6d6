"""A model is evaluated on a moved export, where the run is not, as on the run itself."""

from pathlib import Path

from tests.workflow.checkout import Checkout

TABLE = "tables/table1.csv"


def call(checkout: Checkout, *arguments: str) -> str:
    result = checkout.module("scripts.benchc", *arguments)
    assert result.returncode == 0, result.stdout[-6000:]
    return result.stdout


def test_the_table_on_a_moved_export_is_that_on_the_run(finished, tmp_path):
    made, moved = tmp_path / "made", tmp_path / "moved"
    call(finished, "export", "results/small", str(made), "--redistribute", "shapes", "--no-vlmevalkit")
    made.rename(moved)
    elsewhere = Checkout(tmp_path / "elsewhere", "config/config.yaml")
    elsewhere.python = finished.python
    (elsewhere.folder / "checkpoints").mkdir()
    more = elsewhere.folder / "checkpoints/more"
    more.symlink_to((finished.folder / "checkpoints/more").resolve())

    def evaluate(benchmark: Path, name: str) -> bytes:
        # The checkout has no logger of stages.
        options = ["--full", "--cores", "2", f"results/{name}/{TABLE}"]
        model = ["--model", "checkpoints/more", "--name", name]
        call(elsewhere, "evaluate", "--benchmark", str(benchmark), *model, *options)
        return (elsewhere.folder / "results" / name / TABLE).read_bytes()

    of_export = evaluate(moved, "of-export")
    assert b"\nmore," in of_export
    (run,) = (elsewhere.folder / "results/exported").iterdir()
    assert (run / TABLE).read_bytes() == (finished.folder / "results/small" / TABLE).read_bytes()
    assert evaluate(finished.folder / "results/small", "of-run") == of_export
