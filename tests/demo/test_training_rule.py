from pathlib import Path

import yaml

from tests.workflow.checkout import Checkout


def test_only_the_models_and_the_head_that_the_run_trains_are_trained(tmp_path: Path, python: Path) -> None:
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    checkout.python = python
    before = checkout.plan()
    checkout.configure(diagnostics={"generated_answers": ["tiny-vilt"]})
    added = {name: count for name, count in checkout.plan().items() if count != before.get(name)}
    assert added == {"train_demo_vqa_head": 1, "answer": 1, "judge_options": 1, "generated_answers": 1}
    trained = yaml.safe_load((checkout.folder / "config/demo-models.yaml").read_text())
    own = {"label": "Own", "family": "llava", "scoring": "letter", "path": "results/models/own"}
    (checkout.folder / "config/demo-models.yaml").write_text(yaml.safe_dump({**trained, "own": own}))
    config = yaml.safe_load((checkout.folder / checkout.config).read_text())
    checkout.configure(targets=[*config["targets"], "own"])
    folder = checkout.folder / own["path"]
    folder.mkdir(parents=True)
    for file in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / file).write_text("{}")
    planned = checkout.plan()
    used = [*config["selectors"], *config["targets"]]
    assert planned["train_demo_model"] == len(used) < len(trained)
    assert planned["score"] == len(config["targets"]) + 1
