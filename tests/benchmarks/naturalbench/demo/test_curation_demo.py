import hashlib
import io
import json
from collections import Counter
from itertools import pairwise, product

import polars as pl
import pytest
from PIL import Image

from benchc.benchmarks.naturalbench.curation.captions import samples
from benchc.benchmarks.naturalbench.curation.reply import read_reply
from benchc.benchmarks.naturalbench.curation.review_rows import Row, pair_rows
from benchc.benchmarks.naturalbench.demo import chinese
from benchc.benchmarks.naturalbench.demo.annotators import answer_of
from benchc.benchmarks.naturalbench.demo.captioned import CATEGORIES, captioned_images
from benchc.benchmarks.naturalbench.demo.chinese import in_english, in_language
from benchc.benchmarks.naturalbench.demo.topics import drawn
from benchc.benchmarks.naturalbench.demo.translator import reply as translation
from benchc.benchmarks.naturalbench.demo.writer import reply
from benchc.benchmarks.naturalbench.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED
from benchc.benchmarks.naturalbench.tables.agreement import agreement
from benchc.benchmarks.naturalbench.translation import Text, read_translation
from benchc.demo.topics import topics
from benchc.demo.world import LARGE_SIDE, SOURCES
from benchc.endpoint.language_model import UnusableError
from benchc.endpoint.service import Service, public_address
from benchc.errors import InputError
from benchc.schemas.parquet import read_table, write_table
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.drawn import embeddings_footer, sample, write_drawn
from tests.stages import call_stage

BALLS, PLACE = "How many balls are there?", "Where is the ball?"
BAR = "Which bar is the highest?"
ROUNDS = 3


def asked(first, second, kind, round_, language="English"):
    """Return the right answers to both questions about both pictures, question by question."""
    samples = (sample("a", first, language), sample("b", second, language))
    questions = read_reply(reply(samples, kind, round_, (0.9, 0.9)), kind)
    choice = kind == "multiple_choice"
    rows = [
        Row("x", "p", kind, q, i, each.question, (), (), each[1:] if choice else (), q ^ i)
        for q, each in enumerate(questions)
        for i in (0, 1)
    ]
    found = [answer_of(row, drawn(first), drawn(second)) for row in rows]
    expected = [row.choices[row.expected] for row in rows]
    return found, expected


@pytest.mark.parametrize("kind", ["yes_no", "multiple_choice"])
@pytest.mark.parametrize("round_", range(4))
def test_questions_about_one_thing_have_the_expected_answers(kind, round_):
    for source, categories in SOURCES.items():
        for category in categories:
            options = category.option_sets[-1]
            subject = category.subjects[-1]
            wordings = [question.format(subject=subject) for question in category.questions]
            first, second = f"{options[0]}. {wordings[0]}", f"{options[1]}. {wordings[-1]}"
            found, expected = asked(first, second, kind, round_)
            assert found == expected, (source, category.name)


@pytest.mark.parametrize("kind", ["yes_no", "multiple_choice"])
def test_questions_about_two_things_are_unanswerable_first_and_answerable_later(kind):
    first, second = f"three. {BALLS}", f"centre. {PLACE}"
    found, expected = asked(first, second, kind, 0)
    assert [found[1], found[2]] == ["Unanswerable"] * 2 and [found[0], found[3]] == [expected[0], expected[3]]
    for round_ in (1, 2, 3):
        found, expected = asked(first, second, kind, round_)
        assert found == expected


@pytest.mark.parametrize("kind", ["yes_no", "multiple_choice"])
@pytest.mark.parametrize("round_", range(4))
def test_questions_in_chinese_have_the_expected_answers(kind, round_):
    captioned = [category for categories in SOURCES.values() for category in categories]
    captioned = [category for category in captioned if category.name in CATEGORIES]
    assert len(captioned) == len(CATEGORIES)
    for category in captioned:
        for one, other in pairwise(category.option_sets[-1]):
            first, second = f"{one}. {category.questions[0]}", f"{other}. {category.questions[-1]}"
            found, expected = asked(first, second, kind, round_, "Chinese")
            assert found == expected, category.name
    if round_:
        found, expected = asked(f"red. {BAR}", f"centre. {PLACE}", kind, round_, "Chinese")
        assert found == expected


