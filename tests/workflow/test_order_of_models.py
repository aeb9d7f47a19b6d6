"""Captions say in which order models are, and the inputs of their outputs are in it."""

from pathlib import Path

import pytest

from benchc.config.load import read_config
from benchc.workflow.run import Run

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = "\nModels are in the order of `{}`."
# Outputs with all models that show none by name, or in another order, which their captions say.
OTHERS = {
    "bench-c": {"claims", "rank_swaps", "discrimination", "figure10"},
    "vqa-robustness": {
        "vre_intervals", "vre_corruption", "table_a2", "table_a3", "figure_bars",
        "figure_weightings", "weights",
    },
    "naturalbench": {"rank_swaps", "figure3"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "key"),
    [("demo-diagnostics", "targets"), ("demo-vqa-robustness", "models"), ("demo-naturalbench", "models")],
)
def test_outputs_of_all_models_say_their_order(file: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run = Run(read_config(Path(f"config/{file}.yaml")))
    models = getattr(run.settings, key)
    of_all = {"<results>/tables/errors.csv", "<results>/tables/option_order.csv"}
    for output in run.outputs:
        inputs = [[files] if isinstance(files, str) else files for files in output.inputs.values()]
        per_model = [
            [model for file in files for model in models if f"/{model}." in file or f"/{model}/" in file]
            for files in inputs
        ]
        shows = any(set(found) == set(models) for found in per_model) or any(
            of_all & set(files) for files in inputs
        )
        said = output.paragraphs.endswith(SENTENCE.format(key))
        assert said == (shows and output.name not in OTHERS[run.settings.benchmark]), output.name
        if said:
            assert all(list(dict.fromkeys(found)) == models for found in per_model if len({*found}) > 1)
    figure = next((output for output in run.outputs if output.name == "figure_weightings"), None)
    assert figure is None or "sorted by VRE with equal weights, not as in the tables" in figure.caption
