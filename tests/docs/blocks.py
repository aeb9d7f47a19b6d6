"""The blocks of code in README, CONTRIBUTING and docs."""

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
# What `benchc --help` and suites generate has tests of its own.
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{one.name}" for one in sorted(ROOT.glob("docs/*.md")))]


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def all_blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = text_of(page)
        for match in re.finditer(r"^( *)```(.*)\n((?:.*\n)*?)\1```$", text, re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(page, line, match[2], dedent(match[3])))
    return found


def blocks_of(language: str) -> list[Block]:
    return [block for block in all_blocks() if block.language == language]


def example(page: str, language: str, of: str) -> str:
    """Return the text of the one block of a page in which ``of`` occurs."""
    (found,) = (block for block in blocks_of(language) if block.page == page and of in block.text)
    return found.text
