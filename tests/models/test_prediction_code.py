"""The code from prompt and pixels to logits: all of it, and no other, decides whether the cache is kept."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchc.closure import module_file, source_closure
from benchc.models import identity as identity_of_model
from benchc.models import prediction_code
from benchc.models.identity import prediction_identity
from benchc.models.load import load_scorer
from benchc.models.predict import load_model
from benchc.models.prediction_code import ENTRY
from benchc.models.protocol import CheckpointSource
from benchc.models.registry import SCORINGS, family_module, scorer_modules
from tests.models.stand_ins.device import StandInDevice

ROOT = Path(__file__).resolve().parents[2]
FAMILIES_TRACED = ("llava", "llava_next")
LOADERS = [family_module(family) for family in FAMILIES_TRACED]

# Records the first-party files whose code runs from loading to logits, in all threads, and the processes that
# are started, by family and scoring. Libraries are imported before, first-party modules of a family are not.
TRACER = """
import json, sys, threading
from pathlib import Path
root, folder, *pairs = sys.argv[1:]
sys.path.insert(0, root)
import numpy, PIL.Image, torch
from benchc.torchvision_ops import declare_missing_operators
declare_missing_operators()
import transformers
from benchc.models.predict import load_model, predict
from benchc.models.protocol import CheckpointSource
from benchc.models.question import Question

files, processes, ran = set(), [], {}

def trace(frame, event, argument):
    files.add(frame.f_code.co_filename)

def audit(event, arguments):
    if event in ("os.fork", "os.posix_spawn", "subprocess.Popen"):
        processes.append(event)

def scarce(question, encoded):
    if encoded.rows > 1:
        raise torch.OutOfMemoryError
    return whole(question, encoded)

rng = numpy.random.default_rng(0)
sizes = [(40, 56, 3), (40, 56, 3), (30, 30, 3)]
variants = [[rng.integers(0, 256, size, dtype=numpy.uint8)] for size in sizes]
sys.addaudithook(audit)
for pair in pairs:
    family, scoring = pair.split()
    files.clear()
    threading.settrace(trace)
    sys.settrace(trace)
    scorer = load_model(CheckpointSource(folder), family, scoring, threads=2)
    whole, scorer.ask = scorer.ask, scarce
    scores, split = predict(scorer, Question("How many dots?", ("1", "12")), variants)
    sys.settrace(None)
    threading.settrace(None)
    assert split and scores.logits.shape == (3, 2)
    ran[pair] = [
        str(Path(file).relative_to(root))
        for file in files
        if file.startswith(root) and "/.venv/" not in file
    ]
