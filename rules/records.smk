"""What happens before and after the jobs of a run: checks of the models, and records of the outputs.

REQUIRED INPUTS: none
OUTPUTS:
    results/*/.provenance/    a copy of Snakemake's records of the outputs in that folder
    <results>/run.json        what made each output, of which inputs, and what it cost (benchc verify)
    <results>/page/run.js     what the results page shows of it
"""

import signal
from shlex import quote

import snakemake.exceptions

OUTPUTS = [output for rule in workflow.rules for output in rule.output]

SNAKEMAKE = f"snakemake --configfile {CONFIG_FILES}"
if not Path("Snakefile").is_file():
    SNAKEMAKE += f" --snakefile {quote(workflow.main_snakefile)}"


UNLOCK = f"{SNAKEMAKE} --unlock"


def needed_files():
    """Return the outputs and inputs of the jobs that run now."""
    needing = list(workflow.dag.needrun_jobs())
    return [file for job in needing for file in job.output], [file for job in needing for file in job.input]


class LockedError(snakemake.exceptions.LockException):
    """A second Snakemake in this folder. Snakemake's own text does not say which process is the first."""

    def __init__(self):
        WorkflowError.__init__(self, owners.locked_by(*needed_files(), UNLOCK))


stopping = Stopping()
if workflow.is_main_process:
    logger.addFilter(stopping)
    # A script's background process ignores SIGINT, which is how such a run is stopped.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    snakemake.exceptions.LockException = LockedError
    if "--unlock" in sys.argv:
        owners.forget_others()
    if line := owners.unlock_if_dead(UNLOCK):
        logger.warning(line)
    is_output = lambda path: any(output.match(str(path)) for output in OUTPUTS)
    fault = records.restored(
        settings.name, is_output, bench.changed_by_people, SNAKEMAKE, owners.locked_outputs()
    )
    # Accepting files as they are gives them a record. A lock has nothing to do with records.
    if fault and not {"--touch", "-t", "--unlock"} & set(sys.argv):
        raise WorkflowError(fault)
    if not owners.is_locked() and (
        line := run_record.complete_killed(settings.name, bench.changed_by_people)
    ):
        logger.warning(line)


# Dry runs skip this: they work for a configuration that cannot be run yet.
onstart:
    if line := owners.own(*needed_files(), UNLOCK):
        raise WorkflowError(line)
    limit_local_jobs(workflow.scheduler)
    needed = [(job.rule.name, job.wildcards) for job in workflow.dag.needrun_jobs()]
    if faults := [*run.faults_of_models(), *bench.faults_at_start(needed)]:
        owners.disown()
        raise WorkflowError("\n".join(faults))
    if workflow.local_exec and not workflow.touch and "gpu" not in workflow.global_resources:
        needing = [(job.threads, job.resources.get("gpu", 0)) for job in workflow.dag.needrun_jobs()]
        if line := unlimited_gpus(needing, workflow.cores):
            logger.warning(line)
    executor = "local" if workflow.local_exec else workflow.executor_plugin.name
    if line := run_record.begin(settings.name, ["snakemake", *sys.argv[1:]], executor):
        logger.warning(line)


def end_run(result, *first):
    for finish in (
        *first,
        records.save_records,
        lambda: run_record.finish(
            settings.name,
            result,
            bench.changed_by_people,
            retries=sum(job.attempt - 1 for job in workflow.dag.jobs),
        ),
    ):
        try:
            line = finish()
        except Exception as error:  # else a run that has finished would fail
            line = f"the record of the run is not complete ({type(error).__name__}: {error})"
        if line:
            logger.warning(line)
    # Last, since the lock of a process without a record of its owner stays.
    owners.disown()


onsuccess:
    # Else the files that killed jobs were writing would stay for ever. A call that is killed meanwhile is known
    # as killed, and the next one removes them.
    outputs = (Path(output) for job in workflow.dag.jobs for output in job.output)
    end_run("finished", lambda: remove_leftovers(outputs, run_record.began()))


onerror:
    end_run("stopped" if stopping.is_asked else "failed")
    for line in bench.lines_at_error():
        print(line, file=sys.stderr)
