import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.schemas.tags import TAGS
from benchc.errors import InputError
from benchc.rendering.output import call, function_of
from benchc.schemas.parquet import TableError, write_table
from benchc.schemas.predictions import PREDICTIONS
from benchc.statistics.resampling import item_counts
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench import simulated
from tests.benchmarks.naturalbench.simulated import group_rows, items_of, score_rows, write_scored
from tests.footers import footer_of
from tests.rendering.latex import check_latex

TYPES = ("yes_no", "multiple_choice")
SUBSETS = ("Flickr30K", "DOCCI")
GROUPS = group_rows(48, types=TYPES, subsets=SUBSETS)
WITH_RANDOM = group_rows(48, types=TYPES, subsets=SUBSETS, methods=("mined", "mined", "random"))
ITEMS = items_of(GROUPS, other=["g5"])
CELLS = [("clean", 0), *(("motion_blur", level) for level in (1, 3))]
DRAWS = {"draws": 100, "seed": 0}
PLACES = ("00", "01", "10", "11")
MEASURES = ("acc", "q_acc", "i_acc", "g_acc")
LABELS = ("LLAVA-1.5-7B", "In_words", "THIRD")
# The names of a model of the paper, one without probabilities, and one more.
IDS = ("llava-1.5-7b", "words", "third")
REASON = "the model gives answers without probabilities"


@pytest.fixture(scope="module")
def tables():
    """The scores and footers of three models."""
    found = {}
    for number, id_ in enumerate(IDS):
        scores, taus = score_rows(ITEMS, number, skill=0.5 + number / 2, cells=CELLS)
        footer = {"taus": taus}
        if id_ == "words":
            scores = scores.filter(reading="decoding")
            missing = ("deterministic", "post_hoc", "global", "global_by_type", "cross_fitted", "sample")
            footer = {"unavailable": dict.fromkeys(missing, REASON)}
        found[id_] = (scores, footer)
    return found


@pytest.fixture
def files(tables, tmp_path):
    write_table(tags(), tmp_path / "tags.parquet", TAGS)
    return write_scored(tmp_path, GROUPS, tables, {"words": "In_words"})


def tags():
    rows = [("s/000", "Animal"), ("s/001", "animal"), ("s/010", "animal"), ("s/111", "animal")]
    rows += [("s/210", "World knowledge"), ("s/300", "counting"), ("s/301", "left handed")]
    return frame_of(TAGS, rows)


def table_of(name, files, reading="decoding", **settings):
    folder = files["groups"].parent
    given = files | DRAWS | {"reading": reading, "corruptions": ["motion_blur"]}
    given |= {"tags": folder / "tags.parquet", "chance": folder / "chance.csv"}
    if not given["chance"].exists():
        given["chance"].write_text(chance_of(files).frame.write_csv())
    return call(function_of(f"benchc.benchmarks.naturalbench.tables.{name}"), given | settings)


def chance_of(files, **changes):
    given = files | DRAWS | {"predictions": [], "least_label_mass": 0.5, "rank_below_chance": True}
    return call(function_of("benchc.benchmarks.naturalbench.tables.chance"), given | changes)


def text_of(table):
    return " ".join(table.markdown.split())


def cells(markdown):
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in (lines[0], *lines[2:])]


def right_of(tables, id_, reading, corruption="clean", severity=0):
    rows = tables[id_][0].filter(reading=reading, corruption=corruption, severity=severity)
    c = rows.select(f"c{place}" for place in PLACES).to_numpy().astype(float).reshape(-1, 2, 2)
    return {
        "acc": c.mean(axis=(1, 2)),
        "q_acc": c.prod(axis=2).mean(axis=1),
        "i_acc": c.prod(axis=1).mean(axis=1),
        "g_acc": c.prod(axis=(1, 2)),
    }


