"""The examples of docs/naturalbench.md are valid, and its prompts are those that models see."""

import json
import re
import shutil
from pathlib import Path

import yaml

from benchc.benchmarks.naturalbench.curation.reply import Written, read_reply
from benchc.benchmarks.naturalbench.settings import Prompt
from benchc.config.load import load
from benchc.models.label_prompt import LabelPrompt
from benchc.models.question import Question

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs/naturalbench.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_configurations_and_catalogues_are_valid(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config", ignore=shutil.ignore_patterns("my-*"))
    shutil.copytree(ROOT / "envs", tmp_path / "envs")
    for path in ("encoders/clip", "models/my-model", "data/photos"):
        (tmp_path / path).mkdir(parents=True)
    for path in ("data/my-groups.tsv", "data/photos.csv", "models/my-model/config.json"):
        (tmp_path / path).write_text("{}")
    runs = []
    for block in blocks("yaml"):
        name = block.split()[1]
        assert name.startswith("config/my-")
        # Two examples have entries of one catalogue.
        with (tmp_path / name).open("a") as file:
            file.write(block)
        runs += [name] if "benchmark" in yaml.safe_load(block) else []
    assert runs == ["config/my-hindi.yaml", "config/my-groups.yaml", "config/my-photos.yaml"]
    for name in runs:
        raw = yaml.safe_load((tmp_path / name).read_text())
        assert set(load(raw, tmp_path, file=name).sources) == set(raw["sources"])
    # As the page says, a model is added to the run that made the groups.
    assert set(load(raw | {"models": ["my-model"]}, tmp_path, file=name).models) == {"my-model"}


def test_replies_of_the_writer_are_usable_and_prompts_are_as_they_are_asked() -> None:
    first, second = blocks("json")
    for text, kind in ((first, "yes_no"), (second, "multiple_choice")):
        assert json.loads(text).keys() == {"0", "1"}
        assert all(isinstance(question, Written) for question in read_reply(text, kind))
    rows = re.findall(r"^\| (?:Yes and No|others).*\| `(.*)` \| (.*) \|$", TEXT, re.MULTILINE)
    shown = [(prompt.replace("`<br>`", "\n"), tuple(labels.split(", "))) for prompt, labels in rows]
    where = Question("Where is the dog?", ("on grass", "on sand"))
    form = LabelPrompt(**Prompt().arguments())
    texts = LabelPrompt(**Prompt(multiple_choice="Answer in a few words.", labels="texts").arguments())
    asked = [
        form.asked(Question("Is the dog running?", ("Yes", "No"))),
        form.asked(where),
        texts.asked(where),
    ]
    assert shown == [(question.prompt, question.labels) for question in asked]
