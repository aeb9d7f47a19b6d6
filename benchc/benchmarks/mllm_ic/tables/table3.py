"""Table 3: overall accuracy by category of corruption."""

from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.published.tables import beside_published, published_table3
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, check_models
from benchc.benchmarks.mllm_ic.tables.frames import (
    averages_note,
    printed_accuracies,
    resampled,
    scope,
    with_mean,
)
from benchc.command_line import PositiveInt
from benchc.rendering.chance import ChanceTable
from benchc.rendering.output import Table

CAPTION = (
    "Overall accuracy in per cent by category of corruption, mean over the types of the category and all "
    "severities. The last column is over all {scope}, so that a category weighs by its number of types: "
    "{types}."
)


def table3(
    run: RunFiles,
    labels: dict[str, str],
    categories: dict[str, str],
    chance: ChanceTable,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return the overall accuracy of each model by category of ``categories``, those of the corruptions."""
    check_models(run, labels)
    columns = run.columns(category_of=categories)
    types = {name: sum(categories[each] == name for each in run.corruptions) for name in categories.values()}
    names = [*types, "corrupted"]
    averages = run.average(run.draws([*labels], {name: columns[name] for name in names}, draws, seed))
    values = {name: averages[:, :, place] for place, name in enumerate([*types, "overall"])}
    headers = {name: corruption_label(name) for name in types} | {"overall": "Overall"}
    counts = ", ".join(f"{corruption_label(name)} {number}" for name, number in types.items())
    return printed_accuracies(
        values,
        headers,
        labels,
        chance,
        caption=CAPTION.format(scope=scope(run), types=counts) + averages_note(run),
        notes=resampled(run, draws),
        label="mllm-ic-3",
        published=beside_published(with_mean(values, labels), published_table3(), labels),
    )
