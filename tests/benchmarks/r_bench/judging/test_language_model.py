"""The judge that is a language model, behind a real server on this machine."""

import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchc.benchmarks.r_bench.judging.comparisons import comparisons, read_items, replies_of_run
from benchc.benchmarks.r_bench.judging.judgement import judged
from benchc.benchmarks.r_bench.judging.judges import open_judge
from benchc.benchmarks.r_bench.judging.language_model import most_requests, read_score
from benchc.benchmarks.r_bench.judging.options import JudgeOptions
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.endpoint.service import Service
from benchc.errors import InputError
from benchc.schemas.assignment import read_assignment
from benchc.schemas.parquet import read_footer, read_table
from tests.benchmarks.made import chat
from tests.benchmarks.r_bench.judging.replied import PAIRS, written
from tests.endpoint.replies import ReplyingServer, replying
from tests.stages import call_stage

# Of the replies that no letter decides: dis of b, whose com is the same request, all three of c, and dis and
# ref (two captions each) and com of d.
REQUESTS = 5 * (1 + 3) + 2 * 2 + 5

# The prompts as the authors' notebook prints them, with the texts of the small run.
LINE = "\n" + 12 * " "
MCQ_PROMPT = (
    "You will now be provided with a question [Which one?] and a set of options [A.red; B.blue] with "
    f"option [A] being the correct answer.{LINE}Additionally, there will be an answer [It looks red.] "
    "provided by a respondent. Please determine whether the respondent's answer is correct considering the "
    f"context of the question.{LINE}Even if the word choice is not completely the same, you can decide based "
    "on the given options and see whether the one in the answer is close enough to the given correct answer"
    f"{LINE}The result is 1 if the answer is correct and else the result is 0. Please only provide the "
    "result in the following format: Score:"
)
CAP_PROMPT = LINE.join(
    (
        "Evaluate whether the sentence [a dog] completely matches the correct answer [A dog runs.]. ",
        "First, check the response and please rate score 0 if the response is not a valid answer.",
        "Please rate score 2 if the response completely or almost completely matches the correct answer on "
        "completeness, accuracy, and relevance. ",
        "Please rate score 1 if the response partly matches the correct answer on completeness, accuracy, "
        "and relevance.",
        "Please rate score 0 if the response doesn't match the correct answer on completeness, accuracy, "
        "and relevance at all.",
        "Please only provide the result in the following format: Score:",
    )
)


def by_request(_: Any, body: Any) -> tuple[int, dict[str, str], str]:
    """Reply with a score that prompt and seed decide."""
    prompt, seed = body["messages"][1]["content"], body["seed"]
    return chat(f"Score: {(len(prompt) + seed) % 2}")


def judge(folder: Path, url: str, mode: Any = "record", key: str | None = None, **judge: Any) -> pl.DataFrame:
    folder.mkdir(exist_ok=True)
    kept = {"recordings": None if mode == "live" else folder / "kept", "concurrency": 4, "timeout_s": 1.0}
    service = Service(mode=mode, url=url, api_key_env=key, **kept)
    options = {f"judge.{name}": value for name, value in judge.items()}
    output = folder / "judged.parquet"
    call_stage("r_bench.judge", **written(folder), **options, service=service, output=output)
    return read_table(output, JUDGE_SCORES)


def with_server(folder: Path, *replies: Any, **options: Any) -> tuple[pl.DataFrame, ReplyingServer]:
    with replying(*replies) as server:
        return judge(folder, f"{server.url}/v1", **options), server


