from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.naturalbench.planning.plan import blind_items, plan_of
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS, GroupsFooter
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.config.load import read_config
from benchc.planning.amounts import Amount
from benchc.planning.plan import plan_markdown
from benchc.planning.size import RunSize, run_size
from benchc.planning.source_size import published_amount
from benchc.schemas.items import ITEMS, ItemsFooter
from benchc.schemas.parquet import write_table
from benchc.schemas.subset import SUBSET
from tests.benchmarks.naturalbench.drawn import drawn_captions
from tests.benchmarks.naturalbench.runs import config_of, curate
from tests.benchmarks.naturalbench.simulated import group_rows
from tests.sources.test_pool import items as items_of

NOWHERE = Path("a-run-without-results")
MODELS = {"a": "letter", "b": "text", "c": "generate", "d": "classify"}
ENCODERS = {"clip": {"label": "CLIP", "name": "ViT-B-32-quickgelu", "pretrained": "openai"}}


def test_models_without_probabilities_only_answer():
    config = config_of(models=MODELS, corruptions={"types": ["snow", "fog"], "severities": [1, 5]})
    plan = plan_of(config, NOWHERE, RunSize(Amount(8)))
    assert {stage.name: stage.models for stage in plan.stages} == {
        "predictions": ("a", "b"),
        "answers": ("a", "b", "c", "d"),
        "without image": ("a", "b"),
    }
    # Without the image one for each question, clean alone.
    assert [stage.predictions for stage in plan.stages] == [Amount(n, "at most") for n in (8 * 5, 8 * 5, 4)]
    assert plan.stages[2].outputs == ("predictions/questions/{model}/no_image.parquet",)
    assert all(output.startswith("answers/groups/{model}/") for output in plan.stages[1].outputs)
    unread = "items: those of groups that are left out are counted until `read_groups` has run."
    longer = "answers take longer than predictions, by whose rate their hours are estimated."
    of_item = "predictions and answers of an item: 1 clean"
    assert plan.notes == [f"{of_item} + 2 corruptions × 2 severities.", longer, unread]
    limited = {"corruptions": {"types": []}, "groups": {"limit": 7}, "readings": ["deterministic"]}
    notes = plan_of(config_of(models=MODELS, **limited), NOWHERE, RunSize(Amount(8))).notes
    assert notes == [f"{of_item}.", "groups.limit: at most 7 groups of each subset.", unread]


def test_a_note_counts_the_jobs_that_tune_models():
    tuned = {"models": ["a"], "modality": ["images", "text"], "epochs": 1}
    config = config_of(models=MODELS, fine_tuning=tuned)
    assert plan_of(config, NOWHERE, RunSize(Amount(8))).notes[2] == (
        "fine_tuning: 2 jobs (1 model × images and text) of 1 epoch on half of the items, and predictions "
        "on the other half; their hours are not estimated."
    )
    # Half of seven items are three questions.
    found = plan_of(config_of(models=MODELS), NOWHERE, RunSize(Amount(7))).stages
    assert found[-1].items == Amount(3, "at most")
    assert plan_of(config_of(models=MODELS), NOWHERE, RunSize(Amount(None))).stages[-1].items.value is None


@pytest.mark.parametrize(
    ("readings", "names"),
    [
        (["decoding"], ["answers"]),
        (["deterministic", "sample"], ["predictions"]),
        (["post_hoc"], ["predictions", "grey image"]),
    ],
)
def test_stages_are_those_that_the_readings_need(readings, names):
    config = config_of(models=MODELS, readings=readings, prior="grey_image")
    assert [stage.name for stage in plan_of(config, NOWHERE, RunSize(Amount(8))).stages] == names


def test_items_of_other_benchmarks_are_asked_with_images_and_without(tmp_path):
    others = {"read": {"path": "read.tsv"}, "absent": {"path": "absent.tsv"}}
    config = config_of(models=MODELS, others=others, blind={"sources": [*others], "items": 3})
    assert blind_items(config, tmp_path) == Amount(6, "at most")
    for id_, count in (("read", 5), ("absent", 2)):
        items = items_of(id_, {"task": count})
        write_table(items, tmp_path / f"sources/{id_}.parquet", ITEMS, ItemsFooter(source=id_))
    found = {stage.name: stage for stage in plan_of(config, tmp_path, RunSize(Amount(8))).stages}
    for name, file in (("other benchmarks", "clean"), ("others, no image", "no_image")):
        stage = found[name]
        # Three of five, and both.
        assert (stage.items, stage.predictions, stage.models) == (Amount(5), Amount(5), ("a", "b"))
        assert stage.outputs == (f"predictions/blind/{{model}}/{file}.parquet",) and stage.own_items
    unlimited = config_of(models=MODELS, others=others, blind={"sources": ["absent"], "items": None})
    assert blind_items(unlimited, NOWHERE) == Amount(None, "at most")
    others["absent"]["published"] = {"items": 40}
    unlimited = config_of(models=MODELS, others=others, blind={"sources": ["absent"], "items": None})
    assert blind_items(unlimited, NOWHERE) == Amount(40, "at most")
    without = plan_of(config_of(models=MODELS), NOWHERE, RunSize(Amount(8)))
    assert not any(stage.own_items for stage in without.stages)


