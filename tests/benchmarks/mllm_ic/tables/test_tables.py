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
from benchc.rendering.numbers import p_text
from benchc.rendering.output import Table
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, averages, items_of, mids_of, run_of
from tests.benchmarks.printed import cells, text_of
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
    options = [[*"wxyz"][: 2 if two else 4] for two in run.items["capability"].str.starts_with("image")]
    answers = [number % 5 % 2 for number in range(run.items.height)]
    return pl.DataFrame({"id": run.items["id"], "options": options, "answer": answers})


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


CORRUPTED = range(1, 6)


def test_table_2_is_what_scores_give(run, tables):
    frame = tables["table2"].frame
    for id_, label in LABELS.items():
        found = averages(run, id_, level=CORRUPTED)
        expected = {name: found[name] for name in (*mids_of(run), "overall", "capabilities", "micro")}
        expected["clean"] = averages(run, id_, level=0)["overall"]
        row = frame.filter(model=label).row(0, named=True)
        assert {name: row[name] for name in expected} == pytest.approx(expected)
        assert len({round(expected[name], 6) for name in ("overall", "capabilities", "micro")}) == 3
        assert row["overall_low"] < row["overall"] < row["overall_high"]
    assert frame["model"].to_list() == [*LABELS.values(), "Avg"]
    assert frame["micro"][-1] == pytest.approx(frame["micro"][:-1].mean())


def test_circular_accuracy_counts_questions_all_of_whose_copies_are_right(run):
    found = table2(run, ONE, standing(run, ONE), DRAWS, SEED).frame["circular"][0]
    codes = run.codes["mine"].copy()
    for (_,), own in run.items.with_row_index("row").group_by("circular_group"):
        rows = own["row"].to_numpy()
        codes[rows] = np.where(np.isin(codes[rows], (RIGHT, TIED_RIGHT)).all(axis=0), RIGHT, WRONG)
    circular = RunOutcomes({"mine": codes}, run.items, run.corruptions, run.severities)
    assert found == pytest.approx(averages(circular, "mine", level=CORRUPTED)["overall"])


def test_table_3_is_what_scores_give(run, tables):
    frame = tables["table3"].frame
    for id_, label in LABELS.items():
        row = frame.filter(model=label).row(0, named=True)
        for category in CATEGORIES.values():
            assert row[category] == pytest.approx(averages(run, id_, category=category)["overall"])
        assert row["overall"] == pytest.approx(averages(run, id_, level=CORRUPTED)["overall"])
    assert "Color 6, Geometric 6, Blur 5" in text_of(tables["table3"])


def test_severities_and_drops_are_differences_of_what_scores_give(run, tables):
    clean, fourth, fifth, corrupted = (averages(run, "mine", level=level) for level in (0, 4, 5, CORRUPTED))
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
    under_blur = averages(run, "mine", category="blur")["overall"]
    assert lost["blur"] == pytest.approx(clean["overall"] - under_blur)


def test_chance_is_averaged_as_accuracies_are(run, tables):
    pool = pool_of(run).with_columns(capability=run.items["capability"], n=pl.col("options").list.len())
    pool = pool.with_columns(mid=pl.col("capability").replace_strict(MIDS))

    def mean(value: pl.Expr) -> float:
        by_capability = pool.group_by("mid", "capability").agg(value.mean().alias("value"))
        return by_capability.group_by("mid").agg(pl.col("value").mean())["value"].mean()

    frame = tables["chance"].frame
    assert frame["guessing"].to_list() == pytest.approx([mean(1 / pl.col("n"))] * 3)
    letters = [mean((pl.col("answer") == letter).cast(pl.Float64)) for letter in range(2)]
    best = int(np.argmax(letters))
    assert frame["constant"].to_list() == pytest.approx([letters[best]] * 3)
    assert frame["constant_answer"].unique().to_list() == ["ABC"[best]]
    ranked = [("GPT-4o", True), ("Mine & 50 %", True), ("Blind", False)]
    assert frame.select("model", "ranked").rows() == ranked
    assert f"{100 * letters[best]:.1f}" in text_of(tables["chance"])


