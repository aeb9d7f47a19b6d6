from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from benchc.benchmarks.r_bench.figures.figure3 import figure3
from benchc.benchmarks.r_bench.figures.figure8 import figure8
from benchc.benchmarks.r_bench.page_samples import page_samples
from benchc.benchmarks.r_bench.pairs import chosen_pairs
from benchc.benchmarks.r_bench.schemas.image_features import IMAGE_FEATURES
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES, JudgeScoresFooter
from benchc.benchmarks.r_bench.schemas.pairs import PAIRS
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.corruptions import corrupt
from benchc.corruptions.suites.r_bench import R_BENCH_INDEX
from benchc.image_features import FEATURES, image_features
from benchc.image_keys import image_seed
from benchc.images import decode, pixel_hash
from benchc.schemas.answers import ANSWERS
from benchc.schemas.footer import ImageFooter
from benchc.schemas.models import Models
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.predictions import ModelFooter
from tests.benchmarks.made import frame_of
from tests.benchmarks.r_bench.shown import CELLS, DIMENSIONS, IMAGES, LABELS, PHOTOS, SEED, Run, write_run
from tests.rendering.results_page.run_files import write_items, write_references
from tests.stages import call_stage


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return write_run(tmp_path_factory.mktemp("run"))


def shown_to_models(id_: str, name: str, severity: int, image=None) -> np.ndarray:
    seed = image_seed(SEED, f"{id_}#0", name, severity)
    return corrupt(PHOTOS[id_] if image is None else image, name, severity, seed=seed, suite="r-bench")


def corrupted_files(run: Run, folder: Path) -> list[Path]:
    """Return the images of the run in files, as the rule corrupt writes them."""
    files = []
    for name, recipe in IMAGES.recipes.items():
        files.append(folder / f"{name}.parquet")
        given = {"pool": run.path("pool"), "assignment": run.path("assignment"), "output": files[-1]}
        call_stage("corrupt", **given, recipe=recipe, seed=SEED)
    return files


def chosen(run: Run, folder: Path, **options) -> Run:
    """Return another choice of the run's pairs."""
    other = Run(folder)
    for name in ("pool", "tasks", "assignment"):
        other.path(name).hardlink_to(run.path(name))
    other.choose(**options)
    return other


def test_pairs_have_the_images_that_models_are_shown_in_the_order_of_dimensions(run):
    pairs = read_table(run.path("pairs"), PAIRS)
    found = pairs.select("id", "corruption", "severity").rows()
    assert set(found) == set(CELLS)
    numbers = [R_BENCH_INDEX[name] for _, name, _ in found]
    assert numbers == sorted(numbers)
    for row in pairs.iter_rows(named=True):
        np.testing.assert_array_equal(decode(row["reference"]["bytes"]), PHOTOS[row["id"]])
        expected = shown_to_models(row["id"], row["corruption"], row["severity"])
        np.testing.assert_array_equal(decode(row["distorted"]["bytes"]), expected)
    assert read_footer(run.path("pairs"))["seed"] == SEED


def test_images_from_files_are_those_that_are_generated(run, tmp_path):
    files = corrupted_files(run, tmp_path)
    other = chosen(run, tmp_path, corrupted=files)
    assert read_table(other.path("pairs"), PAIRS).equals(read_table(run.path("pairs"), PAIRS))
    tables = []
    for place, given in enumerate(([], files)):
        output = tmp_path / f"features_{place}.parquet"
        inputs = {name: run.path(name) for name in ("pool", "assignment")}
        call_stage("r_bench.image_features", **inputs, corrupted=given, images=IMAGES, output=output)
        tables.append(read_table(output, IMAGE_FEATURES))
    assert tables[0].equals(tables[1])
    # Each reference image once, though an item may have two dimensions.
    measured = tables[0].select("id", "corruption", "severity").rows()
    assert sorted(measured) == sorted([*CELLS, *((id_, "clean", 0) for id_ in PHOTOS)])
    for row in tables[0].iter_rows(named=True):
        image = PHOTOS[row["id"]]
        if row["severity"]:
            image = shown_to_models(row["id"], row["corruption"], row["severity"])
        assert row["image_hash"] == pixel_hash([image])
        assert {name: row[name] for name in FEATURES} == pytest.approx(image_features(image))


