from pathlib import Path
from typing import Any

import pytest

from benchc.benchmarks.naturalbench.curation.review_files import THEN_RUN_AGAIN
from benchc.benchmarks.naturalbench.workflow import Workflow
from benchc.errors import InputError
from tests.benchmarks.naturalbench.runs import DRAWN, config_of, curate

ROOT = Path(__file__).resolve().parents[3]
MADE = {"made": {"path": "results/trial/curate/groups.tsv"}}
ENCODERS = {"clip": {"label": "CLIP", "name": "ViT-B-32-quickgelu", "pretrained": "openai"}}
FILES = {"questions": "q", "annotations": "a", "images": "i"}
OPEN = {"convert": {"format": "vqav2", "files": FILES}, "reader": {}}
FORM = "id,annotator,question,choices,answer\nr1,{name},q?,Yes / No,\n"


@pytest.fixture(autouse=True)
def _checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(ROOT / "config")


def curating(**keys: Any) -> Workflow:
    return Workflow(config_of(MADE, {}, encoders=ENCODERS, curate=curate(**keys)))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"sources": {"vqa": OPEN}}, "^Remove vqa from sources: it has open questions, not groups"),
        ({"groups": {"tags": "tags.csv"}}, "^groups.tags: there is no file tags.csv; correct the path, or"),
        (
            {"curate": curate(writer={"templates": {"yes_no": "a.txt", "multiple_choice": "b.txt"}})},
            "^curate.writer.templates.yes_no: there is no file a.txt; correct the path",
        ),
        (
            {"curate": curate(shorten={"template": "c.txt"})},
            "^curate.shorten.template: there is no file c",
        ),
        ({"translate": {"model": "m", "template": "d.txt"}}, "^translate.template: there is no file d.txt"),
    ],
)
def test_what_is_absent_or_does_not_fit_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Workflow(config_of(keys.pop("sources", MADE), encoders=ENCODERS, **keys))


BOTH = {"letters": "letter", "words": "generate"}


def blind(other: dict[str, Any], **keys: Any) -> Workflow:
    """Return a run that reads a source `other` beside its groups."""
    return Workflow(config_of(MADE, BOTH, {"other": other}, blind={"sources": ["other"], **keys}))


def test_other_benchmarks_are_answered_by_models_with_probabilities_and_have_options() -> None:
    run = blind({"path": "other.tsv"})
    assert run.blind is not None and run.blind.models == ["letters"]
    assert run.blind.labels == {"other": "other"}
    assert run.labels == {"made": "made"} and run.released == ["made"]
    with pytest.raises(InputError, match=r"^Remove words from blind\.models: it only answers"):
        blind({"path": "other.tsv"}, models=["letters", "words"])
    assert Workflow(config_of(MADE, BOTH)).blind is None
    others = {"other": {"path": "other.tsv"}}
    run = Workflow(config_of(MADE, {"words": "generate"}, others, blind={"sources": ["other"]}))
    assert run.blind is None
    with pytest.raises(InputError, match=r"^Remove other from blind\.sources: it has open questions"):
        blind(OPEN)


def test_scores_are_read_from_what_a_model_gives() -> None:
    run = Workflow(config_of(MADE, {"shown": "letter", "asked": "generate"}))
    assert run.predictions("shown", ["fog"]) == ["<results>/predictions/groups/shown/fog.parquet"]
    assert run.prior("shown") == "<results>/predictions/questions/shown/no_image.parquet"
    assert run.predictions("asked", ["fog"]) == run.prior("asked") == []
    assert run.answers("asked", ["clean", "fog"]) == [
        f"<results>/answers/groups/asked/{part}.parquet" for part in ("clean", "fog")
    ]
    decoded = Workflow(config_of(MADE, {"shown": "letter"}, readings=["decoding"]))
    assert decoded.predictions("shown", ["fog"]) == decoded.prior("shown") == []
    probable = Workflow(config_of(MADE, {"shown": "letter"}, readings=["deterministic"]))
    assert probable.answers("shown", ["fog"]) == [] != probable.predictions("shown", ["fog"])


