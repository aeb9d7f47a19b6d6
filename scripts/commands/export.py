"""Export the benchmark of a finished run, with the results of its models."""

import re
from pathlib import Path

from benchc.config.strict import HUB_ID
from benchc.errors import InputError
from benchc.export.card import own_files_note
from benchc.export.finished import read_finished
from benchc.export.items import TSV
from benchc.export.write import write_export
from benchc.pluralize import pluralize


def export(
    run: Path,
    folder: Path,
    /,
    *,
    repo: str | None = None,
    redistribute: tuple[str, ...] = (),
    no_vlmevalkit: bool = False,
) -> None:
    """Export the benchmark of a finished run as a data set for the Hugging Face Hub.

    FOLDER has its items and images as Parquet files, a data set card, Croissant metadata, the results of
    the models that the run has evaluated, and files for VLMEvalKit. `benchc evaluate --benchmark FOLDER`
    evaluates models on it, also on another machine. Of sources whose licence is not known to allow more,
    only ids, recipes and pixel hashes are exported. Run it where the run was made: paths in its
    configuration are relative to that folder.

    Args:
        run: results/NAME of a finished run; nothing in it is changed
        folder: folder to write, which is absent or empty
        repo: id of the data set on the Hub, OWNER/NAME, which the results of models name; default: OWNER/
            and the name of FOLDER, to be edited
        redistribute: ids of sources whose publishers allow that they are passed on, though the source
            catalogue does not say so
        no_vlmevalkit: write no TSV files for VLMEvalKit, which have all images once more
    """
    if repo is not None and not re.fullmatch(HUB_ID, repo):
        raise InputError(f"--repo {repo}: is no id of a data set on the Hub, OWNER/NAME")
    finished = read_finished(run)
    named = repo or f"OWNER/{folder.resolve().name}"
    manifest, written = write_export(
        finished, folder, redistribute=redistribute, repo=named, tsv=not no_vlmevalkit
    )
    size = sum(int(facts["bytes"]) for facts in manifest.files.values())
    tables = sum(name.startswith(f"{TSV}/") for name in manifest.files)
    print(
        f"{folder}: {pluralize(len(finished.ids), 'item')}, {pluralize(written.rows, 'row')} in "
        f"{pluralize(len(written.splits), 'split')}, {pluralize(tables, 'file')} for VLMEvalKit, "
        f"{size / 1e6:,.0f} MB"
    )
    if own := finished.run.settings.corruptions.own_files:
        print(own_files_note(own))
    if local := finished.absolute_paths():
        print(
            f"absolute paths that the export names: {', '.join(local)}; if they are not to be public, name "
            "files or links in the working directory instead, run again, and export anew"
        )
    if manifest.withheld:
        print(
            f"not passed on: questions and images of {', '.join(manifest.withheld)}, whose licence in the "
            f"source catalogue does not allow it or is unknown; `benchc rebuild {folder}` makes them again "
            "where the sources' files are; to pass them on, give the catalogue the licence (published: "
            "{licence: …}), or export with --redistribute"
        )
    if repo is None:
        print(f"replace OWNER in {folder}/.eval_results and croissant.json, or export with --repo OWNER/NAME")
