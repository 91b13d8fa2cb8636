"""Answer the calls of tools in their place."""

from agenttrace.simulation.recording import Recording, ReplayedRun
from agenttrace.simulation.simulation import Answers, SimulatedCall, SimulatedRun, Simulation
from agenttrace.stubs import Stub, cases, faulty, raises, real, returns, sequence, slow, when

__all__ = [
    "Answers",
    "Recording",
    "ReplayedRun",
    "SimulatedCall",
    "SimulatedRun",
    "Simulation",
    "Stub",
    "cases",
    "faulty",
    "raises",
    "real",
    "returns",
    "sequence",
    "slow",
    "when",
]
