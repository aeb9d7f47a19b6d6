from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.metrics.readings import GLOBAL
from benchc.benchmarks.naturalbench.page_samples import page_samples
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS, GroupsFooter
from benchc.benchmarks.naturalbench.schemas.scores import SCORES, ScoresFooter
from benchc.errors import InputError
from benchc.schemas.answers import ANSWERS
from benchc.schemas.models import Model, Models
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS, ModelFooter
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.simulated import group_rows, items_of, pool_rows
from tests.footers import footer_of
from tests.rendering.results_page.run_files import write_items
from tests.stages import call_stage

GROUP_ROWS = group_rows(6, types=("yes_no", "multiple_choice"))
ITEMS = items_of(GROUP_ROWS)
CELLS = [("clean", 0), ("fog", 1), ("fog", 2)]
READINGS = ["decoding", "deterministic", "post_hoc", "global", "sample"]


def write_pool(path):
    texts = {"source": "s", "task": "t", "question": "q?", "hint": None, "category": "c", "l2_category": "c"}
    rows = pool_rows(GROUP_ROWS).with_columns(
        **{name: pl.lit(value, pl.String) for name, value in texts.items()},
        images=pl.lit([], POOL.columns["images"]),
        image_keys=pl.lit(["s://a"]),
    )
    write_table(rows.select(*POOL.columns), path, POOL)


def write_predictions(path, ids, cells, logits, **footer):
    rows = [
        (id_, *cell, logits[number][place].tolist(), 0.5, "p", "i")
        for number, cell in enumerate(cells)
        for place, id_ in np.ndenumerate(ids)
    ]
    footer = {"label": path.parent.name, "scoring": "letter", "predictions": len(rows), **footer}
    write_table(frame_of(PREDICTIONS, rows), path, PREDICTIONS, footer_of(footer))


def write_answers(path, cells, reply):
    rows = [
        (id_, *cell, reply(ITEMS.types[place[0]], ITEMS.truth[place], cell[1]), "stop", 1, "p", "i")
        for cell in cells
        for place, id_ in np.ndenumerate(ITEMS.ids)
    ]
    footer = {"label": path.parent.name, "answers": len(rows)}
    write_table(frame_of(ANSWERS, rows), path, ANSWERS, footer_of(footer))


def right_reply(type_, option, severity):
    """Return the right answer when clean, Yes or A else."""
    return {"yes_no": ("Yes", "No"), "multiple_choice": ("A", "B")}[type_][0 if severity else option]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_pool(tmp_path / "items.parquet")
    write_table(GROUP_ROWS, tmp_path / "groups.parquet", GROUPS)
    random = np.random.default_rng(0)
    logits = random.normal(size=(3, *ITEMS.truth.shape, 2))
    for part, chosen in (("clean", [0]), ("fog", [1, 2])):
        cells = [CELLS[number] for number in chosen]
        write_predictions(tmp_path / f"predictions/m/{part}.parquet", ITEMS.ids, cells, logits[chosen])
        write_answers(tmp_path / f"answers/m/{part}.parquet", cells, right_reply)
    prior = random.normal(size=(1, 6, 2, 2))
    write_predictions(tmp_path / "prior/m/no_image.parquet", ITEMS.ids[:, :, 0], [("no_image", 0)], prior)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def score(*, without=(), **changed):
    given = {"pool": "items.parquet", "groups": "groups.parquet", "output": "out.parquet"}
    for name in ("predictions", "answers"):
        given[name] = [f"{name}/m/{part}.parquet" for part in ("clean", "fog")]
    given |= {"prior": PRIOR, "readings": READINGS, "corruptions": ["fog"], "severities": [1, 2]} | changed
    given = {name: value for name, value in given.items() if name not in without}
    call_stage("naturalbench.score_groups", **given)


