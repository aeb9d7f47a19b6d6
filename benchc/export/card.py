"""What describes an export: the Hub's data set card and evaluation files, and Croissant metadata."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import yaml

from benchc.atomic import write_text
from benchc.config.catalogue import Source
from benchc.corruptions.recipe import CLEAN
from benchc.export.finished import Finished
from benchc.export.items import DATA, WITHHELD, Exported
from benchc.export.licences import UNKNOWN, hub_licence, licence_of
from benchc.export.shards import IMAGE
from benchc.pluralize import pluralize
from benchc.rendering.markdown import markdown_text
from benchc.schemas.printed import read_table_csv

CORRUPTED = "corrupted"
# The Hub's categories of size.
SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
)
FRAMEWORK = "benchc"

_DTYPES = {"string": "sc:Text", "int64": "sc:Integer", "double": "sc:Float", "bool": "sc:Boolean"}


def write_descriptions(
    finished: Finished, written: Exported, withheld: Collection[str], repo: str, folder: Path
) -> None:
    """Write README.md, eval.yaml, .eval_results/ and croissant.json; ``repo``: the data set's Hub id."""
    write_text(folder / "README.md", _card(finished, written, withheld, repo, folder))
    _write_evaluation(finished, repo, folder)
    content = _croissant(finished, written, repo)
    write_text(folder / "croissant.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _sources(finished: Finished) -> Mapping[str, Source]:
    return finished.run.config.sources


def _title(finished: Finished) -> str:
    settings = finished.run.settings
    return f"{settings.name} ({settings.benchmark})"


def _yaml(content: object) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def _card(finished: Finished, written: Exported, withheld: Collection[str], repo: str, folder: Path) -> str:
    run = finished.run
    licences = sorted({hub_licence(licence_of(source)) for source in _sources(finished).values()})
    download = sum(path.stat().st_size for paths, _, _ in written.splits.values() for path in paths)
    splits = [
        {"name": name, "num_bytes": size, "num_examples": rows}
        for name, (_, rows, size) in written.splits.items()
    ]
    configs: list[dict[str, Any]] = []
    if written.splits:
        files = [{"split": name, "path": f"{DATA}/{name}-*"} for name in written.splits]
        configs.append({"config_name": "default", "data_files": files, "default": True})
        corrupted = [f"{DATA}/{name}-*" for name in written.splits if name != CLEAN]
        if corrupted:
            configs.append({"config_name": CORRUPTED, "data_files": [{"split": "test", "path": corrupted}]})
    if written.withheld_rows:
        files = [{"split": "test", "path": f"{WITHHELD}/items-*"}]
        configs.append({"config_name": WITHHELD, "data_files": files})
    head = {
        "license": licences[0] if len(licences) == 1 else licences,
        "task_categories": ["visual-question-answering"],
        "pretty_name": _title(finished),
        "size_categories": [next((name for limit, name in SIZES if written.rows < limit), "n>10M")],
        "tags": ["benchmark", "robustness", "image-corruption", "benchc"],
        "configs": configs,
        "dataset_info": {
            "config_name": "default",
            "features": [_feature(field) for field in written.schema],
            "splits": splits,
            "download_size": download,
            "dataset_size": sum(size for _, _, size in written.splits.values()),
        },
    }
    settings = run.settings
    names = [name for name in run.images.recipes if name != CLEAN]
    passed_on = sum(id_.partition("/")[0] not in withheld for id_ in finished.ids)
    of_all = "" if passed_on == len(finished.ids) else f"{passed_on:,} of "
    lines = [
        f"# {_title(finished)}",
        "",
        f"{of_all}{pluralize(len(finished.ids), 'item')} under {pluralize(len(names), 'corruption')} at up "
        f"to {pluralize(len(settings.corruptions.severities), 'severity level')}, and without corruption: "
        f"one split each. Seed of the corruptions: {settings.seed}; `manifest.json` has the recipe of each. "
        "`benchc evaluate --benchmark FOLDER --model MODEL` evaluates a model on a copy of this folder.",
        "",
        *(f"{own_files_note(files)}\n" for files in [settings.corruptions.own_files] if files),
        "## Sources and licences",
        "",
        "| source | licence | items | passed on |",
        "|---|---|---|---|",
        *_source_rows(finished, withheld),
        "",
    ]
    if any(licence_of(source) == UNKNOWN for source in _sources(finished).values()):
        lines += [
            "`unknown`: the source catalogue states no licence; ask the publishers before you pass it on.",
            "",
        ]
    if withheld:
        lines += [
            f"Of {', '.join(sorted(withheld))}, this export has no questions and images, but ids, recipes, "
            "pixel hashes (`withheld/`), and what the run has computed (`run/`): predictions of models and "
            "whether they are right, from which the right option follows, and embeddings of items. "
            "`benchc rebuild FOLDER` reads questions and images from the publishers' files, makes the "
            "corrupted images again, and compares the hashes. The results of models are those on all items.",
            "",
        ]
    table = finished.folder / f"tables/{run.benchmark.main_tables[0]}.md"
    lines += ["## Models", "", table.read_text(encoding="utf-8").strip(), ""]
    return f"---\n{_yaml(head)}---\n\n" + "\n".join(lines)


def own_files_note(files: Sequence[str]) -> str:
    """Return what an evaluation on an export of a run needs that has corruptions of the user's ``files``."""
    them = "them" if len(files) > 1 else "it"
    absolute = any(Path(file).is_absolute() for file in files)
    where = "" if absolute else ", relative to the working directory,"
    return (
        f"Some corruptions are those of {', '.join(files)}, which this folder does not have: to evaluate a "
        f"model on it, put {them} at the same path{where} and give --trust."
    )


def _source_rows(finished: Finished, withheld: Collection[str]) -> list[str]:
    counts: dict[str, int] = {}
    for id_ in finished.ids:
        source = id_.partition("/")[0]
        counts[source] = counts.get(source, 0) + 1
    return [
        f"| {_cell(source.label)} (`{id_}`) | {_cell(licence_of(source))} | {counts.get(id_, 0)} "
        f"| {'ids and hashes' if id_ in withheld else 'yes'} |"
        for id_, source in _sources(finished).items()
    ]


def _cell(text: str) -> str:
    return markdown_text(text).replace("|", r"\|")


def _feature(field: pa.Field) -> dict[str, Any]:
    """Return a column as the card lists it."""
    if field.type == IMAGE:
        return {"name": field.name, "dtype": "image"}
    if pa.types.is_list(field.type):
        inner = "image" if field.type.value_type == IMAGE else str(field.type.value_type)
        return {"name": field.name, "list": inner}
    return {"name": field.name, "dtype": {"double": "float64"}.get(str(field.type), str(field.type))}


def _write_evaluation(finished: Finished, repo: str, folder: Path) -> None:
    """Write the Hub's description of the benchmark, and a file of results for each model's repository."""
    run = finished.run
    metrics = run.benchmark.metrics
    tasks = [
        {"id": metric.id, "config": CORRUPTED, "split": "test"}
        if metric.corrupted
        else {"id": metric.id, "config": "default", "split": CLEAN}
        for metric in metrics
    ]
    description = (
        f"Questions about images under {len(run.images.recipes) - 1} corruptions, of the benchmark "
        f"{run.settings.benchmark}. "
    ) + " ".join(f"{metric.id}: {metric.description}." for metric in metrics)
    content = {
        "name": _title(finished),
        "description": description,
        "evaluation_framework": FRAMEWORK,
        "tasks": tasks,
    }
    write_text(folder / "eval.yaml", _yaml(content))
    tables = {
        file: read_table_csv(finished.folder / file, "model") for file in {metric.table for metric in metrics}
    }
    for id_ in run.benchmark.measured:
        model = run.config.models[id_]
        results = []
        for metric in metrics:
            # Some tables name models by their ids, others by their labels.
            rows = tables[metric.table].filter(pl.col("model").is_in([id_, model.label]))
            value = rows[metric.column][0] if rows.height else None
            if value is not None:
                results.append(
                    {
                        "dataset": {"id": repo, "task_id": metric.id},
                        "value": value,
                        "evaluation_framework": FRAMEWORK,
                    }
                )
        if results:
            write_text(folder / ".eval_results" / f"{id_}.yaml", _yaml(results))


def _croissant(finished: Finished, written: Exported, repo: str) -> dict[str, Any]:
    """Return the metadata of Croissant 1.0: one file set, and one record for each row."""
    licences = [licence_of(source) for source in _sources(finished).values()]
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"default/{field.name}",
            "name": field.name,
            "description": f"Column {field.name} of the Parquet files.",
            **_croissant_type(field.type),
            "source": {
                "fileSet": {"@id": "parquet"},
                "extract": {"column": field.name},
                **({"transform": {"jsonPath": "bytes"}} if _holds_images(field.type) else {}),
            },
        }
        for field in written.schema
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": finished.run.settings.name,
        "description": f"{_title(finished)}: questions about corrupted images.",
        "url": f"https://huggingface.co/datasets/{repo}",
        "license": list(dict.fromkeys(licences)),
        "isBasedOn": [_based_on(id_, source) for id_, source in _sources(finished).items()],
        "distribution": [
            {
                "@type": "cr:FileSet",
                "@id": "parquet",
                "name": "parquet",
                "encodingFormat": "application/x-parquet",
                "includes": f"{DATA}/*.parquet",
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "default", "name": "default", "field": fields}],
    }


def _based_on(id_: str, source: Source) -> dict[str, Any]:
    found = {"@type": "sc:Dataset", "name": source.label, "identifier": id_, "license": licence_of(source)}
    return found | ({"url": source.url} if source.url else {})


def _croissant_type(dtype: pa.DataType) -> dict[str, Any]:
    if pa.types.is_list(dtype):
        # Croissant 1.1 has isArray instead, by which mlcroissant 1.1.1 does not read lists of images.
        return _croissant_type(dtype.value_type) | {"repeated": True}
    return {"dataType": "sc:ImageObject" if dtype == IMAGE else _DTYPES[str(dtype)]}


def _holds_images(dtype: pa.DataType) -> bool:
    return bool(dtype == IMAGE or (pa.types.is_list(dtype) and dtype.value_type == IMAGE))


_TERMS = (
    "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes "
    "isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace "
    "samplingRate separator source subField transform"
)
# The one that Croissant 1.0 prescribes.
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
