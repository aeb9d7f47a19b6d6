"""Which models of the catalogue can be tuned."""

from typing import Any

import pytest

from benchc.models.tuning.settings import obstacle

PLAIN: dict[str, Any] = {
    **{"scoring": "text", "family": None, "server": None, "trust_remote_code": False},
    "env": "transformers",
}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"family": "llava", "scoring": "letter"}, None),
        ({"server": {"url": "http://a"}}, "a server answers for it (server)"),
        ({"trust_remote_code": True}, "it is loaded by code of its own"),
        ({"family": "molmo"}, "it is loaded by code of its own"),
        ({"family": "eagle"}, "it is loaded by code of its own"),
        ({"scoring": "generate"}, "it has no probabilities of options (scoring: generate)"),
        ({"scoring": "classify", "env": "x"}, "it has no probabilities of options (scoring: classify)"),
        *(
            ({"env": name}, f"peft is only in the environment transformers (env: {name})")
            for name in ("transformers-4-37", "monkey")
        ),
    ],
)
def test_a_model_is_tuned_in_the_job_by_the_probabilities_of_its_options(changes, reason):
    assert obstacle(**PLAIN | changes) == reason