def test_all_readings(folder, capsys):
    score()
    assert "m: 6 groups read by decoding, deterministic, post_hoc, global" in capsys.readouterr().err
    table, footer = read_table(folder / "out.parquet", SCORES), read_footer(folder / "out.parquet")
    readings = table.filter(corruption="clean")["reading"].unique(maintain_order=True).to_list()
    assert readings == ["decoding", "deterministic", "post_hoc", *GLOBAL, "sample"]
    assert table.height == 6 * (7 + 2 * 3)
    decoded = table.filter(reading="decoding")
    assert decoded.filter(corruption="clean")["g"].all() and not decoded.filter(corruption="fog")["g"].any()
    assert (footer["label"], footer["scoring"], footer["extraction"]) == ("m", "letter", "strict")
    assert footer["unavailable"] == {} and len(footer["taus"]) == 5 and "pool" in footer
    first = (folder / "out.parquet").read_bytes()
    score(predictions=["predictions/m/fog.parquet", "predictions/m/clean.parquet"])
    assert (folder / "out.parquet").read_bytes() == first


def test_a_model_without_probabilities(folder):
    score(without=("predictions", "prior"), substitute="grey_image")
    table, footer = read_table(folder / "out.parquet", SCORES), read_footer(folder / "out.parquet")
    assert table["reading"].unique().to_list() == ["decoding"]
    reason = "the model gives answers without probabilities"
    missing = ["deterministic", "post_hoc_grey_image", *GLOBAL, "sample"]
    assert footer["unavailable"] == dict.fromkeys(missing, reason)
    assert footer["scoring"] is None and footer["taus"] == []
    # A prior that the model does not have.
    none = np.zeros((0, 2))
    path = folder / "prior/m/no_image.parquet"
    write_predictions(path, ITEMS.ids[:0, :, 0], [("no_image", 0)], none, unavailable="it needs an image")
    score(readings=["deterministic", "post_hoc"], without=("answers",))
    assert read_footer(folder / "out.parquet")["unavailable"] == {"post_hoc": "it needs an image"}
    assert read_footer(folder / "out.parquet")["extraction"] is None
    assert set(read_table(folder / "out.parquet", SCORES)["reading"]) == {"deterministic"}
    # Only the readings that are wanted.
    score(readings=["sample"], without=("answers", "prior"), extraction="official")
    assert set(read_table(folder / "out.parquet", SCORES)["reading"]) == {"sample"}


def edited(file, change):
    """Return a change of a file of predictions."""

    def edit(folder):
        footer = footer_of(read_footer(folder / file))
        write_table(change(read_table(folder / file, PREDICTIONS)), folder / file, PREDICTIONS, footer)

    return edit