print(json.dumps({"ran": ran, "processes": processes, "threads": threading.active_count()}))
"""


def closure(*modules: str, root: Path = ROOT) -> set[str]:
    return set(source_closure([module_file(module) for module in (ENTRY, *modules)], root))


def test_every_file_that_runs_between_prompt_and_logits_is_in_the_code_and_no_bookkeeping(checkpoints):
    first, *others = FAMILIES_TRACED
    pairs = [f"{first} {scoring}" for scoring in SCORINGS] + [f"{family} letter" for family in others]
    command = [sys.executable, "-c", TRACER, str(ROOT), str(checkpoints["llava"]), *pairs]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    # What another process, or a thread that is still running, does would not have been traced.
    assert (found["processes"], found["threads"]) == ([], 1)
    for pair in pairs:
        modules = scorer_modules(*pair.split())
        files = set(found["ran"][pair])
        assert files <= closure(*modules)
        # The trace saw what it is about: the entry, the model, its family and its scoring.
        assert {module_file(module) for module in (ENTRY, "benchc.models.chat", *modules)} <= files
    # Bookkeeping is not in the code.
    code = closure(*LOADERS, *SCORINGS.values())
    bookkeeping = (
        "inference",
        "predictor",
        "cache/unit_cache",
        "identity",
        "prediction_code",
        "units",
        "items",
    )
    assert not code & {f"benchc/models/{name}.py" for name in bookkeeping}
    assert not [file for file in code if file.startswith(("scripts/", "benchc/schemas/", "benchc/config/"))]
    assert not code & {"benchc/closure.py", "benchc/progress.py", "benchc/prefetch.py", "benchc/atomic.py"}


@pytest.fixture
def copied(tmp_path, monkeypatch) -> Path:
    """A copy of the package, whose code is digested."""
    shutil.copytree(ROOT / "benchc", tmp_path / "benchc", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(prediction_code, "ROOT", tmp_path)
    return tmp_path


def codes() -> dict[str, str]:
    return {
        f"{family} {scoring}": prediction_code.prediction_code(scorer_modules(family, scoring))
        for family in FAMILIES_TRACED
        for scoring in SCORINGS
    }


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        *(
            (name, {"llava", "llava_next", "letter", "text"})
            for name in ("predict", "registry", "chat", "question")
        ),
        ("letter", {"llava", "llava_next", "letter"}),
        ("text", {"llava", "llava_next", "text"}),
        ("families/llava_next", {"llava_next", "letter", "text"}),
        *((name, set()) for name in ("predictor", "cache/unit_cache", "supported")),
    ],
)
def test_an_edit_drops_the_predictions_that_it_may_change_and_no_others(copied, file, changed):
    before = codes()
    path = copied / f"benchc/models/{file}.py"
    path.write_text(path.read_text() + "\n# A comment.\n")
    assert codes() == before
    path.write_text(path.read_text() + "\nADDED = 1\n")
    differing = {name for name, code in codes().items() if code != before[name]}
    parts = {name: {name.split()[0], name.split()[1].partition("_")[0]} for name in before}
    assert differing == {name for name, own in parts.items() if own <= changed}


@pytest.mark.parametrize(
    ("cuda", "hip", "expected"), [("13.0", None, "13.0, cuDNN 91"), (None, "7.1.2", "7.1.2, MIOpen 91")]
)
def test_the_identity_has_the_library_of_the_gpu(checkpoints, monkeypatch, cuda, hip, expected):
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.version, "hip", hip)
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: 91)
    with StandInDevice(2**28):
        model = load_scorer(None, "letter", CheckpointSource(str(checkpoints["llava"]), device="cuda"))
    found = prediction_identity(model, None, "letter")
    assert found["device"] == "stand-in"
    libraries = {name: found[name] for name in ("cuda", "hip", "cpu_capability") if name in found}
    assert libraries == {"hip" if hip else "cuda": expected}
    # Whatever its name is.
    assert {"cpu_capability"}.isdisjoint(identity_of_model._torch_settings("NVIDIA H100 80GB HBM3"))


@pytest.mark.usefixtures("torch_settings")
def test_the_identity_has_all_that_decides_a_prediction(checkpoints):
    def identity(threads=1):
        source = CheckpointSource(str(checkpoints["llava"]))
        return prediction_identity(load_model(source, "llava", "letter", threads), "llava", "letter")

    plain = identity()
    versions = {"torch", "torchvision", "transformers", "tokenizers", "numpy", "pillow"}
    assert plain.keys() >= {"model", "revision", "dtype", "device", "processor", "chat_template"} | versions
    assert plain["scoring"] == "letter"
    assert plain["attention"] == "model sdpa, vision_config sdpa, text_config sdpa"
    assert plain["image_processor"] == "CLIPImageProcessorPil"
    assert plain["modules"] == "benchc.models.checkpoint benchc.models.letter"
    assert plain["tf32"] == "matmul highest, cudnn False"
    assert plain["deterministic"].startswith("algorithms True, warn_only True, cudnn False")
    assert plain["threads"] == "1" and identity(threads=2)["threads"] == "2"
    assert all(isinstance(value, str) for value in plain.values())
