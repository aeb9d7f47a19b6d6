"""A run's tables are not those that another configuration of its name made from other sources."""

from pathlib import Path

import pytest
import yaml

from benchc.config.resolved import resolved
from benchc.planning.replaced import own_tables, replaced_run
from tests.checking.runs import config_of


def test_the_tables_of_other_sources_are_not_the_runs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = Path("results/mine")
    first, second = (config_of({id_: {"path": "same.tsv"}}) for id_ in "ab")
    assert replaced_run(first, results) == "" and own_tables(first, results) == results
    results.mkdir(parents=True)
    for path, text in resolved(first, str(results), tmp_path).items():
        Path(path).write_text(text)
    assert replaced_run(first, results) == "" and own_tables(first, results) == results
    assert replaced_run(second, results).startswith(
        'results/mine was made by another configuration (sources: + "b", - "a"): running this one replaces '
    )
    assert not own_tables(second, results).exists()
    changed = yaml.safe_load((results / "config.yaml").read_text()) | {"seed": 12345}
    (results / "config.yaml").write_text(yaml.safe_dump(changed))
    assert replaced_run(first, results) == ""
