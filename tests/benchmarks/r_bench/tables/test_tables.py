import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.r_bench.chance import TaskChance, read_chance
from benchc.benchmarks.r_bench.tables.chance import chance
from benchc.benchmarks.r_bench.tables.claims import claims
from benchc.benchmarks.r_bench.tables.composition import composition
from benchc.benchmarks.r_bench.tables.effect import effect
from benchc.benchmarks.r_bench.tables.judge_agreement import judge_agreement
from benchc.benchmarks.r_bench.tables.judge_ranks import judge_ranks
from benchc.benchmarks.r_bench.tables.means import means
from benchc.benchmarks.r_bench.tables.rank import rank
from benchc.benchmarks.r_bench.tables.retention import retention
from benchc.benchmarks.r_bench.tables.table2 import table2
from benchc.benchmarks.r_bench.tables.table3_absolute import table3_absolute
from benchc.benchmarks.r_bench.tables.table3_relative import table3_relative
from benchc.benchmarks.r_bench.tables.table4 import table4
from benchc.errors import InputError
from benchc.rendering.verdicts import FAILS, HOLDS, NOT_APPLICABLE
from benchc.statistics.chance import STANDINGS
from tests.benchmarks.r_bench import scored
from tests.benchmarks.r_bench.scored import files_of, judgements, rows_of, score_frame, scores
from tests.rendering.latex import check_latex
from tests.shared_data import needs_shared
from tests.stages import call_stage

LABELS = {"gpt-4o": "GPT-4o", "minicpm": "MiniCPM", "tiny": "Tiny", "blind": "Blind"}
DRAWS = 40
# Of a run whose tasks have no chance level.
NO_CHANCE = TaskChance(pl.DataFrame(schema=STANDINGS | {"task": pl.String}))


@pytest.fixture(scope="module")
def rows():
    return rows_of(repeats=2)


@pytest.fixture(scope="module")
def tables(rows):
    drawn = {"gpt-4o": (0.9, 0.02), "minicpm": (0.75, 0.05), "tiny": (0.6, 0.15)}
    found = {id_: scores(rows, *given, seed=n) for n, (id_, given) in enumerate(drawn.items())}
    none = np.zeros(rows.height)
    return found | {"blind": score_frame(rows, none, none, none + 1)}


@pytest.fixture(scope="module")
def files(tables):
    return files_of(tables)


