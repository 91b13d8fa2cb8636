"""Try old and new versions of SDKs: clients of models with `wrap`, OpenTelemetry with processor and exporter.

``make interop`` runs it: each version is installed in an environment of its own, ``sdk_calls.py`` makes every
kind of call there against a scripted model on loopback. The table of SDKs in ``docs/interop.md`` is
rewritten.

    python tests/interop/sdks.py [--environments DIR] [openai] [anthropic] [opentelemetry]
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # these files are programs, and no package

from environments import ROOT, installed, last_line, nowhere_else, place_for, version_in, write_table

HERE = Path(__file__).parent
VERSIONS = {
    "openai": ["openai==1.109.*", "openai==2.54.*", "openai>=3"],
    "anthropic": ["anthropic==0.79.*", "anthropic==0.125.*", "anthropic>=2"],
    "opentelemetry": ["opentelemetry-sdk==1.25.0", "opentelemetry-sdk"],
}
"""What people still have: the oldest that frameworks pin, the last before a change, the newest."""
MOST_SECONDS = 180.0


def faults_by_kind(sdk: str, python: Path | str) -> dict[str, str]:
    """Each kind of call, with what was not recorded of it: empty where all was.

    Raises:
        subprocess.SubprocessError: the program broke, or took too long.
    """
    done = subprocess.run(
        [str(python), str(HERE / "sdk_calls.py"), sdk],
        env=nowhere_else() | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=True,
    )
    faults: dict[str, str] = json.loads(done.stdout)
    return faults


def tried(sdk: str, requirement: str, environments: Path | None) -> tuple[str, str, bool]:
    """The version, what became of it, and whether all of it is as it should be."""
    package, version = requirement.partition("=")[0].rstrip(">"), requirement
    with place_for(requirement.replace("*", "x"), environments) as place:
        try:
            programs = installed(place, [f"{ROOT}[otel,otlp]", requirement])
            version = version_in(programs, package)
            faults = faults_by_kind(sdk, programs / "python")
        except subprocess.TimeoutExpired as error:
            return version, f"took more than {error.timeout:.0f} s", False
        except subprocess.CalledProcessError as error:
            return version, last_line(str(error.stderr)), False
    wrong = [f"{kind}: {fault}" for kind, fault in faults.items() if fault]
    right = [kind for kind, fault in faults.items() if not fault]
    result = "; ".join([f"right: {', '.join(right)}", *wrong])
    return version, result, not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(VERSIONS)}; all by default")
    parser.add_argument(
        "--environments", type=Path, help="keep the environments here, and use those that are"
    )
    options = parser.parse_args()
    failed = False
    for sdk in options.names or VERSIONS:
        for requirement in VERSIONS[sdk]:
            version, result, is_right = tried(sdk, requirement, options.environments)
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            print(f"{requirement}: {version}: {result}", flush=True)
            row = [f"`{requirement}`", version, result, today]
            write_table("sdks", ["asked for", "version", "result", "date"], [row])
            failed |= not is_right
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