def test_table_1(tables, files):
    table = table_of("table1", files)
    human, chance, constant, *models = table.frame.iter_rows(named=True)
    assert [constant[name] for name in MEASURES] == [50, 0, 0, 0]
    assert [human[name] for name in MEASURES] == [97.5, 94.6, 95.0, 92.1]
    assert human["delta_human"] == 0 and chance["g_acc"] == 6.25 and chance["delta_human"] == -85.85
    assert [row["model"] for row in models] == [*LABELS]
    for id_, row in zip(IDS, models, strict=True):
        for name, values in right_of(tables, id_, "decoding").items():
            assert row[name] == pytest.approx(100 * values.mean())
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
        assert row["delta_human"] == pytest.approx(row["g_acc"] - 92.1)
        assert row["delta_human_low"] == pytest.approx(row["g_acc_low"] - 92.1)
    shown = cells(table.markdown)
    assert shown[0] == ["Model", "Acc", "Q-Acc", "I-Acc", "G-Acc", "Δ", "No answer"]
    assert shown[1] == ["Human Performance", "97.5", "94.6", "95.0", "92.1", "0.0", "–"]
    assert shown[2] == ["Random chance", "50.0", "25.0", "25.0", "6.2", "-85.8", "–"]
    for id_, row in zip(IDS, models, strict=True):
        said = tables[id_][0].filter(reading="decoding", corruption="clean")
        missing = said.select(f"p{place}" for place in PLACES).null_count().sum_horizontal()[0]
        assert missing > 0 and row["no_answer"] == pytest.approx(100 * missing / (4 * 48))
    assert "more than half" not in table.markdown
    assert shown[3] == ["Always one answer", "50.0", "0.0", "0.0", "0.0", "-92.1", "–"]
    assert shown[5][0] == "In_words" and shown[5][1].count("[") == 1
    compared = table.published
    assert compared["model"].unique().to_list() == [LABELS[0]]
    printed = dict(zip((*MEASURES, "delta_human"), (67.3, 37.7, 43.8, 12.7, -79.4), strict=True))
    assert dict(compared.select("value", "published").rows()) == printed
    assert compared["here"][3] == models[0]["g_acc"]
    # The paper's Table 1 is by decoding.
    other = table_of("table1", files, "deterministic")
    assert cells(other.markdown)[0][-1] == "Δ" and "No answer" not in other.markdown
    assert other.published.is_empty()
    words = other.frame.filter(model="In_words")
    assert words.select("acc", "g_acc_low", "delta_human").row(0) == (None,) * 3


def test_table_2(tables, files):
    table = table_of("table2", files)
    for id_, row in zip(IDS, table.frame.iter_rows(named=True), strict=True):
        if id_ == "words":
            assert [*row.values()] == ["In_words"] + [None] * 18
            continue
        for name, values in right_of(tables, id_, "deterministic").items():
            assert name == "acc" or row[f"{name}_original"] == pytest.approx(100 * values.mean())
        sample = tables[id_][0].filter(reading="sample", corruption="clean")
        assert row["q_acc_debiased"] == pytest.approx(50 * (sample["q0"].mean() + sample["q1"].mean()))
        assert row["i_acc_debiased"] == pytest.approx(50 * (sample["i0"].mean() + sample["i1"].mean()))
        assert row["g_acc_debiased"] == pytest.approx(100 * sample["g"].mean())
        assert row["g_acc_original"] <= row["g_acc_debiased"]
    shown = cells(table.markdown)
    assert shown[1] == ["Random chance", "25.0", "50.0", "25.0", "50.0", "6.2", "16.7"]
    assert shown[2] == ["Always one answer", *["0.0"] * 6]
    assert table.published.is_empty()  # the paper's Table 2 has LLaVA-1.5 with 13B alone