def test_the_groups_that_are_taken_are_counted_once_they_are_read(tmp_path):
    options = {f"s/{number}": 2 for number in range(12)}
    images = [(id_, f"s://{int(id_[2:]) // 2}", 100) for id_ in options]
    size = RunSize(
        Amount(12), options, pl.DataFrame(images, schema=["id", "image_key", "pixels"], orient="row")
    )
    subset = pl.DataFrame({"id": ["s/0", "s/1", "s/2", "s/3", "old/9"]})
    write_table(subset, tmp_path / "subsets/groups.parquet", SUBSET)
    config = config_of(models={"a": "letter"}, corruptions={"types": ["snow"], "corrupted": "on_the_fly"})
    plan = plan_of(config, tmp_path, size)
    assert [stage.items for stage in plan.stages] == [Amount(4), Amount(4), Amount(2)]
    assert (plan.images.written, plan.images.disk) == (Amount(0), Amount(0))
    config = config_of(models={"a": "letter"}, corruptions={"types": ["snow"], "corrupted": "files"})
    assert plan_of(config, tmp_path, size).images.written == Amount(6 * 6)


def notes(config, results=NOWHERE):
    return [note for note in plan_of(config, results, RunSize(Amount(0))).notes if "curation" in note]


def test_curation_asks_once_for_each_pair_type_and_round_and_four_times_each_person(tmp_path):
    changes = {"mine": {"pairs": 100, "random_pairs": 20}, "writer": {"more_rounds": 3}}
    asked, judged = notes(config_of(encoders=ENCODERS, curate=curate(**changes)))
    assert asked == (
        "curation asks writer for questions: ≤ 240 requests in round 0 (≤ 120 pairs × 2 types), ≤ 960 in "
        "4 rounds."
    )
    assert judged == (
        "curation asks each of 2 people for judgements: ≤ 120 of pairs of images, ≤ 960 of questions in "
        "round 0, ≤ 3,960 in all; each pair, type and round needs 4, since both questions are asked about "
        "both images."
    )
    # Chosen pairs are counted.
    rows = [(f"{number}", "a", "b", "mined") for number in range(7)]
    pairs = pl.DataFrame(rows, schema=pl.Schema(PAIRS.columns), orient="row")
    write_table(pairs, tmp_path / "curate/pairs.parquet", PAIRS)
    changes = {
        "writer": {"more_rounds": 0, "types": ["yes_no"]},
        "review": {"pairs": False, "annotators": ["a", "b", "c"]},
    }
    assert notes(config_of(encoders=ENCODERS, curate=curate(**changes)), tmp_path) == [
        "curation asks writer for questions: 7 requests in round 0 (7 pairs × 1 type), 7 in 1 round.",
        "curation asks each of 3 people for judgements: 28 of questions in round 0, 28 in all; each pair, "
        "type and round needs 4, since both questions are asked about both images.",
    ]
    # People keep some questions, so that fewer are written anew.
    changes["writer"] |= {"more_rounds": 1}
    asked, _ = notes(config_of(encoders=ENCODERS, curate=curate(**changes)), tmp_path)
    assert asked.endswith(": 7 requests in round 0 (7 pairs × 1 type), ≤ 14 in 2 rounds.")


@pytest.mark.parametrize(
    ("shorten", "requests"),
    [({}, "1 to 4 requests"), ({"attempts": 2}, "1 to 2 requests"), ({"attempts": 1}, "1 request")],
)
def test_captions_to_shorten_are_counted_once_they_are_read(shorten, requests, tmp_path):
    config = config_of(encoders=ENCODERS, curate=curate(shorten=shorten))
    text = f"captions of 230 characters or more: {requests} each."
    assert notes(config)[0] == f"curation asks writer to shorten {text}"
    long = drawn_captions(3).with_columns(caption=pl.Series(["x" * 229, "x" * 230, "狗" * 400]))
    write_table(long, tmp_path / "curate/long_captions.parquet", CAPTIONS)
    assert notes(config, tmp_path)[0] == f"curation asks writer to shorten 2 {text}"


