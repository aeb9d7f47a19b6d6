"""Arguments of the scripts that run a model."""

import argparse
import importlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import get_args

import yaml

from benchc.images import ALPHAS
from benchc.models.auto_class_names import AUTO_CLASSES
from benchc.models.generation import Generation
from benchc.models.image_backends import IMAGE_BACKENDS
from benchc.models.items import Item, read_items
from benchc.models.label_prompt import LabelPrompt
from benchc.models.protocol import CheckpointSource
from benchc.models.registry import ANSWERING, GENERATE, SCORINGS
from benchc.models.units import Blind, InPlaceOfImages, Recipes, UnitImages, unit_images
from benchc.models.units_together import UNITS_TOGETHER
from benchc.schemas.corrupted_images import check_corrupted
from benchc.schemas.revision import read_revision
from scripts.argument_types import natural_argument, positive_argument, recipe_argument, seed_argument


def add_model(parser: argparse.ArgumentParser, *, scores_options: bool = True) -> None:
    """Add the model: its location, precision and device, and how it scores options or answers in words."""
    add = parser.add_argument
    add("--location", required=True, help="the model: a Hub id, or a folder with the same files")
    add("--label", help="name of the model in messages; default: the location")
    revision = parser.add_mutually_exclusive_group()
    revision.add_argument("--revision", help="commit, tag or branch; default: the default branch")
    revision.add_argument(
        "--revision-file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="revisions/{model}.json with the commit; without FILE: as without the option",
    )
    add(
        "--trust-remote-code",
        action="store_true",
        help="run Python files of the checkpoint; read them first, and give their commit as --revision",
    )
    add(
        "--family",
        type=family_argument,
        help="how the model is loaded (docs/models.md); default: by the class that its config.json names",
    )
    add("--auto-class", choices=AUTO_CLASSES, help="the class of transformers that loads the model")
    if scores_options:
        add("--scoring", required=True, choices=sorted(SCORINGS), help="how options are scored")
    else:
        add(
            "--scoring",
            choices=sorted(ANSWERING),
            default=GENERATE,
            help="in its own words, or from the closed list of a VQA head, which reads the bare question "
            "[%(default)s]",
        )
        add("--max-new-tokens", type=positive_argument, help="the most tokens of an answer in its own words")
        add("--instruction", default="", help="last line of a prompt that lists no options")
        add(
            "--without-options",
            action="store_true",
            help="leave the options out of the prompt, as text scoring does; default: list them, and ask for "
            "a letter",
        )
    add("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    add("--device", default="cpu", choices=["cpu", "cuda"], help="where the model runs [%(default)s]")
    add(
        "--gpus",
        type=positive_argument,
        default=1,
        help="GPUs of cuda among which the model is divided [%(default)s]",
    )
    add("--compile", action="store_true", help="compile the model's blocks by torch.compile")
    add(
        "--image-backend",
        choices=IMAGE_BACKENDS,
        default="pil",
        help="library of the image processor; their pixels differ [%(default)s]",
    )
    add(
        "--processor",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="an image processor setting to override, for example max_patches=6; may be repeated",
    )
    add(
        "--threads",
        type=positive_argument,
        default=1,
        help="CPU threads; the last bits of a logit depend on their number",
    )
    add(
        "--workers",
        type=natural_argument,
        default=0,
        help="processes that prepare images while the model computes; they change no number [%(default)s]",
    )
    add(
        "--units-together",
        choices=[*UNITS_TOGETHER],
        default="never",
        help="whether units of an item pass through the model together: where this changes no bit, always, "
        "or never [%(default)s]",
    )
    _add_server(parser)


def _add_server(parser: argparse.ArgumentParser) -> None:
    """Add the server that the model is on, and how the job reaches it."""
    server = parser.add_mutually_exclusive_group()
    server.add_argument("--server-url", metavar="URL", help="address of a server with the model")
    server.add_argument(
        "--server-command",
        metavar="COMMAND",
        help="command that starts a server; {model}, {revision} and {port} are replaced",
    )
    add = parser.add_argument
    add("--api-key-env", metavar="NAME", help="environment variable with the server's key")
    add("--concurrency", type=positive_argument, default=16, help="requests at once [%(default)s]")
    add("--timeout", type=float, default=300.0, help="seconds to wait for an answer [%(default)s]")
    add("--start-timeout", type=float, default=1800.0, help="seconds until it must run [%(default)s]")
    add("--server-log", type=Path, default=Path("server.log"), help="what a started server prints")
    add("--top-logprobs", type=positive_argument, default=20, help="without logprob_token_ids [%(default)s]")


def on_server(arguments: argparse.Namespace) -> bool:
    """Return whether the model is on a server."""
    return bool(arguments.server_url or arguments.server_command)


def add_items(parser: argparse.ArgumentParser) -> None:
    """Add the items: the pool, and a subset of it."""
    parser.add_argument("--items", type=Path, required=True, help="pool/items.parquet")
    parser.add_argument(
        "--subset",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="subsets/{subset}.parquet: only these items; default, or without FILE: the whole pool",
    )
    parser.add_argument(
        "--label-prompt",
        type=_label_prompt,
        metavar="JSON",
        help="in place of the usual prompts, one that asks for Yes or No, or for a letter: its last sentence "
        "for each (yes_no, others), the separator before it, and by_text",
    )


def items_of(arguments: argparse.Namespace) -> dict[str, Item]:
    """Return the items that a model is asked about, with the prompt that was chosen."""
    items = read_items(arguments.items, arguments.subset)
    form: LabelPrompt | None = arguments.label_prompt
    if form is None:
        return items
    return {
        id_: item._replace(question=form.asked(item.question, item.category)) for id_, item in items.items()
    }


def _label_prompt(text: str) -> LabelPrompt:
    try:
        return LabelPrompt(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a prompt with labels ({error})") from error


def add_images(parser: argparse.ArgumentParser) -> None:
    """Add the images: files of corrupted images, or recipes that are applied to the items' images.

    With files, the recipes, seed and alpha are what these must have been made with.
    """
    add = parser.add_argument
    add("--corrupted", type=Path, nargs="*", default=[], help="{corruption}.parquet, one or more")
    add(
        "--recipe",
        action="append",
        default=[],
        type=recipe_argument,
        metavar="JSON",
        help="a corruption to apply to the images of --items; may be repeated. With --corrupted: what the "
        "file of its name must contain",
    )
    add("--seed", type=seed_argument, help="the run's seed")
    add("--alpha", choices=ALPHAS, help="how to handle transparency; default with --recipe: drop")
    add(
        "--in-place-of-images",
        choices=get_args(Blind),
        help="ask without the items' images: with none, or with a grey one, which is then the corruption",
    )


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Add the prediction cache and the job's shard in it."""
    add_cache_folder(parser)
    parser.add_argument(
        "--shard", required=True, help="beginning of the name of this job's file in the cache"
    )


def add_cache_folder(parser: argparse.ArgumentParser) -> None:
    """Add the folder of the prediction cache."""
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("results/.cache"),
        metavar="FOLDER",
        help="the prediction cache, which runs share [%(default)s]",
    )


def check_images(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Exit with a usage error unless images come from files, or from recipes with a seed, or are replaced."""
    if arguments.in_place_of_images is not None:
        if arguments.corrupted or arguments.recipe:
            parser.error("--in-place-of-images goes without --corrupted and --recipe")
        return
    if not arguments.corrupted and not arguments.recipe:
        parser.error("give --corrupted or --recipe")
    if arguments.recipe and arguments.seed is None:
        parser.error("--recipe needs the run's --seed")


def checkpoint_source(arguments: argparse.Namespace) -> CheckpointSource:
    """Return the checkpoint, its precision, device and settings.

    Raises InputError for an invalid revision file.
    """
    file: Path | None = arguments.revision_file
    return CheckpointSource(
        arguments.location,
        read_revision(file, arguments.location).commit if file else arguments.revision,
        arguments.dtype,
        arguments.device,
        dict(arguments.processor),
        arguments.family,
        arguments.trust_remote_code,
        arguments.auto_class,
        arguments.image_backend,
        arguments.compile,
        arguments.gpus,
    )


def generation(arguments: argparse.Namespace) -> Generation:
    """Return the settings of generated answers."""
    return Generation(arguments.max_new_tokens, arguments.instruction, not arguments.without_options)


def images_of(
    arguments: argparse.Namespace, items: Mapping[str, Item], severities: Container[int] | None = None
) -> Iterable[UnitImages]:
    """Return the images of ``items`` under ``severities``, or what is shown in their place."""
    if arguments.in_place_of_images is not None:
        return [InPlaceOfImages(arguments.in_place_of_images, list(items))]
    keys = {id_: item.image_keys for id_, item in items.items()}
    return unit_images(arguments.items, keys, image_source(arguments), severities)


def image_source(arguments: argparse.Namespace) -> Sequence[Path] | Recipes:
    """Return the files of corrupted images, or the recipes to apply."""
    files: list[Path] = arguments.corrupted
    return files or Recipes(arguments.recipe, arguments.seed, arguments.alpha or "drop")


def image_names(arguments: argparse.Namespace) -> list[str]:
    """Return the corruptions whose images are given or made."""
    if arguments.in_place_of_images is not None:
        return [arguments.in_place_of_images]
    files: list[Path] = arguments.corrupted
    return [path.stem for path in files] or [recipe.name for recipe in arguments.recipe]


def image_facts(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the seed and alpha of the images; TableError where a file is not what the arguments say."""
    if arguments.in_place_of_images is not None:
        return {}
    given = {"seed": arguments.seed, "alpha": arguments.alpha or (None if arguments.corrupted else "drop")}
    recipes = {recipe.name: json.loads(recipe.to_json()) for recipe in arguments.recipe}
    facts = {name: value for name, value in given.items() if value is not None}
    return check_corrupted(arguments.corrupted, arguments.items, recipes, facts)


def family_argument(text: str) -> str:
    """Return the name of a family that can be loaded.

    Without this check a misspelt name would load the checkpoint without the file of its family.
    """
    # By name, so that an edit of this check reruns no job.
    supported = importlib.import_module("benchc.models.supported")
    try:
        supported.check_family(text)
    except supported.UnsupportedFamilyError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def setting(text: str) -> tuple[str, str | int | float | bool]:
    """Parse NAME=VALUE; the value is a YAML scalar."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    try:
        parsed = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError):
        parsed = None
    if not isinstance(parsed, str | int | float | bool):
        raise argparse.ArgumentTypeError(f"the value in {text!r} is not a number, text, true or false")
    return name, parsed
