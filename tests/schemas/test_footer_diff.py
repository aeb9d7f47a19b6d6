import polars as pl

from benchc.schemas.differing import differing_rows
from benchc.schemas.footer_diff import differing_facts

FOG = {"recipe": {"kernel": "fog", "noise": None}, "libraries": {"numpy": "2.4.6"}, "seed": 1}
NUMPY = {"a": "2.4.6", "b": "2.5.0"}


def test_differing_facts_are_named_and_equal_ones_joined():
    a = {("corruption", name): [FOG] for name in ("fog", "rain", "snow", "blur", "frost")}
    newer = {**FOG, "libraries": {"numpy": "2.5.0"}}
    b = {key: [newer] for key in a if key[1] != "rain"}
    b["corruption", "snow"] = [{**newer, "seed": 2}]
    for name in ("fog", "blur", "frost"):
        b["corruption", name] = [{**newer, "codec": "webp"}]
    assert differing_facts(a, a) == []
    assert differing_facts(a, b) == [
        {"input": "corruption: fog, blur, frost", "fact": "codec", "a": "absent", "b": "webp"},
        {"input": "corruption: fog, snow, blur, … (4)", "fact": "libraries.numpy"} | NUMPY,
        {"input": "corruption: rain", "fact": "table", "a": "present", "b": "absent"},
        {"input": "corruption: snow", "fact": "seed", "a": "1", "b": "2"},
    ]


def test_batches_of_a_model_count_as_one_and_their_sizes_do_not():
    a = {("target", "tiny"): [{"revision": "r1", "predictions": 10}, {"revision": "r1", "predictions": 4}]}
    b = {("target", "tiny"): [{"revision": "r1", "predictions": 14, "threads": 1}]}
    assert differing_facts(a, b) == [{"input": "target: tiny", "fact": "threads", "a": "absent", "b": "1"}]


def test_rows_that_differ_are_counted():
    a = pl.DataFrame({"id": ["x", "y", "z"], "gini": [0.1, None, 0.3], "options": [["a"], ["b"], ["c"]]})
    b = pl.DataFrame({"id": ["z", "y"], "gini": [0.3, 0.2], "options": [["c"], ["b", "d"]]})
    assert differing_rows("pool", a, a.reverse()) == []
    assert [tuple(row.values()) for row in differing_rows("pool", a, b)] == [
        ("pool", "items", "3", "2"),
        ("pool", "items that the other lacks", "1", "0"),
        ("pool", "common items with a different gini", "–", "1 of 2"),
        ("pool", "common items with a different options", "–", "1 of 2"),
    ]
