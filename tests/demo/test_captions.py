import base64
import io
import json
from collections import Counter
from itertools import product

import numpy as np
from PIL import Image

from benchc.demo.captioned_set import with_captions
from benchc.demo.captions import CAPTION_QUESTION, CAPTION_SOURCE, CAPTIONS, captions_of
from benchc.demo.source import generate_source
from benchc.demo.training_set import TrainingSet, shrink
from benchc.demo.world import LARGE_SIDE, SOURCES
from benchc.planning.source_size import generated_counts

CATEGORIES = {category.name: category for categories in SOURCES.values() for category in categories}


def test_captions_tell_answers_and_categories_apart() -> None:
    assert CAPTIONS.keys() <= CATEGORIES.keys() and len(CAPTIONS) >= 8
    of_pictures = [
        tuple(captions_of(name, subject, option))
        for name in CAPTIONS
        for subject in CATEGORIES[name].subjects
        for option in dict.fromkeys(option for options in CATEGORIES[name].option_sets for option in options)
    ]
    every = [caption for captions in of_pictures for caption in captions]
    assert len({*every}) == len(every)
    for name in CAPTIONS:
        for caption in captions_of(name, "door", "ANSWER"):
            assert "ANSWER" in caption and "{" not in caption
        # The training takes the first token for what an image shows.
        assert captions_of(name, "door", "ANSWER")[0].startswith("ANSWER")
        assert CATEGORIES[name].images == 1


def test_the_source_has_several_captions_of_each_picture() -> None:
    frame = generate_source(CAPTION_SOURCE, seed=1, groups=3)
    assert frame.columns == ["index", "image", "question", "answer", "category", "l2-category"]
    assert frame["question"].unique().to_list() == [CAPTION_QUESTION]
    assert frame["index"].to_list() == [str(number) for number in range(frame.height)]
    assert {f"{name} caption" for name in CAPTIONS} == {*frame["category"]}
    captions = [json.loads(answer) for answer in frame["answer"]]
    assert {len(texts) for texts in captions} == {3}
    for image in frame["image"]:
        with Image.open(io.BytesIO(base64.b64decode(image))) as opened:
            assert max(opened.size) < LARGE_SIDE
    assert generate_source(CAPTION_SOURCE, seed=1, groups=3).equals(frame)
    # The plan's bound, which does not draw.
    counts = generated_counts(CAPTION_SOURCE, "category", 3)
    assert Counter(frame["category"]) <= counts and counts.total() <= frame.height + 12


def test_no_image_is_that_of_another_source_or_of_the_training(every_kind: TrainingSet) -> None:
    frames = [generate_source(source, seed=1, groups=2) for source in (CAPTION_SOURCE, *SOURCES)]
    captioned, *others = [{*frame["image"]} for frame in frames]
    assert captioned.isdisjoint(set().union(*others))
    shown = {shrink(Image.open(io.BytesIO(base64.b64decode(image)))).tobytes() for image in captioned}
    assert shown.isdisjoint(image.tobytes() for image in every_kind.images)


def test_the_captioned_set_asks_for_the_caption_of_each_image_that_has_one(every_kind: TrainingSet) -> None:
    captioned = with_captions(every_kind)
    items = len(every_kind.item_answer)
    assert captioned.images is every_kind.images
    assert np.array_equal(captioned.item_answer[:items], every_kind.item_answer)
    assert captioned.questions[: len(every_kind.questions)] == every_kind.questions
    questions = {row[0]: number for number, row in enumerate(every_kind.item_images)}
    topics = {}
    for name, category in CATEGORIES.items():
        for question, subject in product(category.questions, category.subjects):
            topics[question.format(subject=subject)] = name, subject
    requests = range(items, len(captioned.item_answer))
    asked = [every_kind.questions[number].question for number in every_kind.item_question]
    expected = [topics[question][0] in CAPTIONS for question in asked]
    assert len(requests) == sum(expected) > 90
    for item in requests:
        asked = captioned.questions[captioned.item_question[item]]
        origin = questions[captioned.item_images[item][0]]
        question = every_kind.questions[every_kind.item_question[origin]]
        name, subject = topics[question.question]
        truth = question.options[every_kind.item_answer[origin]]
        assert asked.question == CAPTION_QUESTION and asked.hint is None
        assert asked.options[captioned.item_answer[item]] == captions_of(name, subject, truth)[0]