def test_a_chinese_question_has_one_english_text_that_the_translator_gives():
    samples = tuple(sample(answer, f"{answer}. {PLACE}", "Chinese") for answer in ("centre", "top left"))
    expected = {
        "yes_no": Text(f'Is "centre" the answer to the question: {PLACE}', None, ("Yes", "No")),
        "multiple_choice": Text(PLACE, None, ("centre", "top left")),
    }
    for kind, english in expected.items():
        question, *options = read_reply(reply(samples, kind, 0, (0.9, 0.9)), kind)[0]
        text = Text(question, None, tuple(options))
        assert not question.isascii()
        assert read_translation(translation(text, (0.5, 0.5, 0.5)), text) == english
        with pytest.raises(UnusableError, match="not JSON"):
            read_translation(translation(text, (0.5, 0.05, 0.5)), text)
        with pytest.raises(UnusableError, match="is not translated"):
            read_translation(translation(text, (0.01, 0.5, 0.1)), text)
    # No two texts are one in Chinese.
    for sentence, question, answer in product(chinese.SENTENCES, chinese.QUESTIONS, chinese.ANSWERS):
        text = sentence.format(question=question, answer=f'"{answer}"')
        assert in_english(in_language(text, "Chinese")) == text != in_language(text, "Chinese")
    for answer in chinese.ANSWERS:
        assert in_english(in_language(answer, "Chinese")) == answer
    # The writer says which languages it knows.
    samples = tuple(sample(name, f"centre. {PLACE}", "Hindi") for name in "ab")
    with pytest.raises(InputError, match="knows English and Chinese, not Hindi; correct `language`"):
        reply(samples, "yes_no", 0, (0.9, 0.9))


def test_a_pair_of_which_one_caption_describes_both_images_is_found():
    def about(first, second):
        row = pair_rows({"p": (sample("a", first), sample("b", second))})[0]
        return answer_of(row, drawn(first), drawn(second))

    assert about(f"three. {BALLS}", "three. Count the balls.") == "Yes"
    assert about(f"three. {BALLS}", f"two. {BALLS}") == "No"
    assert about("red. What colour is the shape?", "red. Which bar is the highest?") == "No"
    # Each question of the demo has one topic.
    wordings = [
        q.format(subject=s) for cs in SOURCES.values() for c in cs for q in c.questions for s in c.subjects
    ]
    assert len(set(wordings)) == len(wordings) == len(topics())


@pytest.mark.parametrize("caption", ["A dog on a lawn.", "three. How many dogs are there?", BALLS])
def test_another_caption_is_refused(caption):
    with pytest.raises(InputError, match="is not of a drawn picture; leave out `demo`"):
        drawn(caption)


@pytest.mark.parametrize(("chance", "usable"), [(0.01, 0), (0.07, 1), (0.5, 2)])
@pytest.mark.parametrize("kind", ["yes_no", "multiple_choice"])
def test_some_replies_are_not_usable(chance, usable, kind):
    text = reply((sample("a", f"three. {BALLS}"), sample("b", f"two. {BALLS}")), kind, 1, (chance, 0.1))
    if not usable:
        with pytest.raises(UnusableError, match="not JSON"):
            read_reply(text, kind)
    else:
        wrong = [isinstance(question, UnusableError) for question in read_reply(text, kind)]
        assert wrong == [usable == 1] * 2 and text.startswith("```json")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("url", ["me:secret@host:8000/v1", "host:8000/v1?key=secret#secret", "host:8000/v1"])
def test_the_recorded_address_has_no_secret(url):
    assert public_address(f"https://{url}") == "https://host:8000/v1"


def stage(name, /, **arguments):
    call_stage(f"naturalbench.{name}", **arguments)


