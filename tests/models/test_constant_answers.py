"""Scores that choose nothing, and one answer to all items, are worth a warning; a few equal ones are not."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from safetensors.torch import load_file, save_file

from benchc.corruptions.recipe import clean_recipe
from benchc.models.asking import AskedModel, Job, ShownImages
from benchc.models.constant_answers import constant_answers
from benchc.models.generation import Generation
from benchc.models.items import Item
from benchc.models.label_mass import low_label_mass
from benchc.models.question import Question
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from tests.models.conftest import NAME
from tests.models.test_units import write_pool
from tests.stages import call_stage

OPTIONS = ("a dog", "a cat", "a cow")
Row = dict[str, Any]


def items(*answers: int | None, options: tuple[tuple[str, ...], ...] = (OPTIONS,)) -> dict[str, Item]:
    """Return items with these right answers; their options in turn."""
    return {
        str(number): Item(Question("?", options[number % len(options)]), (), None, answer)
        for number, answer in enumerate(answers)
    }


def scored(count: int, logits: Callable[[int], list[float]], **more: object) -> list[Row]:
    """Return two predictions on each of so many items."""
    return [{"id": str(n), "logits": logits(n), **more} for n in range(count) for _ in range(2)]


def replied(count: int, reply: Callable[[int], str]) -> list[Row]:
    return [{"id": str(n), "reply": reply(n)} for n in range(count) for _ in range(2)]


SECOND = [0.1, 0.3, 0.2]
INF = float("inf")
BOTH_LETTERS = (("a dog", "a cat"), ("a cat", "a dog"))


@pytest.mark.parametrize(
    ("rows", "asked", "words"),
    [
        ([], {}, None),
        # Of one row.
        (scored(1, lambda n: [0.5] * 3)[:1], items(0), "in each of its 1 predictions, all options"),
        (replied(1, lambda n: "yes")[:1], items(None), None),
        # Equal scores, of however few items.
        (scored(1, lambda n: [0.5] * 3), items(0), "in each of its 2 predictions, all options have the same"),
        (scored(2, lambda n: [-INF] * 3), items(0, 1), "all options have the same score"),
        (scored(2, lambda n: [0.5] * 3, order=1), items(0, 1), "all options have the same score"),
        (scored(9, lambda n: [0.5, 0.5, 0.5 + (n == 8)]), items(*[0] * 9), None),
        (scored(9, lambda n: [0.5, 0.5, 0.4]), items(*[0] * 9), None),
        # One option.
        (scored(25, lambda n: SECOND), items(*[0] * 20, *[1] * 5), "2 for all 25 items, which is wrong for"),
        (scored(24, lambda n: SECOND), items(*[0] * 19, *[1] * 5), None),
        (scored(40, lambda n: SECOND), items(*[0] * 40), "2 for all 40 items, which is wrong for 40"),
        (scored(40, lambda n: SECOND), items(*[1] * 40), None),
        (scored(40, lambda n: SECOND if n else [1.0, 0, 0]), items(*[2] * 40), None),
        (scored(40, lambda n: SECOND, order=1), items(*[0] * 40), None),
        (scored(40, lambda n: SECOND), items(*[None] * 40), None),
        # One reply.
        (replied(1, lambda n: " "), items(None), "all of its 2 answers are empty"),
        (replied(2, lambda n: "" if n else "yes"), items(None, None), None),
        (replied(20, lambda n: "Yes" if n else "yes "), items(*[None] * 20), "answers 'yes' to all 20 items"),
        (replied(30, lambda n: "x" * 99), items(*[None] * 30), f"it answers '{'x' * 80}' to all 30 items"),
        (replied(19, lambda n: "yes"), items(*[None] * 19), None),
        (replied(20, lambda n: "yes" if n else "no"), items(*[None] * 20), None),
        (replied(40, lambda n: "A"), items(*[0, 1] * 20), "to all 40 items, whose right answers differ; c"),
        (replied(60, lambda n: "A"), items(*[0, 1] * 30), "to all 60 items, whose right answers differ; c"),
        (replied(39, lambda n: "A"), items(*[0, 1] * 19, 0), None),
        (replied(40, lambda n: "A"), items(*[1] * 40), None),
        (replied(40, lambda n: "A"), items(*[0] * 40, options=BOTH_LETTERS), None),
        (replied(40, lambda n: "a cat"), items(*[1, 0] * 20, options=BOTH_LETTERS), None),
    ],
)
def test_what_is_worth_a_warning(rows: list[Row], asked: dict[str, Item], words: str | None) -> None:
    found = constant_answers(rows, asked)
    assert (found is None) == (words is None), found
    assert words is None or words in str(found)


def test_without_images_one_answer_is_no_fault() -> None:
    asked = items(*[0] * 40)
    assert constant_answers(scored(40, lambda n: SECOND), asked, shown=False) is None
    assert constant_answers(replied(40, lambda n: "yes"), items(*[None] * 40), shown=False) is None
    assert constant_answers(scored(40, lambda n: [1.0, 1.0]), asked, shown=False) is not None


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return 41 items, of which the second option is right."""
    path = tmp_path_factory.mktemp("pool") / "pool.parquet"
    write_pool(path, ["a", "b"])
    write_table(read_table(path, POOL).with_columns(answer=pl.lit(1, pl.Int64)), path, POOL)
    return path


@pytest.fixture(scope="module")
def zeros(checkpoints: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkpoint whose weights are 0, so that all tokens have the same probability."""
    model = Path(shutil.copytree(checkpoints["llava"], tmp_path_factory.mktemp("zeros") / "model"))
    weights = load_file(model / "model.safetensors")
    save_file({name: torch.zeros_like(value) for name, value in weights.items()}, model / "model.safetensors")
    return model


SAME = "\nwarning: Zeros: in each of its 41 predictions, all options have the same score; check its weights"


@pytest.mark.parametrize(
    ("stage", "words", "line"),
    [
        ("infer", {"scoring": "letter"}, SAME),
        ("answer", {"generation": Generation(4)}, "\nwarning: Zeros: all of its 41 answers are empty; "),
    ],
)
@pytest.mark.parametrize("on_server", [False, True])
def test_a_job_warns(zeros, pool, tmp_path, start, capsys, stage, words, line, on_server):
    clean = clean_recipe()
    call_stage(
        stage,
        model=AskedModel(label="Zeros", location=NAME if on_server else str(zeros)),
        images=ShownImages(recipes={clean.name: clean}, seed=1),
        job=Job(cache=tmp_path / "cache", server_url=start(zeros).url if on_server else None),
        pool=pool,
        output=tmp_path / "out.parquet",
        **words,
    )
    assert line in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scoring", "masses", "warns"),
    [
        ("letter", [0.1, 0.2], True),
        ("letter", [0.0, 1.0], False),
        ("letter", [0.0, 0.99], True),
        ("letter", [0.9, 0.8], False),
        ("letter", [], False),
        ("text", [0.01], False),
        ("generate", [], False),
        ("generate", [0.1], False),
    ],
)
def test_only_letters_of_less_than_half_of_the_probability_warn(scoring, masses, warns):
    assert (low_label_mass(scoring, masses) is not None) == warns


def test_the_warning_says_how_much_and_what_to_do():
    for mass, percent in ((0.494, 49), (0.496, 50)):
        text = low_label_mass("letter", [mass / 2, 1.5 * mass])
        assert f"have only {percent} % of the probability" in text and "`scoring: text`" in text