def test_table_4(tables, files, tmp_path):
    table = table_of("table4", files)
    names = ["Flickr30K-YN", "Flickr30K-MCQ", "DOCCI-YN", "DOCCI-MCQ", "Overall"]
    assert table.frame["cell"].unique(maintain_order=True).to_list() == names
    facts = GROUPS.unique("group", maintain_order=True)
    g_acc = right_of(tables, "third", "decoding")["g_acc"]
    of_third = dict(table.frame.filter(model="THIRD").select("cell", "g_acc").rows())
    for cell in names[:4]:
        subset, short = cell.split("-")
        type_ = {"YN": "yes_no", "MCQ": "multiple_choice"}[short]
        chosen = ((facts["subset"] == subset) & (facts["type"] == type_)).to_numpy()
        assert chosen.sum() == 12 == table.frame.filter(cell=cell)["groups"][0]
        assert of_third[cell] == pytest.approx(100 * g_acc[chosen].mean())
    assert of_third["Overall"] == pytest.approx(np.mean([of_third[cell] for cell in names[:4]]))
    assert cells(table.markdown)[0] == ["Model", *names]
    assert "Groups: Flickr30K-YN 12, Flickr30K-MCQ 12" in text_of(table)
    printed = [*zip(names, (9.1, 14.8, 14.1, 16.5, 12.7), strict=True)]
    assert table.published.select("value", "published").rows() == printed
    # It has no column for a type that a subset lacks.
    docci = pl.col("subset") == "DOCCI"
    groups = GROUPS.with_columns(type=pl.when(docci).then(pl.lit("yes_no")).otherwise("type"))
    table = table_of("table4", write_scored(tmp_path / "other", groups, tables))
    assert cells(table.markdown)[0] == ["Model", "Flickr30K-YN", "Flickr30K-MCQ", "DOCCI-YN", "Overall"]
    assert table.frame["g_acc"].null_count() == 0 and "DOCCI-MCQ" not in table.markdown


def test_table_6(tables, tmp_path):
    files = write_scored(tmp_path, WITH_RANDOM, tables)
    table = table_of("table6", files)
    method = WITH_RANDOM.unique("group", maintain_order=True)["method"].to_numpy()
    row = table.frame.row(2, named=True)
    g_acc = right_of(tables, "third", "decoding")["g_acc"]
    assert row["mined"] == pytest.approx(100 * g_acc[method == "mined"].mean())
    assert row["random"] == pytest.approx(100 * g_acc[method == "random"].mean())
    assert row["difference"] == pytest.approx(row["random"] - row["mined"])
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert "mined pairs (32 groups) and from pairs drawn at random (16) among" in text_of(table)
    # Without random pairs their cells are empty.
    only = write_scored(tmp_path / "only", GROUPS, tables)
    empty = table_of("table6", only).frame
    undefined = ("random", "random_low", "difference", "difference_high")
    assert empty.select(undefined).null_count().row(0) == (3,) * 4
    assert empty["mined"].null_count() == 0


def test_other_tables_have_groups_of_mined_pairs_only(tables, tmp_path):
    files = write_scored(tmp_path, WITH_RANDOM, tables)
    write_table(tags(), tmp_path / "tags.parquet", TAGS)
    mined = WITH_RANDOM.unique("group", maintain_order=True)["method"].to_numpy() == "mined"
    table = table_of("table1", files)
    g_acc = right_of(tables, "third", "decoding")["g_acc"][mined]
    assert table.frame.filter(model="THIRD")["g_acc"].item() == pytest.approx(100 * g_acc.mean())
    assert "resamples of the 32 groups" in text_of(table)
    motion = right_of(tables, "third", "decoding", "motion_blur", 3)["g_acc"][mined]
    rows = table_of("corruption", files).frame.filter(model="THIRD", reading="decoding", severity=3)
    assert rows["g_acc"].item() == pytest.approx(100 * motion.mean())
    # The group of world knowledge is of a random pair.
    ten = table_of("table10", files).frame.filter(model="THIRD")
    assert ten.select("skill", "questions").rows() == [("count", 1), ("world", 0), ("left handed", 1)]
    # A data set of random pairs alone is read whole.
    only = write_scored(tmp_path / "only", WITH_RANDOM.with_columns(method=pl.lit("random")), tables)
    assert "resamples of the 48 groups" in text_of(table_of("table1", only))


