"""The commands of docs/queries.md run over the store that its examples make."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "queries.md").read_text()


def test_every_command_of_the_document_runs(agenttrace, tmp_path):
    first_example = re.search(r"^```python\n(.*?)^```", DOCUMENT, re.M | re.S)[1]
    subprocess.run(
        [sys.executable, "-c", first_example], cwd=tmp_path, env=dict(os.environ), check=True, timeout=60
    )
    commands = re.findall(r"^\$ agenttrace (.*)$", DOCUMENT, re.M)
    assert len(commands) >= 10
    outputs = {}
    for command in commands:
        ran = agenttrace(*shlex.split(command))
        assert ran.code == 0, (command, ran.err)
        outputs[command] = ran.out
    assert "refund✗" in outputs["traces list --where 'failed:refund customer:acme since:2d'"]
    assert (tmp_path / "acme.json").read_text().count("\n") == 2
