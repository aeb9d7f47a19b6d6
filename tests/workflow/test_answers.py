"""Answers in the models' own words: over a server, resumed to the same bytes, rerun by what decides them."""

import re
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml

from benchc.judges.option_reply import option_of
from benchc.schemas.answers import ANSWERS
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from tests.models import vllm_like
from tests.workflow.checkout import Checkout

TABLE = "results/small/tables/generated_answers.csv"
ANSWERING = ["letters", "trained", "closed"]
AFTER_ANSWERS = {"judge_options": 3, "generated_answers": 1}
COMMAND = f"{sys.executable} {vllm_like.__file__} {{model}} --model {{model}} --port {{port}}"
CLOSED = {"label": "Closed", "path": "checkpoints/letters", "scoring": "generate"}
CLOSED["server"] = {"command": COMMAND, "concurrency": 3}
# Of `letters`, which can neither stop nor choose an option but by chance.
MOST = 4


def answers_of(checkout: Checkout, model: str) -> Path:
    return checkout.folder / f"results/small/answers/selected/{model}/all.parquet"


@pytest.fixture(scope="module")
def checkout(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The finished run with answers of a model here, of a target, and of a model that only generates."""
    checkout = finished.copy(tmp_path_factory.mktemp("answers") / "benchc")
    path = checkout.folder / "config/small-models.yaml"
    models = yaml.safe_load(path.read_text()) | {"closed": CLOSED}
    models |= {id_: {**models[id_], "max_new_tokens": MOST} for id_ in ANSWERING}
    path.write_text(yaml.safe_dump(models))
    checkout.configure(diagnostics={"generated_answers": ANSWERING})
    # Nothing that was computed before depends on them.
    added = {"answer": 3, **AFTER_ANSWERS}
    assert checkout.plan() == {**added, "configuration": 1}
    checkout.make(TABLE)
    assert checkout.plan(TABLE) == {}
    return checkout


def test_every_item_is_answered_and_judged(checkout):
    subset = pl.read_parquet(checkout.folder / "results/small/subsets/selected.parquet")
    options = dict(
        read_table(checkout.folder / "results/small/pool/items.parquet", POOL, ["id", "options"]).iter_rows()
    )
    for model in ANSWERING:
        answers = read_table(answers_of(checkout, model), ANSWERS)
        assert answers.height == subset.height * (1 + 3 * 5)
        assert set(answers["id"]) == set(subset["id"])
        assert answers["n_tokens"].is_between(1, MOST).all()
        assert ((answers["finish"] == "stop") | (answers["n_tokens"] == MOST)).all()
        footer = read_footer(answers_of(checkout, model))
        assert (footer["scoring"], footer["max_new_tokens"]) == ("generate", str(MOST))
        path = checkout.folder / f"results/small/judgements/selected/{model}.parquet"
        judged = read_table(path, JUDGEMENTS)
        replies = answers.select("id", "reply").iter_rows()
        expected = [option_of(reply, options[id_]) for id_, reply in replies]
        assert judged["option"].to_list() == [each.option for each in expected]
        assert judged["status"].to_list() == [each.status for each in expected]
    # The tiny model ends its answers.
    assert (read_table(answers_of(checkout, "trained"), ANSWERS)["finish"] == "stop").any()


def test_a_job_warns_where_letters_have_no_probability(checkout):
    log = (checkout.folder / "logs/small/infer/pool/letters/all.log").read_text()
    assert re.search(r"^warning: letters: the letters of the options have only \d % of the probab", log, re.M)
    assert "warning" not in (checkout.folder / "logs/small/infer/pool/texts/all.log").read_text()


def test_answers_over_a_server_are_those_of_the_model_in_the_job(checkout):
    columns = ["id", "corruption", "severity", "reply", "finish", "n_tokens", "image_hash"]
    tables = [read_table(answers_of(checkout, model), ANSWERS)[columns] for model in ("letters", "closed")]
    assert tables[0].equals(tables[1])


def test_the_table_has_targets_and_models_that_only_generate(checkout):
    table = pl.read_csv(checkout.folder / TABLE)
    assert table["model"].to_list() == ANSWERING
    # Only predictions on the benchmark can agree.
    assert table["agreement"].is_null().to_list() == [True, False, True]
    chosen = (table["answers"] * (1 - table["no_option"])).round()
    assert (table["letter"] + table["text"] == chosen).all() and (chosen > 0).all()


@pytest.mark.parametrize("kept", [0, 0.5], ids=["no cache", "half of the cache"])
def test_a_killed_job_resumes_and_writes_the_same_bytes(checkout, tmp_path, kept):
    copy = checkout.copy(tmp_path / "benchc")
    answers = answers_of(copy, "trained")
    before = answers.read_bytes()
    answers.unlink()
    (shard,) = copy.folder.glob("results/.cache/*/*/small-trained-selected-all-answers-*.units")
    lines = shard.read_bytes().splitlines(keepends=True)
    # A kill may cut off the last line.
    shard.write_bytes(b"".join(lines[: round(kept * len(lines))]) + lines[-1][:40])
    copy.make(str(answers.relative_to(copy.folder)))
    assert answers.read_bytes() == before
    log = (copy.folder / "logs/small/answer/selected/trained/all.log").read_text()
    assert ("from the cache, 0 computed" not in log) and (" 0 from the cache" in log) == (kept == 0)


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        # Of models in the job alone.
        (
            "benchc/models/generate.py",
            ".strip()",
            ".rstrip()",
            {"answer": 2, "judge_options": 2, "generated_answers": 1},
        ),
        (
            "benchc/models/server/generate.py",
            '"could not finish the message"',
            '"could not finish"',
            {"answer": 1, "judge_options": 1, "generated_answers": 1},
        ),
        ("benchc/judges/option_reply.py", "TAIL = 4", "TAIL = 5", AFTER_ANSWERS),
        (
            "benchc/benchmarks/bench_c/metrics/generated_answers.py",
            "fill_null(False)",
            "fill_null(True)",
            {"generated_answers": 1},
        ),
        ("config/small-models.yaml", "label: Closed", "label: Shut", {"generated_answers": 1}),
        (
            "config/small-models.yaml",
            f"label: Letters\n  max_new_tokens: {MOST}",
            "label: Letters\n  max_new_tokens: 5",
            {"answer": 1, "judge_options": 1, "generated_answers": 1},
        ),
    ],
)
def test_an_edit_reruns_what_it_decides(checkout, file, old, new, expected):
    with checkout.restored(file):
        checkout.edit(file, old, new)
        assert checkout.plan(TABLE) == expected