def test_tables_9_and_10(tables, files):
    nine, ten = table_of("table9", files), table_of("table10", files)
    assert nine.frame["skill"].unique().to_list() == ["animal"] and nine.frame.height == 3
    row = nine.frame.filter(model="THIRD").row(0, named=True)
    rows = tables["third"][0].filter(reading="decoding", corruption="clean")
    # Tagged: both questions of g0, the first by both of its images; the second of g1.
    questions = [rows["q0"][0], rows["q1"][0], rows["q1"][1]]
    assert (row["questions"], row["groups"]) == (3, 2)
    assert row["q_acc"] == pytest.approx(100 * np.mean(questions))
    assert row["g_acc"] == pytest.approx(100 * np.mean([rows["g"][0], rows["g"][1]]))
    third = ten.frame.filter(model="THIRD")
    counts = [("reasoning", "count", 1), ("reasoning", "world", 1), ("own", "left handed", 1)]
    assert third.select("kind", "skill", "questions").rows() == counts
    # One group has a value and no interval.
    assert third["g_acc"].null_count() == 0 and third["g_acc_low"].null_count() == 3
    shown = cells(ten.markdown)
    assert shown[0] == ["Model", "count", "world", "left handed"] and shown.count(shown[0]) == 2
    assert shown[1:3] == [["Random chance", *["6.2"] * 3], ["Always one answer", *["0.0"] * 3]]
    assert shown[8:10] == [["Random chance", *["25.0"] * 3], ["Always one answer", *["0.0"] * 3]]
    ranked = chance_of(files).frame.filter("above_chance", reading="decoding")["model"].to_list()
    assert [row[0] for row in shown[3:6]] == [each if each in ranked else f"{each} †" for each in LABELS]
    text = text_of(ten)
    assert "G-Acc by skill (relation and reasoning)" in text and "groups by skill: count 1, world 1" in text
    assert nine.published.select("model", "skill", "published").is_empty()  # not a model of Table 9
    write_table(frame_of(TAGS), files["groups"].parent / "tags.parquet", TAGS)
    assert table_of("table9", files).frame.is_empty()
    write_table(frame_of(TAGS, [("x", "animal")]), files["groups"].parent / "tags.parquet", TAGS)
    with pytest.raises(InputError, match="item 'x' is in no group"):
        table_of("table9", files)


def test_table_11(tables, files):
    table = table_of("table11", files)
    readings = ["decoding", "deterministic", "post_hoc", "global", "global_by_type", "cross_fitted", "sample"]
    keys = [(label, reading) for label in LABELS for reading in readings]
    assert table.frame.select("model", "reading").rows() == keys
    for id_, label in ((IDS[0], LABELS[0]), (IDS[2], LABELS[2])):
        for reading in readings[:-1]:
            row = table.frame.filter(model=label, reading=reading).row(0, named=True)
            for name, values in right_of(tables, id_, reading).items():
                assert row[name] == pytest.approx(100 * values.mean())
        sample = table.frame.filter(model=label, reading="sample").row(0, named=True)
        assert sample["acc"] is None and sample["g_acc"] is not None and sample["unavailable"] is None
    words = table.frame.filter(model="In_words")
    assert words["g_acc"].null_count() == 6 and words["unavailable"].to_list() == [None, *[REASON] * 6]
    assert "nan" not in table.frame.write_csv().lower()
    assert f"Post-hoc is not available for In_words: {REASON}." in text_of(table)
    printed = {"decoding": 12.7, "deterministic": 12.2, "post_hoc": 13.9, "global": 14.0, "sample": 44.3}
    assert dict(table.published.filter(value="g_acc").select("reading", "published").rows()) == printed


def test_taus(tables, files, tmp_path):
    table = table_of("taus", files)
    assert table.frame.height == 10 and table.frame["model"].unique().len() == 2
    for row in table.frame.iter_rows(named=True):
        assert row["low"] <= row["tau"] < row["high"] and 0 <= row["right"] <= row["groups"]
    # The counts of a half are of the groups that its threshold is chosen from.
    halves = table.frame.filter(model="THIRD", reading="cross_fitted")
    assert "Groups: those that τ was chosen from" in text_of(table)
    assert halves["groups"].sum() == 48 and halves["half"].to_list() == [0, 1]
    first = table.frame.filter(model="THIRD", reading="global").row(0, named=True)
    assert (first["type"], first["half"], first["groups"]) == (None, None, 48)
    assert first["right"] == tables["third"][0].filter(reading="global")["g"].sum()
    assert cells(table.markdown)[1][1:4] == ["Global τ", "all", "–"]
    by_type = table.frame.filter(model="THIRD", reading="global_by_type")
    assert by_type["type"].to_list() == ["yes_no", "multiple_choice"]
    assert [row[2] for row in cells(table.markdown)[2:4]] == ["YN", "MCQ"]
    # Thresholds of small probabilities are not printed as zero.
    scores, facts = tables["third"]
    taus = [tau | {"tau": -2.5e-20, "low": -3.25e-20, "high": 0.0} for tau in facts["taus"]]
    small = write_scored(tmp_path / "small", group_rows(48), {"third": (scores, facts | {"taus": taus})})
    assert cells(table_of("taus", small).markdown)[1][4:7] == ["-2.5e-20", "-3.25e-20", "0"]


