"""A real SLURM on this machine, of Debian's packages: three nodes, two partitions, GPUs that are scheduled.

`python -m tests.workflow.slurm.cluster FOLDER` starts it, and stops it after Ctrl-C.
Its daemons run as root. The GPUs are files beside /dev/null, which jobs get and hold like real ones.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

ETC = Path("/etc/slurm")
SECONDS_TO_START = 60.0
# A job that is put back into the queue waits as long.
SECONDS_UNTIL_AGAIN = 30
PACKAGES = ("munge", "slurmctld", "slurmd", "slurm-client", "slurmdbd", "mariadb-server-core")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sinfo", "slurmdbd", "mariadbd")
CGROUPS = Path("/sys/fs/cgroup")
REFUSE = """
function slurm_job_submit(job, partition, user)
    if %s then
        slurm.log_user("this site demands an account, a qos, and --gres=gpu:TYPE:N in place of --gpus")
        return slurm.ERROR
    end
    return slurm.SUCCESS
end
function slurm_job_modify(job, record, partition, user)
    return slurm.SUCCESS
end
return slurm.SUCCESS
"""


@dataclass(frozen=True)
class Settings:
    """A site.

    Attributes:
        accounting: whether a database keeps ended jobs
        demand_account: whether jobs without account and qos are refused
        refuse_gpus: whether sbatch refuses --gpus, and takes --gres
        min_job_age: seconds for which SLURM remembers a job that has ended
        max_time: of a job, as SLURM writes it
        cores, memory_mb: of each node, more than this machine has
        gpus: of the third node, of type h100
        preempt: whether a third partition, "urgent", puts jobs of the others back into the queue
    """

    accounting: bool = True
    demand_account: bool = False
    refuse_gpus: bool = False
    min_job_age: int = 300
    max_time: str = "1-00:00:00"
    cores: int = 8
    memory_mb: int = 16_000
    gpus: int = 2
    preempt: bool = False
    account: str = "project"


def is_possible() -> bool:
    """Return whether the packages are installed and this process may start their daemons."""
    return os.getuid() == 0 and all(shutil.which(name, path=search_path()) for name in PROGRAMS)


def search_path() -> str:
    """Return the path with the folder of daemons, which users' paths lack."""
    return os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])


