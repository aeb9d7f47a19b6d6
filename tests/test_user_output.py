"""Outputs of commands replace neither their inputs nor the files of a run."""

from pathlib import Path

import pytest

from benchc.errors import InputError
from benchc.user_output import refuse_overwriting


def test_inputs_and_runs_are_not_overwritten(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("a\n")
    (tmp_path / "link.csv").symlink_to(table)
    with pytest.raises(
        InputError, match=r"link\.csv: is also an input, and would be lost; name another file"
    ):
        refuse_overwriting(tmp_path / "link.csv", [tmp_path / "other.csv", table])
    refuse_overwriting(tmp_path / "new.csv", [table])
    run = tmp_path / "run"
    run.mkdir()
    refuse_overwriting(run / "tables/new.csv", [])
    (run / "run.json").write_text("{}")
    for output in (run, run / "tables/new.csv"):
        with pytest.raises(InputError, match=rf"--output {output}: is in {run}, the folder of a run, whose"):
            refuse_overwriting(output, [])
