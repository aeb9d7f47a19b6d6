"""The secrets that this process knows, and their removal from every text that leaves it.

Errors (:class:`benchc.errors.InputError`), answers of servers before they are kept, the record of a run, and
all that is printed pass through :func:`redacted`; nothing else removes secrets.
"""

import base64
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TextIO
from urllib.parse import parse_qsl, unquote, urlsplit

REMOVED = "***"
# A shorter text may be part of any word, which would become unreadable. No such key or token is ever sent
# (`benchc.endpoint.api_key`); a password in an address is removed where it follows the user's name.
SHORTEST = 8
TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
PROXIES = ("http_proxy", "https_proxy", "all_proxy")
# Of options of a command and of parameters in an address.
NAME = re.compile(
    r"key|token|secret|passw|signature|credential|authorization|jwt|^(sig|auth|pwd)$", re.IGNORECASE
)
# User and password in an address.
USER = re.compile(r"(?<=://)[^/?#\s@'\"]*@")
# A parameter, and user and password, of an address, also of one that cannot be read.
PARAMETER = re.compile(r"(?<=[?&#;])([^?&#;=\s\"]+)=[^&#;\"]*")
HOLDER = re.compile(r"(?<=//)[^/?#\"]*@")
# Between two letters of a secret that was broken over lines, also where these are escaped, also repeatedly.
BREAK = r"(?:\s|\\{1,8}[nrt])*"
# Two alphabets of base64.
SAME = str.maketrans("-_", "+/")

_known: set[str] = set()


def remember(*secrets: str | None) -> None:
    """Remove these texts from now on, those of at least ``SHORTEST`` letters."""
    _known.update(secret for secret in secrets if secret is not None and len(secret.strip()) >= SHORTEST)


def remember_url(url: str) -> None:
    """Remember the user, the password and the secret parameters of an address."""
    with suppress(ValueError):
        parts = urlsplit(url)
        user = parts.netloc.rpartition("@")[0].partition(":")[::2]
        remember(*user, *map(unquote, user))
        remember(*(value for name, value in parse_qsl(parts.query) if NAME.search(name)))


def remember_environment(environment: Mapping[str, str] = os.environ) -> None:
    """Remember the tokens of the Hub, also that of its file, and what is secret in addresses of proxies."""
    remember(*(environment.get(name, "").strip() for name in TOKENS))
    for name, value in environment.items():
        if name.lower() in PROXIES:
            remember_url(value)
    # As huggingface_hub, which takes long to import.
    cache_home = environment.get("XDG_CACHE_HOME") or "~/.cache"
    home = environment.get("HF_HOME") or f"{cache_home}/huggingface"
    with suppress(OSError, ValueError, RuntimeError):
        remember(Path(environment.get("HF_TOKEN_PATH") or f"{home}/token").expanduser().read_text().strip())


def without_keys(text: str) -> str:
    """Return a text without what may be secret in addresses, known or not: users, passwords and parameters.

    For settings. In other texts a parameter such as `;max_tokens=5` may be no secret.
    """
    text = HOLDER.sub(f"{REMOVED}@", text)
    return PARAMETER.sub(
        lambda each: f"{each[1]}={REMOVED}" if NAME.search(unquote(each[1])) else each[0], text
    )


def redacted(text: str) -> str:
    """Return ``text`` with ``REMOVED`` for all secrets, in any case, escaped, in base64, or over lines."""
    text = USER.sub(f"{REMOVED}@", text)
    forms = _forms(frozenset(_known))
    # The pattern takes a microsecond for each letter.
    squeezed = _squeezed(text)
    return _pattern(forms).sub(REMOVED, text) if any(_squeezed(form) in squeezed for form in forms) else text


def redacted_command(words: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command without the values of options whose name says that they are secret."""
    is_secret = False
    for word in words:
        name, equals, _ = word.partition("=")
        yield (
            REMOVED if is_secret else f"{name}={REMOVED}" if equals and NAME.search(name) else redacted(word)
        )
        is_secret = word.startswith("-") and not equals and NAME.search(name) is not None


@contextmanager
def redacted_output() -> Iterator[None]:
    """Remove the secrets of the environment, and those that become known, from all that the block prints.

    Also from tracebacks, which Python prints after it.
    """
    remember_environment()
    sys.excepthook = _print_exception
    with ExitStack() as streams:
        streams.enter_context(redirect_stdout(_Redacted(sys.stdout)))
        streams.enter_context(redirect_stderr(_Redacted(sys.stderr)))
        try:
            yield
        except SystemExit as error:  # whose text Python prints
            error.code = redacted(error.code) if isinstance(error.code, str) else error.code
            raise


class _Redacted:
    """A stream of text without secrets. Each write is looked at by itself."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(redacted(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def writelines(self, lines: Sequence[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def _print_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    print(redacted("".join(traceback.format_exception(kind, error, trace))), end="", file=sys.stderr)


@cache
def _forms(secrets: frozenset[str]) -> tuple[str, ...]:
    # The longest first, as one may be the beginning of another.
    return tuple(
        form for secret in sorted(secrets, key=len, reverse=True) for form in (secret, *_in_base64(secret))
    )


@cache
def _pattern(forms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(BREAK.join(map(_written, form)) for form in forms), re.IGNORECASE)


def _in_base64(secret: str) -> Iterator[str]:
    """Yield what base64 makes of a secret behind 0, 1 or 2 other bytes (modulo 3), without half letters."""
    data = secret.encode()
    for before in range(3):
        text = base64.b64encode(bytes(before) + data).decode()
        yield text[(0, 2, 3)[before] : (before + len(data)) * 8 // 6]


def _written(letter: str) -> str:
    """Return a pattern of a letter: itself, or escaped in JSON, also twice, or in an address."""
    code = f"{ord(letter):02x}"
    other = {"/": r"|\\{1,8}/|_", "+": "|-"}.get(letter, "")
    return rf"(?:{re.escape(letter)}|\\{{1,8}}u00{code}|%{code}{other})"


def _squeezed(text: str) -> str:
    """Return a text in which a secret is found if :func:`_pattern` matches: without breaks and escapes."""
    # Each pattern begins with one letter, which is found fast.
    for escape in (r"\\{1,8}u00([0-9a-fA-F]{2})", r"%([0-9a-fA-F]{2})"):
        text = re.sub(escape, _letter, text)
    return re.sub(r"\\+[nrt]?", "", "".join(text.split())).translate(SAME).casefold()


def _letter(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16))
