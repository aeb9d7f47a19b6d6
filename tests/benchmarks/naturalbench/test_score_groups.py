"""The stage that scores one model, from files to a file."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.metrics.readings import GLOBAL
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.schemas.answers import ANSWERS
from benchc.schemas.footer import Footer
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from tests.benchmarks.naturalbench.simulated import group_rows, items_of, pool_rows
from tests.stages import call_stage

GROUP_ROWS = group_rows(6, types=("yes_no", "multiple_choice"))
ITEMS = items_of(GROUP_ROWS)
CELLS = [("clean", 0), ("fog", 1), ("fog", 2)]
READINGS = ["decoding", "deterministic", "post_hoc", "global", "sample"]
HASHES = {"prompt_hash": "p", "image_hash": "i"}


@dataclass(frozen=True)
class Facts(Footer):
    """Any facts."""

    facts: Mapping[str, object]

    def content(self):
        return dict(self.facts)


def write_pool(path):
    columns = {
        "source": "s", "task": "t", "question": "q?", "hint": None, "category": "c", "l2_category": "c",
    }  # fmt: skip
    rows = pool_rows(GROUP_ROWS).with_columns(
        **{name: pl.lit(value, pl.String) for name, value in columns.items()},
        images=pl.lit([], POOL.columns["images"]),
        image_keys=pl.lit(["s://a"]),
    )
    write_table(rows.select(*POOL.columns), path, POOL)


def write_predictions(path, ids, cells, logits, **footer):
    rows = [
        {
            **HASHES,
            "id": id_,
            "corruption": corruption,
            "severity": severity,
            "logits": logits[number][place].tolist(),
            "label_mass": 0.5,
        }
        for number, (corruption, severity) in enumerate(cells)
        for place, id_ in np.ndenumerate(ids)
    ]
    footer = {"label": path.parent.name, "scoring": "letter", "predictions": len(rows), **footer}
    write_table(pl.DataFrame(rows, schema=pl.Schema(PREDICTIONS.columns)), path, PREDICTIONS, Facts(footer))


def write_answers(path, cells, reply):
    rows = [
        {
            **HASHES,
            "id": id_,
            "corruption": corruption,
            "severity": severity,
            "reply": reply(ITEMS.types[place[0]], ITEMS.truth[place], severity),
            "finish": "stop",
            "n_tokens": 1,
        }
        for corruption, severity in cells
        for place, id_ in np.ndenumerate(ITEMS.ids)
    ]
    footer = {"label": path.parent.name, "answers": len(rows)}
    write_table(pl.DataFrame(rows, schema=pl.Schema(ANSWERS.columns)), path, ANSWERS, Facts(footer))


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
    arguments = {
        "pool": "items.parquet",
        "groups": "groups.parquet",
        "predictions": ["predictions/m/clean.parquet", "predictions/m/fog.parquet"],
        "answers": ["answers/m/clean.parquet", "answers/m/fog.parquet"],
        "prior": "prior/m/no_image.parquet",
        "readings": READINGS,
        "corruptions": ["fog"],
        "severities": [1, 2],
        "output": "out.parquet",
    } | changed
    given = {name: value for name, value in arguments.items() if name not in without}
    call_stage("naturalbench.score_groups", **given)


def test_all_readings(folder, capsys):
    score()
    assert "m: 6 groups read by decoding, deterministic, post_hoc, global" in capsys.readouterr().err
    table, footer = read_table(folder / "out.parquet", SCORES), read_footer(folder / "out.parquet")
    assert table.filter(corruption="clean")["reading"].unique(maintain_order=True).to_list() == [
        "decoding", "deterministic", "post_hoc", *GLOBAL, "sample",
    ]  # fmt: skip
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


def test_a_prior_that_the_model_does_not_have(folder):
    none = np.zeros((0, 2))
    path = folder / "prior/m/no_image.parquet"
    write_predictions(path, ITEMS.ids[:0, :, 0], [("no_image", 0)], none, unavailable="it needs an image")
    score(readings=["deterministic", "post_hoc"], without=("answers",))
    assert read_footer(folder / "out.parquet")["unavailable"] == {"post_hoc": "it needs an image"}
    assert read_footer(folder / "out.parquet")["extraction"] is None
    assert set(read_table(folder / "out.parquet", SCORES)["reading"]) == {"deterministic"}


def test_only_the_readings_that_are_wanted(folder):
    score(readings=["sample"], without=("answers", "prior"), extraction="official")
    assert set(read_table(folder / "out.parquet", SCORES)["reading"]) == {"sample"}


def edited(path, change):
    footer = read_footer(path)
    write_table(change(read_table(path, PREDICTIONS)), path, PREDICTIONS, Facts(footer))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda folder: edited(folder / "predictions/m/clean.parquet", lambda rows: rows[1:]),
            "predictions/m: 1 missing prediction: (s/000, clean, 0); delete it and run",
        ),
        (
            lambda folder: edited(
                folder / "predictions/m/fog.parquet",
                lambda rows: rows.with_columns(severity=pl.lit(9, pl.Int64)),
            ),
            "predictions/m: 24 repeated predictions: (s/000, fog, 9)",
        ),
        (
            lambda folder: edited(folder / "prior/m/no_image.parquet", lambda rows: rows[1:]),
            "prior/m: 1 missing prediction: (s/000, no_image, 0)",
        ),
        (
            lambda folder: write_answers(folder / "answers/m/fog.parquet", CELLS[1:2], right_reply),
            "answers/m: 24 missing answers: (s/000, fog, 2)",
        ),
        (
            lambda folder: write_predictions(
                folder / "prior/m/no_image.parquet",
                ITEMS.ids[:, :, 0],
                [("no_image", 0)],
                np.zeros((1, 6, 2, 2)),
                scoring="text",
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
