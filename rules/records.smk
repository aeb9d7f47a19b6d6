"""What happens before and after the jobs of a run: checks of the models, and records of the outputs.

REQUIRED INPUTS: none
OUTPUTS: results/*/.provenance/    a copy of Snakemake's records of the outputs in that folder
"""

import snakemake.exceptions

OUTPUTS = [output for rule in workflow.rules for output in rule.output]

UNLOCK = f"snakemake --configfile {CONFIG_FILES} --unlock"


class LockedError(snakemake.exceptions.LockException):
    """A second Snakemake in this folder. Snakemake's own text does not say which process is the first."""

    def __init__(self):
        WorkflowError.__init__(self, owners.locked_by(UNLOCK))


if workflow.is_main_process:
    snakemake.exceptions.LockException = LockedError
    if line := owners.unlock_if_dead(UNLOCK):
        logger.warning(line)
    is_output = lambda path: any(output.match(str(path)) for output in OUTPUTS)
    fault = records.restored(settings.name, is_output, bench.changed_by_people, CONFIG_FILES)
    # Accepting files as they are gives them a record. A lock has nothing to do with records.
    if fault and not {"--touch", "-t", "--unlock"} & set(sys.argv):
        raise WorkflowError(fault)


# Dry runs skip this: they work for a configuration that cannot be run yet.
onstart:
    owners.own()
    limit_local_jobs(workflow.scheduler)
    needed = [(job.rule.name, job.wildcards) for job in workflow.dag.needrun_jobs()]
    if faults := [*run.faults_of_models(), *bench.faults_at_start(needed)]:
        raise WorkflowError("\n".join(faults))
    if workflow.local_exec and not workflow.touch and "gpu" not in workflow.global_resources:
        needing = [(job.threads, job.resources.get("gpu", 0)) for job in workflow.dag.needrun_jobs()]
        if line := unlimited_gpus(needing, workflow.cores):
            logger.warning(line)


def end_run():
    owners.disown()
    if line := records.save_records():
        logger.warning(line)


onsuccess:
    end_run()
    # Else the files that killed jobs were writing would stay for ever.
    remove_leftovers(Path(output) for job in workflow.dag.jobs for output in job.output)


onerror:
    end_run()
    for line in bench.lines_at_error():
        print(line, file=sys.stderr)
