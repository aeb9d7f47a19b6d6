"""Table 2: accuracy under corruption by mid-level capability, and the further averages."""

from benchc.benchmarks.mllm_ic.capabilities import label_of
from benchc.benchmarks.mllm_ic.metrics.averages import RULES
from benchc.benchmarks.mllm_ic.published.tables import beside_published, published_table2
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, check_models
from benchc.benchmarks.mllm_ic.tables.frames import (
    RULE_LABELS,
    averages_note,
    further_averages,
    has_copies,
    printed_accuracies,
    resampled,
    scope,
    with_mean,
)
from benchc.command_line import PositiveInt
from benchc.rendering.chance import ChanceTable
from benchc.rendering.output import Table

CAPTION = "Accuracy in per cent by mid-level capability, mean over {scope}."
CLEAN = " Clean: overall on clean images."


def table2(
    run: RunFiles, labels: dict[str, str], chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return the accuracy of each model by mid-level capability, with all averages; the paper's beside it."""
    check_models(run, labels)
    columns = run.columns()
    chosen = {name: columns[name] for name in ("corrupted", "clean")}
    drawn = run.draws([*labels], chosen, draws, seed)
    corrupted = drawn[:, :, 0]
    mids = run.by_mid(corrupted)
    values = mids | {rule: run.average(corrupted, rule) for rule in RULES}
    if has_copies(run):
        circular = run.draws([*labels], {"corrupted": chosen["corrupted"]}, draws, seed, circular=True)
        values["circular"] = run.average(circular[:, :, 0])
    values["clean"] = run.average(drawn[:, :, 1])
    headers = {mid: label_of(mid) for mid in mids} | RULE_LABELS | {"clean": "Clean"}
    return printed_accuracies(
        values,
        headers,
        labels,
        chance,
        caption=CAPTION.format(scope=scope(run)) + averages_note(run) + further_averages(run) + CLEAN,
        notes=resampled(run, draws),
        label="mllm-ic-2",
        published=beside_published(with_mean(values, labels), published_table2(), labels),
        constant=("overall", "clean"),
    )
