import re
from pathlib import Path

import pytest

from benchc.benchmarks.naturalbench.checking import check
from benchc.checking.check import check as check_run
from benchc.checking.finding import Finding
from benchc.checking.pool import check_pool
from benchc.checking.sources import check_sources
from benchc.config.load import Config
from scripts.commands import check as check_command
from tests.benchmarks.naturalbench.group_files import group
from tests.benchmarks.naturalbench.runs import DRAWN, config_of, curate
from tests.checking.collected import collected
from tests.endpoint.replies import replying
from tests.sources.tsv_files import image_bytes, write_tsv


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def findings(config: Config, *, network: bool = True) -> list[Finding]:
    pool = collected(check_pool(config, collected(check_sources(config))[1]))[1]
    return list(check(config, pool, load=False, network=network))


def texts(found: list[Finding], stage: str) -> list[tuple[str, str, str]]:
    return [(each.level, each.subject, each.text) for each in found if each.stage == stage]


def test_groups_are_counted_and_others_named() -> None:
    alike = {name: group(name, index, answers="ABAB") for name, index in (("y", 8), ("z", 12))}
    write_tsv(Path("nb.tsv"), [*group("x", 4), *alike["y"], *alike["z"], *group("v", 16)[:3]])
    one, two, three = texts(findings(config_of({"nb": {"path": "nb.tsv"}})), "groups")
    assert one == ("ok", "nb", "1 group") and two[:2] == three[:2] == ("warning", "nb")
    assert two[2].startswith("2 groups left out: has answers that do not alternate (Yes, No, Yes, No); ")
    assert two[2].endswith(" (first y)")
    assert three[2] == "1 group left out: has 3 rows; give four: two questions about two images (first v)"
    # A source without groups is an error.
    write_tsv(Path("nb.tsv"), group("y", 8, answers="ABAB"))
    assert texts(findings(config_of({"nb": {"path": "nb.tsv"}})), "groups")[0] == ("error", "nb", "0 groups")
    rows = [{name: value for name, value in row.items() if name != "q_idx"} for row in group("x", 4)]
    write_tsv(Path("nb.tsv"), rows)
    ((level, _, text),) = texts(findings(config_of({"nb": {"path": "nb.tsv"}})), "groups")
    assert level == "error" and "has some of the columns group, q_idx and img_idx, but no q_idx" in text
    # Tags are read.
    write_tsv(Path("nb.tsv"), group("x", 4))
    config = config_of({"nb": {"path": "nb.tsv"}}, groups={"tags": "tags.csv"})
    assert texts(findings(config), "groups")[1][:2] == ("error", "tags")
    Path("tags.csv").write_text("group,q_idx,i_idx,skill\nx,0,0,food\nx,0,0,human\nx,1,0,food\n")
    assert texts(findings(config), "groups")[1] == ("ok", "tags", "3 tags of 2 items, in tags.csv")
    Path("tags.csv").write_text("group,q_idx,i_idx,skill\nu,0,0,food\n")
    assert "there is no group 'u'" in texts(findings(config), "groups")[1][2]
    absent = {"nb": {"path": "nb.tsv"}, "far": {"url": "http://127.0.0.1:9/far.tsv"}}
    config = config_of(absent, groups={"tags": "tags.csv"})
    assert texts(findings(config), "groups")[1][0] == "skipped"


def write_captions(*rows: str) -> None:
    """Write own.csv, and the folder photos with two images."""
    Path("own.csv").write_text("\n".join(["image,caption", *rows]))
    Path("photos").mkdir(exist_ok=True)
    for number in (1, 2):
        Path(f"photos/{number}.png").write_bytes(image_bytes((number, 0, 0)))


ENCODERS = {"clip": {"label": "CLIP", "name": "ViT-B-32-quickgelu", "pretrained": "openai"}}


def of_curation(*, network: bool = False, **changes: object) -> list[Finding]:
    return findings(config_of(encoders=ENCODERS, curate=curate(**changes)), network=network)


def absent(key: str, file: str) -> str:
    return f"{key} names {file}, which does not exist; correct the path"