@pytest.mark.parametrize(
    ("readings", "kind"), [(["sample", "decoding"], "answers"), (["sample", "deterministic"], "predictions")]
)
def test_translated_questions_are_asked_for_the_reading_of_table_5(readings: list[str], kind: str) -> None:
    config = config_of(MADE, {"m": "letter"}, translate={"model": "t"}, readings=readings)
    translation = Workflow(config).translation
    assert translation is not None and translation.reading == readings[1]
    file = [f"<results>/{kind}/translated/m/clean.parquet"]
    expected = {"answers": ([], file), "predictions": (file, [])}[kind]
    assert (translation.predictions("m"), translation.answers("m")) == expected


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"mode": "live"}, None),
        ({"mode": "record"}, "results/trial/translated/recordings"),
        ({"mode": "replay", "recordings": "mine"}, "mine"),
    ],
)
def test_the_translator_keeps_its_replies_beside_the_run_or_where_it_is_told(changes, kept) -> None:
    config = config_of(MADE, {"m": "letter"}, translate={"model": "t", "concurrency": 3, **changes})
    translation = Workflow(config).translation
    assert translation is not None and not translation.records_replies
    service = translation.service
    assert (service.mode, service.concurrency) == (changes["mode"], 3)
    assert service.recordings == (None if kept is None else Path(kept))


def test_a_run_simulates_people_only_where_all_images_are_drawn() -> None:
    made = {"demo": {"seed": 3, "training_set": {"items_per_category": 8}, "image_encoder": {"steps": 3}}}
    for captions, demo, simulated in ((DRAWN, made, True), (DRAWN, {}, False)):
        encoders = {"clip": {"label": "CLIP", "name": "trained" if demo else "folder/clip"}}
        config = config_of(MADE, encoders=encoders, curate=curate(captions=captions), **demo)
        curation = Workflow(config).curation
        assert curation is not None and curation.simulated == simulated
        # A review that the run writes is there before it is.
        assert bool(curation.review_files("0")) == simulated


def test_a_wrong_review_is_a_fault_unless_its_form_is_written_anew() -> None:
    run = curating()
    curation = run.curation
    assert curation is not None
    forms, reviews = Path(curation.forms, "pairs"), Path(curation.reviews_folder, "pairs")
    for folder in (forms, reviews):
        folder.mkdir(parents=True)
    for name in ("ann", "bob"):
        (forms / f"{name}.csv").write_text(FORM.format(name=name))
        (reviews / f"{name}.csv").write_text(f"id,annotator,answer\nr1,{name},No\n")
    assert curation.open_forms("pairs") == [] and len(curation.open_forms("0")) == 2
    (reviews / "bob.csv").write_text("id,annotator,answer\nr1,bob,Maybe\n")
    # No job has read it.
    assert run.faults_at_start([]) == []
    (forms.parents[1] / "kept_pairs.parquet").touch()
    fault, end = run.faults_at_start([("review_form", {"review": "0", "annotator": "ann"})])
    assert "the answer 'Maybe' is none of Yes, No" in fault and end.endswith(THEN_RUN_AGAIN)
    assert run.faults_at_start([("review_form", {"review": "pairs", "annotator": "bob"})]) == []
    # At an error, only jobs of this run that wait for reviews are quoted.
    run = curating()
    assert run.curation is not None
    (run.curation.logs / "keep_reviewed").mkdir(parents=True)
    (run.curation.logs / "keep_reviewed/0.log").write_text("a traceback\n")
    waiting = run.curation.logs / "keep_pairs.log"
    waiting.write_text(f"waiting for reviews\n{THEN_RUN_AGAIN}\n")
    assert run.lines_at_error() == ["waiting for reviews", THEN_RUN_AGAIN]
    run.curation.started_at += 60
    assert run.lines_at_error() == []
