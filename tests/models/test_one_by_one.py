"""A model whose numbers of an image depend on the batch is asked about each variant alone."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from benchc.corruptions.registry import recipe_of
from benchc.models.chat import ChatModel
from benchc.models.encoding import Encoded
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.load import load_classifier, load_generator, load_scorer
from benchc.models.predict import batch_difference
from benchc.models.protocol import CheckpointSource, OptionScores
from benchc.models.question import Question
from benchc.models.text import TextScorer
from benchc.models.units import Recipes, units_of
from benchc.schemas.parquet import read_footer, write_table
from benchc.schemas.subset import SUBSET
from tests.models import test_units
from tests.models.classes.builders import save
from tests.models.classes.checks import _letter_prompt, _text_prompt
from tests.models.classes.common import QUESTIONS, variants
from tests.models.classes.plain import Plain, load
from tests.models.test_units import SHOWN
from tests.models.vqa_heads import save_blip, save_vilt
from tests.stages import call_stage

folder = test_units.folder
Arguments = dict[str, str]

EPSILON = float(np.finfo(np.float32).eps)
QUESTION = QUESTIONS[0]
ASKED = Question("?", ("a", "b"))  # of all items of test_units
PREDICTIONS = 5 * len(SHOWN)


@pytest.mark.parametrize("name", ["vilt", "blip"])
def test_vqa_heads_are_compared_by_the_logits_of_their_answers(name: str, tmp_path: Path) -> None:
    source = CheckpointSource(str((save_vilt if name == "vilt" else save_blip)(tmp_path)))
    loaders = {"vilt": load_classifier, "blip": partial(load_generator, generation=Generation(9))}
    model: Any = loaders[name](None, source)
    head = model.chat.model.classifier if name == "vilt" else model.chat.decoder.get_output_embeddings()
    asked = Question("how many dots are there?", ())
    assert batch_difference(model, asked, variants()) == 0

    def counted(module: object, inputs: object, output: torch.Tensor) -> torch.Tensor:
        return output + 0.1 * torch.arange(len(output)).reshape(-1, *[1] * (output.ndim - 1))

    head.register_forward_hook(counted)
    assert batch_difference(model, asked, variants()) >= 0.1


# Of transformers, hunyuan_vl has this defect: it counts images across the rows of a batch.


@pytest.fixture(scope="module")
def hunyuan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hunyuan")
    save("hunyuan_vl", path)
    return path


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_each_way_of_asking_sees_it(hunyuan: Path, dtype: str) -> None:
    letter: Any = load_scorer(None, "letter", CheckpointSource(str(hunyuan), dtype=dtype))
    chat: ChatModel = letter.chat
    for model in (letter, TextScorer(chat), Generator(chat, Generation(4))):
        assert batch_difference(model, QUESTION, variants()) > 1e-3
        assert batch_difference(model, QUESTION, variants()[:1]) > 1e-3


@pytest.fixture
def job(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Arguments:
    monkeypatch.chdir(folder)
    return {
        **{"pool": "pool.parquet", "corrupted": '["gaussian_noise.parquet"]', "model.label": "tiny"},
        **{"job.cache": "cache", "output": "out.parquet"},
    }


def run(stage: str, capsys: pytest.CaptureFixture[str], **arguments: str) -> tuple[list[int], str]:
    """Run a stage; return how many rows were cached and computed, and the warning of the batch."""
    capsys.readouterr()
    call_stage(stage, *(f"--{name}={value}" for name, value in arguments.items()))
    printed = capsys.readouterr().err
    counts = re.search(r"([\d,]+) from the cache, ([\d,]+) computed", printed)
    assert counts is not None
    return list(map(int, counts.groups())), "".join(re.findall(r"warning: .* its logits .*\n", printed))


def by_transformers(plain: Plain, scoring: str, images: Sequence[Any]) -> Any:
    if scoring == "letter":
        tokens = [plain.tokens(letter)[0] for letter in "AB"]
        return plain.first_logits(_letter_prompt(ASKED), images)[tokens].tolist()
    if scoring == "text":
        return [plain.log_likelihood(_text_prompt(ASKED), images, option) for option in ASKED.options]
    return plain.answer(_letter_prompt(ASKED), images, 3)


@pytest.mark.parametrize("scoring", ["letter", "text", "generate"])
def test_a_job_gives_what_transformers_gives_of_each_image_alone(hunyuan, job, scoring, capsys):
    stage = "answer" if scoring == "generate" else "infer"
    how = {"generation.max-new-tokens": "3"} if scoring == "generate" else {"scoring": scoring}
    job |= {"model.location": str(hunyuan), **how}
    for name, items in (("few", 5), ("more", 8)):
        write_table(pl.DataFrame({"id": list(SHOWN)[:items]}), Path(f"{name}.parquet"), SUBSET)
    # p/0 and p/1 have one question and one image.
    counts, warning = run(stage, capsys, **job, subset="few.parquet")
    assert counts == [5, 20]
    others = "the other severities that pass through the model together; each passes alone, which takes l"
    assert re.match(rf"warning: tiny: its logits of an image differ by up to 0\.\d+ with {others}", warning)
    assert read_footer("out.parquet")["variants"] == "one by one"
    found = pl.read_parquet("out.parquet")
    plain = load(hunyuan, "hunyuan_vl")
    keys = {id_: SHOWN[id_] for id_ in ("p/2", "p/4")}  # with one image, and with two
    recipes = Recipes([recipe_of("gaussian_noise")], 5)
    for unit in units_of(Path("pool.parquet"), keys, recipes):
        rows = found.filter(id=unit.item).sort("severity")
        for row, images in zip(rows.iter_rows(named=True), unit.variants, strict=True):
            expected = by_transformers(plain, scoring, images)
            if scoring == "generate":
                assert (row["reply"], row["n_tokens"]) == expected
            else:
                np.testing.assert_allclose(row["logits"], expected, atol=1e-4)
    # A run that goes on decides the same, though its first unit is cached, and takes what is there.
    job["subset"] = "more.parquet"
    assert run(stage, capsys, **job) == ([25, 15], warning)
    assert read_footer("out.parquet")["variants"] == "one by one"
    # Neither units together nor worker processes change what passes alone.
    alone = Path("out.parquet").read_bytes()
    more = {"model.units-together": "always", "job.workers": "1"}
    assert run(stage, capsys, **job, **more)[0] == [40, 0]
    assert Path("out.parquet").read_bytes() == alone
    run(stage, capsys, **job | {"job.cache": "other"}, **more)
    assert Path("out.parquet").read_bytes() == alone


def test_other_models_are_compared_once_a_job(checkpoints, job, capsys, monkeypatch):
    rows: list[int] = []
    ask = LetterScorer.ask

    def recorded(self: LetterScorer, question: Question, encoded: Encoded) -> OptionScores:
        rows.append(encoded.rows)
        return ask(self, question, encoded)

    monkeypatch.setattr(LetterScorer, "ask", recorded)
    job |= {"model.location": str(checkpoints["llava"]), "scoring": "letter"}
    assert run("infer", capsys, **job) == ([5, PREDICTIONS - 5], "")
    assert rows == [5, 5, 1, 1, 1, 1, 1] + [5] * (len(SHOWN) - 1)
    assert "variants" not in read_footer("out.parquet")