def test_missing_files_of_curation_are_errors() -> None:
    templates = {"yes_no": "template.txt", "multiple_choice": "template.txt"}
    found = of_curation(release={"older": ["old.tsv"]}, writer={"templates": templates})
    errors = [(each.stage, each.subject, each.text) for each in found if each.level == "error"]
    assert errors == [
        ("captions", "own", absent("curate.captions.own.file", "own.csv")),
        ("captions", "own", absent("curate.captions.own.images", "photos")),
        *(("writer", kind, absent(f"curate.writer.templates.{kind}", "template.txt")) for kind in templates),
        ("release", "older", absent("curate.release.older", "old.tsv")),
    ]
    for name in ("old.tsv", "template.txt"):
        Path(name).write_text("x")
    write_captions("1.png,A dog", "2.png,A cat")
    found = of_curation(release={"older": ["old.tsv"]}, writer={"templates": templates})
    assert not [each for each in found if each.level == "error"]
    # Captions are read, and rejected rows counted.
    write_captions("1.png,A dog", "2.png,A cat", "2.png,A black cat")
    assert texts(of_curation(), "captions") == [("ok", "own", "2 samples, own.csv")]
    found = texts(of_curation(mine={"encoders": ["clip"], "captions": "all"}), "captions")
    assert found == [("ok", "own", "3 samples, own.csv")]
    write_captions("1.png,A dog", "3.png,A cow", "2.png,A cat", "2.png,")
    ok, rejected = texts(of_curation(), "captions")
    assert ok == ("ok", "own", "2 samples, own.csv") and rejected[:2] == ("warning", "own")
    assert rejected[2].startswith("2 rows rejected, the first in line 3: image '3.png' is no file below")
    # Captions that give no sample are an error.
    write_captions("3.png,A cow")
    ((level, _, text),) = texts(of_curation(), "captions")
    assert level == "error" and text.startswith("own.csv: none of its rows became a sample; ")
    Path("own.csv").write_text("file,caption\n")
    ((level, _, text),) = texts(of_curation(), "captions")
    assert level == "error" and text.startswith("own.csv: has no column 'image'; its columns are file, ")


def test_a_run_that_only_curates_can_be_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = config_of(encoders=ENCODERS, curate=curate())
    monkeypatch.setattr(check_command, "read_config", lambda _: config)
    with pytest.raises(SystemExit):
        check_command.check(Path("mine.yaml"), no_models=True, no_network=True)
    assert re.search(r"\n  skipped +all +the run has no sources\n", capsys.readouterr().out)


def test_the_encoders_that_the_run_uses_are_looked_at() -> None:
    encoders = {
        **ENCODERS,
        "far": {"label": "Far", "name": "models/own/clip"},
        "made": {"label": "Made", "name": "trained"},
        "unused": {"label": "Unused", "name": "models/other/clip"},
    }
    retrieval = {"encoders": ["far", "clip", "made"]}
    config = config_of(encoders=encoders, curate=curate(captions=DRAWN), retrieval=retrieval)
    used, far, made = texts(findings(config), "encoders")
    assert used == ("skipped", "clip", "open_clip ViT-B-32-quickgelu openai: was not loaded")
    assert far[:2] == ("error", "far") and far[2].startswith("there is no folder models/own/clip; ")
    assert made == ("made", "made", "made by the run")


@pytest.mark.parametrize(("on_gpu", "gpus"), [("clip", 1), ("far", 1), ("unused", 0)])
def test_the_gpus_of_encoders_that_the_run_uses_count(on_gpu: str, gpus: int) -> None:
    ids = ("clip", "far", "unused")
    encoders = {id_: {"label": id_, "name": "models/clip", "gpus": int(id_ == on_gpu)} for id_ in ids}
    config = config_of(encoders=encoders, curate=curate(captions=DRAWN), retrieval={"encoders": ["far"]})
    assert config.settings.encoder_gpus == gpus


def test_groups_that_are_left_out_are_not_planned() -> None:
    write_tsv(Path("nb.tsv"), [*group("x", 4), *group("y", 8, answers="ABAB")])
    config = config_of({"nb": {"path": "nb.tsv"}}, {"m": "letter"})
    pool = collected(check_pool(config, collected(check_sources(config))[1]))[1]
    size = collected(check(config, pool, load=False))[1]
    assert pool.size is not None and pool.size.pool.value == 8
    assert size is not None and size.pool.value == 4 and len(size.options or {}) == 4
    assert size.images is pool.size.images
    # The prompt that shortens captions is looked for.
    found = of_curation(shorten={"template": "short.txt"})
    assert ("error", "shorten", absent("curate.shorten.template", "short.txt")) in texts(found, "writer")


