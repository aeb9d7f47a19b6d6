"""A tuned model as a folder in the Hub's format, and the cache of what was learned."""

import fcntl
import hashlib
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchc.atomic import atomic_folder
from benchc.hugging_face import transformers
from benchc.models.adapter_files import CONFIG as ADAPTER
from benchc.models.chat import ChatInterface
from benchc.models.folder import deciding_files
from benchc.models.identity import prediction_identity
from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import CheckpointSource
from benchc.models.registry import scorer_modules
from benchc.models.snapshot import snapshot_folder
from benchc.models.tuning.examples import Example
from benchc.models.tuning.lora import peft
from benchc.models.tuning.settings import TuningSettings
from benchc.models.tuning.train import adapted, train
from benchc.pluralize import pluralize
from benchc.transparency import Alpha

WEIGHTS = (".safetensors", ".bin")
RECORD = "tuning.json"  # beside the adapter: what made it, and the loss of each epoch


def identity_of_tuning(
    scorer: Any,
    examples: Sequence[Example],
    settings: TuningSettings,
    *,
    family: str | None,
    scoring: str,
    alpha: Alpha,
) -> dict[str, str]:
    """Return all that decides what is learned: the model and the libraries, examples, settings and code."""
    digest = hashlib.blake2b(digest_size=16)
    for example in examples:
        images = [hashlib.blake2b(data, digest_size=16).hexdigest() for data in example.images]
        text = [scorer.prompt(example.question, len(images)), example.answer, images]
        digest.update(json.dumps(text).encode() + b"\n")
    facts = prediction_identity(scorer, family, scoring)
    modules = scorer_modules(family, scoring, adapter="adapter" in facts)
    return {
        **facts,
        "peft": version("peft"),
        "examples": digest.hexdigest(),
        "alpha": alpha,
        **{f"tuning.{name}": str(value) for name, value in vars(settings).items()},
        "code": prediction_code(modules, "benchc.models.tuning.train"),
    }


def tune(
    scorer: ChatInterface,
    examples: Sequence[Example],
    settings: TuningSettings,
    identity: dict[str, str],
    *,
    cache: Path,
    label: str,
    alpha: Alpha = "drop",
) -> Path:
    """Tune a model in place, and return the folder of what was learned, which ``cache`` keeps for all runs.

    Its name contains a digest of ``identity``, so that nothing is learned twice: of several processes, one
    learns and the others wait for it. The learned matrices are then merged into the model's weights.
    """
    key = hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=6).hexdigest()
    folder = cache / f"adapter-{key}"
    model = adapted(scorer, settings)
    with _alone(cache / f".{folder.name}.lock", label):
        known = folder.is_dir()
        if not known:
            state = cache / f".{folder.name}.pt"
            losses = train(scorer, model, examples, settings, state=state, label=label, alpha=alpha)
            for config in model.peft_config.values():
                # peft keeps a set, whose order differs between processes.
                config.target_modules = sorted(config.target_modules)
            with atomic_folder(folder) as made:
                model.save_pretrained(made)
                record = {"identity": identity, "examples": len(examples), "losses": losses}
                (made / RECORD).write_text(json.dumps(record, indent=1))
            state.unlink(missing_ok=True)  # another process may have, where files cannot be locked
    if known:
        peft.set_peft_model_state_dict(model, peft.load_peft_weights(str(folder), device="cpu"))
    losses = json.loads((folder / RECORD).read_text())["losses"]
    print(
        f"{label}: {pluralize(len(examples), 'example')}, mean loss {losses[0]:.3f} in the first epoch and "
        f"{losses[-1]:.3f} in the last; {folder}",
        file=sys.stderr,
    )
    scorer.chat.model = model.merge_and_unload()
    return folder


@contextmanager
def _alone(path: Path, label: str) -> Iterator[None]:
    """Run a block in one process at a time, those that have the lock file ``path``; others wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"{label}: waiting for another process that learns the same", file=sys.stderr)
                fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            pass  # Some network file systems have no locks.
        yield


def save_tuned(scorer: ChatInterface, source: CheckpointSource, folder: Path) -> None:
    """Write a tuned model with the tokenizer, processor and chat template of its checkpoint."""
    origin = Path(source.location)
    if not origin.is_dir():
        origin = snapshot_folder(source.location, scorer.chat.identity["revision"])
    model = scorer.chat.model
    with atomic_folder(folder) as made:
        # transformers refuses to write some settings of generation that it reads; they are copied below.
        model.generation_config = transformers.GenerationConfig()
        model.save_pretrained(made)
        (made / "generation_config.json").unlink()
        for file in deciding_files(origin):
            target = made / file.relative_to(origin)
            # An adapter beside the model was merged, or is not meant.
            if file.suffix not in WEIGHTS and file.name != ADAPTER and not target.exists():
                target.parent.mkdir(exist_ok=True)
                shutil.copyfile(file, target)
