"""The content of a results page: tables, figures, the numbers of the first screen, how it was made."""

import math
import platform
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from docutils.core import publish_parts
from markdown_it import MarkdownIt
from markupsafe import Markup

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.rendering.chance import TEXT_COLUMNS
from benchc.rendering.declaration import Output
from benchc.rendering.numbers import MISSING, is_point
from benchc.rendering.results_page.declaration import LEVEL, Bars, ResultsPage
from benchc.schemas.models import Models, read_models
from benchc.schemas.parquet import TableError, read_footer
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import pool_digest
from benchc.schemas.printed import read_csv, read_table_csv

LONG = 30  # rows: a longer table is closed until it is asked for
MOST_ROWS = 200  # of a table that is shown from its csv file
# Of a caption, which may have texts of the user: no files and no HTML.
CAPTION_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "embed_stylesheet": False,
    "_disable_config": True,
}
VERSIONS = ("torch", "torchvision", "transformers", "tokenizers", "numpy", "pillow")


def page_content(root: Path, declared: ResultsPage, outputs: Sequence[Output]) -> dict[str, Any]:
    """Return what the template shows of a run, whose ``outputs`` are there. Raises InputError."""
    models = read_models(root / "models.json")
    shown = {output.name: _shown(root, output) for output in _in_paper_order(outputs)}
    main = shown.get(declared.main_table or "")
    claims = shown.get(declared.claims or "")
    figure = shown.get(declared.main_figure or "")
    bars = [each for each in declared.bars if (root / each.table).is_file()]
    standings = _standings(root, declared.chance_of)
    rows = _model_rows(root, bars, models, standings)
    of_kind = {
        kind: [each for each in shown.values() if each["kind"] == kind]
        for kind in ("table", "figure", "page")
    }
    return {
        "purpose": declared.purpose,
        "facts": _facts(root, models),
        "bars": bars,
        "models": rows,
        "has_chance": any(bar.get("chance") is not None for row in rows for bar in row["bars"]),
        "verdict": _verdict(bars, rows, standings),
        "main_table": main,
        "main_figure": figure,
        "claims": claims,
        "figures": of_kind["figure"],
        "tables": [each for each in of_kind["table"] if each is not claims and each is not main],
        "pages": of_kind["page"],
        "left_out": [*_left_out(root), *_not_ranked(standings)],
        "made": [*_how_made(root)],
        "records": [
            name
            for name in (
                "config.yaml",
                "config-sources.yaml",
                "config-models.yaml",
                "models.json",
            )
            if (root / name).is_file()
        ],
    }


def _in_paper_order(outputs: Iterable[Output]) -> list[Output]:
    """Return outputs by the numbers of the paper, letters before digits (A.1), and then all others."""

    def place(output: Output) -> tuple[object, ...]:
        found = re.fullmatch(r"(?:table|figure)s? (A\.)?(\d+)(.*)", output.title, re.IGNORECASE)
        return (0, bool(found[1]), int(found[2]), found[3]) if found else (1, False, 0, "")

    return sorted(outputs, key=place)


def _shown(root: Path, output: Output) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": output.name,
        "kind": output.kind,
        "title": output.title[:1].upper() + output.title[1:],
        "caption": caption_html(output.paragraphs),
        "files": output.files,
    }
    if output.kind == "table":
        found |= table_html(root, output)
    return found


def caption_html(text: str) -> Markup:
    """Return a caption in reStructuredText as HTML, without tags of its own, and with web links alone."""
    parts = publish_parts(text, writer="html5", settings_overrides=CAPTION_SETTINGS)
    return Markup(re.sub(r' href="(?!https?://)[^"]*"', "", parts["body"]))


def markdown_html(text: str) -> Markup:
    """Return Markdown as HTML; tags in it stay text, and links are not made."""
    return Markup(
        MarkdownIt("commonmark", {"html": False})
        .enable("table")
        .disable(["link", "image", "autolink"])
        .render(text)
    )