def questions(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return pool and references, in which A of four options, and yes, are right in two of five."""
    ids = rows.unique("id", maintain_order=True).with_row_index("n")
    options = pl.when(task="mcq").then(pl.lit([*"wxyz"])).otherwise(pl.lit([], pl.List(pl.String)))
    pool = ids.select("id", options=options, answer=(pl.col("n") % 5 % 4).cast(pl.Int64))
    truth = (pl.col("n") % 5).replace_strict(dict(enumerate(["yes", "no", "2", "red", "Yes."])))
    return pool, ids.select("id", truth=truth, answers=pl.lit([], pl.List(pl.String)))


@pytest.fixture(scope="module")
def standing(files, rows):
    return TaskChance(chance(files, LABELS, *questions(rows), DRAWS, 0, rank_below_chance=False).frame)


def cells(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in (lines[0], *lines[2:])]


def text_of(table) -> str:
    return " ".join(table.markdown.split())


def test_chance_of_each_task(files, rows, tmp_path):
    table = chance(files, LABELS, *questions(rows), DRAWS, 0, rank_below_chance=False)
    pool, references = questions(rows)
    mcq, vqa = table.frame.filter(task="mcq"), table.frame.filter(task="vqa")
    right = pool.filter(pl.col("options").list.len() > 0)["answer"]
    assert mcq["guessing"].unique().to_list() == [0.25]
    assert mcq["constant"].to_list() == pytest.approx([float((right == 0).mean())] * 4)
    truth = references.filter(pl.col("id").str.starts_with("vqa"))["truth"]
    assert vqa["constant"].to_list() == pytest.approx([float(truth.is_in(["yes", "Yes."]).mean())] * 4)
    assert vqa["guessing"].null_count() == 4
    assert dict(mcq.select("model", "ranked").rows())["Blind"] is False
    assert "above chance in none of the tasks" in text_of(table)
    assert table.summary.endswith("of 4 models are not ranked")
    # A run of captions ranks all models.
    rows, one = rows_of(["jpeg"]).filter(task="cap"), {"tiny": "Tiny"}
    files = files_of({"tiny": scores(rows)})
    table = chance(files, one, *questions(rows), DRAWS, 0, rank_below_chance=False)
    table.frame.write_csv(tmp_path / "chance.csv")
    standing = read_chance(tmp_path / "chance.csv")
    assert rank(files, one, standing, DRAWS, 0).frame["rank"].to_list() == [1]
    assert cells(table3_absolute(files, one, standing, DRAWS, 0).markdown)[1][0] == "Tiny"


@needs_shared
def test_table_3_of_the_released_scores_beside_the_paper():
    files, labels = files_of({"llava-1.5-7b": scored.released_scores()}), {"llava-1.5-7b": "LLaVA"}
    equal = {}
    for table in (table3_absolute, table3_relative):
        published = table(files, labels, NO_CHANCE, DRAWS, 0).published
        assert published.height == 10
        equal[table] = published.filter(pl.col("difference").abs() <= 0.00005)["value"].to_list()
    assert sum(map(len, equal.values())) == 12
    assert not any("mcq" in name or name == "overall" for names in equal.values() for name in names)


def test_table_3_marks_the_best_two_of_ranked_models(files, standing, tables):
    table = table3_absolute(files, LABELS, standing, DRAWS, 0)
    header, guessing, constant, *models = cells(table.markdown)
    assert header[1:4] == ["MCQ low", "MCQ mid", "MCQ high"]
    assert guessing[:2] == ["Guessing", "0.2500"] and guessing[4] == "–"
    assert constant[0] == "Always A, yes" and constant[7] == "–"
    assert models[-1][0] == "Blind †"
    for column in range(1, len(header)):
        marks = {row[0]: row[column].count("*") for row in models}
        assert sorted(marks.values(), reverse=True)[:2] == [4, 2], header[column]
        assert marks["Blind †"] == 0
    low = tables["tiny"].filter(task="mcq", severity=1)["s_dis"].mean()
    assert table.frame.filter(model="Tiny")["mcq_low"].item() == pytest.approx(low)
    assert table.frame["mcq_low_pairs"].to_list() == [56] * 4
    assert check_latex(table.latex) == ([], {"booktabs"})
    # Exchanged strengths are compared in place.
    published = table.published.filter(model="MiniCPM")
    assert dict(published.select("value", "published").rows())["mcq_low"] == 0.6471
    assert published["exchanged"].unique().to_list() == ["mcq_low, mcq_mid"]
    # Relative scores have no row of guessing.
    rows = cells(table3_relative(files, LABELS, standing, DRAWS, 0).markdown)
    assert rows[1][0] == "Always A, yes"
    assert rows[2][0] == "GPT-4o"


@pytest.mark.parametrize(
    ("unreadable", "judge", "text"),
    [
        (11, "llm", "of GPT-4o, more than 1 % of the judgements are unreadable"),
        (10, "llm", ""),
        (0, "rule", "Rule judge, not comparable with the paper"),
    ],
)
def test_captions_warn_of_judges(tables, standing, unreadable, judge, text):
    files = files_of(tables, judge)
    files["gpt-4o"].footer["unreadable"] = unreadable
    caption = text_of(table3_absolute(files, LABELS, standing, DRAWS, 0))
    assert text in caption
    assert ("Warning" in caption, "Rule judge" in caption) == ("unreadable" in text, judge == "rule")


def test_captions_name_marks_and_rows_of_chance_that_there_are(files, standing, tables):
    def caption(table, files, labels, standing):
        return text_of(table(files, labels, standing, DRAWS, 0))

    bold, first, rows = "is in bold", "The first row is the best answers", "The first rows are chance: random"
    found = caption(table3_absolute, files, LABELS, standing)
    assert bold in found and rows in found and first not in found
    found = caption(table3_relative, files, LABELS, standing)
    assert bold in found and first in found and rows not in found
    # Of one model nothing is the best; without MCQ there is no guessing.
    alone, one = {"tiny": files["tiny"]}, {"tiny": "Tiny"}
    open_ended = TaskChance(standing.frame.filter(task="vqa"))
    for table in (table3_absolute, table3_relative):
        found = caption(table, alone, one, open_ended)
        assert bold not in found and first in found and rows not in found
    assert "The first row" not in caption(table3_absolute, alone, one, NO_CHANCE)
    four = text_of(table4(files, [], LABELS, standing, DRAWS, 0))
    assert bold in four and bold not in text_of(table4(alone, [], one, standing, DRAWS, 0))


def test_captions_name_the_judges(tables, standing):
    files = files_of(tables, "llm")
    for file in files.values():
        file.footer["judge_model"] = "gpt-3.5-turbo"
    table = text_of(table3_absolute(files, LABELS, standing, DRAWS, 0))
    assert "Judge: gpt-3.5-turbo." in table and "different judges" not in table
    files["gpt-4o"].footer["judge"] = "human"
    table = text_of(table3_absolute(files, LABELS, standing, DRAWS, 0))
    assert "different judges, so that their scores do not compare: people: GPT-4o; gpt-3.5-turbo: " in table
    # Stand-ins are named.
    files = files_of({"tiny": scores(rows_of(["lens_obstacle_stand_in", "jpeg"], [1, 2]))})
    caption = text_of(table4(files, [], {"tiny": "Tiny"}, standing, DRAWS, 0))
    assert "6 pairs of stand-ins (\\*) for captured dimensions are in no mean of a step or group" in caption


def test_table_4_has_people_first(files, standing, tables, rows, tmp_path):
    without = [pl.lit(None, pl.Float64).alias(name) for name in ("s_ref", "s_com", "relative")]
    people = scores(rows, 0.95, 0.01, seed=9)
    paths = scored.write_scores(tmp_path, {"people": people.with_columns(without)})
    table = table4(files, paths, LABELS, standing, DRAWS, 0)
    header, published, ours, first, *_ = cells(table.markdown)
    assert header[1:7] == ["MCQ", "VQA", "CAP", "Low", "Mid", "High"]
    assert published[:4] == ["People (published)", "0.909", "0.678", "0.425"]
    assert ours[0] == "People" and first[0] == "GPT-4o"
    assert ours[2] == f"{people.filter(task='vqa')['s_dis'].mean():.3f}"
    assert table.frame["step_source_encoding"].null_count() == 0
    own = tables["gpt-4o"].filter(task="cap")["s_dis"].mean()
    compared = table.published.filter(name="task_cap").row(0, named=True)
    assert compared["here"] == pytest.approx(own) and compared["published"] == 0.414
    assert table.markdown.count("Absolute robustness") == 2
    assert check_latex(table.latex) == ([], {"booktabs"})


def test_ranks_are_by_the_mean_of_both(files, standing, tables):
    table = rank(files, LABELS, standing, DRAWS, 0)
    assert table.frame["model"].to_list() == ["GPT-4o", "MiniCPM", "Tiny", "Blind"]
    assert table.frame["rank"].to_list() == [1, 2, 3, None]
    expected = tables["tiny"].select((pl.col("absolute") + pl.col("relative")).mean() / 2).item()
    row = table.frame.row(2, named=True)
    assert row["score"] == pytest.approx(expected) and row["score_low"] < expected < row["score_high"]
    assert set(table.published["model"]) == {"GPT-4o", "MiniCPM"}
    # Means have every part.
    frame = means(files, LABELS, DRAWS, 0).frame
    row = frame.filter(model="Tiny", axis="dimension", part="jpeg").row(0, named=True)
    of_jpeg = tables["tiny"].filter(dimension="jpeg")
    assert row["pairs"] == 18
    assert row["ref"] == pytest.approx(of_jpeg["s_ref"].mean())
    assert row["relative"] == pytest.approx((of_jpeg["s_ref"] * of_jpeg["s_com"]).mean())
    assert frame.filter(model="Tiny").height == 1 + 3 + 3 + 9 + 7 + 7 + 28


def test_effect_is_the_loss_of_ranked_models(files, standing, tables):
    table = effect(files, LABELS, standing, DRAWS, 0)
    of_jpeg = {id_: t.filter(dimension="jpeg") for id_, t in tables.items()}
    loss = {id_: (t["s_ref"] - t["s_dis"]).mean() for id_, t in of_jpeg.items()}
    found = dict(table.frame.filter(dimension="jpeg").select("model", "effect").rows())
    assert found["Tiny"] == pytest.approx(loss["tiny"])
    assert found["mean"] == pytest.approx(np.mean([loss[id_] for id_ in LABELS if id_ != "blind"]))
    _, *lines = cells(table.markdown)
    assert lines[-1][0] == "overall" and lines[-1][-1] == "3"
    shown = [float(line[6].split()[0]) for line in lines[:-1]]
    assert shown == sorted(shown, reverse=True) and len(shown) == 28
    above = table.frame.filter(pl.col("effect_low") > 0, ~pl.col("model").is_in(["mean", "Blind"]))
    counts = dict(above["dimension"].value_counts().iter_rows())
    names = [line[0].replace(" ", "_") for line in lines[:-1]]
    assert [int(line[-1]) for line in lines[:-1]] == [counts.get(name, 0) for name in names]
    assert {*counts.values()} > {1}
    # It is of all models where none is ranked.
    assert "Without Blind: not above chance" in text_of(table) and "none is ranked" not in text_of(table)
    table = effect(files, {"blind": "Blind"}, standing, DRAWS, 0)
    assert table.frame.filter(model="mean")["effect"].to_list() == [0] * 29
    assert "The mean is of all models, since none is ranked" in text_of(table)
    assert "Without Blind" not in text_of(table)


def test_retention_by_hand(standing, files):
    # A model without a right answer keeps nothing that is known.
    row = retention(files, LABELS, standing, DRAWS, 0).frame.filter(model="Blind").row(0, named=True)
    assert row["kept"] is row["worst_kept"] is row["worst_kept_dimension"] is None
    rows = rows_of(["jpeg", "lens_blur"], [1], repeats=5)
    ref = np.full(30, 0.5)
    dis = np.where(rows["dimension"] == "jpeg", 0.4, 0.1)
    files = files_of({"tiny": score_frame(rows, dis, ref, ref)})
    row = retention(files, {"tiny": "Tiny"}, standing, DRAWS, 0).frame.row(0, named=True)
    assert (row["ref"], row["absolute"], row["kept"]) == pytest.approx((0.5, 0.25, 0.5))
    assert (row["worst_kept"], row["worst_absolute"]) == pytest.approx((0.2, 0.1))
    assert row["worst_kept_dimension"] == row["worst_absolute_dimension"] == "lens_blur"
    # Few pairs have no worst dimension.
    files = files_of({"tiny": scores(rows_of(["jpeg"], [1]))})
    table = retention(files, {"tiny": "Tiny"}, standing, DRAWS, 0)
    assert table.frame["worst_kept"].to_list() == [None]
    assert "0 dimensions with at least 15 pairs" in text_of(table)


def test_table_2_and_the_composition_count_pairs():
    pairs = [("a", "jpeg", 1), ("a", "jpeg", 3), ("b", "jpeg", 1), ("c", "dark_illumination_stand_in", 2)]
    assignment = pl.DataFrame(pairs, schema=["id", "corruption", "severity"], orient="row")
    tasks = pl.DataFrame({"id": ["a", "b", "c", "d"], "task": ["mcq", "vqa", "cap", "cap"]})
    hashes = [("a", "clean", 0, "x"), ("b", "clean", 0, "y"), ("c", "clean", 0, "x")]
    hashes += [(*pair, one) for pair, one in zip(pairs, ("x", "z", "x", "x"), strict=True)]
    features = pl.DataFrame(hashes, schema=["id", "corruption", "severity", "image_hash"], orient="row")
    table = table2(assignment, tasks, features, ["webp", "jpeg", "dark_illumination_stand_in"])
    header, *lines = cells(table.markdown)
    steps = ["Step", "Dimension", "Group", "No.", "MCQ", "VQA", "CAP", "Low", "Mid", "High"]
    assert header == [*steps, "Pairs", "Unchanged"]
    assert lines == [
        ["EI", "dark illumination\\*", "Wild", "3", "0", "0", "1", "0", "1", "0", "1", "1"],
        ["SE", "jpeg", "Compression", "16", "2", "1", "0", "2", "0", "1", "3", "1"],
        ["SE", "webp", "Compression", "17", "0", "0", "0", "0", "0", "0", "0", "0"],
    ]
    pool = pl.DataFrame({"id": ["a", "b", "c", "d"], "source": "s", "l2_category": ["x", "y", "x", "z"]})
    found = composition(assignment, tasks, pool, "l2_category").frame
    rows = found.select("source", "items", "mcq", "vqa", "cap", "pairs").rows()
    assert rows == [("x", 2, 2, 0, 1, 3), ("y", 1, 0, 1, 0, 1), ("all", 3, 2, 1, 1, 4)]


def claimed(by_task, loss, labels, steps=()) -> dict[str, str]:
    """Return the verdicts on models with scores by task, less ``loss`` a strength, and .1 in ``steps``."""
    rows = rows_of()
    task = rows["task"].replace_strict(by_task, return_dtype=pl.Float64).to_numpy()
    lower = 0.1 * rows["dimension"].is_in([*steps]).to_numpy()
    base = task - loss * rows["severity"].to_numpy() - lower
    tables = {id_: score_frame(rows, base - 0.01 * n, base - 0.01 * n, base) for n, id_ in enumerate(labels)}
    frame = claims(files_of(tables), labels, NO_CHANCE).frame
    return dict(zip(("closed", "open", "tasks", "strength", "steps"), frame["verdict"], strict=True))


CLOSED_FIRST = {"gpt-4o": "G", "gemini-pro": "P", "tiny": "T"}
EI_CI = ["motion_blur", "lens_blur", "resolution_limit"]


def test_claims_that_hold_or_do_not(standing):
    falling, rising = {"mcq": 0.9, "vqa": 0.7, "cap": 0.5}, {"mcq": 0.5, "vqa": 0.7, "cap": 0.6}
    found = claimed(falling, 0.05, CLOSED_FIRST, EI_CI)
    assert found == {"closed": HOLDS, "open": FAILS, "tasks": HOLDS, "strength": HOLDS, "steps": HOLDS}
    found = claimed(rising, -0.05, dict(reversed(CLOSED_FIRST.items())), ["jpeg"])
    assert {name for name, verdict in found.items() if verdict == FAILS} == {*found}
    # Those about closed models need both kinds.
    found = claimed(falling, 0.05, {"tiny": "T", "other": "O"})
    assert found["closed"] == found["open"] == NOT_APPLICABLE
    # They need all parts.
    rows = rows_of(["jpeg"], [1]).filter(pl.col("task") != "cap")
    table = claims(files_of({"tiny": scores(rows)}), {"tiny": "Tiny"}, standing)
    assert table.frame["verdict"].to_list() == [NOT_APPLICABLE] * 5
    # Each strength has another task.
    place = {"mcq": 1, "vqa": 2, "cap": 3}
    rows = rows_of().filter(pl.col("severity") == pl.col("task").replace_strict(place))
    table = claims(files_of({"tiny": scores(rows)}), {"tiny": "Tiny"}, standing)
    assert table.frame["verdict"][3] == NOT_APPLICABLE
    assert "all three strengths of each task" in table.frame["here"][3]


def test_claims_on_the_papers_own_tables(files, standing):
    paper = dict(claims(files, LABELS, standing).frame.select("claim", "paper").rows())
    assert [*paper.values()] == [
        "highest R_a: GPT4o 0.6348, GPT4Turbo 0.5722, GeminiPro 0.5710",
        "mean rank of open models by R_a 11.87, R_r 11.27",
        "10 of 19 models; mean R_a MCQ 0.6074, VQA 0.6012, CAP 0.3745",
        "mean R_a 0.5410 0.5324 0.5098, rising in 36 of 114 steps of a model and task; mean R_r 0.4223 "
        "0.4047 0.3797, rising in 26 of 114 steps of a model and task",
        "lowest mean R_a of 1 model: CI 0.572, EI 0.578, AD 0.614",
    ]
    # None is checked without a ranked model.
    table = claims(files, {"blind": "Blind"}, standing)
    assert table.frame["verdict"].to_list() == [NOT_APPLICABLE] * 5
    assert "no model is ranked" in table.frame["here"][0]


def test_judges(files, standing, rows):
    judged = {id_: judgements(rows, n, 0.9 - 0.2 * n) for n, id_ in enumerate(("gpt-4o", "tiny"))}
    table = judge_agreement(judged, files, LABELS, [["gpt-4o", "tiny"]], DRAWS, 0)
    kinds = table.frame.group_by("model", "compared", maintain_order=True).len().rows()
    own = [(model, *kind) for model in ("GPT-4o", "Tiny") for kind in (("letter", 3), ("repeats", 9))]
    assert sorted(kinds) == [*own[:2], ("GPT-4o, Tiny", "other judge", 9), *own[2:]]
    one = table.frame.filter(compared="repeats", task="vqa", kind="dis").sort("model")["agreement"]
    assert one[0] > one[1] > 0
    single = table.frame.filter(compared="repeats", task="cap", kind="dis")
    assert single["judgements"].to_list() == [1, 1] and single["agreement"].null_count() == 2
    both = files["gpt-4o"].table["s_dis"] == files["tiny"].table["s_dis"]
    equal = both.filter(files["tiny"].table["task"] == "mcq").mean()
    other = table.frame.filter(compared="other judge", task="mcq", kind="dis")
    assert other["agreement"].item() == pytest.approx(equal)
    assert check_latex(table.latex) == ([], {"booktabs"})
    # The share of unreadable judgements.
    judged = judgements(rows).with_columns(readable=pl.col("repeat") != 4)
    frame = judge_agreement({"tiny": judged}, files, LABELS, [], DRAWS, 0).frame
    assert frame.filter(compared="repeats", task="vqa")["unreadable"].to_list() == pytest.approx([0.2] * 3)
    # The rule judge needs no agreement.
    by_rule = judgements(rows).filter(pl.col("judge") != "letter", repeat=0)
    by_rule = by_rule.with_columns(judge=pl.lit("rule"))
    table = judge_agreement({"tiny": by_rule}, files, LABELS, [], DRAWS, 0)
    assert table.frame.is_empty()
    assert "No reply of this run has been judged" in text_of(table)


def test_ranks_by_other_readings(standing, rows):
    judged = {id_: judgements(rows, n, 0.3) for n, id_ in enumerate(LABELS)}
    table = judge_ranks(judged, LABELS, standing)
    header, *lines = cells(table.markdown)
    assert header[:2] == ["Model", "As configured"] and len(header) == 9
    assert [line[0] for line in lines] == ["GPT-4o", "MiniCPM", "Tiny", "Changed ranks"]
    assert lines[-1][1] == "0"
    for column in range(1, 9):
        differing = sum(line[column][-3:] != line[1][-3:] for line in lines[:-1])
        assert lines[-1][column] == str(differing)
    assert max(int(cell) for cell in lines[-1][1:]) > 0
    by_score = sorted((float(line[1][:6]) for line in lines[:-1]), reverse=True)
    last = [line[1] for line in sorted(lines[:-1], key=lambda line: line[1][-2])]
    assert last == [f"{score:.4f} ({place})" for place, score in enumerate(by_score, start=1)]
    # Without judgements.
    table = judge_ranks({}, LABELS, standing)
    assert table.frame.is_empty()
    assert "Without GPT-4o, MiniCPM, Tiny, of which there are no single" in text_of(table)


def test_the_stage_reads_files(tables, standing, tmp_path):
    standing.frame.write_csv(tmp_path / "chance.csv")
    given = {"labels": LABELS, "draws": DRAWS, "seed": 0}
    call_stage(
        "r_bench.tables.table3_absolute",
        scores=scored.write_scores(tmp_path, tables),
        chance=tmp_path / "chance.csv",
        **given,
        prefix=tmp_path / "table3",
        formats=["csv", "md", "tex", "published"],
    )
    expected = table3_absolute(files_of(tables), LABELS, standing, DRAWS, 0)
    assert (tmp_path / "table3.md").read_text() == expected.markdown
    assert (tmp_path / "table3_published.csv").is_file()
    # Models need the same items.
    fewer = scored.write_scores(tmp_path, {"tiny": tables["tiny"], "gpt-4o": tables["gpt-4o"].head(-1)})
    with pytest.raises(InputError, match=r"gpt-4o.parquet: its items or dimensions are not those"):
        call_stage("r_bench.tables.means", scores=fewer, **given, prefix=tmp_path / "means", formats=["csv"])
