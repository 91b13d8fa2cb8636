"""Run the recipes of ``docs/recipes.md`` with the real packages, and score what was recorded.

``make interop`` runs it: the packages that a recipe names are installed in an environment of its own, and the
recipe's very text is run there, against a scripted model on loopback. Nothing else can be reached. The table
of frameworks in ``docs/interop.md`` is rewritten.

    python tests/interop/recipes.py [--environments DIR] [pydantic-ai] [strands] …
"""

from __future__ import annotations

import argparse
import datetime
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # these files are programs, and no package

import scripted_model
from environments import (
    ROOT,
    installed,
    last_line,
    node_version_in,
    nowhere_else,
    place_for,
    version_in,
    write_table,
)

from agenttrace import Example, ToolOrderScorer, Trace
from agenttrace.store import SQLiteStore

RECIPES = ROOT / "docs" / "recipes.md"
MOST_SECONDS = 180.0
"""How long one recipe may run."""
BLOCK = re.compile(r"^```\w+([^\n]*)\n(.*?)^```", re.M | re.S)


@dataclass(frozen=True)
class Recipe:
    """A program of the page, and what its first lines have pip, and npm, install."""

    name: str
    code: str

    @property
    def requirements(self) -> list[str]:
        """What pip installs."""
        return self._installs("pip")

    @property
    def node_packages(self) -> list[str]:
        """What npm installs; empty where the recipe is Python alone."""
        return self._installs("npm")

    def packages(self, programs: Path) -> list[str]:
        """The packages that were installed, each with its version, without our own."""
        names = [re.split(r"[\[<>=]", requirement)[0] for requirement in self.requirements]
        ours = [f"{name} {version_in(programs, name)}" for name in names if name != "agenttrace-evals"]
        return ours + [f"{name} {node_version_in(programs.parent, name)}" for name in self.node_packages]

    def _installs(self, installer: str) -> list[str]:
        line = re.search(rf"^# {installer} install (.+)$", self.code, re.M)
        return shlex.split(line[1]) if line else []


def blocks() -> list[tuple[str, str]]:
    """The page's blocks of code: each with what stands behind the fence."""
    return BLOCK.findall(RECIPES.read_text())


def recipes() -> dict[str, Recipe]:
    """The recipes of the page, by name."""
    marked = [(re.search(r"recipe=(\S+)", marks), code) for marks, code in blocks()]
    return {mark[1]: Recipe(mark[1], code) for mark, code in marked if mark}


def shared_files() -> dict[str, str]:
    """The files that the page has readers save beside each recipe."""
    marked = [(re.search(r"file=(\S+)", marks), code) for marks, code in blocks()]
    return {mark[1]: code for mark, code in marked if mark}


def environment(address: str, store: Path) -> dict[str, str]:
    """Every provider is the scripted model."""
    return nowhere_else() | {
        **dict.fromkeys(["OPENAI_BASE_URL", "OPENAI_API_BASE"], f"{address}/v1"),
        **dict.fromkeys(["ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"], address),
        **dict.fromkeys(["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"], "none"),
        "HOME": str(store.parent),
        "AGENTTRACE_STORE": str(store),
        "PYTHONPATH": str(ROOT),  # the code of today, also where the environment is older
    }


@dataclass(frozen=True)
class Run:
    """What became of a recipe: how its program ended, and the one trace that it recorded."""

    exit_code: int
    errors: str
    traces: Sequence[Trace]

    @property
    def faults(self) -> list[str]:
        """What is not as it should be; empty where all is."""
        if self.exit_code:
            return [last_line(self.errors)]
        if len(self.traces) != 1:
            return [f"{len(self.traces)} traces"]
        [trace] = self.traces
        names = [name for name, _ in scripted_model.CALLS]
        calls = [call for call in trace.tool_calls if call.name in names]
        expected = [{"tool_name": name, "parameters": given} for name, given in scripted_model.CALLS]
        score = ToolOrderScorer().score(Example(expected_tools=expected), trace)
        found = {
            f"Tool Order: {score.outcome}, {score.reason}": score.outcome == "passed",
            f"{len(calls)} calls": len(calls) == len(names),
            "names": [call.name for call in calls] == names,
            "arguments": [call.arguments for call in calls] == [given for _, given in scripted_model.CALLS],
            f"outputs: {[call.output for call in calls]}": [call.output for call in calls]
            == scripted_model.OUTPUTS,
            "errors": not any(call.error for call in calls),
        }
        return [fault for fault, is_right in found.items() if not is_right]


def run(recipe: Recipe, python: Path | str, variables: Mapping[str, str] | None = None) -> Run:
    """Run a recipe's text in a folder of its own, and read the store that it left."""
    address, stop = scripted_model.start()
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = Path(name)
            for file, code in {**shared_files(), "recipe.py": recipe.code}.items():
                (folder / file).write_text(code)
            if recipe.node_packages:
                (folder / "node_modules").symlink_to(Path(python).parents[1] / "node_modules")
            store = folder / "traces.db"
            done = subprocess.run(
                [str(python), "recipe.py"],
                cwd=folder,
                env={**environment(address, store), **(variables or {})},
                capture_output=True,
                text=True,
                timeout=MOST_SECONDS,
                check=False,
            )
            return Run(done.returncode, done.stdout + done.stderr, list(traces_in(store)))
    finally:
        stop()


def traces_in(path: Path) -> Iterator[Trace]:
    """The traces of a store, where there is one."""
    if path.exists():
        store = SQLiteStore(path)
        for summary in store.traces():
            trace = store.trace(summary.trace_id)
            if trace is not None:
                yield trace


def tried(recipe: Recipe, environments: Path | None) -> tuple[str, list[str]]:
    """The versions that were installed, and what was not as it should be."""
    names = [one for one in recipe.requirements + recipe.node_packages if "agenttrace-evals" not in one]
    ours = [one.replace("agenttrace-evals", str(ROOT)) for one in recipe.requirements]
    with place_for(recipe.name, environments) as place:
        try:
            programs = installed(place, ours, recipe.node_packages)
            return ", ".join(recipe.packages(programs)), run(recipe, programs / "python").faults
        except subprocess.TimeoutExpired as error:
            what = "installing" if "install" in error.cmd else "running"
            return ", ".join(names), [f"{what} took more than {error.timeout:.0f} s"]
        except subprocess.CalledProcessError as error:
            return ", ".join(names), [f"not installed: {last_line(str(error.stderr))}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(recipes())}; all by default")
    parser.add_argument(
        "--environments", type=Path, help="keep the environments here, and use those that are"
    )
    options = parser.parse_args()
    page, failed = recipes(), False
    for name in options.names or page:
        versions, faults = tried(page[name], options.environments)
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        result = "; ".join(faults).replace("|", "\\|").replace("\n", " ") or "as expected"
        print(f"{name}: {versions}: {result}", flush=True)
        write_table("frameworks", ["recipe", "versions", "result", "date"], [[name, versions, result, today]])
        failed |= bool(faults)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