@pytest.mark.parametrize(("questions", "shared", "above"), [(3, 1, False), (12, 1, True), (12, 4, False)])
def test_few_right_answers_are_not_above_chance(questions, shared, above):
    """Resamples of right answers are right, but three pictures say little (0.025 ** (1 / 3) is 0.29)."""
    perfect = run_of({"mine": 1.0}, items_of(["ocr"], questions, shared=shared), ("fog",))
    pool = pool_of(perfect)
    found = chance(perfect, ONE, pool, DRAWS, SEED, rank_below_chance=False).frame
    assert found.select("accuracy", "accuracy_low", "above_chance").row(0) == (1.0, 1.0, above)
    with pytest.raises(InputError, match=r"item made/\S+ of the outcomes is not in the pool"):
        chance(perfect, ONE, pool.head(2), DRAWS, SEED, rank_below_chance=False)


def test_the_best_two_ranked_models_are_marked_and_others_are_not(tables):
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


def test_accuracies_are_shares_in_files_and_per_cent_as_printed(tables):
    for name in ("table2", "table3", "severities"):
        assert tables[name].frame.select(pl.col(pl.Float64).max()).max_horizontal().item() <= 1
    value = tables["table3"].frame["noise"][1]
    assert cells(tables["table3"].markdown)[4][-2].strip("*") == f"{100 * value:.1f}"
    # Published values are beside ours.
    published = tables["table3"].published
    assert published["model"].unique().to_list() == ["GPT-4o"]
    row = published.filter(value="blur").row(0, named=True)
    assert (row["published"], row["here"]) == (0.53, pytest.approx(tables["table3"].frame["blur"][0]))
    of_text = tables["severities"].published
    assert of_text.select("value", "published").rows() == [("drop_severity_5", 0.143)]


def test_table_1_counts_the_run(run, tables):
    paper, row = cells(tables["table1"].markdown)[-2:]
    assert (paper[0], paper[3]) == ("MLLM-IC (paper)", "4270k")
    pairs = run.items.height * 200
    assert row == ["This run", "3 perception and 2 reasoning tasks", "–", f"{pairs:,}", "5", "40", "5"]
    expected = ("This run", "qa_pairs", pairs, 4_270_000, pairs - 4_270_000)
    assert tables["table1"].published.row(0) == expected


def test_captions_say_where_intervals_are_of_few_pictures():
    many = pl.concat([items_of(["ocr"], questions=20), items_of(["image_style"], questions=2)])
    for items, end in (
        (many.sort("id"), "since 1 of 2 capabilities has fewer than 10 pictures (the fewest: 1)."),
        (items_of(["ocr", "image_style"], questions=20), "the same for all models."),
    ):
        assert resampled(run_of({"mine": 0.5}, items), 50).endswith(end)


def test_answers_are_counted_by_kind(run):
    words = RunOutcomes(run.codes, run.items, run.corruptions, run.severities, frozenset({"mine"}))
    frame = answer_counts(words, LABELS).frame
    answers_in = frame.unique("model", maintain_order=True)["answers_in"].to_list()
    assert answers_in == ["scores", "words", "scores"]
    codes = run.codes["gpt-4o"]
    clean, corrupted = frame.head(2).rows(named=True)
    assert (clean["images"], clean["answers"]) == ("clean", run.items.height)
    assert corrupted["answers"] == run.items.height * 200
    assert clean["ties"] == (codes[:, 0] >= TIED_WRONG).sum()
    kinds = {"ties": (TIED_WRONG, TIED_RIGHT), "refused": REFUSED, "unparsed": UNPARSED}
    for name, kind in kinds.items():
        assert corrupted[name] == np.isin(codes[:, 1:], kind).sum() > 0


def test_models_that_swap_ranks_are_found():
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
    assert "Of 3 pairs of ranked models, 1 is ordered differently" in text_of(found)
    assert "1 of these significantly" in text_of(found)
    printed = next(row for row in cells(found.markdown) if row[:2] == ["Firm", "Fragile"])
    for name, cell in zip(("clean", "corrupted"), printed[2:4], strict=True):
        for end in ("difference", "low", "high"):
            assert f"{abs(100 * swap[f'{name}_{end}']):.1f}" in cell
    # However many resamples there are, no p is 0.
    assert printed[4:] == [p_text(swap["p"]), p_text(swap["p_holm"])] and p_text(2e-5) == "2.00e-05"


