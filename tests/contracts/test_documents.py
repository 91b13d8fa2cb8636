"""Every Python example in the README and in the docs runs; every link leads somewhere."""

import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.M | re.S)


def scripts(document: Path) -> list[str]:
    """The Python blocks of a document, in order: they may build on one another.

    A block marked ``fails`` is expected to end in EvaluationFailed; one marked ``file=name`` is also written
    to that file, as a YAML block may be. The commands of a console block marked ``runs`` are run after all
    Python blocks.
    """
    return FENCE.findall(document.read_text())


PROGRAMS = {"agenttrace": [], "pytest": ["-pno:cacheprovider", "-pno:randomly", "-pno:langsmith_plugin"]}
"""Those of which a document may show many commands, with the arguments that go before all others."""
EXIT_CODE = re.compile(r"# exit code (\d+)")


def commands(document: Path) -> list[tuple[list[str], int, list[str]]]:
    """The commands to run: each with its exit code (0, or a comment's) and the lines shown below it."""
    found: list[tuple[list[str], int, list[str]]] = []
    for language, marks, body in scripts(document):
        if language != "console" or "runs" not in marks.split():
            continue
        for line in body.splitlines():
            if line.startswith("$ "):
                code = EXIT_CODE.search(line)
                found.append((shlex.split(line[2:], comments=True), int(code[1]) if code else 0, []))
            elif line.strip():
                found[-1][2].append(line)
    return found


class Programs:
    """Runs commands in a folder; one process of each program has loaded what its commands need."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment
        self.running: dict[str, subprocess.Popen[str]] = {}

    def run(self, program: str, arguments: list[str]) -> tuple[int, str]:
        """The exit code of a command, and all that it printed."""
        if program not in self.running:
            self.running[program] = subprocess.Popen(
                [sys.executable, ROOT / "tests" / "contracts" / "forked_commands.py", program],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        process = self.running[program]
        process.stdin.write(json.dumps([*PROGRAMS[program], *arguments]) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], 120)[0]:
            raise TimeoutError(f"{program} {arguments}: not done within two minutes")
        done = json.loads(process.stdout.readline())
        return done["code"], done["output"]

    def __enter__(self) -> "Programs":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.running.values():
            os.killpg(process.pid, signal.SIGKILL)  # also a command that hangs
            process.communicate()


def is_in(shown: str, output: str) -> bool:
    """Whether a line of a document is in a program's output: its parts between dots, whatever the spaces."""
    parts = [" ".join(part.split()) for part in shown.split("…")]
    return any(all(part in " ".join(line.split()) for part in parts) for line in output.splitlines())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_examples_of_a_document_run(document, tmp_path):
    lines = []
    for language, marks, body in scripts(document):
        found = re.search(r"file=(\S+)", marks)
        if found:
            target = tmp_path / found[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body)
        if language != "python" or "norun" in marks:
            continue
        if "fails" in marks:
            indented = "".join(f"    {line}\n" for line in body.splitlines())
            caught = "except AssertionError as failure:\n    print(failure)\n"
            body = f"try:\n{indented}{caught}else:\n    raise SystemExit('did not fail')\n"
        lines.append(body)
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "GITHUB_"))}
    environment = {**ours, "AGENTTRACE_STORE": str(tmp_path / "traces.db"), "COLUMNS": "160"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )

    if lines:
        script = tmp_path / "document.py"
        script.write_text("\n".join(lines))
        done = run("-W", "error", str(script))
        assert done.returncode == 0, done.stderr[-3000:]
    with Programs(tmp_path, environment) as programs:
        for (program, *arguments), code, shown in commands(document):
            if program == "python":
                done = run(*arguments)
                ended, output = done.returncode, done.stdout + done.stderr
            else:
                ended, output = programs.run(program, arguments)
            assert ended == code, f"{program} {arguments}: {ended}\n{output[-3000:]}"
            assert [line for line in shown if not is_in(line, output)] == [], output[-3000:]


def test_every_python_block_that_does_not_run_says_why():
    unexplained = [
        f"{document.name}: {marks}"
        for document in DOCUMENTS
        for language, marks, _ in scripts(document)
        if language == "python" and "norun" in marks and not re.search(r"norun=\S+", marks)
    ]
    assert unexplained == []


def test_every_relative_link_leads_somewhere():
    broken = [
        f"{document.name}: {target}"
        for document in DOCUMENTS
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", document.read_text())
        if not (document.parent / target).exists()
    ]
    assert broken == []


def anchors(document: Path) -> set[str]:
    """What a link may name after ``#``: the headings, in GitHub's spelling."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", document.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_to_a_heading_leads_to_one():
    broken = [
        f"{document.name}: {path}#{anchor}"
        for document in DOCUMENTS
        for path, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)", document.read_text())
        if (target := document.parent / path if path else document).exists() and anchor not in anchors(target)
    ]
    assert broken == []


def test_no_document_holds_a_place_that_was_to_be_filled():
    documents = [*DOCUMENTS, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    texts = {
        document.name: re.sub(r"`[^`]*`", "", FENCE.sub("", document.read_text())) for document in documents
    }
    unfilled = re.compile(r"\b(?:[A-Z]{4,}_[A-Z]{3,}|FIGURES|TBD)\b")
    assert {name: places for name, text in texts.items() if (places := unfilled.findall(text))} == {}
