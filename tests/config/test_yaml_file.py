"""A hostile or broken YAML file is one error, soon."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from benchc.config.errors import shown
from benchc.config.yaml_file import YamlError, read_mapping, read_yaml
from benchc.errors import InputError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGE_BOMB = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}]}}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("text", [BOMB, MERGE_BOMB], ids=["aliases", "merge keys"])
def test_aliases_that_repeat_too_much_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "bomb.yaml").write_text(text)
    with pytest.raises(YamlError, match=r"its aliases repeat [\d,]+ values, more than the limit of 10,000"):
        read_yaml(tmp_path / "bomb.yaml")


def test_aliases_may_repeat_as_many_values_as_the_limit_says(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    hundred = f"a: &a [{', '.join('x' * 99)}]\nb: [{', '.join(['*a'] * 100)}]\n"
    path.write_text(hundred)
    assert read_yaml(path)["b"] == [["x"] * 99] * 100
    path.write_text(f"{hundred}c: &c x\nd: *c\n")
    with pytest.raises(YamlError, match=r"^its aliases repeat 10,001 values, more than the limit of 10,000;"):
        read_yaml(path)


def test_an_alias_inside_of_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").write_text("a: 1\n\n\nb: &b [*b]\n")
    with pytest.raises(YamlError, match="line 4: an alias is inside of what it stands for"):
        read_yaml(tmp_path / "loop.yaml")


def test_a_key_is_given_once(tmp_path: Path) -> None:
    for text, where in (
        ("a: {x: 1, b: 2, x: 1}", "line 1"),
        ("c: {}\na:\n- x: 1\n  x: 1", "lines 3 and 4"),
        ("a: &key x\nx: 1\n*key : 2", "lines 2 and 1"),  # where the key's text is
    ):
        (tmp_path / "a.yaml").write_text(text)
        with pytest.raises(YamlError, match=f"^x is given twice, in {where}$"):
            read_yaml(tmp_path / "a.yaml")
    # What is merged into a mapping is no second key, also where an inner mapping is merged before it is made.
    (tmp_path / "a.yaml").write_text("z: &z {k: 0}\nx: {a: &a {<<: *z, k: 1}}\nb: {<<: *a}\n")
    assert read_yaml(tmp_path / "a.yaml") == {"z": {"k": 0}, "x": {"a": {"k": 1}}, "b": {"k": 1}}


def test_a_file_that_is_no_mapping_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    with pytest.raises(InputError, match=r"^a: cannot be read \(No such file or directory\); mend it$"):
        read_mapping(path, "mend it", "a")
    for text, reason in (
        ("", "not a mapping of keys to values"),
        ("[1]", "not a mapping of keys to values"),
        ("a: ]", r"line 1 is not YAML \(.*\)"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=f"^{path}: {reason}; mend it$"):
            read_mapping(path, "mend it")
    path.write_text("a: 1")
    assert read_mapping(path, "mend it") == {"a": 1}


def test_values_may_be_nested_in_many_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("[" * 250 + "]" * 250)
    assert str(read_yaml(tmp_path / "a.yaml")) == "[" * 250 + "]" * 250


def test_some_aliases_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]\n")
    first = {"x": 1, "y": 2}
    assert read_yaml(tmp_path / "a.yaml") == {"a": first, "b": {"x": 1, "y": 3}, "c": [first, first]}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a: [1, 2\nb: 3\n", "line 2, or the line before, is not YAML"),
        ("a: 'x\nb: 3\n", "line 3, or the line before, is not YAML"),
        ("a: ]\n", "line 1 is not YAML"),
        ("a: 1\nb: !own 2\n", "line 2 is not YAML"),
        ("a: 1\nb: *none\n", "line 2 is not YAML"),
        ("a: 1\nb: 2025-13-45\n", "line 2 is not YAML"),  # no day of the calendar
        ("a: 1\nb: !!bool maybe\n", "line 2 is not YAML"),
        ("a: 1\nb: !!timestamp soon\n", "line 2 is not YAML"),
        (f"a: 1\nb: 1{':0' * 200}.5\n", "line 2 is not YAML"),  # too large for a number
        ("a: " + "[" * 5000, "the content is not YAML"),
    ],
)
def test_an_error_of_syntax_names_the_line_or_the_one_before(tmp_path: Path, text: str, where: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(YamlError) as caught:
        read_yaml(tmp_path / "a.yaml")
    assert str(caught.value).startswith(f"{where} (")


# By YAML 1.1 numbers and booleans, by YAML 1.2 texts or other numbers.
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1:30", "90"),
        ("-1:30:00", "-5400"),
        ("1:30.5", "90.5"),
        ("010", "8"),
        ("-0x10", "-16"),
        ("0b11", "3"),
        ("1_000", "1000"),
        ("1_0.5", "10.5"),
        ("yes", "true"),
        ("No", "false"),
        ("ON", "true"),
        ("off", "false"),
    ],
)
def test_a_value_that_is_another_in_yaml_1_2_is_refused(tmp_path: Path, text: str, value: str) -> None:
    path = tmp_path / "a.yaml"
    for content in (f"a: b\nx: {text}\n", f"a: b\nx: {{c: [{text}]}}\n", f"a: b\n{text}: x\n"):
        path.write_text(content)
        with pytest.raises(YamlError) as caught:
            read_yaml(path)
        reason = f"{text} is {value} in YAML 1.1, but not in YAML 1.2; put it in quotes"
        # The number of minutes or seconds of a time is seldom meant.
        reason += "" if ":" in text else f", or write {value}"
        assert str(caught.value) == f"line 2: {reason}"
    path.write_text(f"x: '{text}'\ny: {value}\n")
    assert read_yaml(path) == {"x": text, "y": json.loads(value)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("0", 0), ("-7", -7), ("+7", 7), ("0x1F", 31), ("1.50", 1.5), (".5", 0.5), ("1.", 1.0)),
        *(("-1.5e-3", -0.0015), ("true", True), ("False", False), (".inf", float("inf")), ("~", None)),
        *(("01:30", "01:30"), ("08", "08"), ("1.2.3", "1.2.3"), ("a_1", "a_1"), ("y", "y")),
    ],
)
def test_a_value_of_yaml_1_2_is_read(tmp_path: Path, text: str, value: object) -> None:
    (tmp_path / "a.yaml").write_text(f"x: {text}\n")
    found = read_yaml(tmp_path / "a.yaml")["x"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.yaml").write_bytes("label: Größe".encode(encoding))
    with pytest.raises(YamlError, match="the content is not YAML in UTF-8"):
        read_yaml(tmp_path / "a.yaml")


def test_a_named_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    found: list[BaseException] = []

    def read() -> None:
        try:
            read_yaml(tmp_path / "pipe.yaml")
        except YamlError as error:
            found.append(error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(10)
    assert [str(error) for error in found] == ["a pipe or device is not read; give a file"]


def test_a_value_that_repeats_itself_is_shown_in_short() -> None:
    value: Any = ["x"]
    for _ in range(30):
        value = [value] * 9
    assert len(shown(value)) == 60
    assert (shown("x" * 58), shown("x" * 59)) == (f'"{"x" * 58}"', f'"{"x" * 56}...')
    # The first value fills the line, and another one follows.
    assert shown(["x" * 57, "y"]) == f'["{"x" * 55}...'
    value[0] = {1, 2}  # not a value of JSON
    assert len(shown(value)) <= 60
    loop: list[Any] = []
    loop.append(loop)
    assert shown(loop) == f"{'[' * 7}...{']' * 7}"