def test_redundancy_needs_five_models():
    models = dict.fromkeys([*MODELS][:6], 0.7)
    types = ("fog", "snow", "gaussian_noise")
    run = run_of(models, items_of(questions=8), types, loss=0.01)
    own = {name: CATEGORIES[name] for name in types}

    def found(run: RunOutcomes, *more: str, all_ranked: bool = True, most: int = 6) -> Table:
        labels = {id_: id_.upper() for id_ in [*[*models][:most], *more]}
        return redundancy(run, labels, own, standing(run, labels, all_ranked=all_ranked), DRAWS, SEED)

    table = found(run)
    assert table.frame["step"].to_list() == [1, 2, 3]
    number = table.frame["in_smallest"].sum()
    assert f"has {number} type" in text_of(table) and "Of 6 ranked models" in text_of(table)
    draws = run.average(run.draws([*models], {name: run.columns()[name] for name in types}, DRAWS, SEED))
    each = [spearmanr(draw[:, 0], draw.mean(axis=1)).statistic for draw in draws]
    fog = table.frame.filter(corruption="fog").row(0, named=True)
    assert fog["correlation"] == pytest.approx(each[0])
    ends = np.quantile(each[1:], [0.025, 0.975])
    assert (fog["correlation_low"], fog["correlation_high"]) == pytest.approx(tuple(ends))
    assert fog["rho_snow"] == pytest.approx(spearmanr(draws[0, :, 0], draws[0, :, 1]).statistic)
    for row in table.frame.iter_rows(named=True):
        others = {name: row[f"rho_{name}"] for name in types if name != row["corruption"]}
        assert others[row["nearest"]] == row["nearest_correlation"] == max(others.values())
    # A model that is not above chance changes nothing.
    blind = run_of({**models, "blind": 0.1}, run.items, types, loss=0.01)
    same_models = found(blind, "blind", all_ranked=False)
    assert same_models.frame.equals(table.frame) and "Of 6 ranked models" in text_of(same_models)
    none = found(run, most=4)
    assert none.frame["correlation"].null_count() == 3
    assert text_of(none).startswith("Rank correlations of types of corruption need 5 ranked models")
    assert "this run has 4 ranked models" in text_of(none)
    codes = dict.fromkeys(models, run.codes[next(iter(models))])
    equal = found(RunOutcomes(codes, run.items, types, run.severities))
    assert text_of(equal).startswith("All ranked models are equally accurate")


@pytest.mark.parametrize("kind", ["three models", "one model", "no model above chance", "no copies"])
def test_what_tables_print_is_true_of_any_run(kind, run, tables):
    labels = {"one model": ONE, "no model above chance": {"blind": "Blind"}}.get(kind, LABELS)
    if kind == "no copies":
        run = run_of({"mine": 0.9, "blind": 0.3}, items_of(["ocr"]), ("fog", "snow"), (1, 2))
        labels = {"mine": "Mine", "blind": "Blind"}
    found = tables if kind == "three models" else every_table(run, labels)
    for name, table in found.items():
        assert check_latex(table.latex) == ([], {"booktabs"}), name
        assert "None" not in text_of(table) and "nan" not in text_of(table), name
    shown = text_of(found["table2"])
    assert ("in bold" in shown) == ("**" in found["table2"].markdown) == (kind == "three models")
    assert ("Avg is the mean" in shown) == (len(labels) > 1)
    assert ("Circular" in shown) == (kind != "no copies")
    assert ("†" in shown) == ("blind" in labels)
    mids, names = (1, 1) if kind == "no copies" else (3, 5)
    covered = f"({mids} of the paper's 5), each the mean over its low-level ones ({names} of the paper's 34)"
    assert covered in text_of(found["severities"])


def test_a_run_with_all_capabilities_says_their_numbers():
    whole = run_of({"mine": 0.9}, items_of(questions=1), ("fog",), (1, 2, 3, 4, 5))
    table = table2(whole, {"mine": "Mine"}, standing(whole, {"mine": "Mine"}), DRAWS, SEED)
    assert "(5), each the mean over its low-level ones (34)." in text_of(table)


def test_two_models_of_one_name_are_refused(run):
    twice, level = dict.fromkeys(LABELS, "Same"), standing(run, LABELS)
    drawn = (level, DRAWS, SEED)
    for make, given in ((table2, drawn), (table3, (CATEGORIES, *drawn)), (answer_counts, ())):
        with pytest.raises(InputError, match="one label, 'Same'"):
            make(run, twice, *given)
