"""A job of a few seconds in each partition: is the site described well enough for jobs to run?"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import join, quote

from benchc.cluster.site import Request, Site, gpu_option, options
from benchc.cluster.states import ENDED, cancel, job_id, queue, refusal
from benchc.pluralize import pluralize

FOLDER = Path(".snakemake/site")
MEMORY_MB = 2000
MINUTES = 5
SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_FOR_FILES = 60.0  # to arrive on a shared file system, after the job has ended
START = '{"host": '  # of the line that is printed on the node
# Run on the node. It prints what a job would find there.
PROGRAM = """
import json, os, socket, sys
found = {"host": socket.gethostname(), "python": sys.version.split()[0], "unreadable": [], "gpus": []}
for path in sys.argv[1:]:
    try:
        next(os.scandir(path), None)
    except OSError as error:
        found["unreadable"].append(f"{path} ({error.strerror})")
if int(os.environ["GPUS"]):
    import torch
    found["gpus"] = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
import benchc.workflow.run
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Tried:
    """What was found in a partition. ``is_good``: None where the job has not started."""

    partition: str
    is_good: bool | None
    text: str


def try_partitions(site: Site, folders: Sequence[Path], wait_s: float) -> Iterator[Tried]:
    """Yield what a job of a few seconds found in each partition, as soon as it has ended.

    ``folders``: those that jobs must be able to read, such as models'; ``wait_s``: how long to wait for jobs
    to start. A job that has not started then is cancelled.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / ".gitignore").write_text("*\n")
    submitted: dict[str, str] = {}
    for name, limits in site.limits.items():
        asked = Request(threads=1, mem_mb=MEMORY_MB, minutes=MINUTES, gpus=min(1, limits.max_gpu))
        placed = asked.at_most(limits).model_copy(update={"partition": name})
        id_ = _submit(placed, site, folders)
        if id_.isdigit():
            submitted[name] = id_
        else:
            yield Tried(name, False, f"no job can be submitted: {id_}")
    ended: dict[str, float] = {}
    end = time.monotonic() + wait_s
    while submitted and time.monotonic() < end:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        states = queue()
        for name, id_ in list(submitted.items()):
            done = _output(name).with_suffix(".exit").exists()
            state = (states or {}).get(id_, "PENDING")
            if state in ENDED:
                ended.setdefault(name, time.monotonic())
            waits = SECONDS_FOR_FILES if state == "COMPLETED" else 0
            if done or (name in ended and time.monotonic() >= ended[name] + waits):
                del submitted[name]
                yield _tried(name, site)
    states = queue() or {}
    cancel(list(submitted.values()))
    for name, id_ in submitted.items():
        if name in ended:
            yield _tried(name, site)
            continue
        state = states.get(id_, "unknown").lower()
        text = f"the job did not end within {wait_s:.0f} s ({state}), and is cancelled; look again later"
        yield Tried(name, None, text)


def _output(partition: str) -> Path:
    return FOLDER / f"{partition}.log"


def _submit(asked: Request, site: Site, folders: Sequence[Path]) -> str:
    """Return the id of a job, or why SLURM refuses it."""
    output = _output(asked.partition)
    for old in (output, output.with_suffix(".exit")):
        old.unlink(missing_ok=True)
    given = {name.removeprefix("slurm_"): value for name, value in options(asked, site)}
    command = ["sbatch", "--parsable", f"--output={output}", "--ntasks=1", f"--mem={asked.mem_mb}"]
    command += [f"--{name}={value}" for name, value in given.items()]
    command += [f"--time={asked.minutes}", *filter(None, [gpu_option(asked.gpus, site)])]
    call = join([sys.executable, "-c", PROGRAM, str(Path.cwd()), *map(str, folders)])
    script = f"#!/bin/bash\n{site.setup or ''}\nexport GPUS={asked.gpus}\n{call}\n"
    script += f"echo $? > {quote(str(output.with_suffix('.exit').absolute()))}\n"
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    if done.returncode:
        return refusal(done.stderr) or f"sbatch ended with {done.returncode}"
    return job_id(done.stdout) or f"sbatch printed no id of a job, but {done.stdout.strip()!r}"


def _tried(partition: str, site: Site) -> Tried:
    """Return what the job of a partition printed."""
    output = _output(partition)
    lines = output.read_text(errors="replace").splitlines() if output.exists() else []
    try:
        # A site or Python itself may print more.
        found = json.loads(next(line for line in reversed(lines) if line.startswith(START)))
    except (ValueError, StopIteration):
        reason = next(filter(str.strip, reversed(lines)), "it wrote nothing")
        return Tried(partition, False, f"the job failed ({reason}); {output} has all of it")
    where = f"on {found['host']}, Python {found['python']}"
    wrong = [f"cannot read {path}" for path in found["unreadable"]]
    wants_gpu = site.limits[partition].max_gpu > 0
    if wants_gpu and not found["gpus"]:
        wrong.append("torch sees no GPU (is it a torch for CUDA, and is the driver new enough?)")
    if wrong:
        return Tried(partition, False, f"{where}: {'; '.join(wrong)}")
    gpus = f", {pluralize(len(found['gpus']), 'GPU')} ({found['gpus'][0]})" if wants_gpu else ""
    return Tried(partition, True, f"{where}{gpus}")