def table_html(root: Path, output: Output) -> dict[str, Any]:
    """Return a table as HTML: its Markdown, or, without such, the first rows of its csv file."""
    text = (root / output.files["md"]).read_text(encoding="utf-8") if "md" in output.formats else ""
    # The Markdown of long texts is a list.
    if text.startswith("|"):
        rows = sum(line.startswith("|") for line in text.splitlines()) - 2
        return {"html": _in_boxes(markdown_html(text)), "open": rows <= LONG, "note": ""}
    path = root / output.files["csv"]
    frame = read_csv(path, infer_schema=False, n_rows=MOST_ROWS + 1)
    more = frame.height > MOST_ROWS
    if "verdict" in frame.columns:
        frame = frame.select("verdict", pl.exclude("verdict"))
    head = Markup("").join(Markup("<th>{}</th>").format(name) for name in frame.columns)
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(Markup("<td>{}</td>").format(_digits(value)) for value in row)
        )
        for row in frame.head(MOST_ROWS).iter_rows()
    )
    table = Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)
    html = _in_boxes(table)
    note = f"The first {MOST_ROWS} rows; the csv file has all." if more else ""
    return {"html": html, "open": False, "note": note}


def _in_boxes(html: Markup) -> Markup:
    """Return HTML whose tables are in boxes that scroll. Texts are escaped, so that all tags are our own."""
    text = str(html).replace("<table>", '<div class="printed scroll"><table>')  # Markup would escape the tags
    return Markup(text.replace("</table>", "</table></div>"))


def _digits(value: str | None) -> str:
    if value is None:
        return ""
    if not re.fullmatch(r"-?\d+\.\d{5,}(e[-+]?\d+)?", value):
        return value
    number = float(value)
    return f"{number:.1f}" if 1000 <= abs(number) < 1e15 else f"{number:.4g}"


def _standings(root: Path, where: Mapping[str, str]) -> pl.DataFrame | None:
    path = root / "tables/chance.csv"
    if not path.is_file():
        return None
    frame = read_table_csv(path, *TEXT_COLUMNS)
    if frame.is_empty():  # no model has the measure, so that all are ranked
        return None
    return frame.filter(**{name: value for name, value in where.items() if name in frame.columns})


def _facts(root: Path, models: Models) -> list[str]:
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    corruptions = config["corruptions"]
    names, levels = corruptions["types"], corruptions["severities"]
    at = "1 severity" if len(levels) == 1 else f"{len(levels)} severities"
    scenarios = f"{pluralize(len(names), 'corruption')} at {at}" if names else "no corruption"
    sources = len(yaml.safe_load((root / "config-sources.yaml").read_text(encoding="utf-8")) or {})
    return [
        f"benchmark {models.benchmark}",
        pluralize(len(models.models), "model"),
        pluralize(sources, "source"),
        scenarios,
        f"seed {config['seed']}",
    ]


def _model_rows(
    root: Path, bars: Sequence[Bars], models: Models, standings: pl.DataFrame | None
) -> list[dict[str, Any]]:
    """Return the rows of the first screen, the best by the first number first, those without rank last."""
    by_bar = [_values(root, each, models) for each in bars]
    ranked = _ranked(standings)
    chances = [_chance(each, standings) for each in bars]
    rows = []
    for id_, model in models.models.items():
        values = [found.get(id_) for found in by_bar]
        scales = [_scale(*each) for each in zip(bars, by_bar, chances, strict=True)]
        rows.append(
            {
                "id": id_,
                "label": model.label,
                "ranked": ranked is None or model.label in ranked,
                "first": values[0][0] if values and values[0] else None,
                "ends": _ends(values[0], bars[0].digits) if values else None,
                "bars": [
                    _bar(each, value, scale, chance)
                    for each, value, scale, chance in zip(bars, values, scales, chances, strict=True)
                ],
            }
        )
    if not bars:
        return rows
    sign = -1 if bars[0].better == "higher" else 1
    return sorted(rows, key=lambda row: (not row["ranked"], row["first"] is None, sign * (row["first"] or 0)))


Value = tuple[float, float | None, float | None]


def _ends(value: Value | None, digits: int) -> tuple[float, float] | None:
    if value is None or value[1] is None or value[2] is None or is_point(value[1], value[2], digits):
        return None
    return value[1], value[2]


