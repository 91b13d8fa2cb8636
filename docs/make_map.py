"""Write `docs/map.md`: every module with the first line of its docstring and its names, room by room.

``make map`` runs this; a test fails where the page is not what this would write.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "map.md"

HEAD = """# Where is what?

Every module of `agenttrace/` with the one idea that it holds, room by room. The rooms, their layers and the
routes through them are in [architecture.md](architecture.md). This page is written by `make map`, from the
first lines of the modules and the names of what they define.
"""

MOST_NAMES = 8


def first_line(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return text.partition("\n")[0]


def defined_names(path: Path) -> str:
    """The public functions, classes and constants of a module, in its order; of many, the first ones."""
    names = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
    names = [name for name in names if not name.startswith("_") and len(name) > 1]
    shown = ", ".join(f"`{name}`" for name in names[:MOST_NAMES])
    return shown + (", …" if len(names) > MOST_NAMES else "")


def page() -> str:
    """The whole text of the page."""
    package = ROOT / "agenttrace"
    rooms = [package, *sorted(folder.parent for folder in package.rglob("*/__init__.py"))]
    parts = [HEAD]
    for room in dict.fromkeys(rooms):
        where = "" if room == package else f"{room.relative_to(package).as_posix()}/"
        parts.append(f"## agenttrace/{where}\n\n{first_line(room / '__init__.py')}\n\n")
        parts[-1] += "| module | what it holds | names |\n|---|---|---|\n"
        modules = sorted(path for path in room.glob("*.py") if path.name != "__init__.py")
        parts[-1] += "".join(
            f"| `{where}{path.name}` | {first_line(path)} | {defined_names(path)} |\n" for path in modules
        )
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
