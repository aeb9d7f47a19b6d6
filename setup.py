"""What pyproject.toml cannot say: a wheel has the pipeline's files in the package, as data.

They are in benchc/pipeline (benchc/home.py). A package `benchc` beside its scripts is the
installed one, so that jobs with a Python of their own, as with --sdm conda, import both from one folder.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PARTS = ("Snakefile", "pyproject.toml", "rules", "scripts", "envs", "config", "slurm")
INSTALLED_PACKAGE = """\
from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[2])]
"""


def pipeline_files() -> list[str]:
    found = [path for part in PARTS for path in [Path(part), *sorted(Path(part).rglob("*"))]]
    return [str(path) for path in found if path.is_file() and path.suffix != ".pyc"]


class BuildWithPipeline(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        home = Path(self.build_lib, "benchc/pipeline")
        for file in pipeline_files():
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(file, str(home / file))
        (home / "benchc").mkdir(exist_ok=True)
        (home / "benchc/__init__.py").write_text(INSTALLED_PACKAGE)


setup(cmdclass={"build_py": BuildWithPipeline})