def test_pairs_are_spread_over_dimensions_and_tasks():
    named = product(("jpeg", "webp"), TASKS, range(5))
    rows = [(f"{task}/{item}", name, item % 3 + 1, task) for name, task, item in named]
    cells = pl.DataFrame(rows, schema=["id", "corruption", "severity", "task"], orient="row")
    six, nine = chosen_pairs(cells, 6, 1), chosen_pairs(cells, 9, 1)
    assert six.select("corruption", "task").n_unique() == 6
    assert nine.group_by("corruption", "task").len()["len"].sort().to_list() == [1, 1, 1, 2, 2, 2]
    # More pairs extend fewer, and neither the order of rows nor other items matter.
    assert six.join(nine, on=six.columns, how="anti").is_empty()
    assert chosen_pairs(cells[::-1], 6, 1).equals(six)
    assert chosen_pairs(cells, 99, 1).height == 30
    assert not chosen_pairs(cells, 6, 2).equals(six)


def test_the_gallery_has_one_image_or_the_strongest_pair_of_each_dimension(run, tmp_path):
    one = read_table(run.path("gallery"), PAIRS)
    assert one["corruption"].to_list() == sorted(DIMENSIONS, key=R_BENCH_INDEX.__getitem__)
    assert one["severity"].unique().to_list() == [3] and one["id"].n_unique() == 1
    (key,) = one["id"].unique()
    for name, data in one.select("corruption", pl.col("distorted").struct.field("bytes")).iter_rows():
        np.testing.assert_array_equal(decode(data), shown_to_models(key.removesuffix("#0"), name, 3))
    several = read_table(chosen(run, tmp_path, one_image=False).path("gallery"), PAIRS)
    assert several.select("id", "corruption", "severity").sort("corruption").rows() == [
        ("s/c", "dark_illumination_stand_in", 2),
        ("s/v", "jpeg", 3),
        ("s/v", "lens_blur", 2),
        ("s/m", "white_noise", 3),
    ]
    # Figure 8 shows the gallery by step, with a star at stand-ins.
    figure = figure8(run.path("gallery"))
    FigureCanvasAgg(figure).draw()
    gallery = read_table(run.path("gallery"), PAIRS)
    shown = [np.asarray(axes.images[0].get_array()) for axes in figure.axes]
    np.testing.assert_array_equal(shown[0], decode(gallery["reference"][0]["bytes"]))
    for image, data in zip(shown[1:], gallery["distorted"], strict=True):
        np.testing.assert_array_equal(image, decode(data["bytes"]))
    texts = [text.get_text() for text in figure.texts]
    assert {"EI", "CI", "AD", "SE", "jpeg", "white noise"} <= set(texts)
    assert "* synthetic stand-in for what the authors photographed" in texts