CLEAN, FOG = "predictions/m/clean.parquet", "predictions/m/fog.parquet"
PRIOR = "prior/m/no_image.parquet"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            edited(CLEAN, lambda rows: rows[1:]),
            "predictions/m: 1 missing prediction: (s/000, clean, 0); delete it and run",
        ),
        (
            edited(FOG, lambda rows: rows.with_columns(severity=pl.lit(9, pl.Int64))),
            "predictions/m: 24 repeated predictions: (s/000, fog, 9)",
        ),
        (edited(PRIOR, lambda rows: rows[1:]), "prior/m: 1 missing prediction: (s/000, no_image, 0)"),
        (
            lambda folder: write_answers(folder / "answers/m/fog.parquet", CELLS[1:2], right_reply),
            "answers/m: 24 missing answers: (s/000, fog, 2)",
        ),
        (
            lambda folder: write_predictions(
                folder / PRIOR, ITEMS.ids[:, :, 0], [("no_image", 0)], np.zeros((1, 6, 2, 2)), scoring="text"
            ),
            "prior/m/no_image.parquet: its scoring is text, not letter",
        ),
        (
            lambda folder: write_table(GROUP_ROWS[1:], folder / "groups.parquet", GROUPS),
            "group 'g0' has not one item for each question and image",
        ),
    ],
)
def test_bad_input_is_one_line(folder, change, message):
    change(folder)
    with pytest.raises(InputError) as error:
        score()
    assert str(error.value).startswith(message) and "\n" not in str(error.value)
    assert not (folder / "out.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"without": ("prior",)}, "--prior: none given, and the reading post_hoc needs it; give it"),
        (
            {"answers": ["answers/m/clean.parquet", "prior/n/no_image.parquet"]},
            r"the files are of 2 models \(m, n\); give those of one",
        ),
        ({"without": ("predictions", "answers", "prior")}, "the files are of 0 models"),
        (
            {"readings": ["deterministic"], "without": ("predictions", "prior")},
            "m: has none of the readings deterministic; add decoding to readings",
        ),
        (
            {"readings": ["decoding", "sample"], "without": ("answers", "prior")},
            "--answers: none given, and the reading decoding needs them; give them",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_files_that_do_not_fit(arguments, message):
    with pytest.raises(InputError, match=message):
        score(**arguments)


PLACES = [(0, 0), (0, 1), (1, 0), (1, 1)]
MODEL = ModelFooter(pool="x", label="m", identity={}, oom_splits=0)


def test_each_answer_has_the_grade_of_its_question_and_image(tmp_path: Path) -> None:
    chosen, pool = write_items(
        tmp_path, [["Yes", "No"], ["No", "Yes"], *[["Yes", "No"]] * 2], answers=[0, 0, 1, 0], groups=["g"] * 4
    )
    members = [
        (f"s/{n}", "g", q, i, "Drawn", "yes_no", "English", "mined") for n, (q, i) in enumerate(PLACES)
    ]
    # p00, p01, p10, p11, c00, ...: question 1 is right on both images, question 2 on the second one.
    cells = (0, 1, 0, 0, True, True, False, True, True, False, False, True, False)
    other = (1, 1, 1, 1, *(False,) * 9)
    scores = [("g", "clean", 0, "decoding", *cells), ("g", "clean", 0, "deterministic", *other)]
    replies = [(f"s/{n}", "clean", 0, f"reply {n}", "stop", 2, "p", "i") for n in range(4)]
    logits = [(f"s/{n}", "clean", 0, [0.0, 1.0986123], 0.9, "p", "i") for n in range(4)]
    footer = ScoresFooter(pool="x", label="m", scoring="letter", extraction="strict", unavailable={}, taus=[])
    written = {
        "groups": (GROUPS, GroupsFooter(pool="x"), members),
        "scores": (SCORES, footer, scores),
        "answers": (ANSWERS, MODEL, replies),
        "predictions": (PREDICTIONS, MODEL, logits),
    }
    paths = {}
    for name, (table, footer, rows) in written.items():
        paths[name] = tmp_path / f"{name}.parquet"
        write_table(frame_of(table, rows), paths[name], table, footer)

    def found(reading: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        models = Models("b", {"m": Model("m", "M")})
        made = [[paths[name]] for name in ("scores", "predictions", "answers")]
        result = page_samples(chosen, pool, models, paths["groups"], *made, reading, {}, [])
        return result.questions, result.answers("m").sort("id")

    questions, answers = found("decoding")
    assert questions["sample"].to_list() == ["g"] * 4
    assert questions["name"].to_list()[1:3] == ["question 1, image 2", "question 2, image 1"]
    assert answers["grade"].to_list() == [1.0, 1.0, 0.0, 1.0]
    assert answers["reply"].to_list() == [f"reply {n}" for n in range(4)]
    # Also where an item lists No first.
    assert answers["note"].to_list() == ["read as Yes", "read as No", "read as Yes", "read as Yes"]
    of_letters = read_table(paths["groups"], GROUPS).with_columns(
        type=pl.lit("multiple_choice", GROUPS.columns["type"])
    )
    write_table(of_letters, paths["groups"], GROUPS, GroupsFooter(pool="x"))
    assert found("decoding")[1]["note"].to_list()[:2] == ["read as A. Yes", "read as B. Yes"]
    _, answers = found("deterministic")
    assert answers["grade"].to_list() == [0.0] * 4
    assert [round(value, 6) for value in answers["probabilities"][0]] == [0.25, 0.75]
