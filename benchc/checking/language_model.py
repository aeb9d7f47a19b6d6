"""Whether the replies of a language model can be had: from its server, or from kept ones."""

import os
from collections.abc import Iterator
from pathlib import Path

from benchc.checking.finding import Finding, reason
from benchc.config.language_model import LanguageModel
from benchc.endpoint.language_model import ask_once
from benchc.errors import InputError


def check_language_model(
    stage: str, asked: LanguageModel, own: Path, *, network: bool, made: bool = False
) -> Iterator[Finding]:
    """Yield whether its replies can be had.

    Args:
        stage: that asks
        asked: the language model
        own: folder of kept replies, unless the settings name one
        network: whether the server is asked
        made: whether the run writes the replies itself
    """
    folder = Path(asked.recordings) if asked.recordings else own
    if asked.mode != "replay":
        key = asked.api_key_env
        if key is not None and not os.environ.get(key):
            text = f"the environment variable {key} is not set; set it, or give null for api_key_env"
            yield Finding(stage, "error", asked.model, text)
            return
        where = f"{asked.url}, mode {asked.mode}"
        if not network:
            yield Finding(stage, "skipped", asked.model, f"was not asked at {where}")
            return
        try:
            ask_once(asked.service(folder), asked.model)
        except InputError as error:
            yield Finding(stage, "error", asked.model, reason(error))
            return
        yield Finding(stage, "ok", asked.model, f"answers at {where}")
        return
    if folder.is_dir() and any(folder.iterdir()):
        yield Finding(stage, "ok", asked.model, f"replies are in {folder}")
    elif made:
        yield Finding(stage, "made", asked.model, "replies are made by the run")
    else:
        text = f"mode is replay, but {folder} has no replies; name their folder in recordings, or record them"
        yield Finding(stage, "error", asked.model, text)
