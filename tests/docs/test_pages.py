import re
import subprocess
import sys
from fnmatch import fnmatch

import pytest
import yaml
from markdown_it import MarkdownIt

from benchc.config.benchmarks import known_benchmarks
from tests.docs.blocks import PAGES, ROOT, text_of
from tests.docs.test_commands import WRITTEN

# Names of files that a reader or a command writes.
EXAMPLES = re.compile(r"/(my[-_]|darken|kept_tasks|count|_build)")
TABLES = [*PAGES, "config/README.md", "results/README.md", "CHANGELOG.md"]


def test_the_page_of_commands_is_up_to_date(tmp_path):
    # In a process of its own, since an app that another test has called describes itself in another way.
    page = tmp_path / "commands.md"
    command = [sys.executable, "-m", "scripts.stage", "write_command_reference", f"--page={page}"]
    subprocess.run(command, cwd=ROOT, check=True)
    advice = (
        "docs/commands.md is out of date: run `python -m scripts.stage write_command_reference`, commit it"
    )
    assert text_of("docs/commands.md") == page.read_text(encoding="utf-8"), advice


def test_readme_is_a_screen_and_a_half_with_two_commands_to_set_up_and_lists_all_benchmarks():
    text = text_of("README.md")
    assert text.count("\n") <= 150
    start = text.split("## Quick start")[1].split("\n## ")[0]
    assert re.findall(r"^make (\w+)", start, re.MULTILINE) == ["demo", "test"]
    for page in ("README.md", "docs/reproduce.md"):
        rows = re.findall(r"^\| \[`([a-z-]+)`\]", text_of(page), re.MULTILINE)
        assert sorted(rows) == sorted(known_benchmarks())


def test_the_page_of_bench_c_has_the_numbers_of_its_configuration():
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    text = " ".join(text_of("docs/bench-c.md").split())
    words = {3: "Three", 5: "five", 6: "Six"}
    for key, noun in (("sources", "multiple-choice data sets"), ("selectors", "selectors answer")):
        assert f"{words[len(config[key])]} {noun}" in text
    corruptions = config["corruptions"]
    severities = words[len(corruptions["severities"])]
    assert f"{len(corruptions['types'])} corruptions at {severities} severities" in text
    assert f"{config['pool']['total']:,} items" in text and f"{len(config['targets'])} targets answer" in text


@pytest.mark.parametrize("page", PAGES)
def test_files_links_and_targets_in_the_text_exist(page):
    text = re.sub(r"^( *)```.*?^\1```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    for file in re.findall(r"`((?:config|docs|tests|speed|scripts|benchc|slurm|rules)/[\w/.-]+\.\w+)`", text):
        assert file in WRITTEN or EXAMPLES.search(file) or (ROOT / file).exists(), file
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make ([a-z-]+)", text):
        assert re.search(rf"^\.PHONY:.* {target}( |$)", makefile, re.MULTILINE), f"make {target}"
    # Links between pages, with their sections, are checked by `make docs`.
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]*)?\)", text_of(page)):
        assert (ROOT / page).parent.joinpath(target).exists(), target


def test_every_shipped_configuration_is_in_the_table_of_config():
    rows = [line for line in text_of("config/README.md").splitlines() if line.startswith("| `")]
    named = [pattern for row in rows for pattern in re.findall(r"`([\w*.-]+)`", row.split("|")[1])]
    catalogues = re.compile(r"(\w+-)?(sources|models)\.yaml")
    for path in (ROOT / "config").glob("*.yaml"):
        assert catalogues.fullmatch(path.name) or any(fnmatch(path.name, each) for each in named), path.name


@pytest.mark.parametrize("page", TABLES)
def test_no_word_in_angle_brackets_is_read_as_html(page):
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text_of(page))
    for token in (inner for outer in tokens for inner in (outer, *(outer.children or ()))):
        if token.type in ("html_inline", "html_block"):
            assert token.content.startswith(("<!--", "<img ", "<br>")), token.content