def test_requests_and_scores_are_those_of_the_authors(tmp_path) -> None:
    table, server = with_server(tmp_path, by_request)
    bodies = [body for _, path, body, _ in server.requests if path == "/v1/chat/completions"]
    assert len(bodies) == REQUESTS
    prompts = {(body["messages"][1]["content"], body["seed"]) for body in bodies}
    assert {(MCQ_PROMPT, seed) for seed in range(5)} | {(CAP_PROMPT, 0)} <= prompts
    assert (CAP_PROMPT, 1) not in prompts
    for body in bodies:
        assert body["messages"][0] == {"role": "system", "content": "You are a helpful assistant."}
        assert body["model"] == "gpt-3.5-turbo" and body["temperature"] == 1
    five = table.filter(id="s/b", kind="dis")
    expected = [(len(MCQ_PROMPT) + seed) % 2 for seed in range(5)]
    assert five["score"].to_list() == expected and five["repeat"].to_list() == [0, 1, 2, 3, 4]
    assert five["request_key"].n_unique() == 5 and five["judge"].unique().to_list() == ["llm"]
    assert all((tmp_path / "kept" / key[:2] / f"{key}.json").is_file() for key in five["request_key"])
    assert table.filter(judge="letter").height == 4
    # The plan's number is an upper bound: letters decide four of its comparisons, and two are one request.
    items = {"mcq": 2, "vqa": 1, "cap": 1}
    most = most_requests(items, items, JudgeOptions(), captions=2)  # type: ignore[arg-type]
    assert sum(most.values()) == REQUESTS + 4 * 5 + 5

    # The authors need 22,275 at most.
    tasks: Any = {"mcq": 495, "vqa": 495, "cap": 495}
    assert sum(most_requests(tasks, tasks, JudgeOptions()).values()) == 22_275
    for kind in ("rule", "human"):
        assert sum(most_requests(tasks, tasks, JudgeOptions(kind=kind)).values()) == 0


def test_with_always_letters_are_judged_as_well_and_kept(tmp_path) -> None:
    table, server = with_server(tmp_path, by_request, always=True)
    assert len(server.requests) == REQUESTS + 4 * 5
    key = ["id", "corruption", "severity", "kind", "reference"]
    by_letter, by_judge = (table.filter(judge=one).select(key).unique() for one in ("letter", "llm"))
    assert by_letter.height == 4 and by_letter.join(by_judge, on=key, how="anti").is_empty()


def slow(*_: Any) -> tuple[int, dict[str, str], str]:
    time.sleep(1.5)
    return chat("late")


def test_failures_that_pass_change_no_score(tmp_path, capfd) -> None:
    calm, _ = with_server(tmp_path / "calm", by_request)
    garbage = (200, {}, "<html>busy</html>")
    failures = [slow, (429, {"Retry-After": "0"}, "{}"), (500, {}, "oops"), garbage, None]
    rough, server = with_server(tmp_path / "rough", *failures, by_request)
    assert rough.equals(calm) and len(server.requests) == REQUESTS + len(failures)


def test_a_job_that_died_half_way_resumes_with_equal_scores(tmp_path, monkeypatch) -> None:
    calm, _ = with_server(tmp_path / "calm", by_request)
    refused = (401, {}, '{"error": "key"}')
    with pytest.raises(InputError, match="refuses access"):
        with_server(tmp_path / "killed", *[by_request] * 10, refused)
    kept = len(list((tmp_path / "killed/kept").rglob("*.json")))
    assert 10 <= kept < REQUESTS and not (tmp_path / "killed/judged.parquet").exists()
    resumed, server = with_server(tmp_path / "killed", by_request)
    assert resumed.equals(calm) and len(server.requests) == REQUESTS - kept
    replayed = judge(tmp_path / "killed", "http://another.invalid:1", mode="replay")
    assert replayed.equals(calm)
    # A reply that was not recorded is named.
    key = resumed["request_key"].drop_nulls()[3]
    (tmp_path / "killed/kept" / key[:2] / f"{key}.json").unlink()
    with pytest.raises(InputError, match=rf"{key}\.json: no answer to this request .* record it"):
        judge(tmp_path / "killed", "http://another.invalid:1", mode="replay")


