"""The example of an agent with a database: its mistake is seen in what it leaves behind, and nowhere else."""

import importlib.util
from pathlib import Path

PATH = Path(__file__).resolve().parents[2] / "examples" / "database_agent.py"


def test_the_wrong_order_is_found_by_the_state_alone():
    spec = importlib.util.spec_from_file_location("database_agent", PATH)
    agent = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(agent)
    lines = []
    agent.main(lines.append)
    agent.tracer.shutdown()
    assert lines == [
        "Ada 7  Turns: 1 (threshold 1) passed: 2 of 2 expected turns held",
        "Ada 7  State: 1 (threshold 1) passed: 1 of 1 expected changes made, 0 forbidden changes",
        "Bo 9  Turns: 1 (threshold 1) passed: 2 of 2 expected turns held",
        "Bo 9  State: 0 (threshold 1) failed: 0 of 1 expected changes made, 1 forbidden change",
        '    - changed  orders.9.status   missing: still "open", expected "refunded"\n'
        '    ! changed  orders.8.status   "open" → "refunded"   forbidden',
    ]
