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


def test_an_export_without_a_source_is_evaluated_where_the_sources_file_is(finished, tmp_path):
    made = tmp_path / "made"
    call(finished, "export", "results/small", str(made), "--no-vlmevalkit")
    elsewhere = Checkout(tmp_path / "elsewhere", "config/config.yaml")
    elsewhere.python = finished.python
    for name in ("checkpoints", "data"):
        (elsewhere.folder / name).symlink_to((finished.folder / name).resolve())
    model = ["--model", "checkpoints/more", "--name", "of-export"]
    text = call(elsewhere, "evaluate", "--benchmark", str(made), *model, "--full", "-n")
    # Figure 7 counts the items of whole sources. Figure 5, which shows an item, is made again.
    assert "figure5" in text and "figure7" not in text
    # The tables are those of no run.
    assert "Guessing" not in text


def test_a_run_that_lacks_what_a_table_was_made_of_is_not_exported(finished, tmp_path):
    checkout = finished.copy(tmp_path / "copy")
    (checkout.folder / "results/small/scores/other.parquet").unlink()
    result = checkout.module("scripts.benchc", "export", "results/small", "made")
    assert result.returncode == 1
    assert "results/small is not complete: scores/other.parquet, of which" in result.stdout
    assert not (checkout.folder / "made").exists()