@pytest.mark.parametrize("name", ["taus", "bias"])
def test_models_are_marked_by_the_reading_of_the_row(name, tables, files):
    table = table_of(name, files)
    standings = chance_of(files).frame.filter(above_chance=False)
    below = {*standings.select("model", "reading").iter_rows()}
    keys = [*table.frame["model", "reading"].iter_rows()]
    marked = [row[0].endswith("†") for row in cells(table.markdown)[1:]]
    assert marked == [key in below for key in keys] and len(set(marked)) == 2
    assert "†: G-Acc by the reading of the row is not above chance" in text_of(table)


def test_a_model_whose_replies_have_no_answer_is_named(tables, tmp_path):
    scores, facts = tables["third"]
    silent = scores.with_columns(
        *(pl.lit(None, pl.Int8).alias(f"p{place}") for place in PLACES),
        *(pl.lit(value=False).alias(f"c{place}") for place in PLACES),
    )
    files = write_scored(tmp_path, group_rows(48), {"third": (silent, facts)})
    table = table_of("table1", files)
    assert table.frame["no_answer"].to_list() == [None, None, None, 100]
    assert "No answer: the share of replies in which none is found. These are more than half for THIRD;" in (
        text_of(table)
    )
    unknown = "–: the run has no such question, or no answer to one."
    assert unknown in text_of(table_of("bias", files))
    answered = write_scored(tmp_path / "answered", GROUPS, {"third": tables["third"]})
    assert unknown not in text_of(table_of("bias", answered))
    # Half of the replies are not more than half.
    first = pl.col("group").is_in([f"g{number}" for number in range(24)])
    half = scores.with_columns(
        pl.when(first).then(None).otherwise(pl.col(f"p{place}").fill_null(0)).alias(f"p{place}")
        for place in PLACES
    )
    table = table_of("table1", write_scored(tmp_path / "half", GROUPS, {"third": (half, facts)}))
    assert table.frame["no_answer"][3] == 50 and "more than half" not in table.markdown


def test_bias(tables, files):
    table = table_of("bias", files)
    facts = GROUPS.unique("group", maintain_order=True)["type"]
    assert "sample" not in table.frame["reading"].to_list()
    for id_, label in zip(IDS, LABELS, strict=True):
        rows = tables[id_][0].filter(reading="decoding", corruption="clean")
        said = rows.select(f"p{place}" for place in PLACES)
        row = table.frame.filter(model=label, reading="decoding").row(0, named=True)
        words = np.concatenate([said.filter(facts == "yes_no")[name].drop_nulls() for name in said.columns])
        letters = np.concatenate([said.filter(facts != "yes_no")[name].drop_nulls() for name in said.columns])
        assert row["yes"] == pytest.approx(100 * (words == 0).mean())
        assert row["b"] == pytest.approx(100 * (letters == 1).mean())
        missing = said.null_count().sum_horizontal()[0]
        assert missing > 0 and row["no_answer"] == pytest.approx(100 * missing / (4 * 48))
    assert table.frame.filter(reading="deterministic")["no_answer"].to_list() == [0.0, 0.0]


