"""Print what share of the lines and branches the last ``make test COVERAGE=1`` reached, room by room.

What only other processes run (commands, documents, the exit of a process) is not counted.
"""

import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def by_room():
    """The counts of each room, added up over its modules."""
    coverage = Coverage(data_file=str(ROOT / ".coverage"), config_file=str(ROOT / "pyproject.toml"))
    coverage.load()
    with tempfile.TemporaryDirectory() as folder:
        coverage.json_report(outfile=f"{folder}/coverage.json")
        files = json.loads(Path(folder, "coverage.json").read_text())["files"]
    rooms = defaultdict(Counter)
    for file, figures in files.items():
        room = Path(file).parent.relative_to(ROOT if Path(file).is_absolute() else ".").parts[:2]
        rooms["/".join(room)].update({part: figures["summary"][part] for part in PARTS})
    return rooms


def line(name, counts):
    """A room's row; coverage's own figure is that of lines and branches together."""
    lines, branches = counts["num_statements"], counts["num_branches"]
    shares = (
        (counts["covered_lines"], lines),
        (counts["covered_branches"], branches),
        (counts["covered_lines"] + counts["covered_branches"], lines + branches),
    )
    percents = (f"{100 * reached / total:9.1f} %" if total else f"{'-':>9}  " for reached, total in shares)
    return f"{name:28}" + "".join(percents)


def main():
    rooms = by_room()
    print(f"{'coverage of make test':28}{'lines':>11}{'branches':>11}{'both':>11}")
    for name, counts in sorted(rooms.items()):
        print(line(name, counts))
    print(line("all", sum(rooms.values(), Counter())))


if __name__ == "__main__":
    main()
