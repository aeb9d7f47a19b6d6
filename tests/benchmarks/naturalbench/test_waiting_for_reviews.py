"""A run that waits for people: what it says, and what it keeps while a review is wrong."""

import csv
import os
from pathlib import Path

import pytest
import yaml

from snakemake_logger_plugin_stages.logs import is_waiting
from tests.benchmarks.naturalbench.conftest import groups_checkout, own_captions
from tests.workflow.checkout import Checkout

FORMS = "results/groups/curate/review/pairs"
KEPT = "results/groups/curate/kept_pairs.parquet"
# It needs the pairs that people kept.
TARGET = "results/groups/retrieval/embeddings/tiny-clip.parquet"
ANNOTATORS = ("first", "second")


@pytest.fixture(scope="module")
def checkout(checkpoints: Path, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    checkout = groups_checkout(tmp_path_factory.mktemp("waiting") / "benchc", checkpoints)
    checkout.python = python
    curate = yaml.safe_load((checkout.folder / checkout.config).read_text())["curate"]
    curate["captions"] = own_captions(checkout)
    curate["review"]["folder"] = "reviews"
    curate["writer"]["recordings"] = "recordings"
    checkout.configure(curate=curate)
    return checkout


def stopped(checkout: Checkout) -> list[str]:
    """Return the last lines of a run that fails."""
    result = checkout.snakemake("--cores", "2", TARGET, check=False)
    assert result.returncode == 1, result.stdout[-3000:]
    return result.stdout.splitlines()[-12:]


def answer(checkout: Checkout, annotator: str, delimiter: str = ",", **answers: str) -> None:
    """Fill the CSV file of a form by No, but for the rows given by number."""
    with (checkout.folder / f"{FORMS}/{annotator}.csv").open(newline="") as file:
        header, *rows = list(csv.reader(file))
    for number, row in enumerate(rows):
        row[-1] = answers.get(f"row{number}", "No")
    path = checkout.folder / f"reviews/pairs/{annotator}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])


def test_a_run_waits_for_people_and_keeps_what_they_reviewed(checkout: Checkout) -> None:
    lines = stopped(checkout)
    start = next(number for number, line in enumerate(lines) if line.startswith("  first: "))
    assert lines[start : start + 3] == [
        *(
            f"  {name}: no file; open {FORMS}/{name}.html, or fill {FORMS}/{name}.csv, and save it as "
            f"reviews/pairs/{name}.csv"
            for name in ANNOTATORS
        ),
        f"waiting for first, second to review round pairs: open the forms in {FORMS}/, save the answers in "
        "reviews/pairs/, then run the same command again",
    ]
    # What follows is Snakemake's: its log and that a job failed.
    assert len(lines[start + 3 :]) <= 4 and "did not complete" in lines[-1]
    # `benchc run` shows no error of such a job.
    assert is_waiting([f"{checkout.folder}/logs/groups/keep_pairs.log"])

    for name in ANNOTATORS:
        answer(checkout, name)
    checkout.make(TARGET)
    assert checkout.plan(TARGET) == {}
    kept = checkout.folder / KEPT
    time, content = kept.stat().st_mtime_ns, kept.read_bytes()

    answer(checkout, "first", row0="Nein", row1="?")
    (checkout.folder / "reviews/pairs/second.csv").rename(checkout.folder / "second.csv")
    lines = stopped(checkout)
    start = next(number for number, line in enumerate(lines) if line.startswith("error: "))
    assert "reviews/pairs/first.csv: row 2: the answer 'Nein' is none of Yes, No" in lines[start]
    assert "row 3: the answer '?'" in lines[start + 1]
    assert lines[start + 2].startswith("  second: no file; ")
    assert lines[start + 3].startswith("waiting for second to review round pairs: ")
    assert (kept.stat().st_mtime_ns, kept.read_bytes()) == (time, content)

    # The same answers in another form are no change.
    answer(checkout, "first", delimiter=";")
    answer(checkout, "second")
    assert checkout.plan(TARGET) == {}
    answer(checkout, "second", row0="Yes")
    assert checkout.plan(TARGET) == {"keep_pairs": 1, "retrieval_pairs": 1, "embed_retrieval": 1}
    checkout.make(TARGET)
    assert kept.read_bytes() != content


def form_rows(checkout: Checkout, annotator: str) -> list[str]:
    """Return the ids of the rows of a form."""
    with (checkout.folder / f"{FORMS}/{annotator}.csv").open(newline="") as file:
        return [row["id"] for row in csv.DictReader(file)]


def test_a_run_that_asks_for_more_writes_the_forms_first(checkout: Checkout) -> None:
    forms = [f"{FORMS}/{name}.html" for name in ANNOTATORS]
    before = form_rows(checkout, "second")
    configured = yaml.safe_load((checkout.folder / checkout.config).read_text())["curate"]

    def ask(pairs: int) -> list[str]:
        configured["mine"]["pairs"] = pairs
        checkout.configure(curate=configured)
        result = checkout.snakemake("--cores", "1", TARGET, *forms, check=False)
        assert result.returncode == 1, result.stdout[-3000:]
        return result.stdout.splitlines()[-12:]

    # All files of reviews are here, but not all answers.
    (line,) = [line for line in ask(4) if line.startswith("  second: ")]
    rows = form_rows(checkout, "second")
    new = [row for row in rows if row not in before]
    assert new and f"{len(new)} of {len(rows)} rows without an answer (first: {new[0]})" in line

    # The old form of a round is not what a review that is absent has to answer.
    for name in ANNOTATORS:
        answer(checkout, name)
    checkout.make(TARGET)
    (checkout.folder / "reviews/pairs/second.csv").unlink()
    assert any(line.startswith("  second: no file; ") for line in ask(5))
    assert len(form_rows(checkout, "second")) > len(rows)

    # People may fill in the form's file in its place.
    answer(checkout, "second")
    filled = (checkout.folder / "reviews/pairs/second.csv").read_bytes()
    path = checkout.folder / f"{FORMS}/second.csv"
    path.write_bytes(filled)
    os.utime(path, (path.stat().st_mtime + 60,) * 2)
    answer(checkout, "first")
    checkout.make(TARGET)
    assert checkout.plan(TARGET) == {}


def test_a_failure_of_another_job_says_nothing_of_reviews(checkout: Checkout) -> None:
    (checkout.folder / "logs/groups/keep_pairs.log").write_text("then run the same command again\n")
    os.utime(checkout.folder / "logs/groups/keep_pairs.log", (1, 1))
    checkout.edit(
        "scripts/naturalbench/mine.py", "    parts, mismatches", "    raise KeyError\n    parts, mismatches"
    )
    result = checkout.snakemake("--cores", "2", TARGET, check=False)
    assert result.returncode == 1 and "Error in rule mine" in result.stdout
    assert "then run the same" not in result.stdout


def test_a_run_without_demo_does_not_train_the_encoder_of_another_run(
    checkpoints: Path, python: Path, tmp_path: Path
) -> None:
    checkout = groups_checkout(tmp_path / "benchc", checkpoints)
    checkout.python = python
    folder = checkout.folder / "results/models/image_encoder"
    folder.mkdir(parents=True)
    for name in ("open_clip_config.json", "open_clip_model.safetensors"):
        (folder / name).write_text("{}")
    captions = {"label": "Own", "form": "csv", "file": "captions.csv", "images": "."}
    (checkout.folder / "captions.csv").write_text("image,caption\n")
    curate = yaml.safe_load((checkout.folder / checkout.config).read_text())["curate"]
    curate["captions"] = {"own": captions}
    encoder = {"label": "Ours", "name": "results/models/image_encoder"}
    none = {"demo": None, "fine_tuning": None, "translate": None, "models": [], "sources": []}
    none["blind"] = {"sources": []}
    checkout.configure(encoders={"tiny-clip": encoder}, curate=curate, **none)
    jobs = checkout.plan("results/groups/curate/mismatches.parquet")
    assert jobs == {"read_captions": 1, "embed_captions": 1, "mine": 1}
