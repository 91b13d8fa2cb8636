"""The distribution is agenttrace-evals; the name agenttrace on PyPI is another project's."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OTHER = "`pip install agenttrace` installs another project"
"""The one place that names the wrong command: the README's warning of it."""

INSTALLER = (
    r"(?:(?:pip3?|uv|poetry|pdm|pipenv|conda|pipx|hatch)\s+(?:\w+\s+)*?(?:install|add|run|download)|uvx)\b"
)
ANOTHER = r"(?<![\w./:@-])agenttrace(?![\w.-]|/)"
TELLS = re.compile(
    rf"{INSTALLER}[^\n`]*?{ANOTHER}"  # pip install agenttrace
    r"|(?<![\w-])agenttrace\\?\[[a-z]"  # agenttrace[otlp]
    r"|[\"']agenttrace\s*(?:[=<>~!]=|[<>@;])"  # "agenttrace>=0.1"
)


def told(text):
    """The wrong names that a text tells to install."""
    return [match[0] for match in TELLS.finditer(text.replace(OTHER, ""))]


def texts():
    """Every file of the repository that is read as text, but this one."""
    kinds = {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".json", ".jsonl", ".sh", ""}
    for folder in (".", ".ci", "agenttrace", "benchmarks", "docs", "examples", "tests"):
        paths = (ROOT / folder).glob("*") if folder == "." else (ROOT / folder).rglob("*")
        for path in sorted(paths):
            if path.is_file() and path.suffix in kinds and path != Path(__file__) and path.name != ".git":
                yield path


def test_no_text_tells_to_install_the_other_project():
    paths = list(texts())
    assert {"README.md", "pyproject.toml", "Makefile", "export.md", "otlp_encoding.py"} <= {
        path.name for path in paths
    }
    wrong = {
        str(path.relative_to(ROOT)): told(path.read_text("utf-8", "replace"))
        for path in paths
        if told(path.read_text("utf-8", "replace"))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    "text",
    [
        "pip install agenttrace",
        "python -m pip install --upgrade agenttrace",
        "pip install 'agenttrace[otlp]'",
        'uv add "agenttrace"',
        "uv pip install httpx agenttrace==0.1",
        "uvx agenttrace demo",
        "pipx run agenttrace",
        "needs agenttrace[langgraph]",
        'dependencies = ["agenttrace>=0.1"]',
    ],
)
def test_the_wrong_name_is_seen(text):
    assert told(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install 'agenttrace-evals[otlp]'",
        "uv add agenttrace-evals",
        "pip install ./agenttrace",
        "pip install <path of the checkout>` brings the command `agenttrace`",
        'dependencies = ["agenttrace-evals>=0.1"]',
        "uv run python -m agenttrace.cli",
    ],
)
def test_the_right_name_is_fine(text):
    assert not told(text)


def test_the_readme_says_whose_the_other_name_is():
    assert OTHER in " ".join((ROOT / "README.md").read_text().split())


def test_every_extra_that_a_text_names_is_there():
    extras = set(PROJECT["optional-dependencies"])
    named = set()
    for path in texts():
        for match in re.finditer(r"agenttrace-evals\\?\[([\w,]+)\\?\]", path.read_text("utf-8", "replace")):
            named.update(match[1].split(","))
    assert {"langgraph", "otlp", "jsonschema"} <= named <= extras


def test_the_distribution_has_its_own_name_and_the_command_keeps_that_of_the_package():
    assert PROJECT["name"] == "agenttrace-evals"
    assert PROJECT["scripts"] == {"agenttrace": "agenttrace.cli.main:main"}