def test_all_stages_give_a_release(tmp_path, capsys):
    captions, pairs = write_drawn(tmp_path, 16)
    used = tmp_path / "kept_pairs.parquet"
    templates = {kind: tmp_path / f"{kind}.txt" for kind in ("yes_no", "multiple_choice")}
    for kind, path in templates.items():
        path.write_text(f"{kind}: {{caption_0}} {{caption_1}}")
    writer = {"model": "m", "templates": templates}
    annotators = ["anna", "bob"]
    folders = {"reviews": tmp_path / "reviews", "forms": tmp_path / "review"}
    shown = {"release": "Set", "rounds": ROUNDS, "returned_to": "x"}

    def review(name, **about):
        about |= {"captions": captions}
        for annotator in annotators:
            form = tmp_path / f"review/{name}/{annotator}"
            given = {"annotator": annotator, **shown, **about}
            stage("review_form", **given, html=f"{form}.html", csv=f"{form}.csv")
            answers = tmp_path / f"reviews/{name}/{annotator}.csv"
            stage("record_demo_reviews", **about, annotator=annotator, seed=4, output=answers)
        reviewed = tmp_path / f"reviewed/{name}.parquet"
        return {**about, "annotators": annotators, **folders, "reviewed": reviewed}

    stage("keep_pairs", **review("pairs", pairs=pairs), kept=used)
    recordings = tmp_path / "recordings"
    of_pairs = {"pairs": used, "captions": captions}
    stage("record_demo_writer", **of_pairs, rounds=ROUNDS, seed=4, **writer, output=recordings)
    questions = [tmp_path / f"questions/{round_}.parquet" for round_ in range(ROUNDS)]
    kept = [tmp_path / f"kept/{round_}.parquet" for round_ in range(ROUNDS)]
    replay = Service(mode="replay", recordings=recordings)
    asked = {**of_pairs, **writer, "service": replay}
    for round_ in range(ROUNDS):
        before = {"kept": kept[round_ - 1]} if round_ else {}
        stage("write_questions", round=round_, **before, **asked, output=questions[round_])
        about = {"pairs": used, "questions": questions[round_], "round": round_}
        stage("keep_reviewed", **review(round_, **about), kept=kept[round_])
    embeddings = tmp_path / "e.parquet"
    write_table(frame_of(EMBEDDINGS), embeddings, EMBEDDINGS, encoder := embeddings_footer("e"))
    release = {**of_pairs, "questions": questions, "kept": kept, "subsets": {"drawn": "Drawn"}}
    stage("assemble", **release, output=tmp_path / "groups.tsv")
    assert "groups of 16 images" in capsys.readouterr().err.splitlines()[-1]
    facts = {"name": "Set", "date": "2025-01-01", "seed": 5, "version": "1.2.3", "annotators": annotators}
    facts |= {"caption_files": {"drawn": templates["yes_no"]}, "mining": {"keep": 64}}
    facts |= {"weights": {"e": [templates["multiple_choice"]]}, "embeddings": [embeddings]}
    files = {"release": tmp_path / "groups.tsv", "output": tmp_path / "groups.json"}
    stage("record_release", **release, **facts, **files)

    pairs_of_files = zip(questions, kept, strict=True)
    tables = [(read_table(asked, QUESTIONS), read_table(found, KEPT)) for asked, found in pairs_of_files]
    counts = [table.height for table, _ in tables]
    assert counts[0] == 4 * read_table(used, PAIRS).height and counts[0] > counts[1] > counts[2] > 0
    # Each round asks for what the round before did not keep.
    slots = ["pair", "type", "q_idx"]
    for (_, before), (after, _) in pairwise(tables):
        assert after.select(slots).rows() == before.filter(~pl.col("kept")).select(slots).rows()
    reasons = pl.concat(found for _, found in tables)["reason"].drop_nulls()
    assert {"no_question", "disagreement", "unanswerable"} <= set(reasons)
    frame = agreement([tmp_path / "reviewed/0.parquet"], draws=100, seed=0).frame
    assert 0.5 < frame["kappa"][0] < 1
    assert set(read_table(tmp_path / "reviewed/0.parquet", REVIEWED)["annotator"]) == {"anna", "bob"}
    items, report = read_vlmevalkit(tmp_path / "groups.tsv", "new", ReaderOptions(image_column="image_file"))
    record = json.loads((tmp_path / "groups.json").read_text())
    assert report.height == 0 and items.height == record["items"] == 4 * record["groups"] > 40
    assert [each["round"] for each in record["rounds"]] == [0, 1, 2]
    made_by = {(each["mode"], each["url"], each["model"]) for each in record["rounds"]}
    assert made_by == {("replay", None, "m")}
    assert record["sha256"] == sha256(tmp_path / "groups.tsv")
    assert record["captions"] == {"drawn": {"subset": "Drawn", "sha256": sha256(tmp_path / "yes_no.txt")}}
    weights = tmp_path / "multiple_choice.txt"
    named = ("library", "name", "pretrained", "commit", "device", "batch")
    expected = {name: getattr(encoder, name) for name in named}
    assert record["encoders"] == {"e": expected | {"sha256": {str(weights): sha256(weights)}}}
    assert (record["mining"], record["seed"], record["benchc"]) == ({"keep": 64}, 5, "1.2.3")
    page = (tmp_path / "review/1/anna.html").read_text()
    assert '"title": "Set: questions, round 1 of 0 to 2, by anna"' in page
    assert '"title": "Set: pairs, by anna"' in (tmp_path / "review/pairs/anna.html").read_text()
    # A review that is missing stops the job, and says where it belongs.
    (tmp_path / "reviews/1/bob.csv").unlink()
    about = {"pairs": used, "captions": captions, "questions": questions[1], "round": 1}
    keep = {**about, "annotators": annotators, **folders, "kept": tmp_path / "y.parquet"}
    waiting = r"^  bob: no file; open .*reviews/1/bob.csv\nwaiting for bob to review round 1: .*again$"
    with pytest.raises(SystemExit, match=waiting):
        stage("keep_reviewed", **keep, reviewed=tmp_path / "x.parquet")
    # Nothing that people kept is no release.
    for path in kept:
        write_table(read_table(path, KEPT).with_columns(kept=pl.lit(value=False)), path, KEPT)
    with pytest.raises(InputError, match="no pair has both questions of a type kept"):
        stage("assemble", **release, output=tmp_path / "groups.tsv")
    with pytest.raises(InputError, match="are not of the same rounds; give one file of each round"):
        stage("assemble", **{**release, "kept": kept[:1]}, output=tmp_path / "groups.tsv")
    # A round without open questions has empty forms, and needs no review.
    reason = pl.lit(None, pl.String)
    everything = read_table(kept[0], KEPT).with_columns(kept=pl.lit(value=True), reason=reason)
    write_table(everything, kept[0], KEPT)
    none = tmp_path / "none"
    asked["service"] = Service(mode="replay", recordings=none)
    stage("write_questions", round=1, kept=kept[0], **asked, output=questions[1])
    form = {"html": tmp_path / "empty.html", "csv": tmp_path / "empty.csv"}
    stage("review_form", **about, annotator="anna", **shown, **form)
    keep |= {"reviews": none, "kept": kept[1]}
    stage("keep_reviewed", **keep, reviewed=tmp_path / "x.parquet")
    assert read_table(kept[1], KEPT).height == 0 == read_table(tmp_path / "x.parquet", REVIEWED).height


