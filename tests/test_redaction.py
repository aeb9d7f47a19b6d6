"""No secret that the process knows is in a text that leaves it, however it is written."""

import base64
import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from benchc.endpoint.api_key import ApiKey
from benchc.errors import InputError
from benchc.redaction import redacted, redacted_command, remember, remember_environment, remember_url

ROOT = Path(__file__).resolve().parents[1]
KEY = "sk-Proj~~~/with+1234=="


def in_base64(before: str, alphabet: bytes = b"+/") -> str:
    return base64.b64encode(f"{before}{KEY}{before}".encode(), alphabet).decode()


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        KEY.upper(),
        KEY.lower(),
        quote(KEY, safe=""),
        quote(KEY).lower(),
        json.dumps(json.dumps(KEY)).replace("/", "\\/"),
        "".join(f"\\u{ord(letter):04X}" for letter in KEY),
        " ".join(KEY),
        "\n".join(textwrap.wrap(KEY, 4)),
        "\r\n\t".join(textwrap.wrap(KEY, 5)),
        json.dumps("\n".join(textwrap.wrap(KEY, 3))),
        *(in_base64("x" * number) for number in range(4)),
        *(in_base64("x" * number, b"-_") for number in range(3)),
        "\n".join(textwrap.wrap(in_base64("Bearer "), 7)),
    ],
)
def test_a_secret_is_removed_however_it_is_written(written: str) -> None:
    remember("another-secret", KEY)
    found = redacted(f"before {written} after")
    assert found.startswith("before ") and found.endswith(" after") and "***" in found
    left = found.removeprefix("before ").removesuffix(" after")
    assert len(left) < len(written) * 0.7 and KEY[:3].lower() not in left.lower() and "34" not in left


@pytest.mark.parametrize("number", range(4))
def test_of_base64_no_whole_letter_is_left(number: int) -> None:
    remember(KEY)
    before, _, after = redacted(in_base64("x" * number)).partition("***")
    assert max(len(before), len(after)) <= number * 4 / 3 + 3


@pytest.mark.parametrize(
    "text", ["", "sk-Proj", "a text of 100 % \\n \\u0041", "x" * 100, "http://host/@x?a=b@c"]
)
def test_other_texts_stay(text: str) -> None:
    remember(KEY)
    assert redacted(text) == text


def test_a_short_text_is_no_secret_but_behind_a_user() -> None:
    remember("seven77", None, "", " " * 20)
    remember_url("https://me:pass@host/v1")
    assert redacted("seven77 of https://me:pass@host/v1, pass") == "seven77 of https://***@host/v1, pass"


def test_of_two_secrets_the_longer_one_is_removed_whole() -> None:
    remember("secret-1", "secret-1-and-more", "and-more")
    assert redacted("a secret-1-and-more") == "a ***"


@pytest.mark.parametrize("text", ["h" * 10**6, "\\" * 10**6, "h\n" * 10**6, "://" * 10**6, "%68" * 10**6])
def test_a_long_text_takes_no_longer_than_its_length(text: str) -> None:
    remember("hhhhhhhhX", KEY)
    start = time.monotonic()
    redacted(text)
    assert time.monotonic() - start < 20


def test_secrets_are_known_from_addresses_and_the_environment(tmp_path: Path) -> None:
    remember_url(
        "https://token-of-a-user:pass%20word@host:1/a?file=data.tsv&X-Signature=0123456789&key=abcdefgh"
    )
    remember_url("http://[")
    (tmp_path / "token").write_text("hf_of_the_file\n")
    remember_environment(
        {
            "HF_TOKEN": " hf_of_a_variable\n",
            "HUGGING_FACE_HUB_TOKEN": "hf_of_another",
            "HTTPS_PROXY": "http://me:proxy-word@proxy:3128",
            "HF_HOME": str(tmp_path),
        }
    )
    words = "token-of-a-user pass%20word data.tsv 0123456789 abcdefgh hf_of_the_file hf_of_a_variable"
    assert redacted(f"{words} hf_of_another proxy-word") == "*** *** data.tsv *** *** *** *** *** ***"
    assert redacted("pass word") == "***"
    for environment in (
        {"HF_TOKEN_PATH": str(tmp_path / "other")},
        {"XDG_CACHE_HOME": str(tmp_path)},
    ):
        path = Path(environment.get("HF_TOKEN_PATH", tmp_path / "huggingface/token"))
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"of-{path.name}-file")
        remember_environment(environment)
        assert redacted(path.read_text()) == "***"


def test_values_of_secret_options_are_removed() -> None:
    remember(KEY)
    command = [
        "snakemake",
        "--cores",
        "2",
        "--s3-secret-key",
        "abc",
        "--api-token=def",
        "TOKEN=ghi",
        "tokens",
    ]
    expected = [
        "snakemake",
        "--cores",
        "2",
        "--s3-secret-key",
        "***",
        "--api-token=***",
        "TOKEN=***",
        "tokens",
    ]
    assert [*redacted_command([*command, f"a={KEY}"])] == [*expected, "a=***"]


def test_errors_and_keys() -> None:
    key = ApiKey(KEY)
    assert InputError(f"{KEY} a", "b").args == ("*** a", "b")
    assert KEY not in f"{key} {key!r}"


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("raise InputError('error ' + given)", 1),
        ("raise OSError(28, 'full', given)", 1),
        ("raise RuntimeError('error ' + given) from ValueError(chr(10).join(given))", 1),
        ("raise SystemExit('error ' + given)", 1),
        ("warnings.warn(given)", 0),
        ("logging.getLogger('a').warning('error %s', given)", 0),
        ("thread = threading.Thread(target=lambda: 1 / int(given)); thread.start(); thread.join()", 0),
        ("from scripts.command import call; call(main, ['--' + given], 'main')", 2),
    ],
)
def test_nothing_that_a_command_prints_has_a_secret(end: str, status: int) -> None:
    code = f"""
import logging, os, sys, threading, warnings
from benchc.errors import InputError
from scripts.command import run
given = os.environ["HF_TOKEN"]
def main():
    print("output", given, flush=True)
    sys.stderr.writelines(["errors ", given.upper()])
    {end}
run(main)
"""
    environment = os.environ | {"HF_TOKEN": "hf_0123456789abcdef"}
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == status and found.stdout == "output ***\n"
    assert found.stderr.startswith("errors ***") and found.stderr.count("***") >= 2
    assert "0123456789abcdef" not in "".join(found.stderr.lower().split())
