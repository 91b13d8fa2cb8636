"""Build the wheel, install it without extras in a clean environment, use it there as a newcomer would.

Run by ``make wheel``. Nothing of the checkout is on the path of the new environment.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str, cwd: Path, **environment: str) -> str:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        command, cwd=cwd, env={**kept, **environment}, capture_output=True, text=True, timeout=600
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), cwd=ROOT)
        wheel = next(place.glob("agenttrace_evals-*.whl"))
        venv.create(place / "clean", with_pip=True)
        python = str(place / "clean" / "bin" / "python")
        constraints = str(ROOT / "constraints.txt")
        run(python, "-m", "pip", "install", "-q", "-c", constraints, str(wheel), cwd=place)
        command = str(place / "clean" / "bin" / "agenttrace")
        shown = run(command, "demo", cwd=place)
        assert "TEST RESULTS" in shown, shown
        demo = str(place / ".agenttrace" / "demo.db")
        listed = run(command, "traces", "list", "--store", demo, cwd=place)
        assert listed.strip(), "the demo's traces are not in the store"
        find = "import agenttrace, pathlib; print(pathlib.Path(agenttrace.__file__).parent)"
        assert (Path(run(python, "-c", find, cwd=place).strip()) / "py.typed").exists()
        version = "from importlib.metadata import version; print(version('agenttrace-evals'))"
        assert run(python, "-c", version, cwd=place).strip() in wheel.name
    print(f"{wheel.name}: installs without extras, runs the demo, keeps its traces, is typed")


if __name__ == "__main__":
    main()