def test_images_are_drawn_with_the_captions_of_the_encoder() -> None:
    pictures = captioned_images(120, 7)
    assert len(pictures) == 120
    assert {name: picture.image for name, picture in captioned_images(120, 7).items()} == {
        name: picture.image for name, picture in pictures.items()
    }
    assert {picture.image for picture in captioned_images(40, 8).values()}.isdisjoint(
        picture.image for picture in pictures.values()
    )
    # A smaller number has the first of a larger one.
    assert list(captioned_images(30, 7)) == list(pictures)[:30]
    for name, picture in pictures.items():
        assert picture.image is not None and "/" not in name
        with Image.open(io.BytesIO(picture.image)) as image:
            assert max(image.size) < LARGE_SIDE and image.format == name.rpartition(".")[2].upper()
    frame = samples("drawn", pictures, "first", "English", None)
    assert frame.height == 120 and frame["file"].null_count() == 120
    # Many captions have one question with several answers.
    captions = [picture.captions[0].text for picture in captioned_images(200, 1).values()]
    assert all(". " in caption and caption.endswith(("?", ".")) for caption in captions)
    answers = Counter(caption.partition(". ")[2] for caption in set(captions))
    assert sum(count for count in answers.values() if count > 1) > 0.9 * sum(answers.values())