def test_the_translator_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(network: bool = True, **translate: object) -> list[tuple[str, str, str]]:
        given = {"model": "gpt", "api_key_env": None, "template": "t.txt", **translate}
        config = config_of(models={"m": "letter"}, translate=given)
        return texts(findings(config, network=network), "translator")

    Path("t.txt").write_text("{text}")
    with replying((200, {}, '{"choices": []}')) as server:
        assert found(url=server.url) == [
            ("ok", "template", "t.txt"),
            ("ok", "gpt", f"answers at {server.url}, mode record"),
        ]
        ((_, _, body, _),) = server.requests
        assert body["model"] == "gpt"
        # Neither where no network is wanted, nor in a replay.
        assert found(network=False, url=server.url)[1][0] == "skipped"
        level, _, text = found(mode="replay", url=server.url)[1]
        assert level == "error" and "results/trial/translated/recordings has no replies" in text
        assert len(server.requests) == 1
    monkeypatch.delenv("OWN_KEY", raising=False)
    assert "OWN_KEY is not set" in found(api_key_env="OWN_KEY")[1][2]
    expected = ("error", "template", absent("translate.template", "u.txt"))
    assert found(network=False, template="u.txt")[0] == expected


@pytest.mark.parametrize(("languages", "errors"), [(("English", "english"), 1), (("English", "Hindi"), 0)])
def test_a_set_in_english_has_nothing_to_translate(languages: tuple[str, str], errors: int) -> None:
    Path("t.txt").write_text("{text}")
    rows = [
        row | {"language": language}
        for name, number, language in zip("xy", (4, 8), languages, strict=True)
        for row in group(name, number)
    ]
    write_tsv(Path("nb.tsv"), rows)
    given = {"model": "gpt", "api_key_env": None, "template": "t.txt"}
    config = config_of({"nb": {"path": "nb.tsv"}}, models={"m": "letter"}, translate=given)
    found = texts(findings(config, network=False), "translator")
    nothing = "all groups are in English, so that nothing can be translated; give translate: null"
    assert [text for level, _, text in found if level == "error"] == [nothing] * errors


def test_the_writer_needs_its_key_or_its_recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    def last(**writer: object) -> tuple[str, str]:
        level, subject, text = texts(of_curation(writer=writer, network=True), "writer")[-1]
        assert subject == "writer"
        return level, text

    monkeypatch.delenv("OWN_KEY", raising=False)
    assert last(api_key_env="OWN_KEY")[0] == "error"
    monkeypatch.setenv("OWN_KEY", "x y")
    assert last(api_key_env="OWN_KEY")[0] == "error" and "is no key" in last(api_key_env="OWN_KEY")[1]
    monkeypatch.setenv("OWN_KEY", "x" * 8)
    with replying((200, {}, '{"choices": []}')) as server:
        assert last(api_key_env="OWN_KEY", url=server.url) == ("ok", f"answers at {server.url}, mode record")
        ((method, path, body, headers),) = server.requests
    assert (method, path, body["model"]) == ("POST", "/chat/completions", "writer")
    assert headers["Authorization"] == f"Bearer {'x' * 8}"
    # It has gone.
    level, text = last(api_key_env="OWN_KEY", url=server.url)
    assert level == "error" and "no server answers" in text and "correct `url`" in text
    with replying((404, {}, '{"error": "no such model"}')) as server:
        level, text = last(api_key_env="OWN_KEY", url=server.url)
    assert level == "error" and "no such model" in text
    not_asked = "was not asked at https://api.openai.com/v1, mode record"
    assert texts(of_curation(), "writer")[-1] == ("skipped", "writer", not_asked)
    # A key is not needed to replay.
    monkeypatch.delenv("OWN_KEY")
    replay = {"mode": "replay", "api_key_env": "OWN_KEY"}
    level, text = last(**replay)
    assert level == "error" and "results/trial/curate/recordings has no replies" in text
    Path("kept").mkdir()
    assert last(**replay, recordings="kept")[0] == "error"
    Path("kept/1.json").write_text("{}")
    assert last(**replay, recordings="kept") == ("ok", "replies are in kept")
    made = of_curation(captions=DRAWN, writer={"mode": "replay"})
    assert ("made", "writer", "replies are made by the run") in texts(made, "writer")