def test_the_key_is_in_no_file(tmp_path, monkeypatch, capfd) -> None:
    secret = "sk-very-secret-5f2c"
    monkeypatch.setenv("JUDGE_KEY", secret)

    def echo(headers: Any, body: Any) -> tuple[int, dict[str, str], str]:
        assert headers["Authorization"] == f"Bearer {secret}"
        return chat(f"{headers['Authorization']}\nScore: 1")

    with_server(tmp_path, echo, key="JUDGE_KEY")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > REQUESTS and not [path for path in files if secret.encode() in path.read_bytes()]
    assert secret not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "reply",
    [
        chat(""),
        chat("I cannot rate this."),
        chat("Score: 1", finish="length"),
        chat("Score: 7"),
        (400, {}, '{"error": {"code": "content_filter", "message": "no"}}'),
    ],
    ids=["empty", "refusal", "cut", "no score", "filtered"],
)
def test_a_reply_without_a_score_is_0_and_counted(tmp_path, capfd, reply) -> None:
    table, _ = with_server(tmp_path, reply)
    unreadable = table.filter(~pl.col("readable"))
    assert unreadable.height == table.height - 4 and unreadable["score"].sum() == 0
    footer = read_footer(tmp_path / "judged.parquet")
    # Of all that the judge gave: the four letters are none of them.
    assert footer["unreadable"] == footer["judgements"] == unreadable.height
    error = capfd.readouterr().err
    assert f"warning: m: {unreadable.height} judgements (100.0%)" in error and "counted as 0" in error


def test_a_server_that_refuses_all_requests_stops_the_job(tmp_path) -> None:
    with pytest.raises(InputError, match=r"^gpt-3.5-turbo: the server refuses a request .* correct `model`"):
        with_server(tmp_path, (404, {}, '{"error": {"message": "no such model"}}'))


@pytest.mark.parametrize(
    ("reply", "task", "last_line", "last_char"),
    [
        ("2", "vqa", 2, 2),
        ("Score: 1\n", "mcq", 1, 1),
        ("Score: 2", "mcq", None, None),
        ("The response is 2 words.\nScore: 1", "vqa", 1, 1),
        ("Score: 2.", "vqa", 2, None),
        ("Score: 1/2", "vqa", 1, 2),
        ("Score: 1.5", "vqa", None, None),
        ("Score: 1,5", "vqa", None, None),
        ("Score: 2.0", "vqa", 2, 0),
        ("Score: 1.05", "vqa", None, None),
        ("Score: -1", "vqa", None, 1),
        ("Score-1", "vqa", 1, 1),
        ("Score: two", "vqa", None, None),
        ("Score: \N{FULLWIDTH DIGIT ONE}", "vqa", None, None),
        ("2\nThank you.", "vqa", None, None),
        ("Score: 10", "cap", None, 0),
        ("Score:", "cap", None, None),
        ("", "cap", None, None),
    ],
)
def test_the_score_in_a_reply(reply, task, last_line, last_char) -> None:
    assert read_score(reply, task, "last_line") == last_line
    assert read_score(reply, task, "last_char") == last_char


def test_equal_requests_are_sent_once(tmp_path) -> None:
    same = [PAIRS[2]._replace(dis="x", ref="x"), PAIRS[3]]
    files = written(tmp_path, same)
    replies = replies_of_run(files["answers"], read_assignment(files["assignment"], {"jpeg": [1, 2, 3]}))
    asked = [*comparisons(replies, read_items(files["pool"], files["references"], files["tasks"]))]
    with replying(by_request) as server:
        service = Service(mode="live", url=f"{server.url}/v1")
        with open_judge(JudgeOptions(), service, None, "m", 1, asked) as judge:
            found = judged(asked, judge, "llm", always=False)
    # dis and ref of c are one request a repeat; com has another right answer.
    assert len(server.requests) == 5 + 5 + 2 * 2 + 5
    table = found.filter(id="s/c")
    dis, ref = (table.filter(kind=kind)["score"].to_list() for kind in ("dis", "ref"))
    assert dis == ref and len(dis) == 5
