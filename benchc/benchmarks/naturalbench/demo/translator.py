"""The demo's translator: replies as a language model gives them, some of which are not usable."""

from collections.abc import Collection, Sequence
from pathlib import Path

from benchc.benchmarks.naturalbench.demo.chinese import in_english
from benchc.benchmarks.naturalbench.demo.replies import as_reply, record
from benchc.benchmarks.naturalbench.translation import Text, Translator
from benchc.endpoint.recording import Recording
from benchc.progress import track
from benchc.randomness import generator_of

# Shares, by a hash of the question: of replies, and of questions that no reply translates.
NO_JSON = 0.1
NEVER = 0.05


def record_translations(
    asked: Collection[tuple[str, Text]], translator: Translator, seed: int, folder: Path
) -> int:
    """Write the replies to all requests about questions as recordings to ``folder``; return their number.

    ``asked``: each question with its language.
    """
    recording = Recording(folder)
    wanted = [(language, text, attempt) for language, text in asked for attempt in range(translator.attempts)]
    for language, text, attempt in track(wanted, label="replies", unit="replies"):
        of_question = generator_of(seed, "translator", text.question, *text.options)
        of_reply = generator_of(seed, "translator", text.question, *text.options, attempt)
        chances = [of_question.random(), *of_reply.random(2).tolist()]
        record(recording, translator.request(text, language, attempt), reply(text, chances))
    return len(wanted)


def reply(text: Text, chances: Sequence[float]) -> str:
    """Return the reply to a request.

    ``chances``: three numbers in [0, 1), which decide whether the question is translated at all, whether the
    reply is JSON, and whether it is in a code fence.
    """
    if chances[1] < NO_JSON:
        return "Sure! Here is the translation."
    if chances[0] < NEVER:
        return as_reply(text.fields, chances[2])
    return as_reply({key: in_english(value) for key, value in text.fields.items()}, chances[2])
