"""The groups of a pool: two questions about two images whose answers alternate (paper, section 3)."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchc.benchmarks.naturalbench.places import ORDER, Place, Source, read_places
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.errors import InputError
from benchc.progress import track
from benchc.randomness import seed_of
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import pool_images
from benchc.schemas.subset import SUBSET

YES_NO, MULTIPLE_CHOICE = "yes_no", "multiple_choice"

REPORT = {"file": pl.String, "group": pl.String, "kind": pl.String, "reason": pl.String}


Placed = Sequence[tuple[str, Place]]  # the ids of a group's items, and where they stand
FACTS = ("question", "hint", "options", "answer", "category")
# FACTS and images (digests) of items by id; no `images` where these are unknown.
Facts = Mapping[str, Mapping[str, Any]]


class Member(NamedTuple):
    """An item of a group as its source numbers it; ``taken``: whether models are asked about it."""

    source: str
    group: str  # in the source
    q_idx: int
    i_idx: int
    id: str
    taken: bool


@dataclass(frozen=True)
class Groups:
    """The groups of a run.

    ``table`` is of type GROUPS, in pool order; a group is called source/group. ``members``: all items of all
    groups, for files of tags. ``report``: columns file, group, kind (left_out, limit or note) and reason.
    """

    table: pl.DataFrame
    members: list[Member]
    report: pl.DataFrame

    @property
    def items(self) -> pl.DataFrame:
        """Return the ids of all items, of type SUBSET."""
        return self.table.select(list(SUBSET.columns))

    @property
    def questions(self) -> pl.DataFrame:
        """Return the id of each question's item about image 0, of type SUBSET."""
        return self.table.filter(pl.col("i_idx") == 0).select(list(SUBSET.columns))


def groups_of_pool(pool: Path, sources: Mapping[str, Source], limit: int | None = None) -> Groups:
    """Return the groups of a pool, at most ``limit`` of each subset.

    Groups that are not whole, or whose answers do not alternate, are left out, and the report has the reason.
    Question 0 is the one whose answer about image 0 is the first option: where a source has it as question 1,
    the two are exchanged, with a note. ``limit`` takes groups in the order of a hash of their names, so that
    fewer are some of more. Raises InputError where no group is left, and what ``read_places`` raises.
    """
    items = read_table(pool, POOL, ["id", "source", *FACTS])
    digests = _image_digests(pool, items["id"].to_list())
    facts = {row["id"]: {**row, "images": digests[row["id"]]} for row in items.iter_rows(named=True)}
    rows: list[dict[str, Any]] = []
    members: list[tuple[str, str, int, int, str]] = []
    remarks: list[tuple[str, str, str, str]] = []
    for name, source in sources.items():
        for group, placed in placed_groups(name, source).items():
            members += [(name, group, place.q_idx, place.i_idx, id_) for id_, place in placed]
            reason = problem_of(placed, facts)
            if reason is not None:
                remarks.append((str(source.path), group, "left_out", reason))
                continue
            exchanged = _answers(placed, facts)[0] == 1
            if exchanged:
                text = "its questions are exchanged: the answer of question 0 about image 0 is No or B"
                remarks.append((str(source.path), group, "note", text))
            rows += _rows(f"{name}/{group}", placed, facts, exchanged=exchanged)
    if not rows:
        first = f"; the first: group {remarks[0][1]!r} of {remarks[0][0]} {remarks[0][3]}" if remarks else ""
        raise InputError(f"{pool}: contains no group of two questions about two images{first}")
    order = {id_: number for number, id_ in enumerate(items["id"])}
    table = pl.DataFrame(rows, schema=pl.Schema(GROUPS.columns))
    kept = _limited(table, limit)
    files = {name: str(source.path) for name, source in sources.items()}
    for group in table.filter(~pl.col("group").is_in(kept.implode()))["group"].unique(maintain_order=True):
        source_name, _, own = group.partition("/")
        remarks.append((files[source_name], own, "limit", f"groups.limit is {limit} for each subset"))
    table = table.filter(pl.col("group").is_in(kept.implode()))
    table = table.sort(pl.col("id").replace_strict(order, return_dtype=pl.Int64))
    taken = set(table["id"])
    return Groups(
        table,
        [Member(*member, member[-1] in taken) for member in members],
        pl.DataFrame(remarks, schema=REPORT, orient="row"),
    )


def placed_groups(name: str, source: Source) -> dict[str, list[tuple[str, Place]]]:
    """Return the rows of each group of a source by its name, whole or not. Raises as ``read_places``."""
    found: dict[str, list[tuple[str, Place]]] = {}
    for index, place in read_places(source).items():
        found.setdefault(place.group, []).append((f"{name}/{index}", place))
    return found


def problem_of(placed: Placed, facts: Facts) -> str | None:
    """Return why these rows are no group, with how to mend it; None if they are."""
    return next(_problems(placed, facts), None)


