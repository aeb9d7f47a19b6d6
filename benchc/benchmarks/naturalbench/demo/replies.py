"""Replies of the demo's language models, as recordings that a job replays."""

import json
from collections.abc import Mapping

from benchc.endpoint.answer import Answer
from benchc.endpoint.language_model import CHAT
from benchc.endpoint.recording import Recording

FENCED = 0.3  # share of the replies with JSON in a code fence


def record(recording: Recording, body: Mapping[str, object], text: str) -> None:
    """Keep ``text`` as the reply to a request."""
    message = {"role": "assistant", "content": text}
    content = {
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    recording.write("POST", CHAT, body, Answer(200, json.dumps(content, ensure_ascii=False)))


def as_reply(content: Mapping[str, object], chance: float) -> str:
    """Return JSON as a language model writes it; ``chance``, in [0, 1), decides whether in a code fence."""
    text = json.dumps(content, indent=1, ensure_ascii=False)
    return f"```json\n{text}\n```" if chance < FENCED else text