def test_reviews_that_are_missing_are_named_by_round() -> None:
    for name in ("pairs/ann", "pairs/bob", "0/ann"):
        path = Path(f"reviews/{name}.csv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("id,annotator,answer\n")
    found = texts(of_curation(writer={"more_rounds": 1}), "reviews")
    assert [each[:2] for each in found] == [("ok", "pairs"), ("note", "round 0"), ("note", "round 1")]
    assert found[1][2].startswith("reviews/0/bob.csv not here yet: ")
    assert found[2][2].startswith("reviews/1/ann.csv, reviews/1/bob.csv not here yet: ")
    assert "results/trial/curate/review/1" in found[2][2]
    Path("reviews/0/bob.csv").write_bytes("id,annotator,answer\n".encode("utf-16"))
    (level, subject, text), *rest = texts(of_curation(writer={"more_rounds": 0}), "reviews")[1:]
    assert (level, subject, rest) == ("error", "round 0", []) and "bob.csv: cannot be read as CSV" in text
    Path("reviews/0/bob.csv").unlink()
    found = texts(of_curation(writer={"more_rounds": 0}, review={"pairs": False}), "reviews")
    assert [each[1] for each in found] == ["round 0"]
    made = texts(of_curation(captions=DRAWN, writer={"more_rounds": 1}), "reviews")
    assert [each[0] for each in made] == ["ok", "made", "made"]


def test_reviews_are_compared_with_the_forms_of_the_run() -> None:
    forms, reviews = Path("results/trial/curate/review/pairs"), Path("reviews/pairs")
    for path in (forms, reviews):
        path.mkdir(parents=True)
    rows = [f"r{number}a" for number in range(6)]
    for name in ("ann", "bob"):
        lines = [f"{row},{name},Yes / No," for row in rows]
        (forms / f"{name}.csv").write_text("\n".join(["id,annotator,choices,answer", *lines]))
        answers = [f"{row},{name},No" for row in rows]
        (reviews / f"{name}.csv").write_text("\n".join(["id,annotator,answer", *answers]))
    asked = {"writer": {"more_rounds": 0}}
    whole = ("ok", "pairs", "of ann, bob, as its forms ask")
    assert texts(of_curation(**asked), "reviews")[0] == whole
    wrong = ["id,annotator,answer", "r0a,ann,Maybe", *[f"r{n}a,ann,No" for n in (1, 2)], "r9a,ann,No"]
    (reviews / "ann.csv").write_text("\n".join(wrong))
    maybe, unknown, lacking, _ = texts(of_curation(**asked), "reviews")
    assert maybe[:2] == unknown[:2] == ("error", "pairs")
    assert "row 2: the answer 'Maybe' is none of Yes, No" in maybe[2]
    assert "row 5: id 'r9a' is not in round pairs" in unknown[2]
    assert lacking[:2] == ("note", "pairs")
    assert lacking[2].startswith("ann: 3 of 6 rows without an answer (first: r3a): the run stops until")


def test_files_of_retrieval_must_exist() -> None:
    config = config_of(encoders=ENCODERS, retrieval={"encoders": ["clip"], "pairs": "p.csv", "images": "."})
    missing = ("error", "pairs", absent("retrieval.pairs", "p.csv"))
    assert texts(findings(config), "retrieval") == [missing, ("ok", "images", ".")]
    # The command has these checks.
    write_tsv(Path("nb.tsv"), group("x", 4))
    found = list(check_run(config_of({"nb": {"path": "nb.tsv"}}), load=False))
    assert ("ok", "nb", "1 group") in texts(found, "groups")
    assert not [each for each in found if each.level == "error"]
    # A run that curates alone can be checked.
    config = config_of(encoders=ENCODERS, curate=curate(captions=DRAWN))
    found = list(check_run(config, load=False, network=False))
    errors = {each.stage for each in found if each.level == "error"}
    assert not errors and texts(found, "captions") == [("made", "drawn", "12 images, made by the run")]


@pytest.mark.parametrize("absolute", [True, False])
def test_groups_that_the_run_makes_are_no_missing_source(folder: Path, absolute: bool) -> None:
    name = "results/trial/curate/groups.tsv"
    made = {"own": {"path": str(folder / name) if absolute else name}}
    config = config_of(made, encoders=ENCODERS, curate=curate(captions=DRAWN))
    found, items = collected(check_sources(config))
    assert items == {}
    assert texts(found, "sources") == [("made", "own", "results/trial/curate/groups.tsv, made by the run")]
    # Once they are here, they are read.
    path = folder / "results/trial/curate/groups.tsv"
    path.parent.mkdir(parents=True)
    write_tsv(path, group("x", 4))
    assert texts(findings(config), "groups") == [("ok", "own", "1 group")]
    # A run that curates nothing cannot make them.
    path.unlink()
    assert texts(collected(check_sources(config_of(made)))[0], "sources")[0][0] == "error"
