"""The training set of the demo's caption model: that of the other models, and the captions of its images."""

from dataclasses import replace

import numpy as np

from benchc.demo.captions import CAPTION_QUESTION, CAPTIONS, captions_of
from benchc.demo.topics import topics
from benchc.demo.training_set import TrainingSet
from benchc.models.question import Question


def with_captions(training_set: TrainingSet) -> TrainingSet:
    """Return a training set that also asks for a caption of each image whose category has captions.

    The options of such an item are the captions by the options of the image's question; they are not listed
    where the answer is their text.
    """
    questions = dict(zip(training_set.questions, range(len(training_set.questions)), strict=True))
    asked: dict[int, int] = {}  # the request for a caption, by question
    for number, question in enumerate(training_set.questions):
        topic = topics()[question.question]
        if topic.category in CAPTIONS:
            captions = [captions_of(topic.category, topic.subject, each)[0] for each in question.options]
            request = Question(CAPTION_QUESTION, tuple(captions))
            asked[number] = questions.setdefault(request, len(questions))
    items = np.flatnonzero(np.isin(training_set.item_question, [*asked]))
    requests = np.array([asked[number] for number in training_set.item_question[items]], dtype=np.int64)
    return replace(
        training_set,
        item_images=np.concatenate([training_set.item_images, training_set.item_images[items]]),
        item_question=np.concatenate([training_set.item_question, requests]),
        item_answer=np.concatenate([training_set.item_answer, training_set.item_answer[items]]),
        questions=tuple(questions),
    )
