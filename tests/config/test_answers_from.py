"""Models whose answers another program made have ids and files of their own."""

from benchc.config.answers_from import own_model_errors


def test_an_id_of_a_model_and_a_file_of_two_are_refused() -> None:
    imported = {
        "mine": {"label": "one.csv", "file": "one.csv", "other": "two.csv"},
        "a": {"label": "one.csv", "file": "three.csv"},
        "again": {"label": "x", "file": "./one.csv"},
        # Wrong values are reported elsewhere.
        "wrong": {"file": 3, "more": "three.csv"},
        "text": "one.csv",
    }
    assert list(own_model_errors({"models": ["b", "a"], "answers_from": imported}, "run.yaml")) == [
        'run.yaml: answers_from has "a", which is also one of models; give it another id.',
        'run.yaml: answers_from.again.file is "./one.csv", which is also a file of mine; give each model its '
        "own.",
        'run.yaml: answers_from.wrong.more is "three.csv", which is also a file of a; give each model its '
        "own.",
    ]
    # A model may have one file for two of its parts.
    two = {"mine": {"file": "one.csv", "other": "one.csv"}}
    assert not list(own_model_errors({"more": two}, "run.yaml", "more"))
    assert not list(own_model_errors({"models": 3, "answers_from": [1]}, "run.yaml"))
