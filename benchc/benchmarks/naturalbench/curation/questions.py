"""Questions about pairs, written by a language model from the captions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.curation.reply import Written, read_reply
from benchc.benchmarks.naturalbench.curation.samples import Sample
from benchc.benchmarks.naturalbench.kinds import QuestionType
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS, QuestionsFooter
from benchc.endpoint.answer import Answer
from benchc.endpoint.client import Endpoint
from benchc.endpoint.language_model import CHAT, UnusableError, chat_request, reply_text
from benchc.endpoint.recording import request_hash
from benchc.endpoint.service import Service
from benchc.endpoint.template import Template, read_template
from benchc.progress import track

SLOT = ("pair", "type", "q_idx")
# Placeholders of a prompt about a pair.
REQUIRED, OPTIONAL = ("caption_0", "caption_1"), ("language",)

Slots = Mapping[tuple[str, QuestionType], Sequence[int]]


@dataclass(frozen=True)
class Writer:
    """The language model that writes questions, as its requests describe it."""

    model: str
    temperature: float
    templates: Mapping[QuestionType, Template]

    def request(self, samples: tuple[Sample, Sample], kind: QuestionType, round_: int) -> dict[str, object]:
        """Return the request for the two questions of a pair. The round is its seed: rounds differ."""
        first, second = samples
        prompt = self.templates[kind].filled(
            caption_0=first.caption, caption_1=second.caption, language=first.language
        )
        return chat_request(self.model, prompt, self.temperature, round_)

    def footer(self, round_: int, service: Service) -> QuestionsFooter:
        """Return the footer of the questions of a round."""
        return QuestionsFooter(
            round=round_,
            model=self.model,
            temperature=self.temperature,
            templates={kind: template.hash for kind, template in self.templates.items()},
            mode=service.mode,
            url=service.asked_at,
        )


def read_writer(model: str, temperature: float, templates: Mapping[QuestionType, Path]) -> Writer:
    """Return the writer with the templates in files. Raises InputError where one is not valid."""
    texts = {kind: read_template(file, REQUIRED, OPTIONAL) for kind, file in templates.items()}
    return Writer(model, temperature, texts)


def first_slots(pairs: Sequence[str], types: Sequence[QuestionType]) -> Slots:
    """Return all questions to write: those of round 0."""
    return {(pair, kind): (0, 1) for pair in pairs for kind in types}


def open_slots(kept: pl.DataFrame) -> Slots:
    """Return the questions to write anew: those of the round before that people did not keep.

    ``kept``: type KEPT, whose questions are those that were open in that round.
    """
    slots: dict[tuple[str, QuestionType], list[int]] = {}
    for pair, kind, q_idx in kept.filter(~pl.col("kept")).select(SLOT).iter_rows():
        slots.setdefault((pair, kind), []).append(q_idx)
    return slots


def written_questions(
    slots: Slots,
    samples: Mapping[str, tuple[Sample, Sample]],
    writer: Writer,
    round_: int,
    endpoint: Endpoint,
) -> pl.DataFrame:
    """Return one row of QUESTIONS for each open question, asking once for each pair and type.

    Of a reply, only the open questions are taken. A reply that is not usable is a row with its reason. Raises
    EndpointError, and InputError where the server refuses all requests or is not OpenAI-compatible.
    """
    wanted = list(slots)
    bodies = [writer.request(samples[pair], kind, round_) for pair, kind in wanted]
    answers = endpoint.post_each(CHAT, bodies)
    rows = [
        row
        for (pair, kind), body, answer in track(
            zip(wanted, bodies, answers, strict=True),
            label=f"questions of round {round_}",
            unit="replies",
            total=len(wanted),
        )
        for row in _rows(pair, kind, slots[pair, kind], body, answer, writer)
    ]
    return pl.DataFrame(rows, schema=pl.Schema(QUESTIONS.columns), orient="row")


def _rows(
    pair: str,
    kind: QuestionType,
    open_: Sequence[int],
    body: Mapping[str, object],
    answer: Answer,
    writer: Writer,
) -> Iterator[tuple[object, ...]]:
    try:
        questions = read_reply(reply_text(answer, writer.model), kind)
    except UnusableError as error:
        questions = error, error
    origin = request_hash("POST", CHAT, body), writer.templates[kind].hash
    for q_idx in open_:
        match questions[q_idx]:
            case Written(question, answer_0, answer_1):
                yield pair, kind, q_idx, question, answer_0, answer_1, True, None, *origin
            case UnusableError() as reason:
                yield pair, kind, q_idx, None, None, None, False, str(reason), *origin
