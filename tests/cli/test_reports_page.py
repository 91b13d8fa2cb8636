"""The shell blocks of docs/reports.md run, and write what the page says."""

import re
import shlex
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "reports.md").read_text()


def test_the_commands_of_the_page_run(agenttrace, tmp_path):
    for name, text in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```", PAGE, re.M | re.S):
        (tmp_path / name).write_text(text)
    commands = re.findall(r"^```sh exits=(\d)\nagenttrace (.*?)\n```", PAGE, re.M)
    assert len(commands) == PAGE.count("```sh")
    for code, command in commands:
        ran = agenttrace(*shlex.split(command))
        assert ran.code == int(code), ran.err
    assert ran.out.startswith("run_id,run,project,position,example,trial,trials,outcome,error,scorer,score,")
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"junit.xml", "report.md", "report.json", "scores.csv"}