def test_rank_swaps(tmp_path):
    """The first model is right in whole groups, the second in more answers that are scattered."""
    groups = group_rows(60)
    items = items_of(groups)
    empty = score_rows(items, 0)[0].filter(reading="decoding")

    def of(pattern):
        right = np.array([pattern(number) for number in range(60)], dtype=bool)
        columns = {f"c{place}": right[:, number] for number, place in enumerate(PLACES)}
        return empty.with_columns(g=right.all(axis=1), **columns), {}

    models = {
        "whole": of(lambda number: [number % 2 == 0] * 4),
        "scattered": of(lambda number: [True, True, True, number % 20 == 0]),
        "same": of(lambda number: [True, True, True, number % 20 == 0]),
    }
    table = table_of("rank_swaps", write_scored(tmp_path, groups, models), draws=400)
    first, second, equal = table.frame.iter_rows(named=True)
    assert (first["model_a"], first["model_b"]) == ("WHOLE", "SCATTERED")
    assert first["acc_difference"] == pytest.approx(50 - 76.25)
    assert first["g_acc_difference"] == pytest.approx(45)
    assert first["opposite"] and first["swap"] and first["p"] == pytest.approx(2 / 401)
    assert first["p_holm"] == pytest.approx(6 / 401) and second["swap"]
    assert not equal["opposite"] and equal["p"] == 1
    shown = cells(table.markdown)
    assert [row[:2] for row in shown[1:3]] == [["WHOLE", "SCATTERED"], ["WHOLE", "SAME"]]
    assert "Of 3 pairs of models, 2 are ordered differently" in text_of(table)
    assert "2 of these significantly" in text_of(table)
    assert [row[0] for row in shown[1:]] == ["WHOLE", "WHOLE", "SCATTERED"]
    # A model without the reading is in no pair.
    one = write_scored(tmp_path / "a", groups, {"whole": models["whole"]})
    assert table_of("rank_swaps", one).frame.is_empty()
    assert table_of(
        "rank_swaps", write_scored(tmp_path / "b", groups, models), "deterministic"
    ).frame.is_empty()
    # One group has no test.
    groups = group_rows(1)
    models = {id_: (score_rows(items_of(groups), number)[0], {}) for number, id_ in enumerate(IDS)}
    table = table_of("rank_swaps", write_scored(tmp_path / "one", groups, models))
    assert table.frame["note"].to_list() == ["interval and p undefined: one group"] * 3
    undefined = ("acc_low", "acc_high", "g_acc_low", "g_acc_high", "p", "p_holm", "swap")
    assert table.frame.select(undefined).null_count().row(0) == (3,) * 7
    assert "Of 3 pairs of models" in text_of(table) and "Holm's correction over 0 pairs" in text_of(table)


def test_corruption(tables, files):
    table = table_of("corruption", files)
    readings = ("decoding", "deterministic", "sample")
    keys = [(each, name) for each in LABELS for name in readings[: 1 if each == "In_words" else 3]]
    assert table.frame.select("model", "reading").unique(maintain_order=True).rows() == keys
    rows = table.frame.filter(model="THIRD", reading="decoding")
    cells_of = [("motion_blur", level) for level in (1, 3, None)]
    assert rows.select("corruption", "severity").rows() == cells_of
    clean = right_of(tables, "third", "decoding")
    levels = [right_of(tables, "third", "decoding", "motion_blur", level) for level in (1, 3)]
    for name in ("acc", "g_acc"):
        values = [100 * level[name].mean() for level in levels]
        values.append(np.mean(values))
        assert rows[name].to_list() == pytest.approx(values)
        differences = [value - 100 * clean[name].mean() for value in values]
        assert rows[f"{name}_difference"].to_list() == pytest.approx(differences)
        ends = [f"{name}_difference{end}" for end in ("_low", "", "_high")]
        assert all(low <= value <= high for low, value, high in rows.select(ends).rows())
    # The mean over severities varies less than its parts do on average.
    width = (rows["acc_high"] - rows["acc_low"]).to_list()
    assert width[2] < np.mean(width[:2])
    sample = table.frame.filter(reading="sample")
    assert sample["acc"].null_count() == sample.height and sample["g_acc"].null_count() == 0
    shown = cells(table.markdown)
    assert shown[0] == ["Model", "Corruption", "Acc", "ΔAcc", "G-Acc", "ΔG-Acc"]
    below = chance_of(files, rank_below_chance=False).frame.filter(reading="decoding", ranked=False)
    expected = [[f"{each} †" if each in below["model"] else each, "motion blur"] for each in LABELS]
    assert [row[:2] for row in shown[1:]] == expected


WITHOUT_PAPER = ("taus", "bias", "rank_swaps", "corruption")
NAMES = [f"table{number}" for number in (1, 2, 4, 6, 9, 10, 11)]


