"""Benchmarks are found by name; an unknown one is an error of one line."""

import pytest

from benchc.config.benchmarks import benchmarks_with, known_benchmarks, module_of, package_of
from benchc.errors import InputError
from tests.config.trial import CONFIG

pytestmark = pytest.mark.usefixtures("toy")


def test_a_benchmark_is_a_folder_with_settings() -> None:
    assert "toy" in known_benchmarks()
    assert "benchmark: toy" in CONFIG and module_of("toy", "settings").Settings.MODEL_KEYS
    assert package_of("a-b-c") == "a_b_c"
    assert benchmarks_with("settings") == known_benchmarks() and "toy" not in benchmarks_with("new")


@pytest.mark.parametrize(
    ("benchmark", "part", "sentence"),
    [
        ("tooy", "settings", 'there is no benchmark "tooy" (did you mean toy?)'),
        ("../toy", "settings", 'there is no benchmark "../toy" (did you mean toy?)'),
        (
            "toy",
            "planning.plan",
            "the benchmark toy does not support this command, unlike bench-c, ",
        ),
        ("toy", "nowhere", "the benchmark toy does not support this command: it has no nowhere.py"),
    ],
)
def test_a_missing_benchmark_or_module_is_refused(benchmark: str, part: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        module_of(benchmark, part)
    assert str(caught.value).startswith(sentence) and "\n" not in str(caught.value)
