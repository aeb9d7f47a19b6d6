"""The demo's writer of questions: replies as a language model gives them, some of which are not usable."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchc.benchmarks.naturalbench.curation.questions import Writer
from benchc.benchmarks.naturalbench.curation.samples import Sample
from benchc.benchmarks.naturalbench.demo.chinese import in_language
from benchc.benchmarks.naturalbench.demo.replies import as_reply, record
from benchc.benchmarks.naturalbench.demo.topics import Drawn, drawn
from benchc.benchmarks.naturalbench.kinds import QuestionType
from benchc.endpoint.recording import Recording
from benchc.progress import track
from benchc.randomness import generator_of

# Shares of replies, by a hash of pair, type and round.
NO_JSON = 0.05
NOT_ALTERNATING = 0.05
# By round: a language model words each one differently.
ASKED = (
    "Is {answer} the answer to the question: {question}",
    "Would {answer} be the right answer here? {question}",
    "Look at the picture. {question} Is it {answer}?",
    "Is the right answer {answer}? {question}",
)
SUBJECTS = (
    "Can this question be answered with the picture: {question}",
    "Does the picture show what this question asks about? {question}",
    "Is this a question about what is in the picture? {question}",
    "Does this question fit the picture? {question}",
)
CHOSEN = (
    "{question}",
    "Which answer is right? {question}",
    "Look at the picture. {question}",
    "What is the answer to this question? {question}",
)
WHICH = ("Which question fits the picture?", "Which question can be answered with the picture?")

Questions = dict[str, dict[str, str]]


def record_replies(
    samples: Mapping[str, tuple[Sample, Sample]],
    types: Sequence[QuestionType],
    rounds: int,
    writer: Writer,
    seed: int,
    folder: Path,
) -> int:
    """Write the replies for all pairs, types and rounds as recordings to ``folder``; return their number."""
    recording = Recording(folder)
    wanted = [(pair, kind, round_) for pair in samples for kind in types for round_ in range(rounds)]
    for pair, kind, round_ in track(wanted, label="replies", unit="replies"):
        body = writer.request(samples[pair], kind, round_)
        text = reply(
            samples[pair], kind, round_, generator_of(seed, "writer", pair, kind, round_).random(2).tolist()
        )
        record(recording, body, text)
    return len(wanted)


def reply(samples: tuple[Sample, Sample], kind: QuestionType, round_: int, chances: Sequence[float]) -> str:
    """Return the reply to a request.

    ``chances``: two numbers in [0, 1), which decide whether it is usable and whether it is in a code fence.
    """
    first, second = (drawn(sample.caption) for sample in samples)
    if chances[0] < NO_JSON:
        return "I am sorry, but the two captions are too similar to ask about."
    # The pair's captions have one language.
    say = partial(in_language, language=samples[0].language)
    questions = (_yes_no if kind == "yes_no" else _multiple_choice)(first, second, round_, say)
    if chances[0] < NO_JSON + NOT_ALTERNATING:
        for question in questions.values():
            question["Caption2 Answer"] = question["Caption1 Answer"]
    return as_reply(questions, chances[1])


def _yes_no(first: Drawn, second: Drawn, round_: int, say: Callable[[str], str]) -> Questions:
    # The first round does not see that two captions may be about different things; the others do.
    same = first.topic == second.topic or round_ == 0
    texts = [
        say((ASKED if same else SUBJECTS)[round_].format(answer=f'"{of.answer}"', question=of.question))
        for of in (first, second)
    ]
    return {
        str(number): {"Question": text, "Caption1 Answer": answers[0], "Caption2 Answer": answers[1]}
        for number, (text, answers) in enumerate(zip(texts, (("Yes", "No"), ("No", "Yes")), strict=True))
    }


def _multiple_choice(first: Drawn, second: Drawn, round_: int, say: Callable[[str], str]) -> Questions:
    same = first.topic == second.topic or round_ == 0
    asked = [CHOSEN[round_].format(question=of.question) for of in (first, second)]
    options = [first.answer, second.answer]
    if not same:
        asked = [*WHICH]
        options = [first.question, second.question]
    asked, options = [say(text) for text in asked], [say(text) for text in options]
    return {
        str(number): {
            "Question": f"{text}\nOption: A: {options[number]}; B: {options[1 - number]};",
            "Caption1 Answer": "AB"[number],
            "Caption2 Answer": "BA"[number],
        }
        for number, text in enumerate(asked)
    }
