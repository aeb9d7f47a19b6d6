"""The words for how an answer ends are those of the models, whose code is part of the cache's key."""

from benchc.models import protocol
from benchc.schemas import answer_states


def test_the_models_have_the_same_words() -> None:
    assert answer_states.FINISHES == protocol.FINISHES
