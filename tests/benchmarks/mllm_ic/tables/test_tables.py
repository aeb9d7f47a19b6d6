"""Tables of made-up runs: their numbers against plain sums, and that what they print is true."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from benchc.benchmarks.mllm_ic.capabilities import capabilities
from benchc.benchmarks.mllm_ic.published.tables import MODELS
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes
from benchc.benchmarks.mllm_ic.schemas.outcomes import REFUSED, RIGHT, TIED_RIGHT, TIED_WRONG, UNPARSED, WRONG
from benchc.benchmarks.mllm_ic.tables.answer_counts import answer_counts
from benchc.benchmarks.mllm_ic.tables.chance import chance
from benchc.benchmarks.mllm_ic.tables.claims import claims
from benchc.benchmarks.mllm_ic.tables.drops import drops
from benchc.benchmarks.mllm_ic.tables.frames import resampled
from benchc.benchmarks.mllm_ic.tables.rank_swaps import rank_swaps
from benchc.benchmarks.mllm_ic.tables.redundancy import redundancy
from benchc.benchmarks.mllm_ic.tables.severities import severities
from benchc.benchmarks.mllm_ic.tables.table1 import table1
from benchc.benchmarks.mllm_ic.tables.table2 import table2
from benchc.benchmarks.mllm_ic.tables.table3 import table3
from benchc.errors import InputError
from benchc.rendering.chance import Standings
from benchc.rendering.output import Table
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, items_of, run_of
from tests.rendering.latex import check_latex

DRAWS, SEED = 40, 0
MIDS = {each.name: each.mid for each in capabilities()}


def unbalanced(rotations: int = 2) -> pl.DataFrame:
    """Return items whose averages differ: a capability has fewer questions, and mid-levels fewer of them."""
    names = ["image_topic", "image_style", "ocr", "text_recognition", "instance_counting"]
    return items_of(names, 7, rotations).filter(~pl.col("id").str.contains("made/0-[3-6]"))


@pytest.fixture(scope="module")
def run() -> RunOutcomes:
    drawn = run_of({"gpt-4o": 0.95, "mine": 0.85, "blind": 0.3}, unbalanced())
    # So that capabilities differ: a capability is answered worse.
    for codes in drawn.codes.values():
        codes[(drawn.items["capability"] == "image_topic").to_numpy(), 1::3] = WRONG
    return drawn


LABELS = {"gpt-4o": "GPT-4o", "mine": "Mine & 50 %", "blind": "Blind"}
ONE = {"mine": "Mine & 50 %"}


def pool_of(run: RunOutcomes) -> pl.DataFrame:
    """Return questions of four options, and of two about images, of which A is right most often."""
    ids = run.items["id"].to_list()
    kinds = run.items["capability"].str.starts_with("image")
    return pl.DataFrame(
        {
            "id": ids,
            "options": [[*"wxyz"][: 2 if two else 4] for two in kinds],
            "answer": [number % 5 % 2 for number in range(len(ids))],
        }
    )


def standing(run: RunOutcomes, labels: dict[str, str], *, all_ranked: bool = False) -> Standings:
    return Standings(chance(run, labels, pool_of(run), DRAWS, SEED, rank_below_chance=all_ranked).frame)


def every_table(run: RunOutcomes, labels: dict[str, str]) -> dict[str, Table]:
    level, own = standing(run, labels), {name: CATEGORIES[name] for name in run.corruptions}
    return {
        "chance": chance(run, labels, pool_of(run), DRAWS, SEED, rank_below_chance=False),
        "table1": table1(run),
        "table2": table2(run, labels, level, DRAWS, SEED),
        "table3": table3(run, labels, own, level, DRAWS, SEED),
        "severities": severities(run, labels, level, DRAWS, SEED),
        "drops": drops(run, labels, own, level, DRAWS, SEED),
        "answer_counts": answer_counts(run, labels),
        "claims": claims(run, labels, own, level, DRAWS, SEED),
        "rank_swaps": rank_swaps(run, labels, level, DRAWS, SEED),
        "redundancy": redundancy(run, labels, own, level, DRAWS, SEED),
    }


@pytest.fixture(scope="module")
def tables(run: RunOutcomes) -> dict[str, Table]:
    return every_table(run, LABELS)


def text(table: Table) -> str:
    return " ".join(table.markdown.split())


def cells(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in (lines[0], *lines[2:])]


def counted(run: RunOutcomes, model: str) -> pl.DataFrame:
    """Return n and correct of each scenario and capability, by counting codes one by one."""
    rows = [
        (*scenario, capability, int(code in (RIGHT, TIED_RIGHT)))
        for answers, capability in zip(run.codes[model].tolist(), run.items["capability"], strict=True)
        for scenario, code in zip(run.scenarios, answers, strict=True)
    ]
    names = ["corruption", "severity", "capability", "right"]
    return (
        pl.DataFrame(rows, schema=names, orient="row")
        .group_by(names[:3])
        .agg(n=pl.len(), correct=pl.col("right").sum())
        .with_columns(mid=pl.col("capability").replace_strict(MIDS), a=pl.col("correct") / pl.col("n"))
    )


def by_hand(scores: pl.DataFrame) -> dict[str, float]:
    """Return the averages of some scores: of each scenario, then over scenarios."""
    scenario = ["corruption", "severity"]
    mids = scores.group_by(*scenario, "mid").agg(pl.col("a").mean())
    found = dict(mids.group_by("mid").agg(pl.col("a").mean()).rows())
    found["overall"] = mids.group_by(scenario).agg(pl.col("a").mean())["a"].mean()
    found["capabilities"] = scores.group_by(scenario).agg(pl.col("a").mean())["a"].mean()
    micro = scores.group_by(scenario).agg(pl.col("correct").sum() / pl.col("n").sum())
    found["micro"] = micro["correct"].mean()
    return found


def test_table_2_is_what_scores_give(run: RunOutcomes, tables: dict[str, Table]) -> None:
    frame = tables["table2"].frame
    for id_, label in LABELS.items():
        scores = counted(run, id_)
        expected = by_hand(scores.filter(pl.col("severity") > 0))
        expected["clean"] = by_hand(scores.filter(severity=0))["overall"]
        row = frame.filter(model=label).row(0, named=True)
        assert {name: row[name] for name in expected} == pytest.approx(expected)
        assert len({round(expected[name], 6) for name in ("overall", "capabilities", "micro")}) == 3
        assert row["overall_low"] < row["overall"] < row["overall_high"]
    assert frame["model"].to_list() == [*LABELS.values(), "Avg"]
    assert frame["micro"][-1] == pytest.approx(frame["micro"][:-1].mean())


def test_circular_accuracy_counts_questions_all_of_whose_copies_are_right(run: RunOutcomes) -> None:
    found = table2(run, ONE, standing(run, ONE), DRAWS, SEED).frame["circular"][0]
    items = run.items.with_row_index("row")
    right = np.isin(run.codes["mine"], (RIGHT, TIED_RIGHT))
    capability: dict[str, list[float]] = {}
    for (name, _), own in items.group_by("capability", "circular_group"):
        capability.setdefault(str(name), []).append(right[own["row"].to_numpy(), 1:].all(axis=0).mean())
    mids: dict[str, list[float]] = {}
    for name, values in capability.items():
        mids.setdefault(MIDS[name], []).append(float(np.mean(values)))
    assert found == pytest.approx(np.mean([np.mean(values) for values in mids.values()]))


def test_table_3_is_what_scores_give(run: RunOutcomes, tables: dict[str, Table]) -> None:
    frame = tables["table3"].frame
    for id_, label in LABELS.items():
        scores = counted(run, id_).filter(pl.col("severity") > 0)
        scores = scores.with_columns(category=pl.col("corruption").replace_strict(CATEGORIES))
        row = frame.filter(model=label).row(0, named=True)
        for (category,), own in scores.group_by("category"):
            assert row[str(category)] == pytest.approx(by_hand(own)["overall"])
        assert row["overall"] == pytest.approx(by_hand(scores)["overall"])
    assert "Color 6, Geometric 6, Blur 5" in text(tables["table3"])


def test_severities_and_drops_are_differences_of_what_scores_give(
    run: RunOutcomes, tables: dict[str, Table]
) -> None:
    scores = counted(run, "mine")
    clean, fourth, fifth, corrupted = (
        by_hand(scores.filter(which))
        for which in (*(pl.col("severity") == level for level in (0, 4, 5)), pl.col("severity") > 0)
    )
    frame = tables["severities"].frame.filter(model=LABELS["mine"])
    for rule in ("overall", "capabilities", "micro"):
        row = frame.filter(average=rule).row(0, named=True)
        assert (row["clean"], row["severity_4"]) == pytest.approx((clean[rule], fourth[rule]))
        assert row["drop"] == pytest.approx(clean[rule] - corrupted[rule])
        assert row["drop_severity_5"] == pytest.approx(clean[rule] - fifth[rule])
    assert frame["average"].to_list() == ["overall", "capabilities", "micro", "circular"]
    lost = tables["drops"].frame.filter(model=LABELS["mine"]).row(0, named=True)
    for name in ("overall", "spatial_perception", "logic_reasoning"):
        assert lost[name] == pytest.approx(clean[name] - corrupted[name])
    blur = [name for name, category in CATEGORIES.items() if category == "blur"]
    under_blur = by_hand(scores.filter(pl.col("corruption").is_in(blur)))["overall"]
    assert lost["blur"] == pytest.approx(clean["overall"] - under_blur)


def test_chance_is_averaged_as_accuracies_are(run: RunOutcomes, tables: dict[str, Table]) -> None:
    pool = (
        pool_of(run)
        .with_columns(capability=run.items["capability"], guess=1 / pl.col("options").list.len())
        .with_columns(mid=pl.col("capability").replace_strict(MIDS))
    )

    def mean(value: pl.Expr) -> float:
        by_capability = pool.group_by("mid", "capability").agg(value.mean().alias("value"))
        return by_capability.group_by("mid").agg(pl.col("value").mean())["value"].mean()

    frame = tables["chance"].frame
    assert frame["guessing"].to_list() == pytest.approx([mean(pl.col("guess"))] * 3)
    letters = [mean((pl.col("answer") == letter).cast(pl.Float64)) for letter in range(2)]
    best = int(np.argmax(letters))
    assert frame["constant"].to_list() == pytest.approx([letters[best]] * 3)
    assert frame["constant_answer"].unique().to_list() == ["ABC"[best]]
    assert dict(frame.select("model", "ranked").rows()) == {
        "GPT-4o": True,
        "Mine & 50 %": True,
        "Blind": False,
    }
    assert f"{100 * letters[best]:.1f}" in text(tables["chance"])


@pytest.mark.parametrize(("questions", "shared", "above"), [(3, 1, False), (12, 1, True), (12, 4, False)])
def test_few_right_answers_are_not_above_chance(questions: int, shared: int, above: bool) -> None:
    """Resamples of right answers are right, but three pictures say little (0.025 ** (1 / 3) is 0.29)."""
    perfect = run_of({"mine": 1.0}, items_of(["ocr"], questions, shared=shared), ("fog",))
    found = chance(perfect, ONE, pool_of(perfect), DRAWS, SEED, rank_below_chance=False).frame
    assert found.select("accuracy", "accuracy_low", "above_chance").row(0) == (1.0, 1.0, above)


def test_a_pool_of_other_items_is_refused(run: RunOutcomes) -> None:
    with pytest.raises(InputError, match=r"item made/\S+ of the outcomes is not in the pool"):
        chance(run, LABELS, pool_of(run).head(3), DRAWS, SEED, rank_below_chance=False)


def test_the_best_two_ranked_models_are_marked_and_others_are_not(tables: dict[str, Table]) -> None:
    header, guessing, constant, best, second, blind, mean = cells(tables["table2"].markdown)
    assert header[-5:] == ["Overall", "Low-level", "Micro", "Circular", "Clean"]
    assert (guessing[0], constant[0], blind[0], mean[0]) == ("Guessing", "Always A", "Blind †", "Avg")
    assert all(cell.startswith("**") for cell in best[1:])
    assert all(cell.startswith("*") and not cell.startswith("**") for cell in second[1:])
    assert not any("*" in cell for row in (blind, mean) for cell in row)
    _, *lost = cells(tables["drops"].markdown.split("Drop of")[0])
    ranked = {float(row[-1].strip("*").split()[0].strip("*")): row[-1] for row in lost[:2]}
    assert ranked[min(ranked)].startswith("**")
    assert not ranked[max(ranked)].startswith("**")


def test_accuracies_are_shares_in_files_and_per_cent_as_printed(tables: dict[str, Table]) -> None:
    for name in ("table2", "table3", "severities"):
        frame = tables[name].frame
        assert frame.select(pl.col(pl.Float64).max()).max_horizontal().item() <= 1
    value = tables["table3"].frame["noise"][1]
    assert cells(tables["table3"].markdown)[4][-2].strip("*") == f"{100 * value:.1f}"


def test_published_values_are_beside_ours(tables: dict[str, Table]) -> None:
    published = tables["table3"].published
    assert published is not None
    assert published["model"].unique().to_list() == ["GPT-4o"]
    row = published.filter(value="blur").row(0, named=True)
    assert row["published"] == 0.53
    assert row["here"] == pytest.approx(tables["table3"].frame["blur"][0])
    of_text = tables["severities"].published
    assert of_text is not None
    assert of_text.select("value", "published").rows() == [("drop_severity_5", 0.143)]


def test_table_1_counts_the_run(run: RunOutcomes, tables: dict[str, Table]) -> None:
    paper, row = cells(tables["table1"].markdown)[-2:]
    assert (paper[0], paper[3]) == ("MLLM-IC (paper)", "4270k")
    pairs = run.items.height * 200
    assert row == ["This run", "3 perception and 2 reasoning tasks", "–", f"{pairs:,}", "5", "40", "5"]
    published = tables["table1"].published
    assert published is not None
    assert published.row(0) == ("This run", "qa_pairs", pairs, 4_270_000, pairs - 4_270_000)


def test_captions_say_where_intervals_are_of_few_pictures() -> None:
    names = ["ocr", "image_style"]
    many = items_of(names[:1], questions=20), items_of(names[1:], questions=2)
    several = run_of({"mine": 0.5}, pl.concat(many).sort("id"))
    assert resampled(several, 50).endswith(
        "Intervals are too narrow, since 1 of 2 capabilities has fewer than 10 pictures (the fewest: 1)."
    )
    enough = run_of({"mine": 0.5}, items_of(names, questions=20))
    assert resampled(enough, 50).endswith("the same for all models.")


def test_answers_are_counted_by_kind(run: RunOutcomes) -> None:
    words = RunOutcomes(run.codes, run.items, run.corruptions, run.severities, frozenset({"mine"}))
    frame = answer_counts(words, LABELS).frame
    assert frame.unique("model", maintain_order=True)["answers_in"].to_list() == [
        "scores",
        "words",
        "scores",
    ]
    codes = run.codes["gpt-4o"]
    clean, corrupted = frame.head(2).rows(named=True)
    assert (clean["images"], clean["answers"]) == ("clean", run.items.height)
    assert corrupted["answers"] == run.items.height * 200
    assert corrupted["ties"] == sum((codes[:, 1:] == kind).sum() for kind in (TIED_WRONG, TIED_RIGHT)) > 0
    assert clean["ties"] == (codes[:, 0] >= TIED_WRONG).sum()
    assert corrupted["refused"] == (codes[:, 1:] == REFUSED).sum() > 0
    assert corrupted["unparsed"] == (codes[:, 1:] == UNPARSED).sum() > 0


def test_models_that_swap_ranks_are_found() -> None:
    items = items_of(questions=8)
    firm = run_of({"firm": 0.75}, items, loss=0.01, seed=1)
    fragile = run_of({"fragile": 0.95, "worst": 0.6}, items, loss=0.12, seed=2)
    both = RunOutcomes(firm.codes | fragile.codes, items, firm.corruptions, firm.severities)
    labels = {"firm": "Firm", "fragile": "Fragile", "worst": "Worst"}
    level = standing(both, labels, all_ranked=True)
    found = rank_swaps(both, labels, level, 200, SEED)
    assert found.frame.filter("swap").select("model_a", "model_b").rows() == [("Firm", "Fragile")]
    swap = found.frame.filter("swap").row(0, named=True)
    assert swap["clean_difference"] < -0.1 and swap["corrupted_difference"] > 0.05
    assert "Of 3 pairs of ranked models, 1 is ordered differently" in text(found)
    assert "1 of these significantly" in text(found)
    printed = next(row for row in cells(found.markdown) if row[:2] == ["Firm", "Fragile"])
    for name, cell in zip(("clean", "corrupted"), printed[2:4], strict=True):
        for end in ("difference", "low", "high"):
            assert f"{abs(100 * swap[f'{name}_{end}']):.1f}" in cell


def test_redundancy_needs_five_models() -> None:
    models = dict(zip([*MODELS][:6], (0.7,) * 6, strict=True))
    types = ("fog", "snow", "gaussian_noise")
    run = run_of(models, items_of(questions=8), types, loss=0.01)
    labels = {id_: id_.upper() for id_ in models}
    own = {name: CATEGORIES[name] for name in types}
    level = standing(run, labels, all_ranked=True)
    found = redundancy(run, labels, own, level, DRAWS, SEED)
    assert found.frame["step"].to_list() == [1, 2, 3]
    number = found.frame["in_smallest"].sum()
    assert f"has {number} type" in text(found) and "Of 6 ranked models" in text(found)
    draws = run.average(run.draws([*models], {name: run.columns()[name] for name in types}, DRAWS, SEED))
    each = [spearmanr(draw[:, 0], draw.mean(axis=1)).statistic for draw in draws]
    fog = found.frame.filter(corruption="fog").row(0, named=True)
    assert fog["correlation"] == pytest.approx(each[0])
    ends = np.quantile(each[1:], [0.025, 0.975])
    assert (fog["correlation_low"], fog["correlation_high"]) == pytest.approx(tuple(ends))
    assert fog["rho_snow"] == pytest.approx(spearmanr(draws[0, :, 0], draws[0, :, 1]).statistic)
    for row in found.frame.iter_rows(named=True):
        others = {name: row[f"rho_{name}"] for name in types if name != row["corruption"]}
        assert others[row["nearest"]] == row["nearest_correlation"] == max(others.values())
    blind = run_of({**models, "blind": 0.1}, run.items, types, loss=0.01)
    with_blind = labels | {"blind": "BLIND"}
    level = standing(blind, with_blind)
    assert set(level.ranked) == {*labels.values()}
    same_models = redundancy(blind, with_blind, own, level, DRAWS, SEED)
    assert same_models.frame.equals(found.frame) and "Of 6 ranked models" in text(same_models)
    few = {id_: labels[id_] for id_ in [*labels][:4]}
    none = redundancy(run, few, own, standing(run, few, all_ranked=True), DRAWS, SEED)
    assert none.frame["correlation"].null_count() == 3
    assert text(none).startswith("Rank correlations of types of corruption need 5 ranked models")
    assert "this run has 4 ranked models" in text(none)
    same = RunOutcomes(
        dict.fromkeys(labels, next(iter(run.codes.values()))), run.items, types, run.severities
    )
    equal = redundancy(same, labels, own, standing(same, labels, all_ranked=True), DRAWS, SEED)
    assert text(equal).startswith("All ranked models are equally accurate")


@pytest.mark.parametrize("kind", ["three models", "one model", "no model above chance", "no copies"])
def test_what_tables_print_is_true_of_any_run(kind: str, request: pytest.FixtureRequest) -> None:
    run, labels = request.getfixturevalue("run"), LABELS
    if kind == "one model":
        labels = ONE
    elif kind == "no model above chance":
        labels = {"blind": "Blind"}
    elif kind == "no copies":
        run = run_of({"mine": 0.9, "blind": 0.3}, items_of(["ocr"]), ("fog", "snow"), (1, 2))
        labels = {"mine": "Mine", "blind": "Blind"}
    found = every_table(run, labels)
    for name, table in found.items():
        assert check_latex(table.latex) == ([], {"booktabs"}), name
        assert "None" not in text(table) and "nan" not in text(table), name
    is_marked = "in bold" in text(found["table2"])
    assert is_marked == ("**" in found["table2"].markdown) == (kind == "three models")
    assert ("Avg is the mean" in text(found["table2"])) == (len(labels) > 1)
    assert ("Circular" in text(found["table2"])) == (kind != "no copies")
    assert ("†" in text(found["table2"])) == ("blind" in labels)
    mids, names = (1, 1) if kind == "no copies" else (3, 5)
    covered = f"({mids} of the paper's 5), each the mean over its low-level ones ({names} of the paper's 34)"
    assert covered in text(found["severities"])
    whole = run_of({"mine": 0.9}, items_of(questions=1), ("fog",), (1, 2, 3, 4, 5))
    mine = {"mine": "Mine"}
    all_capabilities = table2(whole, mine, standing(whole, mine), DRAWS, SEED)
    assert "(5), each the mean over its low-level ones (34)." in text(all_capabilities)


def test_two_models_of_one_name_are_refused(run: RunOutcomes) -> None:
    twice = dict.fromkeys(LABELS, "Same")
    level = standing(run, LABELS)
    makers: list[Callable[[], Table]] = [
        lambda: table2(run, twice, level, DRAWS, SEED),
        lambda: table3(run, twice, CATEGORIES, level, DRAWS, SEED),
        lambda: answer_counts(run, twice),
    ]
    for make in makers:
        with pytest.raises(InputError, match="one label, 'Same'"):
            make()