def _values(root: Path, bars: Bars, models: Models) -> dict[str, Value]:
    """Return number and ends of the interval of each model by its id."""
    frame = read_table_csv(root / bars.table, bars.model)
    frame = frame.with_columns(pl.selectors.float().fill_nan(None))
    columns = [bars.model, bars.value, *filter(None, (bars.low, bars.high)), *bars.where]
    if absent := [name for name in columns if name not in frame.columns]:
        raise InputError(
            f"{root / bars.table}: it has no column {absent[0]}; correct the declaration of the page"
        )
    for name, value in bars.where.items():
        frame = frame.filter(pl.col(name).is_null() if value is None else pl.col(name) == value)
    by_label = {model.label: id_ for id_, model in models.models.items()}
    found: dict[str, Value] = {}
    for row in frame.iter_rows(named=True):
        model = row[bars.model]
        id_ = model if model in models.models else by_label.get(model)
        number, low, high = (
            None if name is None else _finite(row[name]) for name in (bars.value, bars.low, bars.high)
        )
        if id_ is not None and number is not None:
            found[id_] = number, low, high
    return found


def _finite(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _chance(bars: Bars, standings: pl.DataFrame | None) -> float | None:
    if bars.chance != LEVEL:
        return bars.chance if isinstance(bars.chance, float) else None
    if standings is None or standings.is_empty():
        return None
    level = standings.select(pl.max_horizontal(pl.col("guessing", "constant").cast(pl.Float64)).max()).item()
    return None if level is None else float(level)


def _ranked(standings: pl.DataFrame | None) -> set[str] | None:
    if standings is None or "ranked" not in standings.columns:
        return None
    return set(standings.filter("ranked")["model"])


def _scale(bars: Bars, found: Mapping[str, Value], chance: float | None) -> tuple[float, float]:
    """Return the ends of the axis of a number: they include 0, all values, intervals and chance.

    Numbers that are all printed as 0 have no bars.
    """
    values = [each for value in found.values() for each in value if each is not None]
    values += [0.0] + ([] if chance is None else [chance])
    low, high = min(values), max(values)
    return (low, high) if high - low >= 10**-bars.digits / 2 else (low, low + 1)


def _bar(bars: Bars, value: Value | None, scale: tuple[float, float], chance: float | None) -> dict[str, Any]:
    if value is None:
        return {"label": bars.label, "number": ""}
    number, low, high = value

    def place(each: float) -> float:
        return round(100 * (each - scale[0]) / (scale[1] - scale[0]), 2)

    def text(each: float) -> str:
        return f"{each:z.{bars.digits}f}".replace("-", "−")

    interval = ""
    if low is not None and high is not None:
        point = is_point(low, high, bars.digits)
        interval = f"[{MISSING}]" if point else f"[{text(low)}, {text(high)}]"
        low, high = (None, None) if point else (low, high)
    return {
        "label": bars.label,
        "number": text(number),
        "interval": interval,
        "x": min(place(0), place(number)),
        "width": max(0.4, abs(place(number) - place(0))),
        "low": None if low is None else place(low),
        "high": None if high is None else place(high),
        "chance": None if chance is None else place(chance),
    }


def _verdict(bars: Sequence[Bars], rows: Sequence[Mapping[str, Any]], standings: pl.DataFrame | None) -> str:
    """Return which model is best by the first number, and whether chance could be the reason.

    Empty where fewer than two models are ranked.
    """
    ranked = [row for row in rows if row["ranked"] and row["first"] is not None]
    if not bars or len(ranked) < 2:
        return ""
    first, others = ranked[0], ranked[1:]
    equal = [row["label"] for row in ranked if row["first"] == first["first"]]
    if len(equal) > 1:
        return (
            f"Best by {bars[0].label}, with equal numbers: {_listed(equal)}.{_above_chance(standings, equal)}"
        )
    text = f"Best by {bars[0].label}: {first['label']}."
    own = first["ends"]
    ends = [row["ends"] for row in others]
    if own is not None and None not in ends:
        near = [row["label"] for row in others if own[0] <= row["ends"][1] and row["ends"][0] <= own[1]]
        text += (
            f" Its 95 % interval overlaps that of {_listed(near)}."
            if near
            else " Its 95 % interval overlaps that of no other ranked model."
        )
    return text + _above_chance(standings, equal)


def _above_chance(standings: pl.DataFrame | None, best: Sequence[str]) -> str:
    """Return a sentence, after a space, on the best models that are not above chance, or where all are."""
    if below := [label for label in best if _is_below(standings, label)]:
        return f" {_listed(below)} {'is' if len(below) == 1 else 'are'} not above chance on clean images."
    if standings is None or not {"ranked", "above_chance"} <= {*standings.columns}:
        return ""
    ranked = standings.filter("ranked").group_by("model").agg(pl.col("above_chance").fill_null(False).any())
    return " All ranked models are above chance on clean images." if ranked["above_chance"].all() else ""


def _is_below(standings: pl.DataFrame | None, label: str) -> bool:
    """Return whether a model is known not to be above chance."""
    if standings is None or "above_chance" not in standings.columns:
        return False
    own = standings.filter(model=label)["above_chance"]
    return own.len() > 0 and own.eq(False).fill_null(value=False).all()


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _left_out(root: Path) -> Iterable[str]:
    """Yield how many rows of each source became no items, with the most frequent reason."""
    for path in sorted((root / "sources").glob("*.report.csv")):
        try:
            report = read_csv(path, infer_schema=False)
        except pl.exceptions.NoDataError:
            continue
        if not {"kind", "reason"} <= {*report.columns}:
            continue
        source = path.name.removesuffix(".report.csv")
        # Notes are on rows that became items.
        for kind in ("rejected", "excluded"):
            reasons = Counter(report.filter(kind=kind)["reason"]).most_common()
            if reasons:
                (reason, most), *others = reasons
                rest = sum(count for _, count in others)
                often = "mostly" if most > rest else "most often"
                if others and others[0][1] == most:
                    often = "for example"
                yield f"{source}: {pluralize(most + rest, 'row')} {kind}, {often}: {reason}"


def _not_ranked(standings: pl.DataFrame | None) -> Iterable[str]:
    if standings is None or not {"ranked", "above_chance"} <= {*standings.columns}:
        return
    for (model,), rows in standings.group_by("model", maintain_order=True):
        if not rows["ranked"].any():
            below = rows["above_chance"].eq(False).any()
            reason = "it is not above chance on clean images" if below else "its label mass is low"
            if rows["above_chance"].null_count() == rows.height:
                reason = "it has no accuracy on clean images"
            yield f"{model}: not ranked, since {reason} (table chance)"


def _how_made(root: Path) -> Iterable[tuple[str, list[tuple[str, str]]]]:
    yield (
        "This page",
        [
            ("made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
            ("by", f"benchc {version('benchc')}, Python {platform.python_version()}, {platform.system()}"),
        ],
    )
    if rows := _model_facts(root):
        yield "Models", rows
    yield "Inputs", [*_input_hashes(root)]


def _model_facts(root: Path) -> list[tuple[str, str]]:
    """Return device, weights and versions of each model, from the footer of one of its files."""
    found: dict[str, str] = {}
    for path in sorted([*root.glob("predictions/*/*/*.parquet"), *root.glob("answers/*/*/*.parquet")]):
        footer = read_footer(path)
        label = str(footer.get("label", path.parent.name))
        if label not in found and "model" in footer:
            versions = ", ".join(f"{name} {footer[name]}" for name in VERSIONS if name in footer)
            found[label] = (
                f"{footer['model']}, revision {footer.get('revision')}, {footer.get('dtype')} on "
                f"{footer.get('device')}; {versions}"
            )
    return [*found.items()]


def _input_hashes(root: Path) -> Iterable[tuple[str, str]]:
    sources = yaml.safe_load((root / "config-sources.yaml").read_text(encoding="utf-8")) or {}
    for id_, entry in sources.items():
        where = (
            entry.get("url")
            or entry.get("path")
            or ("generated by the run" if entry.get("generated") else "")
        )
        yield id_, ", ".join(filter(None, (where, f"MD5 {entry['md5']}" if entry.get("md5") else "")))
    pool = root / "pool/items.parquet"
    if pool.is_file():
        try:
            yield "items and images of the pool", pool_digest(pool, [*POOL.columns])
        except TableError as error:
            yield "items and images of the pool", str(error)
