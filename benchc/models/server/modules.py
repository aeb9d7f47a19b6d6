"""Names of the modules that ask a server, by scoring.

Modules are named, not imported: an edit of one scoring must change the predictions of no other.
"""

VLLM = {
    "letter": "benchc.models.server.letter",
    "text": "benchc.models.server.text",
    "text_mean": "benchc.models.server.text",
}
SGLANG = {
    "letter": "benchc.models.server.sglang_letter",
    "text": "benchc.models.server.sglang_text",
    "text_mean": "benchc.models.server.sglang_text",
}
# Answers in the model's own words, by either server.
GENERATOR = "benchc.models.server.generate"


def server_modules(scoring: str) -> tuple[str, ...]:
    """Return the modules of a scoring, or of answers in the model's own words, by whichever server."""
    return (VLLM[scoring], SGLANG[scoring]) if scoring in VLLM else (GENERATOR,)