@pytest.mark.parametrize("name", [*NAMES, *WITHOUT_PAPER])
def test_every_table_is_well_formed_and_without_nan(files, name):
    table = table_of(name, files)
    assert "nan" not in (table.frame.write_csv() + table.markdown).lower()
    check_latex(table.latex)
    assert (table.published is None) == (name in WITHOUT_PAPER)
    again = table_of(name, files)
    assert again.frame.equals(table.frame) and again.markdown == table.markdown


def test_scores_of_other_groups_or_runs_are_refused(tables, files, tmp_path):
    moved = write_scored(tmp_path / "moved", group_rows(47), tables)
    with pytest.raises(TableError, match="its groups are not those of the pool"):
        table_of("table1", moved)
    # The first file has the pool a, and neither seed nor alpha.
    third, words = tables["third"][0], tables["words"][0]
    for fact in ("pool", "seed", "alpha"):
        other = {**tables, "third": (third, {fact: "b"}), "words": (words, {fact: "a"})}
        with pytest.raises(TableError, match=f"its {fact} is b, that of the files before is a"):
            table_of("table1", write_scored(tmp_path / fact, GROUPS, other))
    label = {**tables, "third": (third, {"label": "else"})}
    with pytest.raises(TableError, match="its scores are those of else"):
        table_of("table1", write_scored(tmp_path / "labels", GROUPS, label))
    with pytest.raises(InputError, match="have one label"):
        table_of("table1", write_scored(tmp_path / "same", GROUPS, tables, dict.fromkeys(IDS, "M")))


def test_a_mean_over_severities_is_of_one_corruption(tmp_path):
    cells = [("clean", 0), ("fog", 1), ("motion_blur", 1), ("motion_blur", 3)]
    models = {"third": (score_rows(ITEMS, 0, cells=cells)[0], {})}
    files = write_scored(tmp_path, GROUPS, models)
    table = table_of("corruption", files, corruptions=["motion_blur", "fog"])
    rows = table.frame.filter(reading="decoding")
    acc = {cell: 100 * right_of(models, "third", "decoding", *cell)["acc"].mean() for cell in cells}
    blur = [acc["motion_blur", level] for level in (1, 3)]
    assert len({*acc.values()}) == 4
    # In the order of the run, not of the file.
    assert rows.select("corruption", "severity").rows() == [
        ("motion_blur", 1), ("motion_blur", 3), ("fog", 1), ("motion_blur", None), ("fog", None),
    ]  # fmt: skip
    assert rows["acc"].to_list() == pytest.approx([*blur, acc["fog", 1], np.mean(blur), acc["fog", 1]])


def test_values_are_beside_those_of_the_same_column_of_the_paper(tables, tmp_path):
    """Tables 2, 6, 9 and 10, which have other models than the others; nothing is beside another reading."""
    both = {"llava-1.5-13b": tables["third"], "llava-next-mistral-7b": tables["third"]}
    files = write_scored(tmp_path, WITH_RANDOM, both)
    # Skills of both tables, on groups of mined pairs.
    rows = [("s/000", "animal"), ("s/100", "counting")]
    write_table(frame_of(TAGS, rows), tmp_path / "tags.parquet", TAGS)
    two = table_of("table2", files).published
    names = [f"{name}_{kind}" for name in MEASURES[1:] for kind in ("original", "debiased")]
    printed = [*zip(names, (38.6, 86.2, 43.5, 78.6, 14.4, 49.7), strict=True)]
    assert two.filter(model="LLAVA-1.5-13B").select("value", "published").rows() == printed
    assert two.height == 6
    name = "LLAVA-NEXT-MISTRAL-7B"
    six = table_of("table6", files)
    ours = six.frame.filter(model=name).row(0, named=True)
    assert six.published.select("model", "value", "here", "published").rows() == [
        (name, "mined", ours["mined"], 15.9), (name, "random", ours["random"], 86.0),
    ]  # fmt: skip
    nine, ten = table_of("table9", files).published, table_of("table10", files).published
    keys = ("model", "skill", "value", "published")
    assert nine.select(keys).rows() == [(name, "animal", "g_acc", 14.2)]
    assert ten.select(keys).rows() == [(name, "count", "g_acc", 17.1)]
    for other in ("table4", "table6", "table9", "table10"):
        assert table_of(other, files, "deterministic").published.is_empty()


