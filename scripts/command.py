"""What the stages and the commands of `benchc` share: a command line from a function's signature, and errors.

A user-fixable error is one line that begins with `error:`, instead of a traceback.
"""

import ast
import locale
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter

from benchc.errors import InputError, of_file
from benchc.printable import printable
from benchc.redaction import redacted, redacted_output

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

# As a shell reports a process that SIGPIPE ended.
BROKEN_PIPE = 141


class Help:
    """The format of ``--help``: paragraphs are filled, and descriptions stand beside or below options."""

    INDENT = 26
    # Of options that are absent.
    NO_DEFAULTS = (None, "False", "()", "{}")

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        if panel.entries:
            self._print(console, f"{str(panel.title).lower()}:")
        for entry in panel.entries:
            label, text = f"  {', '.join(entry.display_labels_with_metavar)}", self._described(entry)
            if len(label) > self.INDENT - 2 or not text:
                self._print(console, label)
                label = ""
            if text:
                self._print(console, self._filled(console, text, f"{label:{self.INDENT}}"))
        if panel.entries:
            self._print(console, "")

    def render_usage(self, console: "Console", options: "ConsoleOptions", usage: Any) -> None:
        self._print(console, self._filled(console, f"usage: {str(usage).strip()}", indent=7) + "\n")

    def render_description(self, console: "Console", options: "ConsoleOptions", description: Any) -> None:
        for paragraph in self._text(description).split("\n\n"):
            # An indented one is a command.
            filled = paragraph if paragraph.startswith("    ") else self._filled(console, paragraph, indent=0)
            self._print(console, filled + "\n")

    def _described(self, entry: "HelpEntry") -> str:
        choices = f"one of {', '.join(entry.choices)}" if entry.choices else ""
        text = "; ".join(filter(None, (self._text(entry.description).rstrip("."), choices)))
        default = None if entry.default in self.NO_DEFAULTS else f"[default: {entry.default}]"
        return " ".join(filter(None, (text, "[required]" if entry.required else default)))

    def _text(self, shown: Any) -> str:
        return str(getattr(shown, "primary_renderable", ""))

    def _filled(self, console: "Console", text: str, label: str = "", indent: int = INDENT) -> str:
        return fill(
            text,
            console.width,
            initial_indent=label,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _print(self, console: "Console", text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def command_line(name: str, **options: Any) -> App:
    """Return an app of cyclopts that reads options from signatures.

    A list is given as JSON, or as an option with several values; a mapping as JSON.
    """
    app = App(
        name=name,
        help_flags=["--help", "-h"],
        version_flags=[],
        help_format="plaintext",
        help_formatter=Help(),
        group_parameters="options",
        default_parameter=Parameter(consume_multiple=True, json_list=True, negative=()),
        result_action="return_value",
        **options,
    )
    app["--help"].show = False
    return app


def purpose(path: Path) -> str:
    """Return the first line of a module's description, as a phrase; the module is not imported."""
    text = (ast.get_docstring(ast.parse(path.read_bytes())) or "").partition("\n")[0].rstrip(".")
    return text[:1].lower() + text[1:]


def call(function: Callable[..., Any], arguments: Sequence[str], name: str) -> Any:
    """Call a function with the options of a command line, which are its parameters, and return its result.

    ``name``: of the command, in its help and errors.
    """
    app = command_line(name)
    app.default(function)
    return parse(app, arguments)


def parse(app: App, arguments: Sequence[str]) -> Any:
    """Run what the arguments ask for; an invalid argument ends the process with one line and status 2."""
    try:
        return app(list(arguments), exit_on_error=False, print_error=False)
    except CycloptsError as error:
        name = " ".join((app.name[0], *(error.command_chain or ())))
        message = " ".join(str(error).split()).partition(" Available commands:")[0].rstrip(".")
        if isinstance(error, MissingArgumentError) and error.keyword is None:
            message = message.replace("requires an argument", "is missing")
        # Of a check of ours, behind cyclopts' own sentence.
        message = re.sub(r"\. (?=[a-z])", ": ", message)
        print(f"error: {message}; see {name} --help", file=sys.stderr)
        raise SystemExit(2) from error


def run(main: Callable[[], object]) -> None:
    """Run ``main``; what a user can fix ends the process with one line per error and status 1.

    This is an InputError, or an error of the file system, such as a full disk. Where the reader of standard
    output has closed it, as ``head`` does, the process ends silently.
    """
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:  # closed, so that the next file that is opened would take its place
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8"))
    try:
        with redacted_output():
            main()
            sys.stdout.flush()
    except InputError as error:
        raise SystemExit("\n".join(f"error: {printable(str(line))}" for line in error.args)) from error
    except MemoryError as error:
        reason = f" ({redacted(printable(str(error)))})" if str(error) else ""
        raise SystemExit(
            f"error: the memory is full{reason}; give the process more, or fewer items at once"
        ) from error
    except BrokenPipeError:
        # Python flushes the stream again when it ends, and would print an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(BROKEN_PIPE) from None
    except OSError as error:
        if error.errno is None:  # of a library, which says nothing about a file
            raise
        raise SystemExit(f"error: {redacted(printable(of_file(error)))}") from error


def in_utf8() -> None:
    """Start this process again, in Python's UTF-8 mode, where the locale has another encoding, such as ASCII.

    Files are in UTF-8, and so is what is printed. The jobs of the process get the mode, too.
    """
    if not sys.flags.utf8_mode and locale.getencoding().lower() not in ("utf-8", "utf8"):
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
