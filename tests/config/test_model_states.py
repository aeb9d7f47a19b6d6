"""docs/models.md says how each of the paper's models is run.

`python -m tests.config.test_model_states` writes it.
"""

from pathlib import Path
from typing import get_args

import pytest
import yaml

from benchc.config.catalogue import Model, ModelCatalogue
from benchc.models.remote_code_families import OF_CHECKPOINT, OF_PACKAGE
from tests.config.test_published_prompts import ELSEWHERE

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/models.md"
BEGIN, END = "<!-- the paper's models -->\n", "<!-- end of the paper's models -->\n"


# What was read of the other models: the call, and the prompt in a copy or in the authors' repository.
READ = {
    "moondream2": "call and prompt, of another revision",
    "mplug-owl3-7b": "call, in copies; not the prompt",
    "kimi-vl-a3b": "call, in vLLM's and MindSpore's copies; not the prompt",
    "gemma3-12b": "call; not the prompt",
    "phi-4-multimodal": "call; not the prompt",
    "llama-3.2-vision-11b": "call; not the prompt",
    "llama-3.2-vision-90b": "call; not the prompt",
    "llava-next-34b": "call; not the prompt",
    "deepseek-vl-1.3b-chat": "call; not the prompt",
    "deepseek-vl-7b-chat": "call; not the prompt",
    "phi-3-vision": "vLLM's list of models; not the prompt",
    "internvl2-8b": "vLLM's list of models; not the prompt",
    "internvl2-26b": "vLLM's list of models; not the prompt",
    "qwen-vl-chat": "vLLM's list of models; not the prompt",
    "molmo-72b": "vLLM's list of models; not the prompt",
    "gpt-4o": "nothing, as it is closed",
    "vilt-vqa": "call, which has no chat prompt",
    "blip-vqa": "call, which has no chat prompt",
}
WITH_WEIGHTS = {
    "not loaded": "nothing",
    "loaded": "loaded; the label mass is high",
    "compared": "accuracy and first tokens compared",
}


def table(catalogue: dict[str, Model]) -> str:
    lines = [
        "| model | its class | asked in | read in public code | done with real weights | note |",
        "|---|---|---|---|---|---|",
    ]
    for id_, model in catalogue.items():
        name, read = f"{model.label} (`{id_}`)", READ.get(id_, "call and prompt")
        done = WITH_WEIGHTS[model.state]
        lines.append(f"| {name} | {code(model)} | {way(model)} | {read} | {done} | {model.note or ''} |")
    return "\n".join(lines) + "\n"


def code(model: Model) -> str:
    if model.family in OF_CHECKPOINT:
        return f"code of its checkpoint, called by `{model.family}`"
    if model.family in OF_PACKAGE:
        return f"code of a package, called by `{model.family}`"
    if model.server is not None:
        return "of its provider"
    if model.env is None:
        return "in vLLM"
    return "in transformers"


def way(model: Model) -> str:
    if model.env is None or model.server is not None:
        return "server only"
    return "server (recommended) or job" if model.recommended == "server" else "job"


def catalogue() -> dict[str, Model]:
    return ModelCatalogue.model_validate(yaml.safe_load((ROOT / "config/models.yaml").read_text())).root


def test_the_page_has_the_state_of_every_model() -> None:
    found = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    assert found == table(catalogue()), "run `python -m tests.config.test_model_states`"


def test_the_states_are_those_of_the_entries() -> None:
    entry = {"label": "A", "scoring": "letter", "repo": "a/b"}
    old = Model(**entry, family="monkey", env="monkey")
    assert (code(old), way(old)) == ("code of its checkpoint, called by `monkey`", "job")
    assert old.state == "not loaded"
    done = Model(**entry, family="internvl", state="compared")
    assert (code(done), way(done)) == ("in transformers", "job")
    served = Model(**entry, family="deepseek_vl2", env=None, recommended="server")
    assert (code(served), way(served)) == ("code of a package, called by `deepseek_vl2`", "server only")
    listed = Model(**entry, env=None, recommended="server")
    assert (code(listed), way(listed)) == ("in vLLM", "server only")
    closed = Model(label="A", scoring="generate", server={"url": "https://a.b", "model": "c"})
    assert (code(closed), way(closed)) == ("of its provider", "server only")
    assert way(Model(**entry, recommended="server")) == "server (recommended) or job"


@pytest.mark.parametrize("id_", catalogue())
def test_no_entry_claims_what_nobody_did(id_: str) -> None:
    """A model is loaded and compared with real weights at a commit, so that its entry has one."""
    model = catalogue()[id_]
    assert model.state == "not loaded" or (model.revision and len(model.revision) == 40)
    # Code that nobody has read is not trusted.
    assert not model.trust_remote_code or len(model.revision or "") == 40
    # A model without an environment can only be served.
    assert model.env is not None or model.recommended == "server"


def test_a_prompt_that_nobody_read_is_not_called_read() -> None:
    unread = {id_ for why, ids in ELSEWHERE.items() if "could not be read" in why for id_ in ids}
    assert {id_ for id_, text in READ.items() if "not the prompt" in text} == unread
    assert {id_ for id_, text in READ.items() if "no chat prompt" in text} == set(
        ELSEWHERE["the bare question"]
    )
    assert READ.keys() <= catalogue().keys()


def test_the_page_says_what_each_state_means() -> None:
    states = get_args(Model.model_fields["state"].annotation)
    assert set(WITH_WEIGHTS) == set(states)
    section = PAGE.read_text().split("## Verify a model")[1]
    assert [state for state in states if f"- **{state}**: " not in section] == []


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + table(catalogue()) + END + rest.split(END)[1])