def test_examples_join_what_the_run_knows_of_a_pair(run):
    examples = {(one.id, one.corruption): one for one in run.examples()}
    letter = examples["s/m", "white_noise"]
    assert letter.options == ["A. red", "B. blue"] and letter.truths == ["B. blue"]
    first, second = letter.answers
    assert (first.model, first.reference, first.distorted) == (LABELS["one"], "s/m clean", "s/m white_noise")
    assert first.judgements == {"dis": "letter: 1", "ref": "letter: 1", "com": "letter: 1"}
    both = examples["s/m", "jpeg"].answers[0].judgements
    assert both == {"dis": "letter: 1", "ref": "letter: 1", "com": "0 0"}
    assert first.scores == {"s_ref": 1, "s_dis": 0, "s_com": 0, "absolute": 0, "relative": 0}
    assert second.reference is None and second.distorted is None
    caption = examples["s/c", "dark_illumination_stand_in"]
    assert caption.truths == ["a cup", "coffee on a table"] and caption.options == []
    assert caption.answers[0].judgements == {"dis": "2 1", "ref": "1 ?", "com": "0 1"}
    assert examples["s/v", "lens_blur"].truths == ["2"] and examples["s/v", "lens_blur"].options == []
    assert examples["s/v", "jpeg"].answers[1].scores["relative"] == pytest.approx(0.3)
    # Figure 3 shows the strongest pair of each task.
    figure = figure3(**run.example_files, labels=LABELS)
    FigureCanvasAgg(figure).draw()
    texts = [text.get_text() for text in figure.texts]
    asked = [text for text in texts if text.startswith(("MCQ", "VQA", "CAP"))]
    assert asked == ["MCQ: Which colour?", "VQA: How many cups?", "CAP: Describe it."]
    for name in ("9 white noise, high", "16 jpeg, high", "truth: a cup · coffee on a table", "s/m clean"):
        assert name in texts
    assert any(text.startswith("3 dark illumination*") for text in texts)
    assert texts.count("(not in the run)") == 6
    assert "judgements: ref 1 ?   dis 2 1   com 0 1" in texts
    # R_r of the second model under JPEG: 1 times .3.
    assert texts.count("0.30") == 2
    assert texts[-1] == "Rule judge, not comparable with the paper."
    assert len(figure.axes) == 6
    np.testing.assert_array_equal(np.asarray(figure.axes[0].images[0].get_array()), PHOTOS["s/m"])


JUDGED = JudgeScoresFooter(pool="x", label="m", judge="llm", judgements=4)


def test_the_clean_reply_has_the_score_of_the_reference_image(tmp_path: Path) -> None:
    chosen, pool = write_items(tmp_path, [["a cat", "a dog"], []], answers=[1, None])
    references = write_references(tmp_path, ["a dog", "red"], [[], []])
    judged = [
        ("s/0", "mcq", "clean", 0, "ref", 0, 0, "letter", 1.0, True, None),
        # judge.always: what counts is the judge's score, not the letter's beside it.
        ("s/0", "mcq", "jpeg", 2, "dis", 0, 0, "letter", 1.0, True, None),
        ("s/0", "mcq", "jpeg", 2, "dis", 0, 0, "llm", 0.0, True, "k"),
        ("s/0", "mcq", "jpeg", 2, "com", 0, 0, "llm", 0.5, True, "k"),
        ("s/0", "mcq", "jpeg", 2, "com", 0, 1, "llm", 0.0, False, "k"),
    ]
    answers = [("clean", 0, "B", "stop", 1, "p", "i"), ("jpeg", 2, "a cat", "stop", 2, "p", "j")]
    answers = [("s/0", *each) for each in answers]
    frames = {
        "tasks": (TASK_TABLE, ImageFooter(pool="x"), [("s/0", "mcq"), ("s/1", "vqa")]),
        # s_dis, s_ref, s_com, absolute, relative
        "scores": (SCORES, JUDGED, [("s/0", "mcq", "jpeg", 2, 0.0, 1.0, 0.25, 0.0, 0.25)]),
        "judged": (JUDGE_SCORES, JUDGED, judged),
        "answers": (ANSWERS, ModelFooter(pool="x", label="m", identity={}, oom_splits=0), answers),
    }
    paths = {name: tmp_path / f"{name}.parquet" for name in frames}
    for name, (table, footer, rows) in frames.items():
        write_table(frame_of(table, rows), paths[name], table, footer)
    made = [[paths[name]] for name in ("answers", "judged", "scores")]
    named = ({"m": "M"}, {"jpeg": "compression"}, [1, 2])
    result = page_samples(chosen, pool, Models("b", {}), paths["tasks"], references, *made, *named)
    # A question with options shows these, any other its reference answer.
    assert result.questions.select("options", "truths").rows() == [(["a cat", "a dog"], []), ([], ["red"])]
    columns = ["corruption", "severity", "grade", "agreement", "relative", "reply", "note"]
    assert result.answers("m").select(columns).rows() == [
        ("clean", 0, 1.0, None, None, "B", "against the truth 1 by its letter"),
        (
            *("jpeg", 2, 0.0, 0.25, 0.25, "a cat"),
            "against the truth 0 by the judge llm; "
            "against the reply to the reference 0.5, not readable by the judge llm",
        ),
    ]
