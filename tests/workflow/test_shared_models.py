"""What runs generate and train is shared by runs of the same settings, and overwritten by no other."""

from pathlib import Path

import yaml

from tests.workflow.checkout import Checkout


def test_runs_of_two_seeds_leave_the_results_of_each_other_up_to_date(
    finished: Checkout, tmp_path: Path
) -> None:
    first = finished.copy(tmp_path / "benchc")
    before = first.hashes()
    second = Checkout.existing(first.folder, "config/second.yaml", first.python)
    config = yaml.safe_load((first.folder / first.config).read_text())
    config |= {"name": "second", "selectors": ["trained", "letters"], "targets": ["other"]}
    del config["figures"]
    config["demo"]["seed"] = 2
    (second.folder / second.config).write_text(yaml.safe_dump(config, sort_keys=False))
    results = "results/second"
    targets = [f"{results}/predictions/pool/trained/all.parquet", f"{results}/selection/embeddings.parquet"]
    planned = second.plan(*targets)
    made = ("generate_demo_source", "generate_training_set", "train_demo_model", "train_demo_encoder")
    assert {rule: planned.get(rule) for rule in made} == dict.fromkeys(made, 1)

    second.make(*targets)
    after = first.hashes()
    assert {file: after[file] for file in before} == before
    assert first.plan() == {} == second.plan(*targets)
