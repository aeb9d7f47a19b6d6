"""Compare the footers of two runs' tables."""

from collections.abc import Iterable, Mapping, Sequence

# Bookkeeping, ignored: predictions per file, and how often memory ran out.
BOOKKEEPING = {"predictions", "oom_splits"}
PRESENT, ABSENT = "present", "absent"
NAMED = 3

Footer = Mapping[str, object]
Key = tuple[str, str]  # stage and name: ("corrupted", "fog")


def differing_facts(
    a: Mapping[Key, Sequence[Footer]], b: Mapping[Key, Sequence[Footer]]
) -> list[dict[str, str]]:
    """Return the facts that differ as rows of input, fact, a, b, in the order of stages, names and facts.

    ``a`` and ``b`` are the footers of each run's tables; a name may have several, one per file of a model.
    Names of nested facts are joined by dots. A difference that several names of a stage share is one row.
    """
    names: dict[tuple[str, str, str, str], list[str]] = {}
    for key in dict.fromkeys((*a, *b)):
        stage, name = key
        if key not in a or key not in b:
            present_a, present_b = (PRESENT if key in run else ABSENT for run in (a, b))
            names.setdefault((stage, "table", present_a, present_b), []).append(name)
            continue
        facts_a, facts_b = _facts(a[key]), _facts(b[key])
        for fact in sorted(facts_a.keys() | facts_b.keys()):
            value_a, value_b = facts_a.get(fact, ABSENT), facts_b.get(fact, ABSENT)
            if value_a != value_b:
                names.setdefault((stage, fact, value_a, value_b), []).append(name)
    return [
        {"input": f"{stage}: {_listed(named)}", "fact": fact, "a": value_a, "b": value_b}
        for (stage, fact, value_a, value_b), named in names.items()
    ]


def _facts(footers: Sequence[Footer]) -> dict[str, str]:
    """Return every fact as text; different values of several footers are joined by commas."""
    values: dict[str, set[str]] = {}
    for footer in footers:
        for fact, value in flat(footer):
            if fact not in BOOKKEEPING:
                values.setdefault(fact, set()).add(value)
    return {fact: ", ".join(sorted(texts)) for fact, texts in values.items()}


def flat(footer: Footer, prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield every fact and its value as text; names of nested facts are joined by dots."""
    for key, value in footer.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, str(value)


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(names[:NAMED])
    return f"{text}, … ({len(names)})" if len(names) > NAMED else text