def _problems(placed: Placed, facts: Facts) -> Iterator[str]:
    for id_, place in placed:
        if place.problem is not None:
            yield f"row {_index(id_)} {place.problem}"
    if len(placed) != len(ORDER):
        yield f"has {len(placed)} rows; give four: two questions about two images"
    numbers = sorted((place.q_idx, place.i_idx) for _, place in placed)
    if numbers != sorted(ORDER):
        yield f"has the places (q_idx, img_idx) {numbers}; give each of {sorted(ORDER)} once"
    for id_, _ in placed:
        if id_ not in facts:
            report = f"sources/{id_.partition('/')[0]}.report.csv"
            yield f"row {_index(id_)} is no item of the pool; {report} of the run has the reason, correct it"
    for id_, _ in placed:
        options = [*(facts[id_]["options"] or ())]
        if len(options) != 2:
            yield f"row {_index(id_)} has {len(options)} options; give two"
        if len({option.strip().casefold() for option in options}) == 1:
            yield f"row {_index(id_)} has the option {options[0]!r} twice; give two different ones"
        if len(facts[id_].get("images", " ")) != 1:
            yield f"row {_index(id_)} has {len(facts[id_]['images'])} images; give one"
    items = {(place.q_idx, place.i_idx): facts[id_] for id_, place in placed}
    for q in (0, 1):
        for key, name in (("question", "texts"), ("hint", "hints"), ("options", "options")):
            if items[q, 0][key] != items[q, 1][key]:
                yield f"has two {name} of question {q}; give its rows the same"
    if all(items[0, 0][key] == items[1, 0][key] for key in ("question", "hint", "options")):
        yield "has one question twice; give two"
    for i in (0, 1):
        if items[0, i].get("images") != items[1, i].get("images"):
            yield f"has two images {i}; give both questions the same file"
    if "images" in items[0, 0] and items[0, 0]["images"] == items[0, 1]["images"]:
        yield "has one image twice; give two"
    for key, words in (
        ("type", "types"),
        ("subset", "subsets"),
        ("language", "languages"),
        ("method", "methods"),
    ):
        if len({getattr(place, key) for _, place in placed}) > 1:
            yield f"has rows of two {words}; correct them"
    kind = _type(placed, facts)
    odd = [item["options"] for item in items.values() if not are_words(item["options"])]
    if odd and kind == YES_NO:
        yield f"has the type yes_no and the options {' and '.join(map(repr, odd[0]))}; give Yes and No"
    for id_, _ in placed:
        # Models are asked by the category, and their replies read by the type.
        options, category = facts[id_]["options"], facts[id_]["category"]
        if are_words(options) and (category == MULTIPLE_CHOICE) == (kind == YES_NO):
            yield (
                f"row {_index(id_)} has the options Yes and No, the category {category!r} and "
                f"the type {kind}, that of its group; give it the category {kind}"
            )
    answers = _answers(placed, facts)
    if answers not in ([0, 1, 1, 0], [1, 0, 0, 1]):
        first, second = names = ("Yes", "No") if kind == YES_NO else ("A", "B")
        shown = ", ".join("none" if answer is None else names[answer] for answer in answers)
        yield (
            f"has answers that do not alternate ({shown}); correct them to {first}, {second}, {second}, "
            f"{first} or {second}, {first}, {first}, {second}"
        )


def _index(id_: str) -> str:
    return id_.partition("/")[2]


def _answers(placed: Placed, facts: Facts) -> list[int | None]:
    """Return the right option of each place in its order: 0 is A or, of the type yes_no, Yes."""
    found = {}
    is_yes_no = _type(placed, facts) == YES_NO
    for id_, place in placed:
        answer, options = facts[id_]["answer"], facts[id_]["options"]
        is_reversed = is_yes_no and options[0].strip().lower() == "no"
        found[place.q_idx, place.i_idx] = 1 - answer if is_reversed and answer is not None else answer
    return [found[place] for place in ORDER]


def _type(placed: Placed, facts: Facts) -> str:
    """Return the type of a group: as its source has it, or by the options of both questions.

    The options alone do not tell it: of real multiple-choice groups, one has a question with Yes and No.
    """
    told = next((place.type for _, place in placed if place.type), None)
    all_words = all(are_words(facts[id_]["options"]) for id_, _ in placed)
    return told or (YES_NO if all_words else MULTIPLE_CHOICE)


def are_words(options: Sequence[str]) -> bool:
    """Return whether two options are Yes and No, in any order and case."""
    return sorted(option.strip().lower() for option in options) == ["no", "yes"]


def _rows(name: str, placed: Placed, facts: Facts, *, exchanged: bool) -> Iterator[dict[str, Any]]:
    kind = _type(placed, facts)
    for id_, place in placed:
        yield {
            "id": id_,
            "group": name,
            "q_idx": 1 - place.q_idx if exchanged else place.q_idx,
            "i_idx": place.i_idx,
            "subset": place.subset,
            "type": kind,
            "language": place.language,
            "method": place.method,
        }


def _limited(table: pl.DataFrame, limit: int | None) -> pl.Series:
    """Return the names of the groups that are taken."""
    names = table.select("group", "subset").unique(maintain_order=True)
    if limit is None:
        return names["group"]
    hashes = pl.Series("hash", [seed_of("group", name) for name in names["group"]], dtype=pl.UInt64)
    ranked = names.with_columns(hashes).sort("hash", "group")
    return ranked.filter(pl.int_range(pl.len()).over("subset") < limit)["group"]


def _image_digests(pool: Path, ids: Sequence[str]) -> dict[str, list[bytes]]:
    """Return the digests of each item's image files."""
    images = track(pool_images(pool, set(ids)), label="images", unit="items", total=len(ids))
    return {
        id_: [hashlib.blake2b(data or b"", digest_size=16).digest() for _, data in files]
        for id_, files in images
    }
