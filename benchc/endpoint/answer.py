"""What a server answered to a request."""

from typing import Any, NamedTuple

from benchc.json_content import json_content

SHOWN = 300  # characters of a server's text in a message


class Answer(NamedTuple):
    """The status and the text of a response, without keys."""

    status: int
    text: str

    @property
    def ok(self) -> bool:
        return self.status < 300

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status < 400

    def content(self) -> Any:
        """Return the JSON of the text; raises ValueError where it is none, or too deeply nested."""
        return json_content(self.text)

    def shown(self) -> str:
        """Return status and reason in one line, for a message."""
        try:
            content = self.content()
            error = content.get("error", content)
            reason = error.get("message", error) if isinstance(error, dict) else error
        except (ValueError, AttributeError):
            reason = self.text
        return f"{self.status} {' '.join(str(reason).split())[:SHOWN]}".strip()