@pytest.mark.parametrize(("count", "shown"), [(6, 15), (7, 1)])
def test_of_many_pairs_of_models_the_opposite_ones_are_printed(tmp_path, count, shown):
    """All models are equal but two, of which one is better in Acc and the other in G-Acc."""
    groups = group_rows(8)
    empty = score_rows(items_of(groups), 0)[0].filter(reading="decoding")
    # How many answers of the first groups are right.
    rights = {"whole": [4, 4, 0], "scattered": [3, 3, 3]} | {f"m{n}": [4, 4, 3] for n in range(count - 2)}
    models = {}
    for id_, right in rights.items():
        given = pl.Series([*right, 0, 0, 0, 0, 0])
        columns = {f"c{place}": given > order for order, place in enumerate(PLACES)}
        models[id_] = (empty.with_columns(g=given == 4, **columns), {})
    table = table_of("rank_swaps", write_scored(tmp_path, groups, models))
    assert table.frame.height == count * (count - 1) / 2
    assert table.frame.filter("opposite").select("model_a", "model_b").rows() == [("WHOLE", "SCATTERED")]
    rows = cells(table.markdown)[1:]
    assert len(rows) == shown and rows[0][:2] == ["WHOLE", "SCATTERED"]


def test_models_are_above_chance_by_groups_and_by_reading(tables, files, tmp_path):
    frame = chance_of(files, rank_below_chance=False).frame
    counts = item_counts(48, DRAWS["draws"], DRAWS["seed"])[1:]
    for row in frame.drop_nulls("accuracy").iter_rows(named=True):
        id_ = IDS[LABELS.index(row["model"])]
        right = tables[id_][0].filter(reading=row["reading"], corruption="clean")["g"].to_numpy()
        low = np.quantile(counts @ right / 48, 0.025)
        chance = 1 / 6 if row["reading"] == "sample" else 1 / 16
        assert row["guessing"] == pytest.approx(100 * chance) and row["constant"] == 0
        assert row["above_chance"] == row["ranked"] == (low > chance)
    assert frame["above_chance"].n_unique() == 3  # true, false, and null without the reading
    assert frame.filter(model="In_words", reading="sample")["ranked"].to_list() == [False]
    # Label mass is no matter for generated answers.
    predictions = tmp_path / "predictions/third/all.parquet"
    table = simulated.prediction_rows(ITEMS, np.zeros((1, *ITEMS.truth.shape, 2)), mass=0.25)
    texts = [pl.lit("p").alias(name) for name in ("prompt_hash", "image_hash")]
    write_table(table.with_columns(texts), predictions, PREDICTIONS, footer_of({"scoring": "letter"}))
    found = chance_of(files, predictions=[predictions], rank_below_chance=False)
    third = found.frame.filter(model="THIRD")
    assert third.filter(reading="decoding")["label_mass"].to_list() == [None]
    others = third.filter(pl.col("reading") != "decoding")
    assert set(others["label_mass"]) == {0.25} and not others["ranked"].any()
    (chance := tmp_path / "low.csv").write_text(found.frame.write_csv())
    table = table_of("table2", files, chance=chance)
    assert "| THIRD ‡ " in table.markdown and "‡: low label mass" in text_of(table)


def test_rank_swaps_are_of_models_above_chance(tables, tmp_path):
    """The second model makes no group right."""
    never = tables["third"][0].with_columns(g=False)
    files = write_scored(tmp_path, GROUPS, {"llava-1.5-7b": tables["third"], "third": (never, {})})
    (chance := tmp_path / "own.csv").write_text(chance_of(files, rank_below_chance=False).frame.write_csv())
    table = table_of("rank_swaps", files, chance=chance)
    assert table.frame.is_empty() and "Without THIRD: not above chance" in text_of(table)
    assert table_of("rank_swaps", files).frame.height == 1
    shown = cells(table_of("table1", files, chance=chance).markdown)
    assert [row[0] for row in shown[3:]] == ["Always one answer", "LLAVA-1.5-7B", "THIRD †"]
    assert shown[-1][4] == "0.0 [–]"