def test_the_published_size_of_captions_is_said_until_they_are_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    captions = {"label": "Own", "form": "csv", "file": "own.csv", "images": "images"}
    published = {"items": 15000, "rounded": True, "megabytes": 7600}
    unknown, known = "unknown images with captions;", "≈ 15,000 images with captions, as published;"
    for sizes, text in (({}, unknown), (published, known)):
        own = {"own": captions | {"published": sizes}}
        config = config_of(encoders=ENCODERS, curate=curate(captions=own, shorten={}))
        all_notes = plan_of(config, NOWHERE, RunSize(Amount(0))).notes
        (note,) = (note for note in all_notes if note.startswith("Own: "))
        assert note.startswith(f"Own: {text}")
        assert "own.csv is not here, and the run does not download it" in note
        assert ("(of unknown size with the images)." in note) == (not sizes)
    assert note.endswith("(7.6 GB with the images).")
    assert notes(config)[0] == (
        "curation asks writer to shorten those of ≈ 15,000 captions that have 230 characters or more: 1 to 4 "
        "requests each."
    )
    every = config_of(encoders=ENCODERS, curate=curate(captions=own, shorten={}, mine={"captions": "all"}))
    assert notes(every)[0].startswith("curation asks writer to shorten captions of 230 characters or more")
    # One that is here hides no other.
    (tmp_path / "here.csv").touch()
    two = {"here": captions | {"file": "here.csv", "published": {}}} | own
    both = config_of(encoders=ENCODERS, curate=curate(captions=two))
    said = " ".join(plan_of(both, NOWHERE, RunSize(Amount(0))).notes)
    assert "own.csv is not here" in said and "here.csv" not in said
    (tmp_path / "own.csv").touch()
    assert not any(note.startswith("Own: ") for note in plan_of(config, NOWHERE, RunSize(Amount(0))).notes)


def test_the_shipped_sources_have_their_published_sizes():
    # Table 3 has 7,600 samples.
    config = read_config(Path("config/naturalbench.yaml"))
    assert run_size(config, NOWHERE).pool == Amount(7600, "at most")
    names = [f"config/naturalbench-curate{name}.yaml" for name in ("", "-docci", "-xm3600-zh", "-xm3600-hi")]
    sets = [read_config(Path(name)).settings.curate.captions.items() for name in names]
    captions = {id_: published_amount(each.published).value for found in sets for id_, each in found}
    assert captions == {"flickr30k": 31783, "docci": 15000, "xm3600-zh": 3600, "xm3600-hi": 3600}


def test_questions_to_translate_are_counted_once_groups_are_read(tmp_path):
    config = config_of(models=MODELS, translate={"model": "gpt"})
    plan = plan_of(config, tmp_path, RunSize(Amount(80)))
    assert plan.stages[-1].name == "answers, translated" and plan.stages[-1].models == tuple(MODELS)
    assert plan.stages[-1].outputs == ("answers/translated/{model}/clean.parquet",)
    assert plan.stages[-1].predictions == Amount(80, "at most")
    note = "questions, those of groups in other languages: 1 to 4 requests each."
    assert plan.notes[-1] == f"translation asks gpt to translate ≤ 40 {note}"
    groups = group_rows(20, languages=("English", "Hindi"), methods=("mined", "mined", "mined", "random"))
    write_table(groups, tmp_path / "pool/groups.parquet", GROUPS, GroupsFooter(pool="p"))
    plan = plan_of(config, tmp_path, RunSize(Amount(80)))
    # Ten groups in Hindi, of which five are of random pairs. Some may not be translated.
    assert plan.stages[-1].predictions == Amount(20, "at most")
    assert plan.notes[-1] == f"translation asks gpt to translate 10 {note}"
    for attempts, requests in ((2, "1 to 2 requests"), (1, "1 request")):
        translate = {"model": "gpt", "attempts": attempts}
        config = config_of(models=MODELS, translate=translate, readings=["deterministic"])
        plan = plan_of(config, tmp_path, RunSize(Amount(80)))
        assert [stage.name for stage in plan.stages] == ["predictions", "predictions, translated"]
        assert plan.stages[-1].models == ("a", "b")
        assert plan.notes[-1].endswith(f"languages: {requests} each.")


def test_a_run_without_models_has_a_plan(tmp_path):
    config = config_of(encoders=ENCODERS, curate=curate())
    plan = plan_of(config, NOWHERE, RunSize(Amount(0)))
    assert plan.stages == []
    text = plan_markdown(plan, NOWHERE, {}, Path("config/x.yaml"))
    assert text.startswith(
        "No model is asked.\n\nNo images are written.\n\n- Own: unknown images with captions; "
    )
    assert "|" not in text and "time" not in text
    # It says until when left out groups are counted.
    config = config_of(models={"a": "letter"})
    note = "items: those of groups that are left out are counted until `read_groups` has run."
    assert note in plan_of(config, NOWHERE, RunSize(Amount(8))).notes
    write_table(pl.DataFrame({"id": ["s/0"]}), tmp_path / "subsets/groups.parquet", SUBSET)
    assert note not in plan_of(config, tmp_path, RunSize(Amount(8))).notes