class Cluster:
    """A running SLURM below a folder, reached by its commands while the link in /etc/slurm is there."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.port = _free_ports(8)
        self.memory_is_limited = _cgroups_v1()

    def up(self) -> None:
        """Start the daemons, and wait until the nodes are idle."""
        for name in ("run", "log", "state", "devices", *(f"spool/node{n}" for n in (1, 2, 3))):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for number in range(self.settings.gpus):
            subprocess.run(["mknod", str(self._device(number)), "c", "1", "3"], check=True)
        self._write_configuration()
        self._start_munge()
        if self.settings.accounting:
            self._start_database()
        self.start_controller()
        for number in (1, 2, 3):
            self.start_node(number)
        self.wait_for(self._is_idle, "the nodes to be idle")

    def down(self) -> None:
        """Cancel all jobs, stop the daemons, and remove the link."""
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(["scancel", "--user", "root"], timeout=10, capture_output=True, check=False)
        for name in reversed([*self.processes]):
            self.stop(name)
        if (ETC / "slurm.conf").resolve() == self.folder / "slurm.conf":
            (ETC / "slurm.conf").unlink()
        os.environ.pop("SLURM_CONF", None)

    def stop(self, name: str, signal_: int = signal.SIGTERM) -> None:
        """Stop one daemon."""
        process = self.processes.pop(name)
        process.send_signal(signal_)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def start_controller(self) -> None:
        """Start slurmctld."""
        self._start("slurmctld", ["slurmctld", "-D", "-f", str(self.folder / "slurm.conf")])
        self.wait_for(lambda: "is UP" in said("scontrol", "ping"), "slurmctld")

    def start_node(self, number: int) -> None:
        """Start a node's slurmd."""
        name = f"node{number}"
        self._start(name, ["slurmd", "-D", "-N", name, "-f", str(self.folder / "slurm.conf")])

    def wait_for(self, is_there: Callable[[], bool], what: str, seconds: float = SECONDS_TO_START) -> None:
        """Wait until a condition holds. Raises TimeoutError with the daemons' last lines."""
        end = time.monotonic() + seconds
        while not is_there():
            if time.monotonic() > end:
                logs = "\n".join(
                    f"{log.name}: {line}"
                    for log in sorted((self.folder / "log").iterdir())
                    for line in log.read_text(errors="replace").splitlines()[-4:]
                )
                raise TimeoutError(f"waited {seconds:.0f} s for {what}\n{logs}")
            time.sleep(0.2)

    def _is_idle(self) -> bool:
        states = said("sinfo", "--noheader", "--Node", "--format=%N %T").split("\n")
        return len({line for line in states if line.endswith(" idle")}) == 3

    def _start(self, name: str, command: list[str]) -> None:
        with (self.folder / "log" / f"{name}.log").open("ab") as log:
            program = shutil.which(command[0], path=search_path())
            assert program is not None
            self.processes[name] = subprocess.Popen(
                [program, *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder / "state",
                env={**os.environ, "PATH": search_path()},
                # Ctrl-C of a test is not for them.
                start_new_session=True,
            )

    def _device(self, number: int) -> Path:
        return self.folder / "devices" / f"gpu{number}"

    def _start_munge(self) -> None:
        key, socket_ = self.folder / "munge.key", self.folder / "run/munge"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        files = [f"--{name}-file={self.folder / 'run' / f'munge.{name}'}" for name in ("pid", "seed")]
        log = f"--log-file={self.folder / 'log/munge.log'}"
        options = ["--foreground", "--force", f"--key-file={key}", f"--socket={socket_}", *files, log]
        self._start("munged", ["munged", *options])
        self.wait_for(socket_.exists, "munge")

    def _start_database(self) -> None:
        data, socket_ = self.folder / "database", self.folder / "run/mariadb"
        create = shutil.which("mariadb-install-db", path=search_path())
        assert create is not None
        options = ["--no-defaults", "--user=root", f"--datadir={data}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([create, *options, "--skip-test-db"], check=True, **quiet)  # type: ignore[call-overload]
        options += [f"--socket={socket_}", "--bind-address=127.0.0.1", f"--port={self.port[1]}"]
        options += ["--skip-name-resolve", "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900"]
        self._start("mariadbd", ["mariadbd", *options])
        sql = ["mariadb", "--no-defaults", f"--socket={socket_}", "--execute"]
        ask = lambda text: subprocess.run([*sql, text], capture_output=True, check=False).returncode == 0  # noqa: E731
        self.wait_for(lambda: ask("select 1"), "mariadbd")
        password = secrets.token_hex()
        made = ask(
            "create database slurm_acct_db; "
            f"create user slurm@127.0.0.1 identified by '{password}'; "
            "grant all on slurm_acct_db.* to slurm@127.0.0.1"
        )
        assert made, "the database refused its tables"
        configuration = self.folder / "slurmdbd.conf"
        configuration.write_text(
            f"AuthType=auth/munge\nAuthInfo=socket={self.folder}/run/munge\nDbdHost=localhost\n"
            f"DbdPort={self.port[2]}\nSlurmUser=root\nStorageType=accounting_storage/mysql\n"
            f"StorageHost=127.0.0.1\nStoragePort={self.port[1]}\nStorageUser=slurm\n"
            f"StoragePass={password}\nStorageLoc=slurm_acct_db\nPidFile={self.folder}/run/slurmdbd.pid\n"
        )
        configuration.chmod(0o600)
        self._start("slurmdbd", ["slurmdbd", "-D"])
        self.wait_for(lambda: bool(said("sacctmgr", "--noheader", "show", "user")), "slurmdbd")
        for entry in (
            ["cluster", "test"],
            ["account", self.settings.account],
            ["user", "root", f"account={self.settings.account}"],
        ):
            said("sacctmgr", "--immediate", "add", *entry)

    def _write_configuration(self) -> None:
        ask = self.settings
        text = f"""
ClusterName=test
SlurmctldHost={socket.gethostname().partition(".")[0]}(127.0.0.1)
SlurmctldPort={self.port[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={self.folder}/run/munge,cred_expire={SECONDS_UNTIL_AGAIN}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={self.folder}/state
SlurmctldPidFile={self.folder}/run/slurmctld.pid
SlurmdPidFile={self.folder}/run/%n.pid
SlurmdSpoolDir={self.folder}/spool/%n
SlurmdParameters=config_overrides
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin={"task/cgroup" if self.memory_is_limited else "task/none"}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_min_interval=100000,bf_interval=2
GresTypes=gpu
ReturnToService=2
SlurmctldTimeout=60
SlurmdTimeout=30
KillWait=3
MinJobAge={ask.min_job_age}
JobRequeue={int(ask.preempt)}
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
"""
        if not self.memory_is_limited:
            text += "JobAcctGatherParams=OverMemoryKill\n"
        refused = {
            "job.tres_per_job ~= nil and string.find(job.tres_per_job, 'gpu')": ask.refuse_gpus,
            "job.account == nil or job.qos == nil": ask.demand_account,
        }
        if condition := " or ".join(part for part, is_refused in refused.items() if is_refused):
            text += "JobSubmitPlugins=lua\n"
            (self.folder / "job_submit.lua").write_text(REFUSE % condition)
        if ask.accounting:
            text += "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
            text += f"AccountingStoragePort={self.port[2]}\nAccountingStorageTRES=gres/gpu,gres/gpu:h100\n"
            text += f"AccountingStoragePass={self.folder}/run/munge\nAccountingStoreFlags=job_comment\n"
        if ask.preempt:
            text += "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
        host = socket.gethostname().partition(".")[0]
        for number in (1, 2, 3):
            gpus = f" Gres=gpu:h100:{ask.gpus}" if number == 3 and ask.gpus else ""
            text += (
                f"NodeName=node{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={self.port[2 + number]} "
                f"CPUs={ask.cores} Boards=1 SocketsPerBoard=1 CoresPerSocket={ask.cores} ThreadsPerCore=1 "
                f"RealMemory={ask.memory_mb}{gpus} State=UNKNOWN\n"
            )
        limits = f"MaxTime={ask.max_time} DefaultTime=10 DefMemPerCPU=200 State=UP"
        tier = " PriorityTier=1" if ask.preempt else ""
        text += f"PartitionName=cpu Nodes=node[1-2] Default=YES {limits}{tier}\n"
        text += f"PartitionName=gpu Nodes=node3 {limits}{tier}\n"
        if ask.preempt:
            text += f"PartitionName=urgent Nodes=node[1-3] {limits} PriorityTier=9\n"
        gres = "".join(
            f"NodeName=node3 Name=gpu Type=h100 File={self._device(number)}\n" for number in range(ask.gpus)
        )
        cgroup = "ConstrainRAMSpace=yes\nConstrainSwapSpace=no\n"
        cgroup += "CgroupMountpoint=/sys/fs/cgroup\nCgroupPlugin=cgroup/v1\n"
        for name, content in (("slurm", text), ("gres", gres), ("cgroup", cgroup)):
            (self.folder / f"{name}.conf").write_text(content)
        # The plugin of jobs' steps takes SLURM's variables from the environment.
        ETC.mkdir(exist_ok=True)
        link = ETC / "slurm.conf"
        if link.exists() and not link.is_symlink():
            raise RuntimeError(f"{link} is of another SLURM")
        link.unlink(missing_ok=True)
        link.symlink_to(self.folder / "slurm.conf")
        # Other files, such as that of slurmdbd, are looked for beside this one.
        os.environ["SLURM_CONF"] = str(self.folder / "slurm.conf")


def said(*command: str) -> str:
    """Return what a command prints; "" where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


@contextmanager
def running(folder: Path, settings: Settings) -> Iterator[Cluster]:
    """Yield a cluster, and stop it when the block ends. A machine has one at a time."""
    cluster = Cluster(folder, settings)
    with FileLock(Path(tempfile.gettempdir()) / "slurm-of-tests.lock"):
        yield from _running(cluster)


def _running(cluster: Cluster) -> Iterator[Cluster]:
    try:
        cluster.up()
        yield cluster
    finally:
        cluster.down()


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _cgroups_v1() -> bool:
    """Return whether the kernel can limit the memory of jobs here."""
    probe = CGROUPS / f"memory/probe-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    return all((CGROUPS / name).is_dir() for name in ("freezer", "cpuset"))


if __name__ == "__main__":
    with running(Path(sys.argv[1]).absolute(), Settings()):
        print("ready", flush=True)
        signal.pause()
